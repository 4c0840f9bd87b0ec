/* conn.h - one connection of a run: bytes in, in slices; whole messages out, checked and queued.
 *
 * It also remembers which requests were sent, so that an answer can be told from its method and
 * revision when messages are dumped for the schema test.
 */
#ifndef WIRE_CONN_H
#define WIRE_CONN_H

#include "text.h"

#include <cleat/json.h>
#include <cleat/wire.h>

#include <stdio.h>

/* How bytes are cut on their way in and out. */
enum slicing { SLICE_LINES, SLICE_BYTES, SLICE_ODD, SLICE_COUNT };

const char *slicing_name(enum slicing how);

struct message {
	struct message *next;
	cleat_doc *doc;
};

struct sent {
	struct sent *next;
	char *id; /* JSON text */
	char *method, *revision;
	size_t line; /* of the input, from 1: members of a batch share it */
	bool answered, cancelled;
};

struct wire_conn {
	cleat_wire *wire;
	enum slicing how;
	size_t turn;      /* of the odd slices */
	struct text in;   /* to be fed */
	struct text line; /* was fed, but its line has not ended yet */
	struct text out;  /* a line that is not complete yet */
	struct message *first, **end;
	struct sent *sent;
	size_t n_lines; /* that were fed */
	size_t n_taken; /* that came */
	size_t strays;  /* answers that name a request which waits for none */
	size_t orphans; /* lines with errors that name no request: it could not be read */
	size_t orphan_line;
	char session[16]; /* the legacy revision; "" before initialize */
	char opening[16]; /* what an initialize asked for that is not answered yet */
	char latest[16];  /* revision of the request sent last */
	FILE *dump;       /* NULL: none */
	bool ended;       /* after eof */
};

void conn_init(struct wire_conn *l, cleat_wire *wire, enum slicing how, FILE *dump);
void conn_done(struct wire_conn *l);
/* The other side will send nothing more. */
void conn_eof(struct wire_conn *l);
/* Feeds what is in l->in, and takes what comes. False with *why when output is malformed. */
bool conn_flush(struct wire_conn *l, struct text *why);
bool conn_collect(struct wire_conn *l, struct text *why);
/* Lines with requests that were not cancelled and got no answer; 0 after the end of input. */
size_t conn_unanswered(const struct wire_conn *l);
/* Takes the first message out of the queue; NULL when there is none. Free it. */
cleat_doc *conn_take(struct wire_conn *l);

#endif
