/* cli/replay.h - the two ways of playing a transcript. */
#ifndef CLI_REPLAY_H
#define CLI_REPLAY_H

#include "transcript.h"

/* Is the server: answers on stdin and stdout what was recorded, until its input ends. */
int replay_mock(struct cli *cli, struct tape *tape);
/* Is the client: asks cli->server or cli->command what was recorded, and compares. EXIT_CHECK: there are
 * differences. */
int replay_compare(struct cli *cli, struct tape *tape);

#endif
