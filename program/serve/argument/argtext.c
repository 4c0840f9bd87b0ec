/* program/serve/argument/argtext.c - compiling text with places, and putting values into them (argtext.h).
 *
 * A text is a list of parts, each fixed or the name of an argument. What a value looks like never changes
 * how the text is read: the parts are known before any value is. Not here: quoting of any kind, and what
 * happens with the words (process.h).
 */
#include "serve/argument/argtext.h"

#include "base/error.h"
#include "serve/argument/danger.h"
#include "serve/kit/reqmem.h"
#include "wording/show.h"
#include "json/parse.h"
#include "json/writer.h"

struct part {
	struct str text; /* fixed text, or the argument's name */
	bool is_arg;
	bool dash; /* its value may begin with '-' */
	bool all;  /* {*}: every argument */
};

struct argtext {
	size_t n;
	struct part *parts;
};

/* ---- compiling ---------------------------------------------------------------------------- */

struct compiler {
	struct arena *ar;
	const cleat_json *names; /* "properties"; NULL: any name */
	struct str text;
	enum argtext_style style;
	struct argtext *t;
	size_t cap;
	struct buf fixed; /* of the part that is being read */
	cleat_error *err;
};

static int column(const struct compiler *c, size_t at)
{
	return (int)utf8_length((struct str){ c->text.p, at }) + 1;
}

static struct part *add_part(struct compiler *c)
{
	struct argtext *t = c->t;

	if (t->n == ARGTEXT_PARTS_MAX) {
		error_set(c->err, CLEAT_ELIMIT, "more than %d places", ARGTEXT_PARTS_MAX / 2);
		return NULL;
	}
	if (t->n == c->cap) {
		size_t cap = c->cap ? 2 * c->cap : 4;
		void *grown = arena_realloc(c->ar, t->parts, c->cap * sizeof *t->parts,
					    cap * sizeof *t->parts);

		if (!grown) {
			error_set(c->err, CLEAT_ENOMEM, "out of memory");
			return NULL;
		}
		t->parts = grown;
		c->cap = cap;
	}
	t->parts[t->n] = (struct part){ .is_arg = false };
	return &t->parts[t->n++];
}

static bool end_fixed(struct compiler *c)
{
	struct str s = buf_str(&c->fixed);
	struct part *p;

	if (buf_status(&c->fixed)) {
		error_set(c->err, CLEAT_ENOMEM, "out of memory");
		return false;
	}
	if (!s.n)
		return true;
	p = add_part(c);
	if (!p)
		return false;
	p->text = (struct str){ arena_strndup(c->ar, s.p, s.n), s.n };
	buf_reset(&c->fixed, SIZE_MAX);
	return p->text.p || (error_set(c->err, CLEAT_ENOMEM, "out of memory"), false);
}

static bool declared(const struct compiler *c, struct str name)
{
	return !c->names || json_get(c->names, name);
}

/* Is it JSON or a script, rather than a name? */
static bool is_text(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (strchr(" \"'$;,", s.p[i]))
			return true;
	return false;
}

static bool argtext_unknown(struct compiler *c, struct str name, size_t at)
{
	struct str_nearest near = { .wanted = name };
	cleat_json_iter it = cleat_json_each(c->names);
	struct buf shown;

	while (cleat_json_next(&it))
		str_nearest_offer(&near, json_str(it.key));
	buf_init(&shown, &c->ar->mem, 512);
	show_quoted(&shown, name, SHOW_CHARS);
	if (near.best.p) {
		buf_appendz(&shown, " (did you mean ");
		show_name(&shown, near.best);
		buf_appendz(&shown, "?)");
	} else if (is_text(name)) {
		buf_appendz(&shown, " (a brace itself is written {{)");
	}
	error_set(c->err, CLEAT_EINVAL, "column %d: there is no argument %.*s", column(c, at),
		  STR_ARGS(buf_str(&shown)));
	buf_done(&shown);
	return false;
}

/* {*}, unless an argument has this name. */
static bool is_all(const struct compiler *c, struct str name)
{
	return c->style == ARGTEXT_STRICT && str_eqz(name, "*") && !json_get(c->names, name);
}

