/* test_metrics.c - counters for Prometheus (run/metrics.h). The text is read by a parser of the format
 * (https://prometheus.io/docs/instrumenting/exposition_formats/, text format 0.0.4), line by line.
 */
#include "run/metrics.h"
#include "support.h"
#include "test.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a parser of the format --------------------------------------------------------------- */

enum { SERIES_MAX = 200 };

static struct {
	char name[160]; /* with its labels, as it is there */
	char value[40];
} series[SERIES_MAX];
static size_t n_series;

static struct {
	char name[80], type[20];
	size_t samples;
} family;

static size_t name_length(const char *p)
{
	size_t n = 0;

	while (isalpha((unsigned char)p[n]) || p[n] == '_' || (n && isdigit((unsigned char)p[n])))
		n++;
	return n;
}

/* "# HELP name text" begins a family, "# TYPE name type" must follow. */
static void read_comment(const char *line)
{
	char name[80], rest[200];

	if (sscanf(line, "# HELP %79s %199[^\n]", name, rest) == 2) {
		assert_true(family.name[0] == '\0' || family.samples > 0);
		for (size_t i = 0; i < n_series; i++) /* a family is in one piece */
			assert_true(strncmp(series[i].name, name, strlen(name)) != 0 ||
				    series[i].name[strlen(name)] == '_');
		assert_int_equal(strncmp(name, "cleat_", 6), 0);
		assert_int_equal(name_length(name), strlen(name));
		strcpy(family.name, name);
		family.type[0] = '\0';
		family.samples = 0;
		return;
	}
	assert_int_equal(sscanf(line, "# TYPE %79s %19[a-z]", name, family.type), 2);
	assert_string_equal(name, family.name);
	assert_int_equal(family.samples, 0);
	assert_true(!strcmp(family.type, "counter") || !strcmp(family.type, "gauge") ||
		    !strcmp(family.type, "histogram"));
	/* https://prometheus.io/docs/practices/naming/ */
	assert_int_equal(!strcmp(family.type, "counter"),
			 strlen(name) > 6 && !strcmp(name + strlen(name) - 6, "_total"));
}

static void check_suffix(const char *suffix, size_t n)
{
	static const char *const allowed[] = { "_bucket", "_sum", "_count" };
	bool found = false;

	if (strcmp(family.type, "histogram") != 0) {
		assert_int_equal(n, 0);
		return;
	}
	for (size_t i = 0; i < CLEAT_COUNT(allowed); i++)
		found |= strlen(allowed[i]) == n && !memcmp(suffix, allowed[i], n);
	assert_true(found);
}

/* name, perhaps {label="value"}, a space, a number. */
static void read_sample(const char *line)
{
	size_t n = name_length(line), prefix = strlen(family.name), digits;
	const char *p = line + n;

	assert_true(family.type[0] && n >= prefix && !memcmp(line, family.name, prefix));
	check_suffix(line + prefix, n - prefix);
	if (*p == '{') {
		size_t label = name_length(++p);

		assert_true(label > 0);
		p += label;
		assert_int_equal(strncmp(p, "=\"", 2), 0);
		p += 2 + strcspn(p + 2, "\"\\\n");
		assert_int_equal(strncmp(p, "\"}", 2), 0);
		p += 2;
	}
	assert_int_equal(*p, ' ');
	digits = strspn(p + 1, "0123456789.");
	assert_true(digits > 0 && p[1 + digits] == '\0');
	assert_true(n_series < SERIES_MAX);
	snprintf(series[n_series].name, sizeof series[0].name, "%.*s", (int)(p - line), line);
	snprintf(series[n_series].value, sizeof series[0].value, "%s", p + 1);
	for (size_t i = 0; i < n_series; i++)
		assert_string_not_equal(series[i].name, series[n_series].name);
	n_series++;
	family.samples++;
}

static void read_text(struct metrics *m)
{
	char line[300];
	struct buf b;
	struct str text;

	buf_init(&b, NULL, 1 << 16);
	metrics_write(m, &b);
	assert_int_equal(buf_status(&b), CLEAT_OK);
	text = buf_str(&b);
	n_series = 0;
	memset(&family, 0, sizeof family);
	while (text.n) {
		const char *end = memchr(text.p, '\n', text.n);
		size_t n;

		assert_non_null(end); /* also the last line */
		n = (size_t)(end - text.p);
		assert_in_range(n, 1, sizeof line - 1);
		memcpy(line, text.p, n);
		line[n] = '\0';
		if (line[0] == '#')
			read_comment(line);
		else
			read_sample(line);
		text.p += n + 1;
		text.n -= n + 1;
	}
	assert_true(family.samples > 0);
	buf_done(&b);
}

