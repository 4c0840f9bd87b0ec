/* session.h - one run of a transcript: a server, its connections, a clock, and where it stands. */
#ifndef WIRE_SESSION_H
#define WIRE_SESSION_H

#include "conn.h"
#include "fixture.h"
#include "match.h"
#include "script.h"

enum { SESSION_CONNS = 4 };

struct session;

/* Who talks to whom: what lines mean. A transcript of another stage than that of a server at the end of a wire says so
 * first: "! stage NAME". */
struct stage {
	const char *name;
	bool (*open)(struct session *s);
	bool (*step)(struct session *s, const struct step *step); /* all but directives */
	bool (*rest)(struct session *s);  /* everything that can happen has happened */
	bool (*quiet)(struct session *s); /* nothing unexpected is there */
	void (*close)(struct session *s);
	const struct directive *directives;
	size_t n_directives;
};
extern const struct stage stage_http, stage_httpd, stage_client;

struct session {
	const struct script *script;
	const struct stage *stage; /* NULL: a server and its wires */
	void *data;                /* the stage's */
	const char *revision;      /* NULL: the transcript has no "! for" */
	enum slicing how;
	FILE *dump, *record;           /* NULL: not wanted */
	bool torture;                  /* memory fails: only what must always hold is checked */
	const cleat_allocator *memory; /* the server's; NULL: the default */
	bool connected;                /* there was a connection */
	size_t fail_at;                /* after "! starve" this allocation fails; 0: none */
	bool fail_for_good;            /* and those after it */
	bool hit, gave_up; /* one failed; the transcript went no further because of that */

	cleat_server_options opts;
	char fixture_name[16];
	struct fixture fixture;
	cleat_server *server; /* NULL before the first message */
	struct wire_conn conns[SESSION_CONNS];
	uint64_t now;
	struct words words;
	struct text notes; /* the library's remarks, one a line */

	int line;      /* of the step that runs */
	int last_line; /* of the last step that could cause output */
	struct text failure;
	bool malformed; /* the server sent what is not a message */
};

/* Runs it. False with the reason in s->failure. */
bool session_run(struct session *s);
void session_done(struct session *s);

/* ---- for directives ---- */

bool session_fail(struct session *s, const char *fmt, ...) CLEAT_PRINTF(2, 3);
/* The connection, opened if it is not; NULL after a failure. */
struct wire_conn *session_conn(struct session *s, int conn);
/* Feeds, polls and collects on every connection. */
bool session_flush(struct session *s);
/* Nothing unexpected is there. */
bool session_quiet(struct session *s);
bool session_send(struct session *s, int conn, const char *json);
bool session_expect(struct session *s, int conn, const char *json);
/* Appends the message that `s` is, or stands for: [ID] METHOD [PARAMS], ID = RESULT, ID ! ERROR. */
void session_message(const char *s, struct text *into);

/* ---- directives: "! " lines ---- */

enum { WORDS = 8 };

/* A directive's line, cut at blanks; `rest[i]` is everything from word i on. What is not there is "". */
struct line {
	int conn;
	size_t n;
	char *word[WORDS], *rest[WORDS], *cut, *whole;
};

struct directive {
	const char *name;
	bool (*run)(struct session *s, struct line *l);
	bool early; /* does not bring what was sent to an end */
};

bool directive_run(struct session *s, const struct step *step);
/* Is this what a "name=value" is to set? Values are numbers. */
struct setting {
	const char *name;
	size_t offset, size; /* of the member */
};
/* Sets the members of `to` that the words from `first` on name; a word alone is 1. */
bool directive_settings(struct session *s, const struct line *l, size_t first, void *to,
			const struct setting *known, size_t n);
/* Does the text fit what a line says of it? "": it is empty; "*": it is anything; "= A": it is A; "= <capture:X>": it is
 * remembered; "~ A ~~ B": it has A and B in it (!A: it has not; #3 A: three times; +9: at least 9 bytes); otherwise it
 * is this JSON. */
bool session_fits(struct session *s, const char *want, const char *got);

#endif