/* A place for `name`, which stands at `at`. */
static bool add_place(struct compiler *c, struct str name, size_t at)
{
	static const char dash[] = ":dash";
	const size_t n = sizeof dash - 1;
	struct part *p;
	bool may_dash = false, all = is_all(c, name);

	if (!json_get(c->names, name) && name.n > n && !memcmp(name.p + name.n - n, dash, n)) {
		name.n -= n;
		may_dash = true;
	}
	if (!all && !declared(c, name))
		return argtext_unknown(c, name, at);
	if (!end_fixed(c))
		return false;
	p = add_part(c);
	if (!p)
		return false;
	*p = (struct part){ { arena_strndup(c->ar, name.p, name.n), name.n }, true, may_dash, all };
	return p->text.p || (error_set(c->err, CLEAT_ENOMEM, "out of memory"), false);
}

/* What is between the brace at `i` and the next closing one; absent when there is none, or another
 * opening brace or a line's end comes first. */
static struct str inside(struct str s, size_t i)
{
	size_t from = ++i;

	while (i < s.n && s.p[i] != '}' && s.p[i] != '{' && s.p[i] != '\n')
		i++;
	if (i == s.n || s.p[i] != '}' || i == from)
		return (struct str){ NULL, 0 };
	return (struct str){ s.p + from, i - from };
}

/* One step at a brace; the index after it, or 0 on failure. */
static size_t strict_brace(struct compiler *c, size_t i)
{
	struct str s = c->text, name;

	if (i + 1 < s.n && s.p[i + 1] == s.p[i]) {
		buf_putc(&c->fixed, s.p[i]);
		return i + 2;
	}
	name = s.p[i] == '{' ? inside(s, i) : (struct str){ NULL, 0 };
	if (!name.p) {
		error_set(c->err, CLEAT_EINVAL,
			  s.p[i] == '{' ? "column %d: expected an argument's name and } after {, "
					  "or {{ for a brace"
					: "column %d: expected }} for a brace, got }",
			  column(c, i));
		return 0;
	}
	return add_place(c, name, i) ? i + name.n + 2 : 0;
}

/* A name that is nearly that of an argument is a slip, everything else is text. */
static bool is_slip(const struct compiler *c, struct str name)
{
	struct str_nearest near = { .wanted = name };
	cleat_json_iter it = cleat_json_each(c->names);

	while (cleat_json_next(&it))
		str_nearest_offer(&near, json_str(it.key));
	return near.best.p && show_is_word(name);
}

static size_t prose_brace(struct compiler *c, size_t i)
{
	struct str s = c->text, name = { NULL, 0 };
	bool twice = s.p[i] == '{' && i + 1 < s.n && s.p[i + 1] == '{';

	if (s.p[i] == '{')
		name = inside(s, twice ? i + 1 : i);
	if (twice && name.p && json_get(c->names, name) && i + name.n + 3 < s.n &&
	    s.p[i + name.n + 3] == '}') {
		buf_append(&c->fixed, s.p + i + 1, name.n + 2);
		return i + name.n + 4;
	}
	if (!twice && name.p && json_get(c->names, name))
		return add_place(c, name, i) ? i + name.n + 2 : 0;
	if (!twice && name.p && is_slip(c, name)) {
		argtext_unknown(c, name, i);
		return 0;
	}
	buf_putc(&c->fixed, s.p[i]);
	if (twice)
		buf_putc(&c->fixed, s.p[i]);
	return i + (twice ? 2 : 1);
}

static bool argtext_compile(struct compiler *c)
{
	struct str s = c->text;

	for (size_t i = 0; i < s.n;) {
		if (s.p[i] != '{' && s.p[i] != '}') {
			buf_putc(&c->fixed, s.p[i++]);
			continue;
		}
		i = c->style == ARGTEXT_PROSE ? prose_brace(c, i) : strict_brace(c, i);
		if (!i)
			return false;
	}
	return end_fixed(c);
}

const struct argtext *argtext_parse(struct arena *ar, struct str text, const cleat_json *schema,
				    enum argtext_style style, cleat_error *err)
{
	const cleat_json *names = json_member(schema, "properties");
	struct compiler c = { .ar = ar,
			      .names = schema && !names ? json_empty_object() : names,
			      .text = text,
			      .style = style,
			      .t = arena_zalloc(ar, sizeof *c.t),
			      .err = err };
	bool ok;

