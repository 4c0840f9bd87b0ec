/* cli/http_back.c - see http_back.h. */
#include "http_back.h"

#include "doctor.h"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FDS_MOST = 1040, LINES_MOST = 200 };

static struct {
	void *library;
	CURLcode (*global_init)(long);
	CURL *(*easy_init)(void);
	CURLcode (*easy_setopt)(CURL *, CURLoption, ...);
	CURLcode (*easy_getinfo)(CURL *, CURLINFO, ...);
	void (*easy_cleanup)(CURL *);
	const char *(*easy_strerror)(CURLcode);
	struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
	void (*slist_free_all)(struct curl_slist *);
	CURLM *(*multi_init)(void);
	CURLMcode (*multi_add_handle)(CURLM *, CURL *);
	CURLMcode (*multi_remove_handle)(CURLM *, CURL *);
	CURLMcode (*multi_perform)(CURLM *, int *);
	CURLMcode (*multi_poll)(CURLM *, struct curl_waitfd *, unsigned, int, int *);
	CURLMsg *(*multi_info_read)(CURLM *, int *);
	CURLMcode (*multi_cleanup)(CURLM *);
} lib;

struct back {
	CURLM *multi;
	cleat_client_opts opts;
	const char *origin, *path, *socket, *proxy;
	struct back_call *calls;
	bool told; /* somebody has heard something since back_wait() was called */
};

struct back_call {
	struct back *back;
	struct back_call *next;
	CURL *easy;
	struct curl_slist *list;
	char *body;
	const struct back_user *user;
	void *ctx;
	struct text head; /* lines, each with a zero */
	char words[CURL_ERROR_SIZE];
};

/* ---- libcurl ------------------------------------------------------------------------------------- */

static bool load(const char *name, void *function)
{
	void *found = dlsym(lib.library, name);

	memcpy(function, &found, sizeof found);
	return found != NULL;
}

static bool open_library(void)
{
	if (lib.library)
		return lib.multi_cleanup != NULL;
	lib.library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
	if (!lib.library)
		return false;
	return load("curl_global_init", &lib.global_init) &&
	       load("curl_easy_init", &lib.easy_init) &&
	       load("curl_easy_setopt", &lib.easy_setopt) &&
	       load("curl_easy_getinfo", &lib.easy_getinfo) &&
	       load("curl_easy_cleanup", &lib.easy_cleanup) &&
	       load("curl_easy_strerror", &lib.easy_strerror) &&
	       load("curl_slist_append", &lib.slist_append) &&
	       load("curl_slist_free_all", &lib.slist_free_all) &&
	       load("curl_multi_init", &lib.multi_init) &&
	       load("curl_multi_add_handle", &lib.multi_add_handle) &&
	       load("curl_multi_remove_handle", &lib.multi_remove_handle) &&
	       load("curl_multi_perform", &lib.multi_perform) &&
	       load("curl_multi_poll", &lib.multi_poll) &&
	       load("curl_multi_info_read", &lib.multi_info_read) &&
	       load("curl_multi_cleanup", &lib.multi_cleanup) &&
	       lib.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

/* ---- where it is --------------------------------------------------------------------------------- */

static void split(struct back *b, const char *url)
{
	const char *at, *slash, *user;
	const char *from;

	if (strncasecmp(url, "unix:", 5) == 0) {
		b->socket = keepf("%.*s", (int)strcspn(url + 5, "#"), url + 5);
		b->origin = "http://localhost";
		b->path = strchr(url, '#') ? keepf("%s", strchr(url, '#') + 1) : "/mcp";
		return;
	}
	at = strstr(url, "://") + 3;
	slash = at + strcspn(at, "/?#");
	b->origin = keepf("%.*s", (int)(slash - url), url);
	b->path = *slash == '/' ? keepf("%.*s", (int)strcspn(slash, "#"), slash) : "/";
	/* As the library has it: not for this machine itself. */
	user = memchr(at, '@', (size_t)(slash - at));
	at = user ? user + 1 : at;
	at += *at == '[';
	b->proxy = doctor_proxy(b->opts.proxy, keepf("%.*s", (int)strcspn(at, ":]/?#"), at),
				strncasecmp(url, "https", 5) == 0, &from);
}

struct back *back_new(const struct cli *cli, const char *url, const cleat_client_opts *o)
{
	struct back *b = keep_alloc(sizeof *b);

	if (strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0 &&
	    strncasecmp(url, "unix:", 5) != 0) {
		cli_usage(cli, "%s is no HTTP server (http://, https:// or unix:)", url);
		return NULL;
	}
	if (!open_library() || !(b->multi = lib.multi_init())) {
		cli_error(cli, EXIT_OTHER, "libcurl is needed for this (Debian: libcurl4)");
		return NULL;
	}
	b->opts = *o;
	split(b, url);
	return b;
}

static void end_call(struct back_call *c)
{
	struct back_call **at = &c->back->calls;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
	lib.multi_remove_handle(c->back->multi, c->easy);
	lib.easy_cleanup(c->easy);
	lib.slist_free_all(c->list);
	text_free(&c->head);
	free(c->body);
	free(c);
}

void back_free(struct back *b)
{
	if (!b)
		return;
	while (b->calls)
		end_call(b->calls);
	lib.multi_cleanup(b->multi);
}

const char *back_path(const struct back *b)
{
	return b->path;
}

size_t back_open(const struct back *b)
{
	size_t n = 0;

	for (const struct back_call *c = b->calls; c; c = c->next)
		n++;
	return n;
}

/* ---- answers ------------------------------------------------------------------------------------- */

const char *back_field(const struct words *fields, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < fields->n; i++)
		if (strncasecmp(fields->at[i], name, n) == 0 && fields->at[i][n] == ':')
			return fields->at[i] + n + 1 + strspn(fields->at[i] + n + 1, " \t");
	return NULL;
}

