/* program/serve/command/slips.c - shell syntax without a shell, places in a script, arguments without a use (slips.h).
 *
 * It reads the texts as they were written, before variables are replaced: a remark is about what somebody typed.
 * A rule that would be wrong about something useful (jq's own $x, find's ";", a script that hands its variables
 * on) stays silent.
 */
#include "serve/command/slips.h"

#include "base/str.h"
#include "json/parse.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN_MAX = 60, REMARK_MAX = 400 };

#define SHOWN(s) ((s).n < SHOWN_MAX ? (int)(s).n : SHOWN_MAX), (s).p

struct slips {
	const cleat_json *node;
	bool typed;
	slips_tell *tell;
	void *ctx;
};

static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* ${name} is no {name}. */
static bool has(struct str s, const char *part, struct str name, const char *end)
{
	size_t before = strlen(part), behind = strlen(end), n = before + name.n + behind;

	for (size_t i = 0; n <= s.n && i <= s.n - n; i++)
		if ((i == 0 || s.p[i - 1] != '$') && !memcmp(s.p + i, part, before) &&
		    !memcmp(s.p + i + before, name.p, name.n) &&
		    !memcmp(s.p + i + before + name.n, end, behind))
			return true;
	return false;
}

/* Is $name or ${name...} in it? */
static bool has_variable(struct str s, struct str name)
{
	for (size_t i = 0; i + 1 < s.n; i++) {
		size_t at = i + 1 + (s.p[i + 1] == '{');

		if (s.p[i] == '$' && at + name.n <= s.n && !memcmp(s.p + at, name.p, name.n) &&
		    (at + name.n == s.n || !is_word_char(s.p[at + name.n])))
			return true;
	}
	return false;
}

static bool has_place(struct str s, struct str name)
{
	return has(s, "{", name, "}") || has(s, "{", name, ":dash}") ||
	       has(s, "{", STR_LIT("*"), "}");
}

/* Is there a place for it among the members of a list or an object, or in the text? */
static bool is_placed(const cleat_json *texts, struct str name)
{
	cleat_json_iter it = cleat_json_each(texts);

	if (cleat_json_type(texts) == CLEAT_JSON_STRING)
		return has_place(json_str(texts), name);
	while (cleat_json_next(&it))
		if (has_place(json_str(it.value), name))
			return true;
	return false;
}

static bool is_used(const struct slips *s, struct str name)
{
	return is_placed(json_member(s->node, "cmd"), name) ||
	       is_placed(json_member(s->node, "stdin"), name) ||
	       is_placed(json_member(s->node, "env"), name);
}

/* ---- commands ----------------------------------------------------------------------------- */

/* Words that only a shell understands. */
static bool is_operator(struct str word)
{
	static const char *const all[] = { "|", "||", "&&", ">", ">>", "<", "2>", "2>&1", "&>" };

	for (size_t i = 0; i < CLEAT_COUNT(all); i++)
		if (str_eqz(word, all[i]))
			return true;
	return false;
}

/* Programs for which some of them are operators, too. */
static bool takes_operators(struct str program)
{
	return str_eqz(program, "expr") || str_eqz(program, "test") || str_eqz(program, "[");
}

static void look_at_words(const struct slips *s, const cleat_json *cmd)
{
	struct str program = json_str(cleat_json_at(cmd, 0));
	cleat_json_iter it = cleat_json_each(cmd);
	char text[REMARK_MAX];

	while (cleat_json_next(&it)) {
		struct str word = json_str(it.value);

		if (is_operator(word) && !takes_operators(program))
			snprintf(
				text, sizeof text,
				"\"%.*s\" is passed to %.*s as a word, because there is no shell: a "
				"script is \"sh\" (or --sh)",
				SHOWN(word), SHOWN(program));
		else if (str_eqz(word, "~") || str_starts(word, "~/"))
			snprintf(text, sizeof text,
				 "\"%.*s\" is taken literally, because there is no shell: write "
				 "the whole path",
				 SHOWN(word));
		else
			continue;
		s->tell(s->ctx, it.value, text);
		return; /* one is enough to see it */
	}
}

