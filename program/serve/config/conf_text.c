/* program/serve/config/conf_text.c - text of a configuration: variables and secrets, paths, times and sizes.
 *
 * This is not program/clients/expand.c, which follows what editors write into their files (${workspaceFolder},
 * ${input:...}, no way to write a $): here a name is looked for in "vars", in "secrets" and in the
 * environment, $$ is a $, and what a secret has gone into is known.
 *
 * A variable's own text is expanded when it is first used; one that needs itself is a problem. What is put
 * in is never looked at again, so a secret or an environment variable may contain anything.
 */
#include "serve/config/conf_impl.h"

#include "base/mem.h"
#include "json/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { TEXT_MAX = 1 << 20, SECRET_MAX = 64 << 10, WORDS_MAX = 10000, DEPTH_MAX = 200 };

/* ---- words: variables and secrets ---- */

static struct conf_word *find_word(const struct conf *c, struct str name)
{
	for (size_t i = 0; i < c->n_words; i++)
		if (str_eq(json_str(c->words[i].key), name))
			return &c->words[i];
	return NULL;
}

static void add_words(struct conf *c, const cleat_json *object, bool secret)
{
	cleat_json_iter it = cleat_json_each(object);

	while (cleat_json_next(&it)) {
		struct conf_word *before = find_word(c, json_str(it.key));

		if (before && before->secret != secret) {
			conf_problem(c, it.key, "%s is %s already (%s)", cleat_json_str(it.key, ""),
				     before->secret ? "a secret" : "a variable",
				     conf_where(c, before->key));
			continue;
		}
		if (before) /* the first file has the last word */
			continue;
		if (mem_grow(&c->mem, (void **)&c->words, &c->cap_words, c->n_words,
			     sizeof *c->words, WORDS_MAX)) {
			c->no_memory = true;
			return;
		}
		c->words[c->n_words++] =
			(struct conf_word){ .key = it.key, .value = it.value, .secret = secret };
	}
}

void conf_ready(struct conf *c)
{
	for (size_t i = 0; i < c->n_files; i++) {
		add_words(c, cleat_json_get(c->files[i].root, "vars"), false);
		add_words(c, cleat_json_get(c->files[i].root, "secrets"), true);
	}
	c->ready = true;
}

/* ---- expansion ---- */

struct expansion {
	struct conf *c;
	const cleat_json *at; /* for problems */
	bool secret;          /* one has gone into it */
	bool early;           /* "vars" and "secrets" are not known yet */
	bool quiet;           /* problems are not told */
	bool braces;          /* those that come in are doubled */
	unsigned depth;
};

static const char *expand(struct expansion *x, const cleat_json *v);

#define PROBLEM(x, at, ...)                                                                        \
	do {                                                                                       \
		if (!(x)->quiet)                                                                   \
			conf_problem((x)->c, (at), __VA_ARGS__);                                   \
	} while (0)

static const char *home(void)
{
	const char *h = getenv("HOME");

	return h && *h ? h : "/";
}

/* The value from a file, without the end of its last line. */
static const char *read_secret(struct expansion *x, const char *path)
{
	char *text = arena_alloc(&x->c->arena, SECRET_MAX + 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), saved;
	size_t n = 0;
	ssize_t got = -1;

	if (!text)
		errno = ENOMEM;
	while (text && fd >= 0 && (got = read(fd, text + n, SECRET_MAX + 1 - n)) > 0)
		n += (size_t)got;
	saved = errno;
	if (fd >= 0)
		close(fd);
	if (fd < 0 || got < 0) {
		PROBLEM(x, x->at, "cannot read the secret from %s: %s", path, strerror(saved));
		return NULL;
	}
	while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
		n--;
	if (!n || n > SECRET_MAX || memchr(text, 0, n)) {
		PROBLEM(x, x->at, "%s holds no secret: %s", path,
			!n               ? "it is empty"
			: n > SECRET_MAX ? "it is too long"
					 : "there is a NUL byte in it");
		return NULL;
	}
	text[n] = 0;
	return text;
}

static const char *secret_value(struct expansion *x, const struct conf_word *w)
{
	const cleat_json *env = cleat_json_get(w->value, "env");
	const cleat_json *file = cleat_json_get(w->value, "file");
	const char *value;

	if (file) {
		value = conf_path_at(x->c, file);
		return value ? read_secret(x, value) : NULL;
	}
	value = getenv(cleat_json_str(env, ""));
	if (value &&
	    *value) /* one that is empty would go out as one, and be refused by somebody else */
		return value;
	PROBLEM(x, env ? env : w->value, "the secret is to come from the environment, but %s is %s",
		cleat_json_str(env, ""), value ? "empty" : "not set");
	return NULL;
}

