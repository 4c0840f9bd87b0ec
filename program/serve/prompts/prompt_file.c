/* program/serve/prompts/prompt_file.c - a Markdown file as a prompt (prompt.h).
 *
 * Arguments stand in front matter as the inside of a signature ("args: path: string, depth?: integer") or as a
 * list, as other programs write it:
 *
 *	arguments:
 *	  - name: path
 *	    description: What to look at
 *	    required: true
 *
 * Keys that mean nothing here are left alone: such files are shared with other programs.
 */
#include "serve/prompts/prompt.h"

#include "base/buf.h"
#include "base/error.h"
#include "field/signature.h"
#include "serve/prompts/frontmatter.h"
#include "json/parse.h"

/* ---- messages ----------------------------------------------------------------------------- */

static const char *role_of(struct str line)
{
	while (line.n && strchr(" \t\r", line.p[line.n - 1]) && line.p[line.n - 1])
		line.n--;
	if (str_eqz(line, "## user"))
		return "user";
	return str_eqz(line, "## assistant") ? "assistant" : NULL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Without blank lines before and white space behind. */
static struct str trim(struct str s)
{
	size_t start = 0;

	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	for (size_t i = 0; i < s.n && is_blank(s.p[i]); i++)
		if (s.p[i] == '\n')
			start = i + 1;
	return (struct str){ s.p + start, s.n - start };
}

size_t prompt_split(struct str body, struct prompt_message ret[PROMPT_MESSAGES_MAX])
{
	const char *role = "user";
	size_t n = 0, from = 0, next;
	bool implied = true; /* nobody has said "## user" yet */

	for (size_t at = 0; at <= body.n; at = next) {
		const char *end = at < body.n ? memchr(body.p + at, '\n', body.n - at) : NULL;
		size_t len = end ? (size_t)(end - body.p) - at : body.n - at;
		const char *other = role_of((struct str){ body.p + at, len });

		next = at + len + 1;
		if (!other && next <= body.n)
			continue;
		if (n == PROMPT_MESSAGES_MAX)
			return 0;
		ret[n] = (struct prompt_message){
			role, trim((struct str){ body.p + from, (other ? at : body.n) - from })
		};
		/* Nothing before the first heading is not a message. */
		n += !implied || ret[n].text.n || !other;
		if (!other)
			break;
		role = other;
		implied = false;
		from = next < body.n ? next : body.n;
		if (next > body.n) { /* a heading is the last line */
			if (n == PROMPT_MESSAGES_MAX)
				return 0;
			ret[n++] = (struct prompt_message){ role, STR_LIT("") };
		}
	}
	return n;
}

/* ---- arguments ---------------------------------------------------------------------------- */

static int fields_of_list(struct arena *ar, const cleat_json *list, const cleat_field **ret,
			  cleat_error *err)
{
	size_t n = cleat_json_size(list);
	cleat_field *fields = arena_zalloc(ar, (n + 1) * sizeof *fields), *f = fields;
	cleat_json_iter it = cleat_json_each(list);

	if (!fields)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	if (n > SIGNATURE_ARGS)
		return error_set(err, CLEAT_ELIMIT, "more than %d arguments", SIGNATURE_ARGS);
	for (; cleat_json_next(&it); f++) {
		const cleat_json *v = it.value;

		*f = (cleat_field){
			.name = cleat_json_str(json_is_string(v) ? v : json_member(v, "name"), ""),
			.doc = cleat_json_str(json_member(v, "description"), NULL),
			.title = cleat_json_str(json_member(v, "title"), NULL),
			.type = CLEAT_T_STRING,
			.optional = !cleat_json_bool(json_member(v, "required"), json_is_string(v)),
		};
		if (!f->name[0])
			return error_set(err, CLEAT_EINVAL, "argument %zu has no name",
					 it.index + 1);
	}
	*ret = fields;
	return CLEAT_OK;
}

static int read_fields(struct arena *ar, const cleat_json *front, const cleat_field **ret,
		       cleat_error *err)
{
	const cleat_json *args = json_member(front, "args");

	if (!args)
		args = json_member(front, "arguments");
	if (json_is_array(args))
		return fields_of_list(ar, args, ret, err);
	if (!json_is_string(args))
		return CLEAT_OK;
	return signature_parse_args(ar, cleat_json_str(args, ""), ret, err);
}

int prompt_file_parse(struct arena *ar, struct str text, struct prompt_file *ret, cleat_error *err)
{
	const cleat_json *front;
	cleat_error why;
	int rc;

	*ret = (struct prompt_file){ .name = NULL };
	rc = frontmatter_split(ar, text, &front, &ret->body, err);
	if (rc)
		return rc;
	ret->name = cleat_json_str(json_member(front, "name"), NULL);
	ret->title = cleat_json_str(json_member(front, "title"), NULL);
	ret->description = cleat_json_str(json_member(front, "description"), NULL);
	rc = read_fields(ar, front, &ret->fields, &why);
	return rc ? error_set(err, rc, "args: %s", why.message) : CLEAT_OK;
}
