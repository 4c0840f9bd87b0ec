/* cli/record.h - the ways of standing before a server that is at an address. */
#ifndef CLI_RECORD_H
#define CLI_RECORD_H

#include "http_back.h"
#include "transcript.h"

/* A client over HTTP in front, at `address`: requests and answers pass as they are, until Ctrl-C. */
int record_http(struct cli *cli, struct transcript *to, struct back *server, const char *address);
/* A client on stdin and stdout in front: each of its messages becomes a request, until its input ends. */
int record_bridge(struct cli *cli, struct transcript *to, struct back *server);

#endif
