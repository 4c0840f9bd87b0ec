/* program/check/protocol_types.c - a type of protocol_table.c to JSON Schema.
 *
 * The tables are ours and are walked completely by the tests, so there is no error handling: a type that
 * is not known is one that nothing fits.
 */
#include "check/protocol_types.h"

#include <string.h>

struct type_reader {
	const char *at;
	char revision;
	const char *base;
};

static const struct {
	const char *word, *schema;
} basic[] = {
	{ "str", "{\"type\":\"string\"}" },
	{ "num", "{\"type\":\"number\"}" },
	{ "int", "{\"type\":\"integer\"}" },
	{ "nat", "{\"type\":\"integer\",\"minimum\":0}" },
	{ "unit", "{\"type\":\"number\",\"minimum\":0,\"maximum\":1}" },
	{ "bool", "{\"type\":\"boolean\"}" },
	{ "null", "{\"type\":\"null\"}" },
	{ "obj", "{\"type\":\"object\"}" },
	{ "any", "true" },
	{ "str100", "{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":100}" },
};

const struct protocol_type *protocol_type_find(const char *name, size_t n, char revision)
{
	for (const struct protocol_type *t = protocol_types; t->name; t++)
		if (strlen(t->name) == n && memcmp(t->name, name, n) == 0 &&
		    strchr(t->revisions, revision))
			return t;
	return NULL;
}

static void read_type(struct type_reader *r, struct text *to);

static size_t name_length(const char *at)
{
	return strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_$./0123456789-");
}

static bool eat(struct type_reader *r, char c)
{
	bool yes = *r->at == c;

	r->at += yes;
	return yes;
}

static void skip_spaces(struct type_reader *r)
{
	r->at += strspn(r->at, " ");
}

/* ---- objects ------------------------------------------------------------------------------------- */

struct members {
	struct text properties, required;
};

static void read_members(struct type_reader *r, struct members *m);

/* "@cd" behind a field: is it one of this revision? */
static bool in_revision(struct type_reader *r)
{
	const char *start;

	if (!eat(r, '@'))
		return true;
	start = r->at;
	r->at += strspn(r->at, "abcde");
	return memchr(start, r->revision, (size_t)(r->at - start)) != NULL;
}

static void include(struct type_reader *r, struct members *m)
{
	size_t n = name_length(r->at);
	const struct protocol_type *t = protocol_type_find(r->at, n, r->revision);
	struct type_reader inner = { .revision = r->revision, .base = r->base };

	r->at += n;
	inner.at = t ? t->type : "";
	if (eat(&inner, '{'))
		read_members(&inner, m);
}

static void read_field(struct type_reader *r, struct members *m)
{
	const char *key = r->at;
	size_t n = name_length(key);
	struct text schema = { 0 };
	bool optional;

	r->at += n;
	optional = eat(r, '?');
	eat(r, ':');
	read_type(r, &schema);
	if (!in_revision(r)) {
		text_free(&schema);
		return;
	}
	text_puts(&m->properties, m->properties.n ? "," : "");
	text_json(&m->properties, key, n);
	text_puts(&m->properties, ":");
	text_puts(&m->properties, text_str(&schema));
	if (!optional) {
		text_puts(&m->required, m->required.n ? "," : "");
		text_json(&m->required, key, n);
	}
	text_free(&schema);
}

static void read_members(struct type_reader *r, struct members *m)
{
	for (;;) {
		skip_spaces(r);
		if (eat(r, '}') || !*r->at)
			return;
		if (eat(r, '&'))
			include(r, m);
		else
			read_field(r, m);
	}
}

static void read_object(struct type_reader *r, struct text *to)
{
	struct members m = { 0 };

	read_members(r, &m);
	text_printf(to, "{\"type\":\"object\",\"properties\":{%s},\"required\":[%s]}",
		    text_str(&m.properties), text_str(&m.required));
	text_free(&m.properties);
	text_free(&m.required);
}

/* ---- one of several ------------------------------------------------------------------------------ */

static void read_name(struct type_reader *r, struct text *to)
{
	const char *name = r->at;
	size_t n = name_length(name);

	r->at += n;
	for (size_t i = 0; i < CLEAT_COUNT(basic); i++)
		if (strlen(basic[i].word) == n && memcmp(basic[i].word, name, n) == 0) {
			text_puts(to, basic[i].schema);
			return;
		}
	if (protocol_type_find(name, n, r->revision))
		text_printf(to, "{\"$ref\":\"%s#/$defs/%.*s\"}", r->base, (int)n, name);
	else
		text_puts(to, "false");
}

