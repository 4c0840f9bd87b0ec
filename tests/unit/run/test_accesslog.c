/* test_accesslog.c - the access log (run/accesslog.h): what a line says and hides, and descriptors that
 * do not take it.
 */
#include "run/accesslog.h"
#include "support.h"
#include "test.h"

#include <cleat/json.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define MS UINT64_C(1785231000123) /* 2026-07-28T09:30:00.123Z */

static const struct accesslog_entry small = { .status = 204 };
#define SMALL_LINE                                                                                 \
	"{\"time\":\"2026-07-28T09:30:00.123Z\",\"status\":204,\"bytes\":0,\"micros\":0}\n"

/* A line, terminated, in static memory. */
static const char *line_of(const struct accesslog_entry *e, uint64_t wall_ms)
{
	static char text[ACCESSLOG_LINE + 1];
	struct buf b;

	buf_init(&b, NULL, 1 << 20);
	accesslog_format(&b, e, wall_ms);
	assert_int_equal(buf_status(&b), CLEAT_OK);
	assert_in_range(buf_size(&b), 2, ACCESSLOG_LINE);
	memcpy(text, buf_str(&b).p, buf_size(&b));
	text[buf_size(&b)] = '\0';
	buf_done(&b);
	return text;
}

/* ---- the line ----------------------------------------------------------------------------- */

TEST(a_line_says_what_is_known_and_leaves_out_the_rest)
{
	const struct accesslog_entry all = {
		.remote = STR_LIT("2001:db8::1"),
		.method = STR_LIT("POST"),
		.path = STR_LIT("/mcp"),
		.status = 200,
		.bytes = UINT64_MAX,
		.micros = 412,
		.session = STR_LIT("9f2c41d0aa"),
		.revision = STR_LIT("2025-11-25"),
		.principal = STR_LIT("alice"),
		.rpc = STR_LIT("tools/call"),
	};

	assert_string_equal(
		line_of(&all, MS),
		"{\"time\":\"2026-07-28T09:30:00.123Z\",\"remote\":\"2001:db8::1\","
		"\"method\":\"POST\",\"path\":\"/mcp\",\"status\":200,"
		"\"bytes\":18446744073709551615,\"micros\":412,\"session\":\"9f2c41d0\","
		"\"revision\":\"2025-11-25\",\"principal\":\"alice\",\"rpc\":\"tools/call\"}\n");
	assert_string_equal(line_of(&small, MS), SMALL_LINE);
}

TEST(time_is_rfc_3339_in_utc_whatever_the_time_zone)
{
	static const struct {
		uint64_t ms;
		const char *text;
	} cases[] = {
		{ 0, "1970-01-01T00:00:00.000Z" },
		{ 1, "1970-01-01T00:00:00.001Z" },
		{ 951782399999, "2000-02-28T23:59:59.999Z" },
		{ 951782400000, "2000-02-29T00:00:00.000Z" },
		{ 4107542400000, "2100-03-01T00:00:00.000Z" },
		{ 253402300799999, "9999-12-31T23:59:59.999Z" },
		{ 253402300800000, "9999-12-31T23:59:59.999Z" },
		{ UINT64_MAX, "9999-12-31T23:59:59.999Z" },
	};

	setenv("TZ", "Asia/Tokyo", 1);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const char *line = line_of(&small, cases[i].ms);

		assert_int_equal(strncmp(line, "{\"time\":\"", 9), 0);
		assert_int_equal(strncmp(line + 9, cases[i].text, strlen(cases[i].text)), 0);
	}
	unsetenv("TZ");
}

/* What is in the line for a path, and for a JSON-RPC method, that a client made up. */
TEST(texts_of_a_client_cannot_change_the_line_or_the_terminal)
{
#define BAD "\xEF\xBF\xBD"
	static const struct {
		struct str text;
		const char *shown;
	} cases[] = {
		{ { "/a\"b\\c", 6 }, "\"/a\\\"b\\\\c\"" },
		{ { "/a\nb\r\x1B[2J\0x", 11 }, "\"/a\\nb\\r\\u001b[2J\\u0000x\"" },
		{ { "/\x7F\xC2\x9B[2J", 7 }, "\"/" BAD BAD "[2J\"" },
		{ { "/\xE2\x80\xAE/\xE2\x80\xA8/\xE2\x81\xA6", 12 },
		  "\"/" BAD "/" BAD "/" BAD "\"" },
		{ { "\xFF/\xC3", 3 }, "\"" BAD "/" BAD "\"" },
		{ { "/\xC3\xA4\xF0\x9F\x98\x80", 7 }, "\"/\xC3\xA4\xF0\x9F\x98\x80\"" },
		{ { "", 0 }, "\"\"" },
	};
	char want[100];

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		const struct accesslog_entry e = { .path = cases[i].text, .rpc = cases[i].text };
		const char *line = line_of(&e, MS);

		snprintf(want, sizeof want, ",\"path\":%s,", cases[i].shown);
		assert_non_null(strstr(line, want));
		snprintf(want, sizeof want, ",\"rpc\":%s}\n", cases[i].shown);
		assert_non_null(strstr(line, want));
	}
}

