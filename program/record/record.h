/* program/record/record.h - the ways of standing before a server that is at an address, or in its place. */
#ifndef PROGRAM_RECORD_RECORD_H
#define PROGRAM_RECORD_RECORD_H

#include "record/tap/tap.h"
#include "transcript/transcript.h"

/* A client over HTTP in front, at `address`: requests and answers pass as they are, until Ctrl-C. */
int record_http(struct cli *cli, struct transcript *to, struct back *server, const char *address);
/* A client on stdin and stdout in front: each of its messages becomes a request, until its input ends. */
int record_bridge(struct cli *cli, struct transcript *to, struct back *server);
/* front_new() for --http. NULL: said why, and *ret_code is what to return. */
struct front *front_listen(const struct cli *cli, cleat_loop *loop, const char *address,
			   const struct front_user *user, int *ret_code);

#endif
