/* program/serve/config/oneline.c - signature, colon, command (oneline.h). */
#include "serve/config/oneline.h"

#include "base/buf.h"
#include "base/error.h"
#include "field/field.h"
#include "field/signature.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip_blanks(const char *p)
{
	while (is_blank(*p))
		p++;
	return p;
}

static size_t columns(const char *from, const char *to)
{
	return utf8_length((struct str){ from, (size_t)(to - from) });
}

static const char *schema_text(struct arena *ar, const cleat_field *fields)
{
	const char *text = NULL;
	struct buf b;
	struct jw w;

	buf_init(&b, &ar->mem, 1 << 20);
	jw_init(&w, &b);
	field_write_schema(&w, fields, FIELD_SCHEMA_ARGUMENTS);
	if (!buf_status(&b))
		text = arena_strndup(ar, buf_str(&b).p, buf_size(&b));
	buf_done(&b);
	return text;
}

int oneline_parse(struct arena *ar, const char *text, struct oneline *ret, cleat_error *err)
{
	struct signature sig;
	const char *rest, *end;
	int rc;

	if (strlen(text) > ONELINE_MAX)
		return error_set(err, CLEAT_ELIMIT, "longer than %d bytes", ONELINE_MAX);
	if (utf8_valid_prefix(str_of(text)) != strlen(text))
		return error_set(err, CLEAT_EINVAL, "expected UTF-8");
	rc = signature_parse(ar, text, &sig, &rest, err);
	if (rc)
		return rc;
	rest = skip_blanks(rest);
	if (*rest != ':')
		return error_set(err, CLEAT_EINVAL,
				 "column %zu: expected a colon and what to run, as in "
				 "NAME(path: string): du -sh ...",
				 columns(text, rest) + 1);
	rest = skip_blanks(rest + 1);
	end = rest + strlen(rest);
	if (rest == end)
		return error_set(err, CLEAT_EINVAL, "column %zu: expected what to run, got nothing",
				 columns(text, rest) + 1);
	while (is_blank(end[-1]))
		end--;
	*ret = (struct oneline){ .name = sig.name,
				 .schema = schema_text(ar, sig.fields),
				 .description = sig.description,
				 .rest = arena_strndup(ar, rest, (size_t)(end - rest)),
				 .column = columns(text, rest) + 1 };
	if (ret->schema && ret->rest)
		return CLEAT_OK;
	return error_set(err, CLEAT_ENOMEM, "out of memory");
}

/* One word; after it, or NULL when a quote is not closed: then *quote is where it was opened. */
static const char *read_word(const char *p, struct buf *word, const char **quote)
{
	char open = 0;

	for (; *p && (open || !is_blank(*p)); p++) {
		if (open ? *p == open : *p == '\'' || *p == '"') {
			if (!open)
				*quote = p;
			open = open ? 0 : *p;
		} else if (*p == '\\' && open != '\'' && p[1] &&
			   (!open || p[1] == '"' || p[1] == '\\')) {
			buf_putc(word, *++p);
		} else {
			buf_putc(word, *p);
		}
	}
	return open ? NULL : p;
}

int oneline_words(struct arena *ar, const char *text, size_t column, const char *const **ret,
		  cleat_error *err)
{
	const char **list = arena_alloc(ar, (ONELINE_WORDS_MAX + 1) * sizeof *list);
	const char *p = skip_blanks(text), *quote = NULL;
	size_t n = 0;
	struct buf word;

	if (!list)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	buf_init(&word, &ar->mem, strlen(text) + 1);
	for (; *p; p = skip_blanks(p)) {
		if (n == ONELINE_WORDS_MAX) {
			buf_done(&word);
			return error_set(err, CLEAT_ELIMIT, "column %zu: more than %d words",
					 column + columns(text, p), ONELINE_WORDS_MAX);
		}
		buf_truncate(&word, 0);
		p = read_word(p, &word, &quote);
		if (!p) {
			buf_done(&word);
			return error_set(err, CLEAT_EINVAL, "column %zu: %c is never closed",
					 column + columns(text, quote), *quote);
		}
		list[n] =
			arena_strndup(ar, buf_size(&word) ? buf_str(&word).p : "", buf_size(&word));
		if (!list[n++] || buf_status(&word)) {
			buf_done(&word);
			return error_set(err, CLEAT_ENOMEM, "out of memory");
		}
	}
	buf_done(&word);
	list[n] = NULL;
	if (!n)
		return error_set(err, CLEAT_EINVAL, "column %zu: expected a command", column);
	*ret = list;
	return CLEAT_OK;
}