static void tell_head(struct back_call *c)
{
	size_t mark = keep_mark();
	struct words fields = { 0 };
	long status = 0;

	lib.easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
	for (size_t i = 0; i < c->head.n && fields.n < LINES_MOST; i += strlen(c->head.p + i) + 1)
		if (strchr(c->head.p + i, ':') && strncmp(c->head.p + i, "HTTP/", 5) != 0)
			words_add(&fields, c->head.p + i);
	if (status >= 200) /* not those before it */
		c->user->head(c->ctx, (int)status, &fields);
	text_free(&c->head);
	keep_release(mark);
}

static size_t on_header(char *line, size_t size, size_t count, void *ctx)
{
	struct back_call *c = ctx;
	size_t n = size * count;

	c->back->told = true;
	while (n && strchr("\r\n", line[n - 1]))
		n--;
	if (!n) {
		tell_head(c);
	} else if (memchr(line, 0, n) == NULL) {
		text_add(&c->head, line, n);
		text_add(&c->head, "", 1);
	}
	return size * count;
}

static size_t on_body(char *p, size_t size, size_t count, void *ctx)
{
	struct back_call *c = ctx;

	c->back->told = true;
	c->user->data(c->ctx, p, size * count);
	return size * count;
}

static void finish_all(struct back *b)
{
	CURLMsg *m;
	int left;

	while ((m = lib.multi_info_read(b->multi, &left)) != NULL) {
		struct back_call *c = NULL;
		CURLcode rc = m->data.result;
		const char *error;

		lib.easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &c);
		if (m->msg != CURLMSG_DONE || !c)
			continue;
		error = rc == CURLE_OK ? NULL : *c->words ? c->words : lib.easy_strerror(rc);
		b->told = true;
		c->user->done(c->ctx, error);
		end_call(c);
	}
}

/* ---- requests ------------------------------------------------------------------------------------ */

