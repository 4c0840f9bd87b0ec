/* fuzz/fuzz_template.c - any bytes as a template. A conversion must match its argument, so only
 * templates are tried whose conversions are, in this order, %s %d %s %d ... (at most eight) and
 * whose arguments are fixed; everything between them is free. What is accepted as a value must be
 * accepted as text, which must be valid JSON and, when it is parsed, the same value, number by number.
 */
#include "require.h"
#include "json/doc.h"
#include "json/writer.h"

#include <cleat/json.h>

#include <stdlib.h>
#include <string.h>

#define ARGS "x\"}", 1, "", -2, "\xFFz", 3, "{%s", 2147483647

/* Is every '%' in it the one that the arguments expect, or one that must be refused before an
 * argument is taken ("%%", "% ")? */
static bool fits(const char *fmt)
{
	size_t n = 0;

	for (const char *p = strchr(fmt, '%'); p; p = strchr(p + 1, '%')) {
		char expected = n % 2 ? 'd' : 's';

		if (n++ == 8 || p[1] != expected)
			return false;
	}
	return true;
}

static cleat_doc *make(cleat_error *err, const char *fmt, ...) CLEAT_PRINTF(2, 3);

static cleat_doc *make(cleat_error *err, const char *fmt, ...)
{
	cleat_doc *doc;
	va_list ap;

	va_start(ap, fmt);
	doc = cleat_doc_newv(err, fmt, ap);
	va_end(ap);
	return doc;
}

/* The text, without the array around it, is what the value prints as, and parses to the value. */
static void compare(const cleat_json *v, struct buf *b)
{
	cleat_error err;
	cleat_doc *doc = cleat_doc_parse(buf_str(b).p + 1, buf_size(b) - 1, NULL, NULL, &err);
	char *text = cleat_json_print(v, NULL);

	require(doc && cleat_json_equal(v, cleat_doc_root(doc)));
	require(text && str_eqz((struct str){ buf_str(b).p + 1, buf_size(b) - 1 }, text));
	free(text);
	cleat_doc_free(doc);
}

static int write_to(struct buf *b, const char *fmt, ...) CLEAT_PRINTF(2, 3);

static int write_to(struct buf *b, const char *fmt, ...)
{
	struct jw w;
	va_list ap;
	int rc;

	jw_init(&w, b);
	jw_arr(&w);
	va_start(ap, fmt);
	rc = jw_vformat(&w, NULL, fmt, ap);
	va_end(ap);
	if (rc == CLEAT_OK)
		require(w.comma);
	else
		require(buf_size(b) == 1 && !w.comma);
	return rc;
}

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
#endif

static void try_template(const char *fmt)
{
	cleat_error err = { 0 };
	cleat_doc *doc = make(&err, fmt, ARGS);
	struct buf b;
	int rc;

	buf_init(&b, NULL, 4096);
	rc = write_to(&b, fmt, ARGS);
	if (doc) {
		require(cleat_json_type(cleat_doc_root(doc)) != CLEAT_JSON_NONE);
		require(rc == CLEAT_OK || rc == CLEAT_ELIMIT);
		if (rc == CLEAT_OK)
			compare(cleat_doc_root(doc), &b);
	} else {
		require(err.status == CLEAT_EINVAL && strncmp(err.message, "template: ", 10) == 0);
		require(rc == CLEAT_EINVAL || rc == CLEAT_ELIMIT);
	}
	cleat_doc_free(doc);
	buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *fmt = fuzz_text(data, size);

	if (fits(fmt))
		try_template(fmt);
	free(fmt);
	return 0;
}
