/* tests/unit/test_schema_suite.c - the JSON-Schema-Test-Suite, both dialects.
 *
 * Every required case must pass. Of the optional ones, what is missed is in a table with the
 * reason: a case that is not in it must pass, and one that is in it must not. A schema that is
 * refused misses all of its cases. Nothing is fetched: the suite's remotes are the set of known
 * schemas.
 */
#include "support.h"
#include "test.h"

#include <cleat/schema.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dirent.h>

#define SUITE      "JSON-Schema-Test-Suite/"
#define REMOTE_URI "http://localhost:1234/"

enum { MAX_PATH = 512, MAX_NAME = 64, MAX_NAMES = 128 };

struct suite {
	const char *name; /* of its directory in tests/ */
	int dialect;
	size_t required, optional, formats; /* cases of the newest suite; older ones have fewer */
};

static const struct suite suites[] = {
	{ "draft2020-12", CLEAT_SCHEMA_2020_12, 1299, 162, 764 },
	{ "draft7", CLEAT_SCHEMA_DRAFT_07, 927, 118, 676 },
};

/* ---- what is missed ------------------------------------------------------------------------ */

enum { IN_2020 = 1 << CLEAT_SCHEMA_2020_12, IN_07 = 1 << CLEAT_SCHEMA_DRAFT_07, IN_BOTH = 3 };

struct miss {
	int dialects;
	const char *file, *group, *test; /* file: within the dialect's directory */
	const char *reason;
};

#define CONTENT "optional/content.json"
#define HOSTS   "optional/format/hostname.json"
#define ALABELS "validation of A-label (punycode) host names"

static const char no_2019[] = "only 2020-12 and draft-07 are there: 2019-09 is refused";
/* 2020-12 says so for all; draft-07 lets an implementation choose, and a value would mean two
 * things in the two dialects. */
static const char no_content[] = "contentEncoding and contentMediaType are remarks, never asserted";
static const char no_marks[] = "A-labels are decoded, but Unicode's tables of marks are not there";

static const struct miss misses[] = {
	{ IN_2020, "optional/cross-draft.json",
	  "refs to historic drafts are processed as historic drafts",
	  "first item not a string is valid", no_2019 },
	{ IN_07, "optional/cross-draft.json",
	  "refs to future drafts are processed as future drafts", "missing bar is invalid",
	  no_2019 },
	{ IN_07, "optional/cross-draft.json",
	  "refs to future drafts are processed as future drafts", "present bar is valid", no_2019 },
	{ IN_07, CONTENT, "validation of string-encoded content based on media type",
	  "an invalid JSON document", no_content },
	{ IN_07, CONTENT, "validation of binary string-encoding",
	  "an invalid base64 string (% is not a valid character)", no_content },
	{ IN_07, CONTENT, "validation of binary-encoded media type documents",
	  "a validly-encoded invalid JSON document", no_content },
	{ IN_07, CONTENT, "validation of binary-encoded media type documents",
	  "an invalid base64 string that is valid JSON", no_content },
	{ IN_BOTH, HOSTS, ALABELS, "Begins with a Spacing Combining Mark", no_marks },
	{ IN_BOTH, HOSTS, ALABELS, "Begins with an Enclosing Mark", no_marks },
	{ IN_BOTH, HOSTS, ALABELS, "ZERO WIDTH JOINER not preceded by Virama", no_marks },
};

static bool missed[CLEAT_COUNT(misses)][CLEAT_COUNT(suites)];

/* Formats that are not known, and therefore never asserted: all that the suite wants refused is
 * accepted, and nothing else is wrong. */
static const struct {
	int dialects;
	const char *file;
} unknown_formats[] = {
	{ IN_BOTH, "optional/format/idn-hostname.json" },
};

static bool is_unknown_format(const struct suite *s, const char *file)
{
	for (size_t i = 0; i < CLEAT_COUNT(unknown_formats); i++)
		if ((unknown_formats[i].dialects & 1 << s->dialect) &&
		    strcmp(unknown_formats[i].file, file) == 0)
			return true;
	return false;
}

/* The place of a case in the table; CLEAT_COUNT(misses) when it has none. */
static size_t find_miss(const struct suite *s, const char *file, const char *group,
			const char *test)
{
	size_t i;

	for (i = 0; i < CLEAT_COUNT(misses); i++)
		if ((misses[i].dialects & 1 << s->dialect) && strcmp(misses[i].file, file) == 0 &&
		    strcmp(misses[i].group, group) == 0 && strcmp(misses[i].test, test) == 0)
			break;
	return i;
}

