/* program/transcript/transcript.h - what was said on a wire, a line of JSON for each message.
 *
 *	{"t":12.5,"dir":">","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}
 *
 * t: milliseconds since the beginning; dir: ">" from the client, "<" from the server. A line that was no
 * JSON stands as "text" instead of "msg". A transcript may hold secrets: its file is for its owner only.
 */
#ifndef PROGRAM_TRANSCRIPT_TRANSCRIPT_H
#define PROGRAM_TRANSCRIPT_TRANSCRIPT_H

#include "cli/run.h"
#include "text/text.h"

/* ---- writing ------------------------------------------------------------------------------- */

struct transcript;

/* `replace`: what is there may be replaced, see cli_create(). NULL: the file could not be made (printed). */
struct transcript *transcript_new(const struct cli *cli, const char *path, bool replace);
/* Is there a transcript, or an empty file? */
bool transcript_at(const char *path);
/* One message, without its newline. */
void transcript_add(struct transcript *t, bool out, const char *message, size_t n);
/* What it writes: a line, with its newline. `tenths` of milliseconds since the beginning. */
void transcript_line(struct text *to, long long tenths, bool out, const char *message, size_t n);
/* False: something could not be written (printed). Accepts NULL. */
bool transcript_end(struct transcript *t);

/* ---- reading ------------------------------------------------------------------------------- */

enum tape_kind { TAPE_REQUEST, TAPE_NOTIFICATION, TAPE_RESPONSE, TAPE_OTHER };

struct tape_line {
	bool out; /* from the client */
	enum tape_kind kind;
	const char *method; /* "" where there is none */
	const cleat_json *msg, *id, *params;
	size_t partner; /* request: its response; response: its request; TAPE_NONE */
	bool used;      /* for whoever plays it */
};

#define TAPE_NONE ((size_t)-1)

struct tape {
	struct tape_line *lines;
	size_t n;
	cleat_doc **docs_;
	size_t n_docs_, cap_, docs_cap_;
};

/* "-" is stdin. EXIT_GOOD, or the reason was printed. Free it either way. */
int tape_load(const struct cli *cli, const char *path, struct tape *ret);
/* The same from text; `name` is what it is called in messages. `cli` NULL: without any. */
int tape_parse(const struct cli *cli, const char *name, const char *text, size_t n,
	       struct tape *ret);
void tape_free(struct tape *t);
/* Params without "_meta", which differs from client to client; NULL gives {}. To be freed. */
cleat_doc *tape_params(const cleat_json *params);

#endif