TEST(no_query_and_no_session_is_shown)
{
	const struct accesslog_entry e = { .path = STR_LIT("/mcp?access_token=secret?secret"),
					   .session = STR_LIT("12345678secret") };
	const char *line = line_of(&e, MS);

	assert_null(strstr(line, "secret"));
	assert_null(strchr(line, '?'));
	assert_non_null(strstr(line, "\"path\":\"/mcp\""));
	assert_non_null(strstr(line, "\"session\":\"12345678\""));
}

static size_t length_of(const char *line, const char *key)
{
	cleat_doc *doc = cleat_doc_parse(line, strlen(line), NULL, NULL, NULL);
	size_t n = 0;

	assert_non_null(doc);
	assert_non_null(cleat_json_strn(cleat_json_get(cleat_doc_root(doc), key), &n));
	cleat_doc_free(doc);
	return n;
}

TEST(long_texts_are_cut_between_characters)
{
	static char text[20000];
	struct accesslog_entry e = { 0 };
	const char *line;

	memset(text, 'x', sizeof text);
	e.remote = e.method = e.path = e.session = e.revision = e.principal = e.rpc =
		(struct str){ text, sizeof text };
	line = line_of(&e, MS);
	assert_int_equal(length_of(line, "remote"), 64 + 3);
	assert_int_equal(length_of(line, "method"), 16 + 3);
	assert_int_equal(length_of(line, "path"), 1024 + 3);
	assert_int_equal(length_of(line, "session"), 8);
	assert_int_equal(length_of(line, "revision"), 16 + 3);
	assert_int_equal(length_of(line, "principal"), 64 + 3);
	assert_int_equal(length_of(line, "rpc"), 64 + 3);
	assert_non_null(strstr(line, "x...\""));
	e.rpc.n = 64; /* exactly: nothing is missing */
	assert_int_equal(length_of(line_of(&e, MS), "rpc"), 64);
	for (size_t i = 0; i + 4 <= sizeof text; i += 4) /* 1 + 4 k never is 64 */
		memcpy(text + i, "\xF0\x9F\x98\x80", 4);
	text[0] = text[1] = text[2] = text[3] = 'x';
	e.rpc = (struct str){ text + 3, 1000 };
	assert_int_equal(length_of(line_of(&e, MS), "rpc"), 61 + 3);
}

/* What is escaped is six times as long: then less of the path is shown. */
TEST(the_longest_line_fits)
{
	static char text[20000];
	struct accesslog_entry e = { .status = INT32_MAX,
				     .bytes = UINT64_MAX,
				     .micros = UINT64_MAX };
	const char *line;

	memset(text, 1, sizeof text);
	e.remote = e.method = e.path = e.session = e.revision = e.principal = e.rpc =
		(struct str){ text, sizeof text };
	line = line_of(&e, UINT64_MAX);
	assert_int_equal(length_of(line, "path"), 128 + 3);
	assert_int_equal(length_of(line, "rpc"), 64 + 3);
	assert_int_equal(length_of(line, "session"), 8);
}

/* Any bytes at all: one line, valid, without a control character. */
TEST(any_text_makes_one_valid_line)
{
	static const char pieces[9] = " \xC2\x9B\xE2\x80\xAE\xF0x";
	static char text[3000];
	uint32_t x = 1;

	for (int round = 0; round < 500; round++) {
		struct accesslog_entry e = { 0 };
		const char *line;
		cleat_doc *doc;
		size_t n;

		for (size_t i = 0; i < sizeof text; i++) {
			x = x * 1664525u + 1013904223u;
			text[i] = round % 2 ? (char)(x >> 24) : pieces[x >> 29];
		}
		e.remote = e.method = e.path = e.session = e.revision = e.principal = e.rpc =
			(struct str){ text + x % 7, x % 2900 };
		line = line_of(&e, x);
		n = strlen(line);
		assert_ptr_equal(strchr(line, '\n'), line + n - 1);
		for (size_t i = 0; i + 1 < n; i++)
			assert_true((unsigned char)line[i] >= ' ' && line[i] != 0x7F);
		assert_null(strstr(line, "\xC2\x9B"));
		assert_null(strstr(line, "\xE2\x80\xAE"));
		doc = cleat_doc_parse(line, n, NULL, NULL, NULL);
		assert_non_null(doc);
		cleat_doc_free(doc);
	}
}