static const char *word_value(struct expansion *x, struct conf_word *w)
{
	struct expansion inner = {
		.c = x->c, .at = w->value, .depth = x->depth + 1, .quiet = x->quiet
	};

	if (w->busy) {
		PROBLEM(x, x->at, "${%s} needs itself", cleat_json_str(w->key, ""));
		return NULL;
	}
	if (inner.depth > DEPTH_MAX) {
		PROBLEM(x, x->at,
			"${%s} stands at the end of a chain of more than %d variables that need one "
			"another",
			cleat_json_str(w->key, ""), DEPTH_MAX);
		return NULL;
	}
	if (!w->text && !w->bad) {
		w->busy = true;
		w->text = w->secret ? secret_value(&inner, w) : expand(&inner, w->value);
		w->busy = false;
		w->bad = !w->text && !x->quiet;
		w->secret |= inner.secret;
	}
	x->secret |= w->secret;
	return w->text;
}

static bool is_word(struct str s, const char *word)
{
	return str_eqz(s, word);
}

static const char *unknown_name(struct conf *c, struct str name)
{
	static const char words[] =
		"is neither in \"vars\" nor in \"secrets\" nor set in the environment";
	struct str_nearest near = { .wanted = name };
	const char *text = NULL;

	str_nearest_offer(&near, STR_LIT("configDir"));
	str_nearest_offer(&near, STR_LIT("home"));
	for (size_t i = 0; i < c->n_words; i++)
		str_nearest_offer(&near, json_str(c->words[i].key));
	if (near.best.p)
		text = arena_printf(&c->arena, "%s (did you mean ${%.*s}?)", words,
				    STR_ARGS(near.best));
	return text ? text : words;
}

/* The value of a name. NULL: *why says why, or a problem was added already. */
static const char *value_of(struct expansion *x, struct str name, const char **why)
{
	struct conf_word *w = x->early ? NULL : find_word(x->c, name);
	bool env = str_starts(name, "env:");
	const char *value;
	char *z;

	*why = NULL;
	if (is_word(name, "configDir"))
		return conf_dir(x->c, x->at);
	if (is_word(name, "home"))
		return home();
	if (w)
		return word_value(x, w);
	z = arena_strndup(&x->c->arena, name.p + (env ? 4 : 0), name.n - (env ? 4 : 0));
	if (!z)
		return NULL;
	value = getenv(z);
	if (!value && x->early)
		*why = "is not set in the environment (variables of this file are not known before all "
		       "files are read)";
	else if (!value && env)
		*why = "is not set in the environment";
	else if (!value)
		*why = unknown_name(x->c, name);
	return value;
}

static void conf_text_put(const struct expansion *x, struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (x->braces && (s.p[i] == '{' || s.p[i] == '}'))
			buf_putc(out, s.p[i]);
		buf_putc(out, s.p[i]);
	}
}

/* What is between ${ and }. */
static bool put_value(struct expansion *x, struct buf *out, struct str inner)
{
	const char *why = NULL, *value, *mark = NULL;
	struct str name = inner;

	for (size_t i = 0; i + 1 < inner.n && !mark; i++)
		if (inner.p[i] == ':' && inner.p[i + 1] == '-')
			mark = inner.p + i;
	if (mark)
		name.n = (size_t)(mark - inner.p);
	value = name.n ? value_of(x, name, &why) : NULL;
	if (mark && (why || (value && !*value))) {
		conf_text_put(x, out, (struct str){ mark + 2, inner.n - name.n - 2 });
		return true;
	}
	if (!value && (why || !name.n))
		PROBLEM(x, x->at, "${%.*s} %s", (int)(name.n < 100 ? name.n : 100), name.p,
			why ? why : "names no variable");
	if (value)
		conf_text_put(x, out, str_of(value));
	return value != NULL;
}

