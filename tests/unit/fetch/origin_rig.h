/* origin_rig.h - an HTTP server that is the test itself: it takes requests one by one and answers with whatever bytes
 * it is told to, byte for byte. It is polled, so it needs neither a thread nor memory of the loop's.
 */
#ifndef TESTS_ORIGIN_RIG_H
#define TESTS_ORIGIN_RIG_H

#include "base/str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ORIGIN_LINES = 128 };

/* What it does when an answer has been sent. */
enum after { KEEP, CLOSE, RESET };

struct origin;

/* A connection as the server sees it. */
struct line {
	struct origin *o;
	int fd;
	char *in; /* what came and was not taken yet, terminated */
	size_t n, cap;
	struct str out; /* what is left of the answer */
	bool answering;
	bool eof;         /* the client has closed */
	uint64_t read_at; /* when `slow` lets it read on */
};

struct origin {
	int ear; /* -1: none any more */
	unsigned port;
	char file[64]; /* of a unix socket; "" for TCP */
	struct line *lines[ORIGIN_LINES];
	size_t turn, accepted, requests;
	char request[16384]; /* the beginning of the last one */
	size_t request_n;    /* all of it */
	/* How origin_turn() answers; `script` may do otherwise for each request. */
	struct str answer;
	size_t slice;    /* bytes at once; 0: all */
	size_t cut;      /* only this many of them; 0: all */
	struct str pump; /* then this, for ever */
	enum after after;
	bool slow;    /* reads only every 20 ms */
	bool silent;  /* accepts and reads, says nothing */
	bool at_once; /* answers as soon as there is a connection */
	void (*script)(struct origin *o, struct line *c);
};

/* Listens at a port of its own, or at this socket. */
void origin_open(struct origin *o, const char *file);
void origin_close(struct origin *o);
/* Takes connections, reads, answers what is complete: all that can be done now. */
void origin_turn(struct origin *o);
/* Takes connections and reads, and gives one with a complete request, each in its turn; NULL: there is none. */
struct line *origin_ready(struct origin *o);
void origin_accept(struct origin *o);
/* Connections that are open at both ends. */
size_t origin_connections(const struct origin *o);

void line_read(struct line *c);
/* The length of its request, when that is complete, else 0. */
size_t line_request(const struct line *c);
void line_drop(struct line *c, size_t n); /* the first bytes */
void line_answer(struct line *c, struct str answer);
void line_close(struct line *c, bool reset);

#endif