TEST(a_buf_that_is_full_or_fails_says_so)
{
	struct fail_alloc fa;
	struct buf b;

	buf_init(&b, NULL, 20);
	accesslog_format(&b, &small, MS);
	assert_int_equal(buf_status(&b), CLEAT_ELIMIT);
	accesslog_format(&b, &small, MS);
	assert_int_equal(buf_status(&b), CLEAT_ELIMIT);
	buf_done(&b);
	fail_alloc_init(&fa, 1, true);
	buf_init(&b, &fa.hook, 1000);
	accesslog_format(&b, &small, MS);
	assert_int_equal(buf_status(&b), CLEAT_ENOMEM);
	assert_int_equal(fa.failures, 1); /* no second try */
	buf_done(&b);
	buf_init(&b, NULL, 1000); /* behind what is there */
	buf_appendz(&b, "before ");
	accesslog_format(&b, &small, MS);
	assert_int_equal(buf_size(&b), strlen("before " SMALL_LINE));
	assert_memory_equal(buf_str(&b).p, "before " SMALL_LINE, buf_size(&b));
	buf_done(&b);
}

/* ---- descriptors -------------------------------------------------------------------------- */

static void new_pipe(int fds[2])
{
	assert_int_equal(pipe(fds), 0);
}

static void new_pair(int fds[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
}

static void new_nonblocking(int fds[2])
{
	new_pipe(fds);
	assert_int_equal(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
}

static void (*const kinds[])(int fds[2]) = { new_pipe, new_pair, new_nonblocking };

/* A log to fds[1], and its end. */
static void log_open(struct accesslog *l, int fds[2], size_t kind)
{
	kinds[kind](fds);
	assert_int_equal(accesslog_init(l, NULL, fds[1], NULL), CLEAT_OK);
}

static void log_close(struct accesslog *l, int fds[2])
{
	accesslog_done(l);
	close(fds[0]);
	close(fds[1]);
}

/* What can be read now, terminated. */
static const char *drain(int fd)
{
	static char text[1 << 20];
	size_t n = 0;
	ssize_t k;

	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	while ((k = read(fd, text + n, sizeof text - 1 - n)) > 0)
		n += (size_t)k;
	text[n] = '\0';
	return text;
}

TEST(lines_go_to_the_descriptor_and_leave_it_as_it_is)
{
	for (size_t i = 0; i < CLEAT_COUNT(kinds); i++) {
		struct accesslog l;
		struct fail_alloc fa;
		size_t requests;
		int fds[2], flags;

		kinds[i](fds);
		flags = fcntl(fds[1], F_GETFL);
		fail_alloc_init(&fa, 0, false);
		assert_int_equal(accesslog_init(&l, &fa.hook, fds[1], NULL), CLEAT_OK);
		requests = fa.requests;
		accesslog_write(&l, &small, MS);
		accesslog_write(&l, &small, MS);
		assert_string_equal(drain(fds[0]), SMALL_LINE SMALL_LINE);
		assert_int_equal(accesslog_dropped(&l), 0);
		assert_int_equal(fcntl(fds[1], F_GETFL), flags);
		assert_int_equal(fa.requests, requests); /* writing needs no memory */
		accesslog_done(&l);
		assert_int_equal(fa.live, 0);
		assert_int_equal(fcntl(fds[1], F_GETFL), flags); /* and it is still open */
		close(fds[0]);
		close(fds[1]);
	}
}

TEST(standard_error_is_the_default)
{
	int fds[2], saved = dup(STDERR_FILENO);
	struct accesslog l;
	int rc;

	new_pipe(fds);
	assert_int_equal(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
	rc = accesslog_init(&l, NULL, -1, NULL);
	if (rc == CLEAT_OK)
		accesslog_write(&l, &small, MS);
	dup2(saved, STDERR_FILENO);
	assert_int_equal(rc, CLEAT_OK);
	assert_string_equal(drain(fds[0]), SMALL_LINE);
	close(saved);
	log_close(&l, fds);
}

/* The lines in a text are whole. Gives their number. */
static size_t whole_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text += strlen(SMALL_LINE), n++)
		assert_int_equal(strncmp(text, SMALL_LINE, strlen(SMALL_LINE)), 0);
	return n;
}

/* A blocking descriptor whose reader sleeps: this would wait for ever. */
TEST(what_would_wait_is_dropped_and_counted)
{
	enum { LINES = 20000 };

	for (size_t i = 0; i < CLEAT_COUNT(kinds); i++) {
		struct accesslog l;
		size_t taken;
		int fds[2];

		log_open(&l, fds, i);
		for (size_t k = 0; k < LINES; k++)
			accesslog_write(&l, &small, MS);
		assert_in_range(accesslog_dropped(&l), 1, LINES - 1);
		taken = LINES - accesslog_dropped(&l);
		assert_int_equal(whole_lines(drain(fds[0])), taken);
		accesslog_write(&l, &small, MS); /* and goes on */
		assert_string_equal(drain(fds[0]), SMALL_LINE);
		assert_int_equal(accesslog_dropped(&l), LINES - taken);
		log_close(&l, fds);
	}
}

/* The default action of SIGPIPE would end this program. */
TEST(a_reader_that_is_gone_costs_lines_only)
{
	signal(SIGPIPE, SIG_DFL);
	for (size_t i = 0; i < CLEAT_COUNT(kinds); i++) {
		struct accesslog l;
		int fds[2];

		log_open(&l, fds, i);
		close(fds[0]);
		accesslog_write(&l, &small, MS);
		accesslog_write(&l, &small, MS);
		assert_int_equal(accesslog_dropped(&l), 2);
		accesslog_done(&l);
		close(fds[1]);
	}
}

static void limit_files(rlim_t bytes)
{
	struct rlimit r;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &r), 0);
	r.rlim_cur = bytes < r.rlim_max ? bytes : r.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &r), 0);
}