static bool conf_text_put_text(struct expansion *x, struct buf *out, struct str s)
{
	while (s.n) {
		const char *dollar = memchr(s.p, '$', s.n), *close;
		size_t n = dollar ? (size_t)(dollar - s.p) : s.n;

		buf_append(out, s.p, n);
		s.p += n;
		s.n -= n;
		if (!s.n)
			break;
		if (s.n > 1 && s.p[1] == '{') {
			close = memchr(s.p, '}', s.n);
			if (!close) {
				PROBLEM(x, x->at,
					"there is no } for this ${ (write $${ for the "
					"text itself)");
				return false;
			}
			if (!put_value(x, out, (struct str){ s.p + 2, (size_t)(close - s.p) - 2 }))
				return false;
			s.n -= (size_t)(close + 1 - s.p);
			s.p = close + 1;
			continue;
		}
		buf_putc(out, '$');
		n = s.n > 1 && s.p[1] == '$' ? 2 : 1;
		s.p += n;
		s.n -= n;
	}
	return true;
}

/* NULL: a problem was added. */
static const char *expand(struct expansion *x, const cleat_json *v)
{
	struct str s = json_str(v);
	const char *text = NULL;
	struct buf out;

	if (!s.p)
		return NULL; /* the schema has said what is wrong */
	if (str_has_nul(s)) {
		PROBLEM(x, v, "a NUL character is not allowed here");
		return NULL;
	}
	if (!memchr(s.p, '$', s.n))
		return s.p; /* terminated, in the arena already */
	buf_init(&out, &x->c->mem, TEXT_MAX);
	if (conf_text_put_text(x, &out, s)) {
		if (buf_status(&out) == CLEAT_ELIMIT)
			PROBLEM(x, v, "the text is too long with its variables");
		else if (buf_status(&out))
			x->c->no_memory = true;
		else
			text = arena_strndup(&x->c->arena, buf_size(&out) ? buf_str(&out).p : "",
					     buf_size(&out));
	}
	buf_done(&out);
	return text;
}

static const char *text_of(struct conf *c, const cleat_json *v, struct expansion *x)
{
	const char *text;

	x->c = c;
	x->at = v;
	text = expand(x, v);
	if (!text && c->n_doubtful < CONF_PROBLEMS_MAX)
		c->doubtful[c->n_doubtful++] = v; /* one problem is enough */
	return text;
}

static const char *text_or(struct conf *c, const cleat_json *v, const char *fallback, bool braces)
{
	struct expansion x = { .early = !c->ready, .braces = braces };
	const char *text;

	if (!json_is_string(v))
		return fallback;
	text = text_of(c, v, &x);
	/* The configuration is thrown away, but until then somebody works with this. */
	return text ? text : fallback ? fallback : "";
}

const char *conf_text(struct conf *c, const cleat_json *v, const char *fallback)
{
	return text_or(c, v, fallback, false);
}

const char *conf_shown(struct conf *c, const cleat_json *v, const char *fallback)
{
	if (!conf_is_secret(c, v))
		return conf_text(c, v, fallback);
	conf_problem(c, v, "a secret must not be used here: every client can see this text");
	return fallback ? fallback : "";
}

const char *conf_template(struct conf *c, const cleat_json *v, const char *fallback)
{
	return text_or(c, v, fallback, true);
}

const char *conf_early_text(struct conf *c, const cleat_json *v)
{
	struct expansion x = { .early = true };

	return text_of(c, v, &x);
}

const char *conf_loose_text(struct conf *c, const cleat_json *v)
{
	struct expansion x = { .c = c, .at = v, .early = !c->ready, .quiet = true };
	const char *text = expand(&x, v);

	return text ? text : cleat_json_str(v, "");
}

bool conf_is_secret(const struct conf *c, const cleat_json *v)
{
	struct expansion x = { .c = (struct conf *)c, .at = v, .quiet = true };

	if (!json_is_string(v) || !c->ready)
		return false;
	expand(&x, v);
	return x.secret;
}

const char *conf_raw(const cleat_json *v, const char *fallback)
{
	return cleat_json_str(v, fallback);
}

const char *conf_path_at(struct conf *c, const cleat_json *v)
{
	const char *text, *path;

	if (!json_is_string(v))
		return NULL;
	text = conf_text(c, v, "");
	if (!*text) {
		conf_problem(c, v, "expected a path, got an empty text");
		return conf_dir(c, v);
	}
	if (*text == '/')
		return text;
	if (*text == '~' && (text[1] == '/' || !text[1]))
		path = arena_printf(&c->arena, "%s%s", home(), text + 1);
	else if (strcmp(text, ".") == 0 || strcmp(text, "./") == 0)
		return conf_dir(c, v);
	else
		path = arena_printf(&c->arena, "%s/%s", conf_dir(c, v),
				    strncmp(text, "./", 2) == 0 ? text + 2 : text);
	return path ? path : "";
}

/* ---- times and sizes ---- */

