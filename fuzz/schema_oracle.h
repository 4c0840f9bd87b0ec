/* fuzz/schema_oracle.h - what always holds when a value is checked with a schema, whatever they are:
 * asking in any way gives one verdict, every time; a value that does not fit has a problem in words,
 * and they are words: one line, UTF-8, a pointer that leads somewhere.
 */
#ifndef FUZZ_SCHEMA_ORACLE_H
#define FUZZ_SCHEMA_ORACLE_H

#include "base/buf.h"
#include "base/str.h"
#include "schema/check.h"
#include "json/parse.h"

#include <cleat/schema.h>

#include <stdlib.h>
#include <string.h>

#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)

static inline void oracle_line(const char *line, size_t most)
{
	size_t n = strlen(line);

	MUST(n > 0 && n <= most);
	MUST(utf8_valid_prefix((struct str){ line, n }) == n);
	for (size_t i = 0; i < n; i++)
		MUST((unsigned char)line[i] >= 0x20 && line[i] != 0x7F);
}

static inline void oracle_problem(void *ctx, const cleat_schema_problem *p)
{
	++*(size_t *)ctx;
	oracle_line(p->line, 8192);
	MUST(p->path[0] == '\0' || p->path[0] == '/');
	MUST(strchr(p->schema_path, '#'));
}

static inline void oracle_check(const cleat_schema *s, const cleat_json *value)
{
	cleat_error err = { 0 };
	int rc = cleat_schema_check(s, value, &err), strict;
	size_t told = 0;
	struct buf b;

	MUST(rc == CLEAT_OK || rc == CLEAT_EINVAL || rc == CLEAT_ELIMIT);
	if (rc != CLEAT_OK) {
		MUST(err.status == rc);
		oracle_line(err.message, sizeof err.message - 1);
	}
	MUST(cleat_schema_check(s, value, NULL) == rc);
	MUST(cleat_schema_explain(s, value, oracle_problem, &told, &err) == rc);
	MUST(rc == CLEAT_EINVAL ? told > 0 && told <= 10 : told == 0);
	buf_init(&b, NULL, 1 << 20);
	strict = schema_check(s, value, "argument", &b);
	MUST(strict == rc || (rc == CLEAT_OK && strict == CLEAT_EINVAL &&
			      json_check_all_keys(value, NULL) != CLEAT_OK));
	MUST((buf_size(&b) > 0) == (strict != CLEAT_OK));
	buf_done(&b);
}

#endif
