/* program/serve/http_conf.c - see http_conf.h. */
#include "serve/http_conf.h"

#include "net/listen.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const char *const *texts(struct conf *c, const cleat_json *list)
{
	const char **at = arena_zalloc(conf_arena(c), (cleat_json_size(list) + 1) * sizeof *at);
	cleat_json_iter it = cleat_json_each(list);

	for (size_t i = 0; at && cleat_json_next(&it); i++)
		at[i] = conf_text(c, it.value, "");
	return at; /* NULL: the conf's arena has failed, which is a problem by itself */
}

static const char *file(struct draft *b, const cleat_json *v)
{
	const char *path = conf_path_at(b->conf, v);

	if (path && !conf_problems(b->conf) && access(path, R_OK))
		draft_say(b, CLEAT_LOG_WARNING, "%s: cannot read %s: %s", conf_where(b->conf, v),
			  path, strerror(errno));
	return path;
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

void http_conf_read(struct draft *b, const cleat_json *http, struct http_conf *ret)
{
	const cleat_json *tls = cleat_json_get(http, "tls");

	*ret = (struct http_conf){
		.address = address_of(b->conf, http),
		.options = {
			.token_file = file(b, cleat_json_get(http, "tokens")),
			.allow_remote = cleat_json_bool(cleat_json_get(http, "allow_remote"), false),
			.no_sessions = cleat_json_bool(cleat_json_get(http, "no_sessions"), false),
			.modern_only = cleat_json_bool(cleat_json_get(http, "modern_only"), false),
			.lenient_headers =
				cleat_json_bool(cleat_json_get(http, "lenient_headers"), false),
			.allow_origins = texts(b->conf, cleat_json_get(http, "allow_origin")),
			.allow_hosts = texts(b->conf, cleat_json_get(http, "allow_host")),
			.tls_cert = file(b, cleat_json_get(tls, "cert")),
			.tls_key = file(b, cleat_json_get(tls, "key")),
		},
	};
}
