/* run/main_parse.c - the command line of a program that serves: see cleat/main.h.
 *
 * One table has the standard options, for reading and for --help. Nothing is printed or looked at but the
 * words: what they ask for, and what is wrong with them, is kept for cleat_server_run_main().
 */
#include "run/main.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_THREADS = 256 };

struct items {
	const char **at; /* NULL after the last */
	size_t n;
};

/* What was read, in one block of memory: o->kept. */
struct taken {
	struct items preset, addresses, hosts, origins;
	bool stdio, any_port, access_log;
	cleat_http_options http;
	const char *of_http; /* an option that is of use with --http only */
	const char *room[];  /* for the lists */
};

enum kind { FLAG, TEXT, ITEM, NUMBER };

/* The type behind `at` is the kind's: bool, const char *, struct items, unsigned. */
static const struct standard {
	const char *name, *arg, *help;
	enum kind kind;
	bool general; /* of use without --http */
	size_t at;
} known[] = {
#define AT(member) offsetof(struct taken, member)
	{ "--stdio", NULL, "serve standard input and output (the default)", FLAG, true, AT(stdio) },
	{ "--http", "ADDRESS",
	  "serve HTTP: 8080, 127.0.0.1:8080, [::1]:8080,\n"
	  "http://127.0.0.1:8080/mcp, unix:/path, fd:3; may be repeated",
	  ITEM, true, AT(addresses) },
	{ "--any-port", NULL, "where the port is taken, serve another and say so", FLAG, false,
	  AT(any_port) },
	{ "--token-file", "FILE", "clients need a bearer token: one \"NAME TOKEN\" a line", TEXT,
	  false, AT(http.token_file) },
	{ "--allow-remote", NULL, "serve an address that others can reach without tokens", FLAG,
	  false, AT(http.allow_remote) },
	{ "--allow-host", "NAME", "accept this name in Host; may be repeated", ITEM, false,
	  AT(hosts) },
	{ "--allow-origin", "URL", "accept web pages of this origin; may be repeated", ITEM, false,
	  AT(origins) },
	{ "--tls-cert", "FILE",
	  "certificate chain (PEM), with --tls-key FILE: serve https;\n"
	  "SIGHUP reads both, and the tokens, again",
	  TEXT, false, AT(http.tls_cert) },
	{ "--tls-key", "FILE", NULL, TEXT, false, AT(http.tls_key) },
	{ "--threads", "N", "threads that serve connections (default: 1)", NUMBER, false,
	  AT(http.threads) },
	{ "--metrics", "ADDRESS", "serve counters for Prometheus at /metrics there", TEXT, false,
	  AT(http.metrics) },
	{ "--access-log", NULL, "one JSON line for each request on standard error", FLAG, false,
	  AT(access_log) },
	{ "--no-old-sse", NULL, "not the older transport of 2024-11-05 (/sse, /messages)", FLAG,
	  false, AT(http.no_old_sse) },
	{ "--no-sessions", NULL, "keep no sessions: clients of 2025 are answered without", FLAG,
	  false, AT(http.no_sessions) },
	{ "--modern-only", NULL, "only clients of 2026-07-28", FLAG, false, AT(http.modern_only) },
	{ "--lenient-headers", NULL,
	  "take messages of 2026-07-28 whose headers are missing\n"
	  "or name an older revision",
	  FLAG, false, AT(http.lenient_headers) },
#undef AT
};

/* ---- help ---- */

static void print_option(FILE *to, const char *name, const char *arg, const char *help)
{
	enum { MARGIN = 23 };
	int n;

	if (!help)
		return;
	n = fprintf(to, "  %s%s%s ", name, arg ? " " : "", arg ? arg : "");
	fprintf(to, "%*s", n < MARGIN ? MARGIN - n : 0, "");
	for (const char *end; (end = strchr(help, '\n')) != NULL; help = end + 1)
		fprintf(to, "%.*s\n%*s", (int)(end - help), help, MARGIN, "");
	fprintf(to, "%s\n", help);
}

