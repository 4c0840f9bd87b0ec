/* run/http_metrics.c - see http_metrics.h. */
#include "run/http_metrics.h"

#include "base/error.h"
#include "base/mem.h"
#include "endpoint/policy.h"
#include "httpd/server.h"

#include <stdio.h>

enum { MAX_TEXT = 1 << 20, MAX_CONNECTIONS = 64 };

static const char path[] = "/metrics";

struct http_metrics {
	struct runner *r;
	struct http_metrics *next;
	unsigned users;
	struct httpd *http;
	struct policy_options policy;
	char *address; /* as it was written */
	char url[320];
};

/* ---- requests ----------------------------------------------------------------------------- */

static void http_metrics_refuse(struct http_exchange *ex, int status, const char *why)
{
	static const struct http_field allow = { { "Allow", 5 }, { "GET, HEAD", 9 } };

	http_exchange_reply(ex, status, STR_LIT("text/plain; charset=utf-8"), &allow, status == 405,
			    str_of(why));
}

static void http_metrics_on_head(void *ctx, struct http_exchange *ex)
{
	const struct http_metrics *m = ctx;
	const struct http_request *r = http_exchange_request(ex);
	const char *why = policy_refuse(&m->policy, r);

	if (why)
		http_metrics_refuse(ex, 403, why);
	else if (!str_eqz(r->path, path))
		http_metrics_refuse(ex, 404, "there is nothing here but /metrics\n");
	else if (r->method != HTTP_METHOD_GET && r->method != HTTP_METHOD_HEAD)
		http_metrics_refuse(ex, 405, "this is read with GET\n");
	else
		http_exchange_limit_body(ex, 0);
}

static void http_metrics_on_request(void *ctx, struct http_exchange *ex)
{
	struct http_metrics *m = ctx;
	struct buf text;

	buf_init(&text, &m->r->mem, MAX_TEXT);
	metrics_write(&m->r->counts, &text);
	if (buf_status(&text))
		http_metrics_refuse(ex, 503, "out of memory\n");
	else
		http_exchange_reply(ex, 200, STR_LIT(METRICS_CONTENT_TYPE), NULL, 0,
				    buf_str(&text));
	buf_done(&text);
}

/* Every answer is complete when it begins: nothing is held that could be taken away. */
static void http_metrics_on_gone(void *ctx, struct http_exchange *ex)
{
	(void)ctx;
	(void)ex;
}

static void http_metrics_on_note(void *ctx, int level, const char *text)
{
	const struct http_metrics *m = ctx;

	server_note(m->r->server, level, "%s: %s", m->url, text);
}

/* ---- life --------------------------------------------------------------------------------- */

static int check_address(const struct address *a, cleat_error *err)
{
	if (a->tls)
		return error_set(err, CLEAT_EINVAL, "metrics are served without TLS");
	if (a->path[0] && !str_eqz(str_of(a->path), path) && !str_eqz(str_of(a->path), "/"))
		return error_set(err, CLEAT_EINVAL, "metrics are always at the path %s", path);
	return CLEAT_OK;
}

static int check_reach(const struct listener *l, bool remote, cleat_error *err)
{
	if (l->address.loopback || remote)
		return CLEAT_OK;
	return error_set(err, CLEAT_EINVAL,
			 "%.120s, for metrics, can be reached from other machines, and no token is "
			 "asked for there: say that this is wanted (--allow-remote)",
			 l->text);
}

static int open_http(struct http_metrics *m, struct listener *l, cleat_error *err)
{
	const struct httpd_options o = {
		.loop = atomic_load(&m->r->loop),
		.mem = &m->r->mem,
		.service = { .head = http_metrics_on_head,
			     .request = http_metrics_on_request,
			     .gone = http_metrics_on_gone,
			     .ctx = m },
		.max_connections = MAX_CONNECTIONS,
		.note = http_metrics_on_note,
		.note_ctx = m,
	};
	int rc = httpd_new(&o, &m->http);

	if (rc)
		return error_set(err, rc, "%s", cleat_strstatus(rc));
	return httpd_add(m->http, l, err);
}

static int open_address(struct http_metrics *m, bool remote, cleat_error *err)
{
	struct listener l = { .fd = -1 };
	struct address a;
	int rc = address_parse(m->address, &a, err);

	if (!rc)
		rc = check_address(&a, err);
	if (!rc)
		rc = listener_open(&a, NULL, &l, err);
	if (rc)
		return rc;
	m->policy.loopback = l.address.loopback;
	snprintf(m->url, sizeof m->url, "%s%s", l.text, l.address.file[0] ? "" : path);
	rc = check_reach(&l, remote, err);
	if (!rc)
		rc = open_http(m, &l, err);
	if (rc)
		listener_close(&l);
	return rc;
}

static void http_metrics_release(struct http_metrics *m)
{
	httpd_free(m->http);
	mem_free(&m->r->mem, m->address);
	mem_free(&m->r->mem, m);
}

int http_metrics_open(struct runner *r, const char *address, bool remote, struct http_metrics **ret,
		      cleat_error *err)
{
	struct http_metrics *m = r->metrics;
	int rc;

	while (m && strcmp(m->address, address) != 0)
		m = m->next;
	if (m) {
		m->users++;
		*ret = m;
		return CLEAT_OK;
	}
	m = mem_zalloc(&r->mem, sizeof *m);
	if (!m)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	m->r = r;
	m->users = 1;
	m->address = mem_strdup(&r->mem, address);
	rc = m->address ? open_address(m, remote, err)
			: error_set(err, CLEAT_ENOMEM, "out of memory");
	if (rc) {
		http_metrics_release(m);
		return rc;
	}
	m->next = r->metrics;
	r->metrics = m;
	*ret = m;
	return CLEAT_OK;
}

void http_metrics_drop(struct http_metrics *m)
{
	struct http_metrics **at;

	if (!m || --m->users > 0)
		return;
	for (at = &m->r->metrics; *at != m; at = &(*at)->next)
		;
	*at = m->next;
	http_metrics_release(m);
}

const char *http_metrics_url(const struct runner *r, size_t i)
{
	const struct http_metrics *m = r->metrics;

	while (m && i-- > 0)
		m = m->next;
	return m ? m->url : NULL;
}