struct unit {
	const char *name;
	uint64_t value;
};

/* A decimal number of at most three digits after the point, in thousandths; false: none, or too much. */
static bool read_number(const char **text, uint64_t *ret)
{
	const char *p = *text;
	uint64_t n = 0, scale = 1000;
	bool any = false;

	for (; *p >= '0' && *p <= '9' && n < UINT64_MAX / 100000; p++, any = true)
		n = n * 10 + (uint64_t)(*p - '0');
	if (*p >= '0' && *p <= '9')
		return false;
	n *= 1000;
	if (any && *p == '.' && p[1] >= '0' && p[1] <= '9')
		for (p++; *p >= '0' && *p <= '9'; p++) {
			scale /= 10;
			n += (uint64_t)(*p - '0') * scale;
		}
	*text = p;
	*ret = n;
	return any;
}

/* "1.5s" with the units' values; false: not that, or more than max. */
static bool read_quantity(const char *text, const struct unit *units, uint64_t max, uint64_t *ret)
{
	uint64_t thousandths, value;

	if (!read_number(&text, &thousandths))
		return false;
	while (*text == ' ')
		text++;
	for (; units->name; units++) {
		if (strcmp(text, units->name) != 0)
			continue;
		if (thousandths > UINT64_MAX / units->value)
			return false;
		value = thousandths * units->value / 1000;
		*ret = value;
		return value <= max;
	}
	return false;
}

static bool quantity(struct conf *c, const cleat_json *v, const struct unit *units, uint64_t max,
		     uint64_t *ret)
{
	const char *text = json_is_string(v) ? conf_text(c, v, "") : cleat_json_number_text(v);

	return text && read_quantity(text, units, max, ret);
}

/* What was written, for a message; a text that is too long is cut. */
static const char *written(const cleat_json *v)
{
	const char *text = cleat_json_str(v, cleat_json_number_text(v));

	return text ? text : json_type_name(v);
}

static bool is_none(struct conf *c, const cleat_json *v)
{
	return json_is_string(v) && strcmp(conf_text(c, v, ""), "none") == 0;
}

static uint64_t no_zero(struct conf *c, const cleat_json *v, uint64_t fallback)
{
	conf_problem(c, v, "expected more than 0; \"none\" is no limit");
	return fallback;
}

uint64_t conf_ms(struct conf *c, const cleat_json *v, uint64_t fallback)
{
	static const struct unit units[] = {
		{ "ms", 1 },        { "s", 1000 },           { "", 1000 },
		{ "m", 60 * 1000 }, { "h", 60 * 60 * 1000 }, { NULL, 0 }
	};
	const uint64_t year = UINT64_C(365) * 24 * 60 * 60 * 1000;
	uint64_t ms;

	if (!v)
		return fallback;
	if (is_none(c, v))
		return 0;
	if (quantity(c, v, units, year, &ms))
		return ms;
	conf_problem(c, v,
		     "expected a time such as \"30s\", \"250ms\", \"2m\" or a number of seconds, "
		     "got \"%.60s\"",
		     written(v));
	return fallback;
}

uint64_t conf_timeout(struct conf *c, const cleat_json *v, uint64_t fallback)
{
	uint64_t ms = conf_ms(c, v, fallback);

	return ms || !v || is_none(c, v) ? ms : no_zero(c, v, fallback);
}

size_t conf_bytes(struct conf *c, const cleat_json *v, size_t fallback)
{
	static const struct unit units[] = {
		{ "", 1 },         { "B", 1 },         { "KB", 1 << 10 },  { "KiB", 1 << 10 },
		{ "K", 1 << 10 },  { "MB", 1 << 20 },  { "MiB", 1 << 20 }, { "M", 1 << 20 },
		{ "GB", 1 << 30 }, { "GiB", 1 << 30 }, { "G", 1 << 30 },   { NULL, 0 },
	};
	uint64_t n;

	if (!v)
		return fallback;
	if (quantity(c, v, units, SIZE_MAX / 4, &n))
		return (size_t)n;
	conf_problem(
		c, v,
		"expected a size such as \"64KB\", \"1MB\" or a number of bytes, got \"%.60s\"",
		written(v));
	return fallback;
}

uint64_t conf_limit(struct conf *c, const cleat_json *v, uint64_t fallback)
{
	uint64_t n;

	if (!v || is_none(c, v))
		return v ? 0 : fallback;
	n = conf_bytes(c, v, 1);
	return n ? n : no_zero(c, v, fallback);
}
