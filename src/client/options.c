/* client/options.c - see options.h. */
#include "client/options.h"

#include "base/error.h"
#include "base/sized.h"
#include "protocol/era.h"
#include "json/parse.h"

static void options_keep(struct arena *ar, const char **s)
{
	*s = arena_strdup(ar, *s);
}

static void keep_roots(struct arena *ar, cleat_client_options *o)
{
	cleat_root *copy = NULL;

	if (!o->roots)
		o->n_roots = 0;
	if (o->n_roots)
		copy = arena_alloc(ar, o->n_roots * sizeof *copy);
	for (size_t i = 0; copy && i < o->n_roots; i++) {
		copy[i] = o->roots[i];
		copy[i].uri = arena_strdup(ar, o->roots[i].uri);
		copy[i].name = arena_strdup(ar, o->roots[i].name);
	}
	o->roots = copy;
}

static void number(unsigned *v, unsigned fallback)
{
	if (!*v)
		*v = fallback;
}

static void size(size_t *v, size_t fallback)
{
	if (!*v)
		*v = fallback;
}

/* Of a message that may be larger, more may be read: four bytes are the least that lists of any sense have for each
 * value, and that bounds the memory to a few times the text. */
static size_t max_nodes(size_t max_message)
{
	size_t usual = json_max_nodes(NULL);

	return max_message / 4 > usual ? max_message / 4 : usual;
}

static void defaults(cleat_client_options *o)
{
	if (!o->name)
		o->name = "cleat";
	if (!o->version)
		o->version = cleat_version();
	number(&o->timeout_ms, 60000);
	number(&o->hard_timeout_ms, 300000);
	number(&o->connect_timeout_ms, 30000);
	number(&o->probe_timeout_ms, 5000); /* interpreters take a while to start */
	number(&o->max_calls, 1024);
	number(&o->max_rounds, 10);
	number(&o->max_pages, 1000);
	size(&o->max_message, (size_t)16 << 20);
	size(&o->json.max_nodes, max_nodes(o->max_message));
	size(&o->max_cache, (size_t)4 << 20);
}

int options_copy(struct arena *ar, cleat_client_options *o)
{
	const char **strings[] = {
		&o->name,      &o->version,     &o->title,      &o->protocol,
		&o->log_level, &o->cwd,         &o->bearer,     &o->proxy,
		&o->ca_file,   &o->client_cert, &o->client_key, &o->unix_socket
	};

	defaults(o);
	for (size_t i = 0; i < CLEAT_COUNT(strings); i++)
		options_keep(ar, strings[i]);
	o->env = arena_strlist(ar, o->env);
	o->headers = arena_strlist(ar, o->headers);
	keep_roots(ar, o);
	return arena_failed(ar) ? CLEAT_ENOMEM : CLEAT_OK;
}

static int revisions(const cleat_client_options *o, struct options_eras *ret, cleat_error *err)
{
	enum revision rev = revision_find(str_of(o->protocol));

	if (rev == REV_NONE)
		return error_set(
			err, CLEAT_EINVAL,
			"opts.protocol is \"%.40s\", which is not a revision that is spoken here: they are 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 "
			"and 2026-07-28",
			o->protocol);
	ret->modern = revision_is_modern(rev);
	ret->legacy = !ret->modern;
	if (ret->legacy)
		ret->best_legacy = rev;
	if ((o->era == CLEAT_ERA_MODERN && ret->legacy) ||
	    (o->era == CLEAT_ERA_LEGACY && ret->modern))
		return error_set(err, CLEAT_EINVAL, "opts.protocol %s does not belong to opts.era",
				 revision_name(rev));
	return CLEAT_OK;
}

int options_check(const cleat_client_options *o, struct options_eras *ret, cleat_error *err)
{
	*ret = (struct options_eras){ .modern = o->era != CLEAT_ERA_LEGACY,
				      .legacy = o->era != CLEAT_ERA_MODERN,
				      .best_legacy = REV_LEGACY };
	if (SIZED_RESERVED(&o->json, cleat_json_limits, err))
		return CLEAT_EUNSUPPORTED;
	for (size_t i = 0; i < o->n_roots; i++)
		if (SIZED_RESERVED(&o->roots[i], cleat_root, err))
			return CLEAT_EUNSUPPORTED;
	if ((int)o->era < CLEAT_ERA_AUTO || o->era > CLEAT_ERA_MODERN)
		return error_set(err, CLEAT_EINVAL, "opts.era is %d, which is not an era",
				 (int)o->era);
	if (o->log_level && log_level_find(str_of(o->log_level)) < 0)
		return error_set(err, CLEAT_EINVAL,
				 "opts.log_level is \"%.40s\"; it must be debug, info, notice, "
				 "warning, error, critical, alert or emergency",
				 o->log_level);
	return o->protocol ? revisions(o, ret, err) : CLEAT_OK;
}