/* ---- running ------------------------------------------------------------------------------- */

struct run {
	const struct suite *suite;
	const cleat_schema_set *known;
	bool optional, assert_formats;
	size_t cases, passed, expected, wrong;
};

static void judge(struct run *r, const char *file, const char *group, const cleat_json *test,
		  bool pass, const char *message)
{
	const char *name = cleat_json_str(cleat_json_get(test, "description"), "?");
	size_t miss = r->optional ? find_miss(r->suite, file, group, name) : CLEAT_COUNT(misses);
	bool expected = miss < CLEAT_COUNT(misses);

	r->cases++;
	r->passed += pass;
	if (expected)
		missed[miss][r->suite - suites] = true;
	else if (r->optional && is_unknown_format(r->suite, file))
		expected = !cleat_json_bool(cleat_json_get(test, "valid"), false);
	r->expected += expected;
	if (pass != expected)
		return;
	r->wrong++;
	print_message("%s/%s: %s: %s: %s\n", r->suite->name, file, group, name,
		      pass ? "passes, although it is in the table of misses" : message);
}

static void run_case(struct run *r, const char *file, const char *group, const cleat_schema *schema,
		     const char *refusal, const cleat_json *test)
{
	bool valid = cleat_json_bool(cleat_json_get(test, "valid"), false);
	cleat_error err = { 0 };
	int status;

	if (!schema) {
		judge(r, file, group, test, false, refusal);
		return;
	}
	status = cleat_schema_check(schema, cleat_json_get(test, "data"), &err);
	if (status == CLEAT_OK)
		strcpy(err.message, "is accepted");
	judge(r, file, group, test, status == (valid ? CLEAT_OK : CLEAT_EINVAL), err.message);
}

static cleat_doc *read_json(const char *path)
{
	size_t n;
	char *text = support_read_file(path, &n);
	cleat_error err = { 0 };
	cleat_doc *doc;

	assert_non_null(text);
	doc = cleat_doc_parse(text, n, NULL, NULL, &err);
	free(text);
	if (!doc)
		fail_msg("%s: %s", path, err.message);
	return doc;
}

static void run_file(struct run *r, const char *path, const char *file)
{
	const cleat_schema_options opts = {
		.dialect = r->suite->dialect,
		.assert_formats = r->assert_formats,
		.known = r->known,
	};
	cleat_doc *doc = read_json(path);
	cleat_json_iter groups = cleat_json_each(cleat_doc_root(doc));

	while (cleat_json_next(&groups)) {
		const char *name = cleat_json_str(cleat_json_get(groups.value, "description"), "?");
		cleat_json_iter tests = cleat_json_each(cleat_json_get(groups.value, "tests"));
		cleat_error err = { 0 };
		cleat_schema *schema =
			cleat_schema_new(cleat_json_get(groups.value, "schema"), &opts, &err);

		while (cleat_json_next(&tests))
			run_case(r, file, name, schema, err.message, tests.value);
		cleat_schema_free(schema);
	}
	cleat_doc_free(doc);
}

/* ---- directories --------------------------------------------------------------------------- */

