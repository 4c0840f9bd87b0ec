/* program/record/replay.h - the two ways of playing a transcript. */
#ifndef PROGRAM_RECORD_REPLAY_H
#define PROGRAM_RECORD_REPLAY_H

#include "transcript/transcript.h"

/* ---- a server that says what was recorded ---------------------------------------------------- */

enum { MOCK_NO_ANSWER = 0, MOCK_RESULT = 1 };

struct mock_outlet {
	/* A message, without newline. `place`: that of the request that it belongs to; NULL: to none. `answer`:
	 * MOCK_NO_ANSWER, MOCK_RESULT, or the code of an error; it is the last one for this request then. */
	void (*say)(void *ctx, void *place, const char *line, int answer);
	void *ctx;
};

struct mock;
/* The tape must stay. mock_free() is for what is in it. */
struct mock *mock_new(struct cli *cli, struct tape *tape, const struct mock_outlet *outlet);
void mock_free(struct mock *m);
/* What the client says; what is said to that may be said from in here. Gives how many answers come. */
size_t mock_message(struct mock *m, void *place, const char *text, size_t n);
/* Nobody is at this place any more. */
void mock_gone(struct mock *m, const void *place);

/* The same on stdin and stdout, until its input ends. */
int replay_mock(struct cli *cli, struct tape *tape);
/* And over HTTP, until Ctrl-C (replay_http.c). */
int replay_http(struct cli *cli, struct tape *tape, const char *address);

/* ---- a client --------------------------------------------------------------------------------- */

/* Is the client: asks cli->server or cli->command what was recorded, and compares. EXIT_CHECK: there are
 * differences. */
int replay_compare(struct cli *cli, struct tape *tape);

#endif
