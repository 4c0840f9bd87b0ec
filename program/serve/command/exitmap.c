/* program/serve/command/exitmap.c - a short table, searched from its beginning (exitmap.h). */
#include "serve/command/exitmap.h"

#include "json/parse.h"

/* "0" to "255" without sign or leading zeros; -1: "*"; -2: neither. */
static int read_status(struct str s)
{
	int status = 0;

	if (str_eqz(s, "*"))
		return -1;
	if (s.n == 0 || s.n > 3 || (s.n > 1 && s.p[0] == '0'))
		return -2;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return -2;
		status = status * 10 + (s.p[i] - '0');
	}
	return status <= 255 ? status : -2;
}

static bool read_meaning(struct exit_rule *rule, struct draft *b, struct arena *ar,
			 const cleat_json *v, const cleat_json *names, bool structured)
{
	const cleat_json *error = json_member(v, "error"), *text = json_member(v, "text");
	struct str word = json_str(v);

	if (word.p && (str_eqz(word, "ok") || str_eqz(word, "error"))) {
		rule->meaning = word.p[0] == 'o' ? EXIT_OK : EXIT_ERROR;
		return true;
	}
	if (!json_is_string(error) && !json_is_string(text)) {
		conf_problem(b->conf, v,
			     "expected \"ok\", \"error\", {\"error\": text} or {\"text\": text}");
		return false;
	}
	if (text && structured) {
		conf_problem(b->conf, v, "a tool with structured output cannot answer with a text");
		return false;
	}
	rule->meaning = error ? EXIT_ERROR_TEXT : EXIT_TEXT;
	rule->text = argtext_new(b, ar, error ? error : text,
				 conf_template(b->conf, error ? error : text, ""), names);
	return rule->text;
}

bool exitmap_read(struct exitmap *m, struct draft *b, struct arena *ar, const cleat_json *node,
		  const cleat_json *names, bool structured)
{
	cleat_json_iter it = cleat_json_each(node);
	bool ok = true;

	*m = (struct exitmap){ .rules = arena_zalloc(ar, (cleat_json_size(node) + 1) *
								 sizeof *m->rules) };
	while (m->rules && cleat_json_next(&it)) {
		struct exit_rule *rule = &m->rules[m->n++];

		rule->status = read_status(json_str(it.key));
		if (rule->status == -2) {
			conf_problem(b->conf, it.value,
				     "expected a status from 0 to 255, or \"*\"");
			ok = false;
		}
		ok = read_meaning(rule, b, ar, it.value, names, structured) && ok;
	}
	return ok && m->rules;
}

const struct exit_rule *exitmap_find(const struct exitmap *m, int status)
{
	static const struct exit_rule usual[] = { { 0, EXIT_OK, NULL }, { -1, EXIT_ERROR, NULL } };
	const struct exit_rule *others = NULL;

	for (size_t i = 0; i < m->n; i++) {
		if (m->rules[i].status == status)
			return &m->rules[i];
		if (m->rules[i].status == -1)
			others = &m->rules[i];
	}
	if (status == 0)
		return &usual[0];
	return others ? others : &usual[1];
}