static void add_fields(struct back_call *c, const struct words *fields)
{
	const cleat_client_opts *o = &c->back->opts;
	struct words own = { 0 };

	for (size_t i = 0; o->headers && o->headers[i]; i++)
		words_add(&own, o->headers[i]);
	if (o->bearer)
		words_add(&own, keepf("Authorization: Bearer %s", o->bearer));
	for (size_t i = 0; i < own.n; i++)
		c->list = lib.slist_append(c->list, own.at[i]);
	/* The user's own count instead of those of whoever is in front. */
	for (size_t i = 0; fields && i < fields->n; i++) {
		const char *name = keepf("%.*s", (int)strcspn(fields->at[i], ":"), fields->at[i]);

		if (!back_field(&own, name))
			c->list = lib.slist_append(c->list, fields->at[i]);
	}
	c->list = lib.slist_append(c->list, "Expect:");
}

static void configure(struct back_call *c, const char *method, const char *target, size_t n)
{
	const struct back *b = c->back;

#define SET(option, value) lib.easy_setopt(c->easy, CURLOPT_##option, (value))
	SET(PRIVATE, (void *)c);
	SET(URL, keepf("%s%s", b->origin, target));
	SET(PROTOCOLS_STR, "http,https");
	SET(NOSIGNAL, 1L);
	SET(HTTPHEADER, c->list);
	SET(HEADERFUNCTION, on_header);
	SET(HEADERDATA, (void *)c);
	SET(WRITEFUNCTION, on_body);
	SET(WRITEDATA, (void *)c);
	SET(ERRORBUFFER, c->words);
	SET(SUPPRESS_CONNECT_HEADERS, 1L);
	SET(PROXY, b->proxy ? b->proxy : "");
	if (n || strcmp(method, "POST") == 0) {
		SET(POSTFIELDSIZE_LARGE, (curl_off_t)n);
		SET(POSTFIELDS, c->body);
	}
	SET(CUSTOMREQUEST, method);
	if (b->socket)
		SET(UNIX_SOCKET_PATH, b->socket);
	if (b->opts.ca_file)
		SET(CAINFO, b->opts.ca_file);
	if (b->opts.client_cert)
		SET(SSLCERT, b->opts.client_cert);
	if (b->opts.client_key)
		SET(SSLKEY, b->opts.client_key);
	if (b->opts.insecure) {
		SET(SSL_VERIFYPEER, 0L);
		SET(SSL_VERIFYHOST, 0L);
	}
#undef SET
}

struct back_call *back_send(struct back *b, const char *method, const char *target,
			    const struct words *fields, const char *body, size_t n,
			    const struct back_user *user, void *ctx)
{
	struct back_call *c = must_alloc(sizeof *c);
	size_t mark = keep_mark();

	*c = (struct back_call){ .back = b, .next = b->calls, .user = user, .ctx = ctx };
	b->calls = c;
	c->easy = lib.easy_init();
	c->body = must_alloc(n + 1);
	if (n)
		memcpy(c->body, body, n);
	add_fields(c, fields);
	if (c->easy)
		configure(c, method, target, n);
	keep_release(mark);
	if (!c->easy || lib.multi_add_handle(b->multi, c->easy) != CURLM_OK) {
		end_call(c);
		return NULL;
	}
	return c;
}

void back_cancel(struct back_call *call)
{
	if (call)
		end_call(call);
}

void back_wait(struct back *b, struct pollfd *fds, size_t n, int timeout_ms)
{
	struct curl_waitfd more[FDS_MOST];
	int running;
	unsigned k = 0;

	/* What is ignored by poll() is not for libcurl, which takes -1 for a descriptor. */
	for (size_t i = 0; i < n && k < FDS_MOST; i++)
		if (fds[i].fd >= 0)
			more[k++] = (struct curl_waitfd){ fds[i].fd, fds[i].events, 0 };
	b->told = false;
	lib.multi_perform(b->multi, &running);
	finish_all(b);
	lib.multi_poll(b->multi, more, k, b->told ? 0 : timeout_ms, NULL);
	for (size_t i = 0; i < n; i++)
		fds[i].revents = 0;
	poll(fds, (nfds_t)n, 0);
	lib.multi_perform(b->multi, &running);
	finish_all(b);
}
