/* program/serve/command/lines.h - what is told of a command while it runs: its lines as progress or log.
 *
 * With a regular expression ("progress") a line that matches is progress and not part of the result: its
 * groups are how far, of how much, and a word about it; "(\d+)%" counts to 100. Without one each line is
 * progress, counted, and part of the result. A call may spend a second on matching (what lines look like may be
 * for somebody else to choose); after that lines are just lines. Log messages are limited to 200 a second; how many were left out
 * is said.
 */
#ifndef PROGRAM_SERVE_COMMAND_LINES_H
#define PROGRAM_SERVE_COMMAND_LINES_H

#include "base/buf.h"
#include "base/regex.h"
#include "serve/kit/draft.h"

enum lines_stream { LINES_NONE, LINES_PROGRESS, LINES_LOG };

struct lines {
	enum lines_stream stream;
	bool log_errors;        /* stderr, too */
	struct regex *progress; /* NULL: lines are counted */
};

/* Of one call; all-zero. */
struct lines_state {
	double count;
	uint64_t second; /* when the present one began */
	unsigned in_second;
	size_t left_out;
	uint64_t matched; /* what matching has cost so far, about nanoseconds */
};

/* From "stream", "progress" and "stderr". False: problems were added. */
bool lines_read(struct lines *l, struct draft *b, const cleat_json *node);
void lines_done(struct lines *l);
/* Does anybody want lines? */
bool lines_wanted(const struct lines *l);
void lines_tell(const struct lines *l, struct lines_state *s, cleat_request *req, bool is_err,
		struct str line);
/* At the end of a call. */
void lines_flush(struct lines_state *s, cleat_request *req);
/* Appends what of the output is the result: all but lines that were progress. */
void lines_write_result(const struct lines *l, struct lines_state *s, struct buf *out,
			struct str output);
/* "12", "3.5": a number without sign or exponent; -1: none. */
double lines_number(struct str s);

#endif