	if (!c.t) {
		error_set(err, CLEAT_ENOMEM, "out of memory");
		return NULL;
	}
	if (utf8_valid_prefix(text) != text.n || str_has_nul(text)) {
		error_set(err, CLEAT_EINVAL, "expected text in UTF-8 without NUL");
		return NULL;
	}
	buf_init(&c.fixed, &ar->mem, text.n + 1);
	ok = argtext_compile(&c);
	buf_done(&c.fixed);
	return ok ? c.t : NULL;
}

const struct argtext *argtext_new(struct draft *b, struct arena *ar, const cleat_json *at,
				  const char *text, const cleat_json *schema)
{
	cleat_error err;
	const struct argtext *t =
		argtext_parse(ar, str_of(text ? text : ""), schema, ARGTEXT_STRICT, &err);

	if (!t)
		conf_problem(b->conf, at, "%s", err.message);
	return t;
}

bool argtext_is_fixed(const struct argtext *t, struct str *ret)
{
	if (t->n > 1 || (t->n == 1 && t->parts[0].is_arg))
		return false;
	if (ret)
		*ret = t->n ? t->parts[0].text : STR_LIT("");
	return true;
}

bool argtext_names(const struct argtext *t, struct str name)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->parts[i].is_arg && (t->parts[i].all || str_eq(t->parts[i].text, name)))
			return true;
	return false;
}

/* ---- values ------------------------------------------------------------------------------- */

bool argtext_value(struct buf *out, const cleat_json *value)
{
	struct str s = json_str(value);
	struct jw w;

	switch (cleat_json_type(value)) {
	case CLEAT_JSON_NONE:
	case CLEAT_JSON_NULL: return false;
	case CLEAT_JSON_STRING: buf_append(out, s.p, s.n); return true;
	default:
		jw_init(&w, out);
		jw_value(&w, value);
		return true;
	}
}

static const cleat_json *value_of(const struct part *p, const cleat_json *args)
{
	if (p->all)
		return args ? args : json_empty_object();
	return json_get(args, p->text);
}

int argtext_write(const struct argtext *t, const cleat_json *args, struct buf *out,
		  bool *ret_missing)
{
	bool missing = false;

	for (size_t i = 0; i < t->n; i++) {
		const struct part *p = &t->parts[i];

		if (!p->is_arg)
			buf_append(out, p->text.p, p->text.n);
		else if (!argtext_value(out, value_of(p, args)))
			missing = true;
	}
	if (ret_missing)
		*ret_missing = missing;
	return buf_status(out);
}

/* ---- commands ----------------------------------------------------------------------------- */

struct command_words {
	struct arena *ar;
	const char **list;
	size_t n, cap;
	bool after_dashes; /* "--" has been seen: nothing is an option any more */
	struct buf word;
	cleat_error *err;
};

static bool argtext_refuse(struct command_words *w, int status, struct str name, const char *why)
{
	struct buf shown;

	buf_init(&shown, &w->ar->mem, 512);
	show_name(&shown, name);
	error_set(w->err, status, "%.*s: %s", STR_ARGS(buf_str(&shown)), why);
	buf_done(&shown);
	return false;
}

static bool add_word(struct command_words *w, struct str s)
{
	char *copy;

	if (w->n == ARGTEXT_WORDS_MAX) {
		error_set(w->err, CLEAT_ELIMIT, "more than %d words for one command",
			  ARGTEXT_WORDS_MAX);
		return false;
	}
	if (w->n + 1 >= w->cap) {
		size_t cap = w->cap ? 2 * w->cap : 16;
		void *grown = arena_realloc(w->ar, w->list, w->cap * sizeof *w->list,
					    cap * sizeof *w->list);

		if (!grown)
			return error_set(w->err, CLEAT_ENOMEM, "out of memory"), false;
		w->list = grown;
		w->cap = cap;
	}
	copy = arena_strndup(w->ar, s.p ? s.p : "", s.n);
	if (!copy)
		return error_set(w->err, CLEAT_ENOMEM, "out of memory"), false;
	w->list[w->n++] = copy;
	return true;
}