/* A type with what comes after it: "str[]", "(str|num){}". */
static void read_one(struct type_reader *r, struct text *to)
{
	struct text inner = { 0 };

	if (eat(r, '(')) {
		read_type(r, &inner);
		eat(r, ')');
	} else if (eat(r, '{')) {
		read_object(r, &inner);
	} else {
		read_name(r, &inner);
	}
	for (;;) {
		const char *form = strncmp(r->at, "[]", 2) == 0 ? "{\"type\":\"array\",\"items\":"
				   : strncmp(r->at, "{}", 2) == 0
					   ? "{\"type\":\"object\",\"additionalProperties\":"
					   : NULL;
		char *before;

		if (!form)
			break;
		r->at += 2;
		before = text_take(&inner);
		text_printf(&inner, "%s%s}", form, before);
		keep(before);
	}
	text_puts(to, text_str(&inner));
	text_free(&inner);
}

static void read_words(struct type_reader *r, struct text *to)
{
	text_puts(to, "{\"enum\":[");
	for (bool first = true; eat(r, '\''); first = false) {
		size_t n = strcspn(r->at, "'");

		text_puts(to, first ? "" : ",");
		text_json(to, r->at, n);
		r->at += n + 1;
		eat(r, '|');
	}
	text_puts(to, "]}");
}

/* The word that a type has under a key: type:'text'. */
static const char *word_under(const struct protocol_type *t, const char *key, size_t n,
			      size_t *ret_n)
{
	const char *at = t->type;

	while ((at = strstr(at, ":'")) != NULL) {
		if ((size_t)(at - t->type) > n && memcmp(at - n, key, n) == 0) {
			*ret_n = strcspn(at + 2, "'");
			return at + 2;
		}
		at += 2;
	}
	*ret_n = 0;
	return "";
}

/* <key>A|B: the word must be one of theirs, and then the rest is that one's. This says more about what is
 * wrong than "none of them". */
static void read_told(struct type_reader *r, struct text *to)
{
	const char *key = r->at;
	size_t n = strcspn(key, ">");
	struct text words = { 0 }, cases = { 0 };

	r->at += n + 1;
	do {
		size_t name_n = name_length(r->at), word_n;
		const struct protocol_type *t = protocol_type_find(r->at, name_n, r->revision);
		const char *word = t ? word_under(t, key, n, &word_n) : (word_n = 0, "");

		text_puts(&words, words.n ? "," : "");
		text_json(&words, word, word_n);
		text_puts(&cases, cases.n ? "," : "");
		text_printf(&cases,
			    "{\"if\":{\"properties\":{\"%.*s\":{\"const\":\"%.*s\"}}},"
			    "\"then\":{\"$ref\":\"%s#/$defs/%.*s\"}}",
			    (int)n, key, (int)word_n, word, r->base, (int)name_n, r->at);
		r->at += name_n;
	} while (eat(r, '|'));
	text_printf(
		to,
		"{\"type\":\"object\",\"required\":[\"%.*s\"],\"properties\":{\"%.*s\":{\"enum\":[%s]}},"
		"\"if\":{\"type\":\"object\",\"required\":[\"%.*s\"],\"properties\":{\"%.*s\":{\"enum\":[%s]}}},"
		"\"then\":{\"allOf\":[%s]}}",
		(int)n, key, (int)n, key, text_str(&words), (int)n, key, (int)n, key,
		text_str(&words), text_str(&cases));
	text_free(&words);
	text_free(&cases);
}

static void read_type(struct type_reader *r, struct text *to)
{
	struct text all = { 0 };
	unsigned n = 0;
	bool many;

	if (*r->at == '\'') {
		read_words(r, to);
		return;
	}
	if (eat(r, '<')) {
		read_told(r, to);
		return;
	}
	do {
		text_puts(&all, n++ ? "," : "");
		read_one(r, &all);
	} while (eat(r, '|'));
	many = n > 1;
	text_printf(to, "%s%s%s", many ? "{\"anyOf\":[" : "", text_str(&all), many ? "]}" : "");
	text_free(&all);
}

void protocol_schema(struct text *to, const char *type, char revision, const char *base)
{
	struct type_reader r = { .at = type, .revision = revision, .base = base };

	read_type(&r, to);
}

void protocol_schema_all(struct text *to, char revision, const char *base)
{
	bool first = true;

	text_puts(to, "{\"$defs\":{");
	for (const struct protocol_type *t = protocol_types; t->name; t++) {
		if (!strchr(t->revisions, revision))
			continue;
		text_printf(to, "%s\"%s\":", first ? "" : ",", t->name);
		protocol_schema(to, t->type, revision, base);
		first = false;
	}
	text_puts(to, "}}");
}