static void unused_in_command(const struct slips *s, const cleat_json *cmd, struct str name)
{
	cleat_json_iter it = cleat_json_each(cmd);
	char text[REMARK_MAX];

	while (cleat_json_next(&it)) {
		if (!has_variable(json_str(it.value), name))
			continue;
		snprintf(
			text, sizeof text,
			"\"$%.*s\" is not a variable here, because there is no shell: write {%.*s}",
			SHOWN(name), SHOWN(name));
		s->tell(s->ctx, it.value, text);
		return;
	}
	snprintf(text, sizeof text,
		 "argument \"%.*s\" is used nowhere: write {%.*s} where it belongs", SHOWN(name),
		 SHOWN(name));
	s->tell(s->ctx, cmd, text);
}

/* ---- scripts ------------------------------------------------------------------------------ */

/* The next variable that the script reads, from *i on. */
static struct str next_variable(struct str s, size_t *i)
{
	while (*i + 1 < s.n) {
		size_t from = *i + 1, to;

		if (s.p[(*i)++] != '$')
			continue;
		from += s.p[from] == '{';
		for (to = from; to < s.n && is_word_char(s.p[to]); to++)
			;
		if (to > from)
			return (struct str){ s.p + from, to - from };
	}
	return (struct str){ NULL, 0 };
}

/* A variable of the script that nobody sets and whose name is nearly this one. */
static struct str misspelt(const struct slips *s, struct str script, const cleat_json *properties,
			   struct str name)
{
	struct str_nearest near = { .wanted = name };
	struct str found;

	for (size_t i = 0; found = next_variable(script, &i), found.p;)
		if (!json_get(properties, found) && !json_get(json_member(s->node, "env"), found) &&
		    !has(script, "", found, "=") && !has(script, "for ", found, " ") &&
		    !has(script, "read ", found, ""))
			str_nearest_offer(&near, found);
	return near.best;
}

static void unused_in_script(const struct slips *s, const cleat_json *sh,
			     const cleat_json *properties, struct str name)
{
	struct str script = json_str(sh), found;
	char text[REMARK_MAX];

	if (has_variable(script, name))
		return;
	found = misspelt(s, script, properties, name);
	if (has(script, "{", name, "}"))
		snprintf(text, sizeof text,
			 "{%.*s} is just text in a script, where an argument is a variable: write "
			 "\"$%.*s\"",
			 SHOWN(name), SHOWN(name));
	else if (found.p)
		snprintf(text, sizeof text, "$%.*s is not an argument; did you mean $%.*s?",
			 SHOWN(found), SHOWN(name));
	else if (s->typed)
		snprintf(
			text, sizeof text,
			"argument \"%.*s\" is used nowhere: write \"$%.*s\", and the tool in single "
			"quotes, so that your own shell leaves it alone",
			SHOWN(name), SHOWN(name));
	else
		return; /* it is for what the script starts */
	s->tell(s->ctx, sh, text);
}

/* ---- both --------------------------------------------------------------------------------- */

void slips_find(const cleat_json *node, const cleat_json *names, bool typed, slips_tell *tell,
		void *ctx)
{
	const cleat_json *cmd = json_member(node, "cmd"), *sh = json_member(node, "sh");
	const cleat_json *properties = json_member(names, "properties");
	const struct slips s = { node, typed, tell, ctx };
	cleat_json_iter it = cleat_json_each(properties);

	if (cmd)
		look_at_words(&s, cmd);
	while (cleat_json_next(&it)) {
		struct str name = json_str(it.key);

		if (is_used(&s, name))
			continue;
		if (cmd)
			unused_in_command(&s, cmd, name);
		else
			unused_in_script(&s, sh, properties, name);
	}
}

static void warn(void *ctx, const cleat_json *at, const char *text)
{
	struct draft *b = ctx;

	draft_say(b, CLEAT_LOG_WARNING, "%s: %s", conf_where(b->conf, at), text);
}

/* The words of a command are no secret: ps(1) shows them to everybody. */
static void warn_of_secrets(struct draft *b, const cleat_json *cmd)
{
	cleat_json_iter it = cleat_json_each(cmd);

	while (cleat_json_next(&it))
		if (conf_is_secret(b->conf, it.value))
			warn(b, it.value,
			     "every user of this machine can see the words of a command, so this "
			     "is no place for a secret: give it in \"env\", or as \"stdin\"");
}

void slips_warn(struct draft *b, const cleat_json *node, const cleat_json *names)
{
	slips_find(node, names, conf_is_typed(b->conf, node), warn, b);
	warn_of_secrets(b, cleat_json_get(node, "cmd"));
}
