/* program/serve/config/http_conf.c - see http_conf.h. */
#include "serve/config/http_conf.h"

#include "net/listen.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* `at` has room for all that there may be. */
struct words {
	const char **at;
	size_t n;
};

static void add_word(struct words *w, const char *option, const char *value)
{
	w->at[w->n++] = option;
	if (value)
		w->at[w->n++] = value;
}

static void add_list(struct words *w, struct conf *c, const char *option, const cleat_json *list)
{
	cleat_json_iter it = cleat_json_each(list);

	while (cleat_json_next(&it))
		add_word(w, option, conf_text(c, it.value, ""));
}

static void add_file(struct words *w, struct build *b, const char *option, const cleat_json *v)
{
	const char *path = conf_path_at(b->conf, v);

	if (!path)
		return;
	if (!conf_problems(b->conf) && access(path, R_OK))
		build_say(b, CLEAT_LOG_WARNING, "%s: cannot read %s: %s", conf_where(b->conf, v),
			  path, strerror(errno));
	add_word(w, option, path);
}

/* "listen" and "path" as one address. */
static const char *address_of(struct conf *c, const cleat_json *http)
{
	const cleat_json *at = cleat_json_get(http, "listen");
	const char *listen = conf_text(c, at, NULL);
	const char *path = conf_text(c, cleat_json_get(http, "path"), NULL);
	struct address address;
	cleat_error err = { 0 };

	if (!listen)
		return NULL;
	if (address_parse(listen, &address, &err) != CLEAT_OK)
		conf_problem(c, at, "%s", err.message);
	if (!path || strchr(listen, '/'))
		return listen;
	return arena_printf(conf_arena(c), "%s://%s%s%s",
			    cleat_json_get(http, "tls") ? "https" : "http", listen,
			    *path == '/' ? "" : "/", path);
}

void http_conf_read(struct build *b, const cleat_json *http, struct http_conf *ret)
{
	struct conf *c = b->conf;
	const cleat_json *origins = cleat_json_get(http, "allow_origin");
	const cleat_json *hosts = cleat_json_get(http, "allow_host");
	const cleat_json *tls = cleat_json_get(http, "tls");
	const size_t most = 8 + 2 * (cleat_json_size(origins) + cleat_json_size(hosts));
	struct words w = { .at = arena_zalloc(conf_arena(c), (most + 1) * sizeof *w.at) };

	*ret = (struct http_conf){ .address = address_of(c, http), .words = w.at };
	if (!w.at)
		return; /* the conf's arena has failed: that is a problem by itself */
	add_file(&w, b, "--token-file", cleat_json_get(http, "tokens"));
	if (cleat_json_bool(cleat_json_get(http, "allow_remote"), false))
		add_word(&w, "--allow-remote", NULL);
	add_list(&w, c, "--allow-origin", origins);
	add_list(&w, c, "--allow-host", hosts);
	add_file(&w, b, "--tls-cert", cleat_json_get(tls, "cert"));
	add_file(&w, b, "--tls-key", cleat_json_get(tls, "key"));
}
