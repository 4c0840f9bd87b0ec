/* program/serve/command/lines.c - lines to progress and log messages (lines.h). */
#include "serve/command/lines.h"

#include "base/error.h"
#include "loop/loop.h"
#include "json/parse.h"

enum { LOGS_PER_SECOND = 200, LINE_MESSAGE_MAX = 1000, MATCHING_MAX = 1000000000 };

static bool read_progress(struct lines *l, struct draft *b, const cleat_json *at)
{
	const char *pattern = conf_text(b->conf, at, "");
	cleat_error err;

	if (!regex_compile(&b->rt->mem, str_of(pattern), 0, &l->progress, &err)) {
		l->stream = LINES_PROGRESS;
		return true;
	}
	conf_problem(b->conf, at, "%s", err.message);
	return false;
}

bool lines_read(struct lines *l, struct draft *b, const cleat_json *node)
{
	struct str stream = json_str(json_member(node, "stream"));
	const cleat_json *progress = json_member(node, "progress");

	*l = (struct lines){ .log_errors = str_eqz(json_str(json_member(node, "stderr")), "log") };
	if (str_eqz(stream, "progress"))
		l->stream = LINES_PROGRESS;
	else if (str_eqz(stream, "log"))
		l->stream = LINES_LOG;
	if (progress && stream.p && l->stream != LINES_PROGRESS) {
		conf_problem(b->conf, progress, "expected \"stream\": \"progress\" beside it");
		return false;
	}
	return !progress || read_progress(l, b, progress);
}

void lines_done(struct lines *l)
{
	regex_free(l->progress);
	l->progress = NULL;
}

bool lines_wanted(const struct lines *l)
{
	return l->stream != LINES_NONE || l->log_errors;
}

double lines_number(struct str s)
{
	double v = 0, scale = 1;
	size_t i = 0;

	if (s.n == 0 || s.n > 18)
		return -1;
	for (; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
		v = v * 10 + (s.p[i] - '0');
	if (i == 0)
		return -1;
	if (i < s.n && s.p[i] == '.')
		for (i++; i < s.n && s.p[i] >= '0' && s.p[i] <= '9'; i++)
			v += (s.p[i] - '0') * (scale /= 10);
	return i == s.n ? v : -1;
}

/* Is the line progress? */
static bool is_step(const struct lines *l, struct lines_state *s, struct str line,
		    struct str group[REGEX_GROUPS])
{
	uint64_t left = s->matched < MATCHING_MAX ? MATCHING_MAX - s->matched : 0, before = left;
	bool found = left && regex_groups(l->progress, line, group, &left) == 1;

	s->matched += before - left;
	return found;
}

/* And how far is it? */
static bool read_step(const struct lines *l, struct lines_state *s, struct str line,
		      struct str group[REGEX_GROUPS], double *done, double *total)
{
	if (!is_step(l, s, line, group))
		return false;
	*done = lines_number(group[0]);
	*total = lines_number(group[1]);
	if (*total < 0) {
		const char *end = group[0].p ? group[0].p + group[0].n : NULL;

		*total = end && end < line.p + line.n && *end == '%' ? 100 : 0;
	}
	return true;
}

/* As much of a line as a message has, up to a whole character; whoever reads it sees that there was more. */
static int shown(struct str s, const char **ret_more)
{
	size_t n = s.n < LINE_MESSAGE_MAX ? s.n : LINE_MESSAGE_MAX;

	*ret_more = n < s.n ? "…" : "";
	for (int i = 0; i < 3 && n < s.n && ((unsigned char)s.p[n] & 0xC0) == 0x80; i++)
		n--;
	return (int)n;
}

static void tell_progress(const struct lines *l, struct lines_state *s, cleat_request *req,
			  struct str line)
{
	struct str group[REGEX_GROUPS], message = line;
	double done = s->count + 1, total = 0;
	const char *more;
	int n;

	if (l->progress) {
		if (!read_step(l, s, line, group, &done, &total))
			return;
		message = group[2];
		if (done < 0)
			done = s->count + 1;
	}
	s->count = done;
	n = shown(message, &more);
	if (message.p)
		cleat_request_progress(req, done, total, "%.*s%s", n, message.p, more);
	else
		cleat_request_progress(req, done, total, NULL);
}

void lines_flush(struct lines_state *s, cleat_request *req)
{
	if (s->left_out)
		cleat_request_log(req, CLEAT_LOG_WARNING, "(%zu lines were left out)", s->left_out);
	s->left_out = 0;
}

static void tell_log(struct lines_state *s, cleat_request *req, int level, struct str line)
{
	uint64_t now = loop_now();
	const char *more;
	int n = shown(line, &more);

	if (now - s->second >= 1000) {
		lines_flush(s, req);
		s->second = now;
		s->in_second = 0;
	}
	if (s->in_second == LOGS_PER_SECOND) {
		s->left_out++;
		return;
	}
	s->in_second++;
	cleat_request_log(req, level, "%.*s%s", n, line.p, more);
}

void lines_tell(const struct lines *l, struct lines_state *s, cleat_request *req, bool is_err,
		struct str line)
{
	if (!line.p)
		line = STR_LIT("");
	if (is_err && l->log_errors)
		tell_log(s, req, CLEAT_LOG_WARNING, line);
	else if (!is_err && l->stream == LINES_LOG)
		tell_log(s, req, CLEAT_LOG_INFO, line);
	else if (!is_err && l->stream == LINES_PROGRESS)
		tell_progress(l, s, req, line);
}

void lines_write_result(const struct lines *l, struct lines_state *s, struct buf *out,
			struct str output)
{
	struct str group[REGEX_GROUPS];

	if (!l->progress) {
		buf_append(out, output.p, output.n);
		return;
	}
	s->matched = 0; /* the same lines, the same cost */
	while (output.n) {
		const char *end = memchr(output.p, '\n', output.n);
		size_t n = end ? (size_t)(end - output.p) : output.n, all = n + (end ? 1 : 0);
		struct str line = { output.p, n };

		if (line.n && line.p[line.n - 1] == '\r')
			line.n--;
		if (!is_step(l, s, line, group))
			buf_append(out, output.p, all);
		output = (struct str){ output.p + all, output.n - all };
	}
}