static const char *value_of(const char *name)
{
	for (size_t i = 0; i < n_series; i++)
		if (strcmp(series[i].name, name) == 0)
			return series[i].value;
	fail_msg("there is no series %s", name);
	return NULL;
}

/* ---- what is counted ---------------------------------------------------------------------- */

TEST(a_fresh_one_has_every_series_at_zero)
{
	static struct metrics m;

	read_text(&m);
	assert_int_equal(n_series, METRICS_CLASSES + 2 * METRICS_METHODS + METRICS_BUCKETS + 1 + 2);
	for (size_t i = 0; i < n_series; i++)
		assert_true(!strcmp(series[i].value, "0") || !strcmp(series[i].value, "0.000000"));
}

TEST(requests_are_counted_by_class_of_status)
{
	static const struct {
		int status;
		const char *code;
	} cases[] = {
		{ 100, "1xx" }, { 199, "1xx" },  { 200, "2xx" }, { 202, "2xx" },   { 304, "3xx" },
		{ 400, "4xx" }, { 499, "4xx" },  { 500, "5xx" }, { 599, "5xx" },   { 0, "none" },
		{ 99, "none" }, { 600, "none" }, { -1, "none" }, { 1200, "none" },
	};
	char name[80];

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct metrics m = { 0 };

		metrics_count_http(&m, cases[i].status);
		read_text(&m);
		snprintf(name, sizeof name, "cleat_http_requests_total{code=\"%s\"}",
			 cases[i].code);
		assert_string_equal(value_of(name), "1");
		for (size_t k = 0; k < n_series; k++)
			assert_true(!strcmp(series[k].name, name) || atof(series[k].value) == 0);
	}
}

TEST(methods_are_told_apart_by_their_whole_name)
{
	static const struct {
		struct str name;
		const char *kind;
	} cases[] = {
		{ { "tools/call", 10 }, "tools/call" },
		{ { "tools/list", 10 }, "tools/list" },
		{ { "resources/read", 14 }, "resources/read" },
		{ { "prompts/get", 11 }, "prompts/get" },
		{ { "initialize", 10 }, "other" },
		{ { "tools/cal", 9 }, "other" },
		{ { "tools/calls", 11 }, "other" },
		{ { "tools/call\0", 11 }, "other" },
		{ { "Tools/call", 10 }, "other" },
		{ { "other", 5 }, "other" },
		{ { "", 0 }, "other" },
		{ { NULL, 0 }, "other" },
	};
	char name[80];

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct metrics m = { 0 };

		metrics_count_rpc(&m, metrics_method_of(cases[i].name), i % 2);
		metrics_count_rpc(&m, metrics_method_of(cases[i].name), false);
		read_text(&m);
		snprintf(name, sizeof name, "cleat_rpc_requests_total{method=\"%s\"}",
			 cases[i].kind);
		assert_string_equal(value_of(name), "2");
		snprintf(name, sizeof name, "cleat_rpc_errors_total{method=\"%s\"}", cases[i].kind);
		assert_string_equal(value_of(name), i % 2 ? "1" : "0");
	}
}