static const cleat_main_option *find_own(const cleat_main_option *own, const char *name, size_t n)
{
	for (; own && own->name; own++)
		if (strlen(own->name) == n && memcmp(own->name, name, n) == 0)
			return own;
	return NULL;
}

void main_print_options(FILE *to, const cleat_main_option *own)
{
	for (const cleat_main_option *o = own; o && o->name; o++)
		print_option(to, o->name, o->arg, o->help);
	for (size_t i = 0; i < CLEAT_COUNT(known); i++)
		if (!find_own(own, known[i].name, strlen(known[i].name)))
			print_option(to, known[i].name, known[i].arg, known[i].help);
	print_option(to, "--version", NULL, "print name and version");
	print_option(to, "--help", NULL, "print this");
}

/* ---- reading ---- */

static bool take_number(unsigned *to, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	*to = (unsigned)n;
	return *text >= '1' && *text <= '9' && !*end && n <= MOST_THREADS;
}

static int take_known(struct taken *t, const struct standard *k, const char *value,
		      cleat_error *err)
{
	void *at = (char *)t + k->at;
	struct items *items = at;

	if (!k->general)
		t->of_http = k->name;
	switch (k->kind) {
	case FLAG: *(bool *)at = true; break;
	case TEXT: *(const char **)at = value; break;
	case ITEM: items->at[items->n++] = value; break;
	case NUMBER:
		if (!take_number(at, value))
			return error_set(err, CLEAT_EINVAL,
					 "%s needs a number from 1 to %d, not %s", k->name,
					 MOST_THREADS, value);
	}
	return CLEAT_OK;
}

/* One of the program's own, or a standard one. */
struct meant {
	const cleat_main_option *own;
	const struct standard *known;
	const char *name, *arg;
};

static bool find_option(const cleat_main_option *own, const char *word, size_t n, struct meant *ret)
{
	*ret = (struct meant){ .own = find_own(own, word, n) };
	if (ret->own) {
		ret->name = ret->own->name;
		ret->arg = ret->own->arg;
		return true;
	}
	for (size_t i = 0; i < CLEAT_COUNT(known) && !ret->known; i++)
		if (strlen(known[i].name) == n && memcmp(known[i].name, word, n) == 0)
			*ret = (struct meant){ NULL, &known[i], known[i].name, known[i].arg };
	return ret->known;
}

/* Asked for instead of serving. */
static bool is_question(const char *word, enum cleat_main_action *ret)
{
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		*ret = CLEAT_MAIN_HELP;
	else if (strcmp(word, "--version") == 0)
		*ret = CLEAT_MAIN_VERSION;
	else
		return false;
	return true;
}

/* --option VALUE and --option=VALUE. */
static int read_words(struct taken *t, cleat_main_options *o, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t n = strcspn(argv[i], "=");
		const char *value = argv[i][n] ? argv[i] + n + 1 : NULL;
		struct meant m;
		int rc = CLEAT_OK;

		if (!find_option(o->own, argv[i], n, &m)) {
			if (is_question(argv[i], &o->action))
				return CLEAT_OK;
			return error_set(&o->error, CLEAT_EINVAL, "unknown %s %s",
					 argv[i][0] == '-' ? "option" : "argument", argv[i]);
		}
		if (!m.arg && value)
			return error_set(&o->error, CLEAT_EINVAL, "%s takes no value", m.name);
		if (m.arg && !value && i + 1 < argc && strncmp(argv[i + 1], "--", 2) != 0)
			value = argv[++i];
		if (m.arg && !value)
			return error_set(&o->error, CLEAT_EINVAL, "%s needs a value", m.name);
		if (m.own)
			*m.own->value = m.arg ? value : m.name;
		else
			rc = take_known(t, m.known, value, &o->error);
		if (rc)
			return rc;
	}
	return CLEAT_OK;
}

/* ---- the whole ---- */

