/* session.h - one run of a transcript: a server, its connections, a clock, and where it stands. */
#ifndef WIRE_SESSION_H
#define WIRE_SESSION_H

#include "fixture.h"
#include "link.h"
#include "match.h"
#include "script.h"

enum { SESSION_LINKS = 4 };

struct session {
	const struct script *script;
	const char *revision; /* NULL: the transcript has no "! for" */
	enum slicing how;
	FILE *dump, *record;           /* NULL: not wanted */
	bool torture;                  /* memory fails: only what must always hold is checked */
	const cleat_allocator *memory; /* the server's; NULL: the default */
	bool connected;                /* there was a connection */

	cleat_server_options opts;
	char fixture_name[16];
	struct fixture fixture;
	cleat_server *server; /* NULL before the first message */
	struct link links[SESSION_LINKS];
	uint64_t now;
	struct words words;
	struct text notes; /* the library's remarks, one a line */

	int line;      /* of the step that runs */
	int last_line; /* of the last step that could cause output */
	struct text failure;
	bool malformed; /* the server sent what is no message */
};

/* Runs it. False with the reason in s->failure. */
bool session_run(struct session *s);
void session_done(struct session *s);

/* ---- for directives ---- */

bool session_fail(struct session *s, const char *fmt, ...) CLEAT_PRINTF(2, 3);
/* The connection, opened if it is not; NULL after a failure. */
struct link *session_link(struct session *s, int conn);
/* Feeds, polls and collects on every connection. */
bool session_flush(struct session *s);
/* Nothing unexpected is there. */
bool session_quiet(struct session *s);
bool session_send(struct session *s, int conn, const char *json);
bool session_expect(struct session *s, int conn, const char *json);

/* A "! " line. */
bool directive_run(struct session *s, const struct step *step);

#endif