struct names {
	char name[MAX_NAMES][MAX_NAME];
	size_t n;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* What is in a directory, hidden files left out, sorted. Empty when it is none. */
static void list(const char *path, struct names *names)
{
	DIR *d = opendir(path);
	struct dirent *e;

	names->n = 0;
	while (d && (e = readdir(d)) != NULL) {
		size_t n = strlen(e->d_name);

		if (e->d_name[0] == '.')
			continue;
		assert_true(names->n < MAX_NAMES && n < MAX_NAME);
		memcpy(names->name[names->n++], e->d_name, n + 1);
	}
	if (d)
		closedir(d);
	qsort(names->name, names->n, MAX_NAME, by_name);
}

static bool is_json(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && strcmp(name + n - 5, ".json") == 0;
}

static void join(char *buf, const char *a, const char *b)
{
	int n = snprintf(buf, MAX_PATH, "%s%s%s", a, *a && *b ? "/" : "", b);

	assert_in_range(n, 0, MAX_PATH - 1);
}

/* All files directly in tests/SUITE/SUB. */
static void run_directory(struct run *r, const char *sub)
{
	char tests[MAX_PATH], directory[MAX_PATH], path[MAX_PATH], file[MAX_PATH];
	struct names names;

	assert_true(support_data_path(tests, sizeof tests, SUITE "tests"));
	join(path, tests, r->suite->name);
	join(directory, path, sub);
	list(directory, &names);
	for (size_t i = 0; i < names.n; i++) {
		if (!is_json(names.name[i]))
			continue;
		join(path, directory, names.name[i]);
		join(file, sub, names.name[i]);
		run_file(r, path, file);
	}
}

static void add_remote(cleat_schema_set *set, const char *path, const char *uri)
{
	cleat_doc *doc = read_json(path);
	cleat_error err = { 0 };

	if (cleat_schema_set_add(set, uri, cleat_doc_root(doc), &err))
		fail_msg("%s: %s", uri, err.message);
	cleat_doc_free(doc);
}

/* Makes all of remotes/BELOW known; `depth` directories more may be nested. */
static void add_remotes(cleat_schema_set *set, const char *remotes, const char *below, int depth)
{
	char path[MAX_PATH], inner[MAX_PATH], uri[MAX_PATH];
	struct names names;

	join(path, remotes, below);
	list(path, &names);
	for (size_t i = 0; i < names.n; i++) {
		join(inner, below, names.name[i]);
		if (!is_json(names.name[i])) {
			assert_true(depth > 0);
			add_remotes(set, remotes, inner, depth - 1);
			continue;
		}
		join(path, remotes, inner);
		assert_in_range(snprintf(uri, sizeof uri, REMOTE_URI "%s", inner), 0, MAX_PATH - 1);
		add_remote(set, path, uri);
	}
}

static cleat_schema_set *remotes(void)
{
	char path[MAX_PATH];
	cleat_schema_set *set;

	if (!support_data_path(path, sizeof path, SUITE "remotes"))
		return NULL;
	set = cleat_schema_set_new(NULL);
	assert_non_null(set);
	add_remotes(set, path, "", 3);
	return set;
}

/* ---- tests --------------------------------------------------------------------------------- */

static void check_required(const struct suite *suite)
{
	cleat_schema_set *known = remotes();
	struct run r = { .suite = suite, .known = known };

	if (!known)
		skip();
	run_directory(&r, "");
	cleat_schema_set_free(known);
	print_message("%s, required: %zu of %zu pass\n", suite->name, r.passed, r.cases);
	assert_true(r.cases > suite->required / 2);
	assert_int_equal(r.wrong, 0);
	assert_int_equal(r.passed, r.cases);
}

TEST(every_required_case_of_2020_12_passes)
{
	check_required(&suites[0]);
}

TEST(every_required_case_of_draft_07_passes)
{
	check_required(&suites[1]);
}

/* A line of the table that fits no case hides nothing and must go. */
static size_t stale_misses(const struct suite *suite, bool formats)
{
	static const char under[] = "optional/format/";
	size_t stale = 0;

	for (size_t i = 0; i < CLEAT_COUNT(misses); i++) {
		bool is_format = strncmp(misses[i].file, under, sizeof under - 1) == 0;

		if (!(misses[i].dialects & 1 << suite->dialect) || is_format != formats ||
		    missed[i][suite - suites])
			continue;
		print_message("there is no %s/%s: %s: %s\n", suite->name, misses[i].file,
			      misses[i].group, misses[i].test);
		stale++;
	}
	return stale;
}

static void check_optional(const struct suite *suite, const char *sub, bool formats, size_t cases)
{
	cleat_schema_set *known = remotes();
	struct run r = {
		.suite = suite, .known = known, .optional = true, .assert_formats = formats
	};

	if (!known)
		skip();
	run_directory(&r, sub);
	cleat_schema_set_free(known);
	print_message("%s/%s: %zu of %zu pass, %zu misses are known\n", suite->name, sub, r.passed,
		      r.cases, r.expected);
	assert_true(r.cases > cases / 2);
	assert_int_equal(r.wrong, 0);
	if (r.cases >= cases)
		assert_int_equal(stale_misses(suite, formats), 0);
}

/* format-assertion.json is among them, without the option: the vocabulary alone must do. */
TEST(optional_cases_pass_or_are_listed)
{
	for (size_t i = 0; i < CLEAT_COUNT(suites); i++)
		check_optional(&suites[i], "optional", false, suites[i].optional);
}

TEST(formats_pass_or_are_listed)
{
	for (size_t i = 0; i < CLEAT_COUNT(suites); i++)
		check_optional(&suites[i], "optional/format", true, suites[i].formats);
}