static size_t count(const char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

/* A list that starts with another one, and has room for `more`. */
static struct items start_list(const char ***room, const char *const *from, size_t more)
{
	struct items i = { .at = *room, .n = count(from) };

	if (i.n)
		memcpy(i.at, from, i.n * sizeof *from);
	*room += i.n + more + 1;
	return i;
}

/* Memory for as many words as there are, with what the program has set before. NULL: none. */
static struct taken *start_taken(const cleat_main_options *o, const cleat_http_options *http,
				 size_t words)
{
	struct taken *t;
	const char **room;
	size_t n;

	n = count(o->listen) + count(http->allow_hosts) + count(http->allow_origins) + 3 * words +
	    4;
	t = mem_zalloc(&mem_default, sizeof *t + n * sizeof *room);
	if (!t)
		return NULL;
	room = t->room;
	t->http = *http;
	t->any_port = o->any_port;
	t->preset = start_list(&room, o->listen, 0);
	t->addresses = start_list(&room, NULL, words);
	t->hosts = start_list(&room, http->allow_hosts, words);
	t->origins = start_list(&room, http->allow_origins, words);
	return t;
}

/* What was read becomes what is to be done. */
static void give(struct taken *t, cleat_main_options *o)
{
	const struct items *listen = t->addresses.n ? &t->addresses : &t->preset;

	o->listen = listen->n && !t->stdio ? listen->at : NULL;
	o->any_port = t->any_port;
	t->http.allow_hosts = t->hosts.n ? t->hosts.at : NULL;
	t->http.allow_origins = t->origins.n ? t->origins.at : NULL;
	if (t->access_log)
		t->http.access_log = STDERR_FILENO;
	o->http = &t->http;
}

static int check_taken(const struct taken *t, cleat_main_options *o)
{
	if (t->stdio && t->addresses.n)
		return error_set(&o->error, CLEAT_EINVAL, "--stdio and --http: choose one of them");
	if (t->of_http && !o->listen)
		return error_set(&o->error, CLEAT_EINVAL, "%s is of no use without --http ADDRESS",
				 t->of_http);
	return CLEAT_OK;
}

void main_options_take(cleat_main_options *to, cleat_http_options *http,
		       const cleat_main_options *from, size_t size, size_t http_size)
{
	const struct taken *t;
	cleat_error err = { 0 };

	SIZED_TAKE(to, from, size, cleat_main_options, &err);
	t = to->kept;
	if (t && to->http == &t->http) /* which cleat_main_parse() made */
		http_size = sizeof *http;
	if (!err.status)
		SIZED_TAKE(http, to->http, http_size, cleat_http_options, &err);
	for (const cleat_main_option *o = to->own; !err.status && o && o->name; o++)
		SIZED_RESERVED(o, cleat_main_option, &err);
	if (err.status && !to->error.status)
		to->error = err;
}

int cleat_main_parse_(cleat_main_options *ret, int argc, char **argv, size_t size, size_t http_size)
{
	cleat_http_options http = { 0 };
	cleat_main_options o;
	struct taken *t;
	int rc;

	if (!ret)
		return CLEAT_EINVAL;
	main_options_take(&o, &http, ret, size, http_size);
	ret->error = o.error;
	if (o.error.status)
		return o.error.status;
	t = start_taken(&o, &http, argc > 0 ? (size_t)argc : 0);
	if (!t)
		return error_set(&ret->error, CLEAT_ENOMEM, "%s", cleat_strstatus(CLEAT_ENOMEM));
	if (!o.program && argc > 0)
		o.program = argv[0];
	rc = read_words(t, &o, argc, argv);
	give(t, &o);
	if (!rc && o.action == CLEAT_MAIN_SERVE)
		rc = check_taken(t, &o);
	mem_free(&mem_default, o.kept); /* of the command line before this one */
	o.kept = t;
	memcpy(ret, &o, size < sizeof o ? size : sizeof o);
	return rc;
}

void cleat_main_done(cleat_main_options *o)
{
	if (!o || !o->kept)
		return;
	mem_free(&mem_default, o->kept);
	o->kept = NULL;
	o->listen = NULL;
	o->http = NULL;
}