/* A disk that is full takes a part of a line. The next one begins on a line of its own. */
TEST(a_line_that_was_torn_does_not_spoil_the_next)
{
	static const struct {
		rlim_t more; /* bytes that are taken of the second line, which is torn too */
		const char *text;
	} cases[] = {
		{ 0, "{\"tim\n" SMALL_LINE SMALL_LINE },
		{ 1, "{\"tim\n" SMALL_LINE SMALL_LINE }, /* only the end of the first */
		{ 3, "{\"tim\n{\"\n" SMALL_LINE SMALL_LINE },
	};

	signal(SIGXFSZ, SIG_IGN);
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		FILE *f = tmpfile();
		struct accesslog l;
		char text[1000];
		ssize_t n;

		assert_non_null(f);
		assert_int_equal(accesslog_init(&l, NULL, fileno(f), NULL), CLEAT_OK);
		limit_files(5);
		accesslog_write(&l, &small, MS);
		limit_files(5 + cases[i].more);
		accesslog_write(&l, &small, MS);
		limit_files(RLIM_INFINITY);
		assert_int_equal(accesslog_dropped(&l), 2);
		accesslog_write(&l, &small, MS);
		accesslog_write(&l, &small, MS);
		assert_int_equal(accesslog_dropped(&l), 2);
		n = pread(fileno(f), text, sizeof text - 1, 0);
		assert_true(n >= 0);
		text[n] = '\0';
		assert_string_equal(text, cases[i].text);
		accesslog_done(&l);
		fclose(f);
	}
	signal(SIGXFSZ, SIG_DFL);
}

TEST(a_descriptor_that_cannot_be_written_to_is_refused)
{
	struct accesslog l;
	struct fail_alloc fa;
	cleat_error err;
	int fds[2];

	new_pipe(fds);
	assert_int_equal(accesslog_init(&l, NULL, fds[0], &err), CLEAT_EINVAL);
	assert_int_equal(err.status, CLEAT_EINVAL);
	accesslog_done(&l);
	fail_alloc_init(&fa, 1, false);
	assert_int_equal(accesslog_init(&l, &fa.hook, fds[1], &err), CLEAT_ENOMEM);
	accesslog_done(&l);
	close(fds[0]);
	close(fds[1]);
	assert_int_equal(accesslog_init(&l, NULL, fds[1], &err), CLEAT_EINVAL);
	accesslog_done(&l);
}