/* A bucket counts what took up to its bound, that included. */
TEST(latencies_fall_into_all_buckets_that_are_large_enough)
{
	static const struct {
		uint64_t micros;
		const char *first; /* the smallest bucket that has it */
		const char *sum;
	} cases[] = {
		{ 0, "0.0005", "0.000000" },
		{ 500, "0.0005", "0.000500" },
		{ 501, "0.001", "0.000501" },
		{ 1000, "0.001", "0.001000" },
		{ 2501, "0.005", "0.002501" },
		{ 99999, "0.1", "0.099999" },
		{ 1000000, "1", "1.000000" },
		{ 1000001, "2.5", "1.000001" },
		{ 10000000, "10", "10.000000" },
		{ 10000001, "+Inf", "10.000001" },
		{ 3600000000u, "+Inf", "3600.000000" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct metrics m = { 0 };
		bool reached = false;
		size_t buckets = 0;
		char name[80];

		metrics_observe(&m, cases[i].micros);
		read_text(&m);
		snprintf(name, sizeof name, "cleat_request_duration_seconds_bucket{le=\"%s\"}",
			 cases[i].first);
		for (size_t k = 0; k < n_series; k++) {
			if (!strstr(series[k].name, "_bucket"))
				continue;
			reached |= !strcmp(series[k].name, name);
			assert_string_equal(series[k].value, reached ? "1" : "0");
			buckets++;
		}
		assert_true(reached);
		assert_int_equal(buckets, METRICS_BUCKETS + 1);
		assert_string_equal(value_of("cleat_request_duration_seconds_count"), "1");
		assert_string_equal(value_of("cleat_request_duration_seconds_sum"), cases[i].sum);
	}
}

TEST(bounds_go_up_from_half_a_millisecond_to_ten_seconds)
{
	static struct metrics m;
	double before = 0, bound;
	size_t n = 0;

	read_text(&m);
	for (size_t i = 0; i < n_series; i++) {
		if (sscanf(series[i].name, "cleat_request_duration_seconds_bucket{le=\"%lf\"}",
			   &bound) != 1)
			continue;
		assert_true(n > 0 ? bound > before : bound == 0.0005);
		assert_true(n != METRICS_BUCKETS - 1 || bound == 10);
		before = bound;
		n++;
	}
	assert_int_equal(n, METRICS_BUCKETS + 1); /* +Inf too, as %lf reads it */
}

static void give_readings(void *ctx, struct metrics_readings *ret)
{
	assert_string_equal(ctx, "ctx");
	assert_int_equal(ret->connections | ret->log_dropped, 0);
	*ret = (struct metrics_readings){ 1, 2, 3, 4, 5, 6, 7, UINT64_MAX };
}

TEST(readings_are_asked_for_when_the_text_is_written)
{
	struct metrics m = { .read = give_readings, .read_ctx = (char[]){ "ctx" } };

	read_text(&m);
	assert_string_equal(value_of("cleat_connections"), "1");
	assert_string_equal(value_of("cleat_sessions"), "2");
	assert_string_equal(value_of("cleat_streams"), "3");
	assert_string_equal(value_of("cleat_queued_bytes"), "4");
	assert_string_equal(value_of("cleat_connections_accepted_total"), "5");
	assert_string_equal(value_of("cleat_connections_refused_total"), "6");
	assert_string_equal(value_of("cleat_timeouts_total"), "7");
	assert_string_equal(value_of("cleat_access_log_dropped_total"), "18446744073709551615");
}

TEST(a_buf_that_is_full_or_fails_says_so)
{
	struct metrics m = { .read = give_readings, .read_ctx = (char[]){ "ctx" } };
	struct buf b;

	buf_init(&b, NULL, 100);
	metrics_write(&m, &b);
	assert_int_equal(buf_status(&b), CLEAT_ELIMIT);
	assert_in_range(buf_size(&b), 0, 100);
	buf_done(&b);
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		buf_init(&b, &fa.hook, 1 << 16);
		metrics_write(&m, &b);
		assert_int_equal(buf_status(&b), fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		buf_done(&b);
	}
}

/* ---- threads ------------------------------------------------------------------------------ */

enum { THREADS = 4, EACH = 20000 };

static void *count(void *arg)
{
	struct metrics *m = arg;

	for (int i = 0; i < EACH; i++) {
		metrics_count_http(m, 200 + 100 * (i % 4));
		metrics_count_rpc(m, METRICS_TOOLS_CALL, i % 2);
		metrics_observe(m, (uint64_t)(i % 20) * 1000);
	}
	return NULL;
}

/* While others count: buckets never go down from one to the next, the last is the count, and no count
 * ever goes back. */
static uint64_t check_moment(uint64_t before)
{
	uint64_t last = 0,
		 now = strtoull(value_of("cleat_request_duration_seconds_count"), NULL, 10);

	for (size_t i = 0; i < n_series; i++)
		if (strstr(series[i].name, "_bucket")) {
			uint64_t v = strtoull(series[i].value, NULL, 10);

			assert_true(v >= last);
			last = v;
		}
	assert_int_equal(last, now);
	assert_true(now >= before);
	return now;
}

TEST(nothing_is_lost_between_threads)
{
	static struct metrics m;
	pthread_t threads[THREADS];
	uint64_t seen = 0;

	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, count, &m), 0);
	for (size_t i = 0; i < 100; i++) {
		read_text(&m);
		seen = check_moment(seen);
	}
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	read_text(&m);
	assert_int_equal(check_moment(seen), THREADS * EACH);
	assert_string_equal(value_of("cleat_http_requests_total{code=\"2xx\"}"), "20000");
	assert_string_equal(value_of("cleat_http_requests_total{code=\"5xx\"}"), "20000");
	assert_string_equal(value_of("cleat_rpc_requests_total{method=\"tools/call\"}"), "80000");
	assert_string_equal(value_of("cleat_rpc_errors_total{method=\"tools/call\"}"), "40000");
	/* 0 to 19 ms, as often each */
	assert_string_equal(value_of("cleat_request_duration_seconds_sum"), "760.000000");
}