/* May this value stand here? `first`: nothing comes before it in its word. */
static bool value_fits(struct command_words *w, const struct part *p, struct str value, bool first)
{
	if (str_has_nul(value))
		return argtext_refuse(w, CLEAT_EINVAL, p->text,
				      "a NUL character cannot be given to a command");
	if (value.n > ARGTEXT_WORD_MAX)
		return argtext_refuse(w, CLEAT_ELIMIT, p->text,
				      "too long for a command line (at most 128 KB)");
	if (first && value.n && value.p[0] == '-' && !p->dash && !w->after_dashes)
		return argtext_refuse(w, CLEAT_EINVAL, p->text,
				      "a value that begins with \"-\" would be read as an option; "
				      "a file of such a name can be written ./-name");
	return true;
}

/* An array that is a whole element: one word for each of its values. */
static bool add_array(struct command_words *w, const struct part *p, const cleat_json *array)
{
	cleat_json_iter it = cleat_json_each(array);

	while (cleat_json_next(&it)) {
		buf_reset(&w->word, SIZE_MAX);
		argtext_value(&w->word, it.value);
		if (buf_status(&w->word))
			return argtext_refuse(w, buf_status(&w->word), p->text, "too long");
		if (!value_fits(w, p, buf_str(&w->word), true) || !add_word(w, buf_str(&w->word)))
			return false;
	}
	return true;
}

static bool add_element(struct command_words *w, const struct argtext *t, const cleat_json *args)
{
	buf_reset(&w->word, SIZE_MAX);
	for (size_t i = 0; i < t->n; i++) {
		const struct part *p = &t->parts[i];
		const cleat_json *v = p->is_arg ? value_of(p, args) : NULL;
		size_t before = buf_size(&w->word);

		if (p->is_arg && t->n == 1 && json_is_array(v))
			return add_array(w, p, v);
		if (!p->is_arg)
			buf_append(&w->word, p->text.p, p->text.n);
		else if (!argtext_value(&w->word, v))
			return true; /* not given: the element is left out */
		if (buf_status(&w->word))
			return argtext_refuse(w, buf_status(&w->word), p->text, "too long");
		if (p->is_arg && !value_fits(w, p,
					     (struct str){ buf_str(&w->word).p + before,
							   buf_size(&w->word) - before },
					     before == 0))
			return false;
	}
	if (buf_size(&w->word) > ARGTEXT_WORD_MAX) {
		error_set(w->err, CLEAT_ELIMIT, "too long for a command line (at most 128 KB)");
		return false;
	}
	return add_word(w, buf_str(&w->word));
}

const char **argtext_words(const struct argtext *const *elements, size_t n, const cleat_json *args,
			   struct arena *ar, cleat_error *err)
{
	struct command_words w = { .ar = ar, .err = err };
	const char **fixed = arena_zalloc(ar, (n + 1) * sizeof *fixed);
	size_t dashes;
	bool ok = true;

	if (!fixed) {
		error_set(err, CLEAT_ENOMEM, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		struct str s;

		if (argtext_is_fixed(elements[i], &s))
			fixed[i] = s.p;
	}
	dashes = danger_dashes(fixed, n);
	buf_init(&w.word, &ar->mem, 64 << 20);
	for (size_t i = 0; ok && i < n; i++) {
		w.after_dashes = i > dashes;
		ok = add_element(&w, elements[i], args);
	}
	buf_done(&w.word);
	if (!ok)
		return NULL;
	if (!w.list) {
		error_set(err, CLEAT_EINVAL, "nothing to run");
		return NULL;
	}
	w.list[w.n] = NULL;
	return w.list;
}

/* ---- in a handler ------------------------------------------------------------------------- */

const char *argtext_render(const struct argtext *t, cleat_request *req, const cleat_json *args,
			   bool *ret_missing)
{
	const cleat_allocator mem = reqmem(req);
	struct buf out;

	buf_init(&out, &mem, 64 << 20);
	argtext_write(t, args, &out, ret_missing);
	if (str_has_nul(buf_str(&out))) {
		cleat_reply_error(req, "a NUL character cannot be used here");
		return NULL;
	}
	buf_putc(&out, '\0');
	if (!buf_status(&out))
		return buf_str(&out).p;
	cleat_reply_error(req, "%s", cleat_strstatus(buf_status(&out)));
	return NULL;
}
