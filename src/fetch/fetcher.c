/* fetch/fetcher.c - see fetcher.h. libcurl's multi interface on our loop: sockets and time.
 *
 * libcurl tells which sockets to watch and when to be woken; all that happens is told to it with
 * curl_multi_socket_action(), and afterwards what has ended is collected. What it wants done "now" is
 * done before the loop waits the next time, and once more in the next turn if it wants that again, so
 * that others get their turn.
 *
 * A watch ends in libcurl's callback, which comes before it closes the descriptor.
 */
#define _POSIX_C_SOURCE 200809L

#include "base/error.h"
#include "base/mem.h"
#include "fetch/impl.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { CONNECT_MS = 30 * 1000 };

struct client_socket {
	struct fetcher *h;
	struct client_socket *next, **at;
	struct loop_watch *watch;
	curl_socket_t fd;
};

/* ---- libcurl runs ------------------------------------------------------------------------------ */

static void destroy(struct fetcher *h);

void fetcher_enter(struct fetcher *h)
{
	h->busy++;
}

void fetcher_leave(struct fetcher *h)
{
	if (--h->busy == 0 && h->doomed)
		destroy(h);
}

static struct fetch *fetcher_find(const struct fetcher *h, enum fetch_state state)
{
	struct fetch *f = h->fetches;

	while (f && f->state != state)
		f = f->next;
	return f;
}

static void reap(struct fetcher *h)
{
	struct fetch *f;

	while (h->dead && (f = fetcher_find(h, FETCH_DEAD)) != NULL)
		fetch_end(f, NULL);
	h->dead = false;
}

/* A socket of theirs that nobody watches would keep them waiting for ever. */
static void give_up(struct fetcher *h)
{
	struct link_failure why = { .step = CLEAT_STEP_EXCHANGE };
	struct fetch *f;

	error_set(&why.error, CLEAT_ENOMEM, "out of memory");
	while (!h->doomed && (f = fetcher_find(h, FETCH_RUNNING)) != NULL)
		fetch_end(f, &why);
	h->starved = false;
}

/* Outside of libcurl: what it left behind. */
static void collect(struct fetcher *h)
{
	CURLMsg *m;
	int left;

	reap(h);
	if (h->starved)
		give_up(h);
	while (!h->doomed && (m = h->curl.curl_multi_info_read(h->multi, &left)) != NULL) {
		CURLcode rc = m->data.result;
		struct fetch *f = NULL;

		if (m->msg != CURLMSG_DONE)
			continue;
		h->curl.curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&f);
		fetch_done(f, rc);
	}
}

static void act(struct fetcher *h, curl_socket_t fd, int bits)
{
	int running;

	h->inside = true;
	h->curl.curl_multi_socket_action(h->multi, fd, bits, &running);
	h->inside = false;
	collect(h);
}

static void run_waiting(struct fetcher *h)
{
	struct fetch *f;

	while (!h->doomed && (f = h->waiting) != NULL) {
		h->waiting = f->next_waiting;
		if (!h->waiting)
			h->waiting_end = &h->waiting;
		f->queued = false;
		fetch_attend(f);
	}
}

static void fetcher_run(struct fetcher *h)
{
	fetcher_enter(h);
	h->kicking = true;
	run_waiting(h);
	if (!h->doomed)
		act(h, CURL_SOCKET_TIMEOUT, 0);
	h->kicking = false;
	fetcher_leave(h);
}

static void on_kick(struct loop_call *c)
{
	fetcher_run(CONTAINER_OF(c, struct fetcher, kick));
}

static void on_time(void *client)
{
	fetcher_run(client);
}

void fetcher_attend(struct fetcher *h, struct fetch *f)
{
	if (f->queued)
		return;
	f->queued = true;
	f->next_waiting = NULL;
	*h->waiting_end = f;
	h->waiting_end = &f->next_waiting;
	loop_defer(h->loop, &h->kick);
}

/* ---- silence ----------------------------------------------------------------------------------- */

/* The next one that has been silent for too long, or NULL; then *next is how long nobody will be. */
static struct fetch *find_silent(struct fetcher *h, uint64_t now, uint64_t *next)
{
	*next = UINT64_MAX;
	for (struct fetch *f = h->fetches; f; f = f->next) {
		uint64_t left = fetch_patience(f, now);

		if (left == 0)
			return f;
		if (left < *next)
			*next = left;
	}
	return NULL;
}

static void on_idle(void *client)
{
	struct fetcher *h = client;
	struct link_failure why;
	struct fetch *f;
	uint64_t next = UINT64_MAX;

	fetcher_enter(h);
	h->idle_at = 0;
	while (!h->doomed && (f = find_silent(h, loop_now(), &next)) != NULL) {
		fetch_failure_idle(f, &why);
		fetch_end(f, &why);
	}
	if (!h->doomed && next != UINT64_MAX)
		fetcher_idle_within(h, next);
	fetcher_leave(h);
}

void fetcher_idle_within(struct fetcher *h, uint64_t ms)
{
	uint64_t at = loop_now() + ms;

	if (h->idle_at && h->idle_at <= at)
		return;
	h->idle_at = at;
	loop_timer_start(h->idle, ms);
}

/* ---- what libcurl asks of the loop ------------------------------------------------------------- */

static void fetcher_on_ready(void *ctx, unsigned events, bool failed)
{
	struct client_socket *s = ctx;
	struct fetcher *h = s->h;
	int bits = (events & LOOP_READ ? CURL_CSELECT_IN : 0) |
		   (events & LOOP_WRITE ? CURL_CSELECT_OUT : 0) | (failed ? CURL_CSELECT_ERR : 0);

	fetcher_enter(h);
	act(h, s->fd, bits);
	fetcher_leave(h);
}

static void socket_free(struct client_socket *s)
{
	*s->at = s->next;
	if (s->next)
		s->next->at = s->at;
	loop_watch_free(s->watch);
	mem_free(&s->h->mem, s);
}

static struct client_socket *socket_new(struct fetcher *h, curl_socket_t fd)
{
	struct client_socket *s = mem_zalloc(&h->mem, sizeof *s);

	if (!s)
		return NULL;
	if (loop_watch_new(h->loop, fd, fetcher_on_ready, s, &s->watch) != CLEAT_OK) {
		mem_free(&h->mem, s);
		return NULL;
	}
	s->h = h;
	s->fd = fd;
	s->next = h->sockets;
	s->at = &h->sockets;
	if (s->next)
		s->next->at = &s->next;
	h->sockets = s;
	return s;
}

/* Until the request is sent: has the other side been reached? libcurl tells only when TLS is done, too.
 * (It waits for bytes of its resolver's thread as well, over a pair of unix sockets.) */
static void note_progress(struct fetcher *h, CURL *easy, curl_socket_t fd)
{
	struct sockaddr_storage peer;
	socklen_t n = sizeof peer;
	struct fetch *f = NULL;

	h->curl.curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&f);
	if (f && !f->began && getpeername(fd, (struct sockaddr *)&peer, &n) == 0 &&
	    peer.ss_family != AF_UNIX)
		f->connected = true;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *client, void *assigned)
{
	struct fetcher *h = client;
	struct client_socket *s = assigned;

	if (what == CURL_POLL_REMOVE) {
		if (s)
			socket_free(s);
		return 0;
	}
	if (!s) {
		s = socket_new(h, fd);
		/* Saying that it failed would end the whole multi handle for good. */
		if (!s) {
			h->starved = true;
			return 0;
		}
		h->curl.curl_multi_assign(h->multi, fd, s);
	}
	if (what & CURL_POLL_IN)
		note_progress(h, easy, fd);
	loop_watch_set(s->watch, (what & CURL_POLL_IN ? LOOP_READ : 0u) |
					 (what & CURL_POLL_OUT ? LOOP_WRITE : 0u));
	return 0;
}

static int on_timeout(CURLM *multi, long ms, void *client)
{
	struct fetcher *h = client;

	(void)multi;
	if (ms == 0 && !h->kicking)
		loop_defer(h->loop, &h->kick);
	if (ms < 0 || (ms == 0 && !h->kicking))
		loop_timer_stop(h->timer);
	else
		loop_timer_start(h->timer, (uint64_t)ms);
	return 0;
}

/* ---- the client -------------------------------------------------------------------------------- */

static int check_file(const char *what, const char *path, cleat_error *err)
{
	int rc;

	if (!path || access(path, R_OK) == 0)
		return CLEAT_OK;
	rc = errno;
	error_set(err, CLEAT_EINVAL, "%s %s: %s", what, path, strerror(rc));
	if (err)
		err->os_errno = rc;
	return CLEAT_EINVAL;
}

static bool has_control(const char *z)
{
	for (; *z; z++)
		if ((unsigned char)*z < ' ' || *z == 0x7f)
			return true;
	return false;
}

static int fetcher_check(const struct fetcher_options *o, cleat_error *err)
{
	struct sockaddr_un un;
	int rc = check_file("ca_file", o->ca_file, err);

	if (!rc)
		rc = check_file("client certificate", o->client_cert, err);
	if (!rc)
		rc = check_file("client key", o->client_key, err);
	if (!rc && o->unix_socket && strlen(o->unix_socket) >= sizeof un.sun_path)
		rc = error_set(err, CLEAT_EINVAL, "unix socket: the path is longer than %zu bytes",
			       sizeof un.sun_path - 1);
	if (!rc && o->user_agent && has_control(o->user_agent))
		rc = error_set(err, CLEAT_EINVAL, "user agent: has control characters");
	return rc;
}

static bool copy_strings(struct fetcher *h, const struct fetcher_options *o)
{
	struct {
		char **to;
		const char *from;
	} all[] = {
		{ &h->proxy, o->proxy },
		{ &h->ca_file, o->ca_file },
		{ &h->client_cert, o->client_cert },
		{ &h->client_key, o->client_key },
		{ &h->unix_socket, o->unix_socket },
		{ &h->user_agent, o->user_agent ? o->user_agent : "cleat/" CLEAT_VERSION },
	};

	for (size_t i = 0; i < CLEAT_COUNT(all); i++) {
		*all[i].to = mem_strdup(&h->mem, all[i].from);
		if (all[i].from && !*all[i].to)
			return false;
	}
	return true;
}

static bool set_up(struct fetcher *h)
{
	const struct libcurl *k = &h->curl;

	h->timer = loop_timer_new(h->loop, on_time, h);
	h->idle = loop_timer_new(h->loop, on_idle, h);
	h->multi = k->curl_multi_init();
	if (!h->timer || !h->idle || !h->multi)
		return false;
	k->curl_multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	k->curl_multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
	k->curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, on_timeout);
	k->curl_multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
	k->curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, (long)CLIENT_CONNECTIONS);
	return true;
}

/* The first handle shows whether libcurl can do what is asked for. */
static int try_handle(struct fetcher *h, cleat_error *err)
{
	CURLcode rc;
	CURL *easy = fetcher_handle_make(h, &rc);

	if (easy)
		h->handles[h->n_handles++] = easy;
	else if (rc == CURLE_OUT_OF_MEMORY)
		return error_set(err, CLEAT_ENOMEM, "out of memory");
	else
		return error_set(err, CLEAT_EUNSUPPORTED, "this libcurl lacks something: %s",
				 h->curl.curl_easy_strerror(rc));
	return CLEAT_OK;
}

struct fetcher *fetcher_new(const struct fetcher_options *o, cleat_error *err)
{
	cleat_allocator mem = mem_resolve(o->mem);
	struct libcurl curl;
	struct fetcher *h;

	if (fetcher_check(o, err) || libcurl_load(&curl, err))
		return NULL;
	h = mem_zalloc(&mem, sizeof *h);
	if (!h) {
		error_set(err, CLEAT_ENOMEM, "out of memory");
		return NULL;
	}
	h->mem = mem;
	h->loop = o->loop;
	h->curl = curl;
	h->kick.fn = on_kick;
	h->waiting_end = &h->waiting;
	h->insecure = o->insecure;
	h->no_http2 = o->no_http2;
	h->connect_ms = o->connect_ms ? o->connect_ms : CONNECT_MS;
	h->trace = o->trace;
	h->ctx = o->ctx;
	h->has_tls = curl.curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_SSL;
	if (!copy_strings(h, o) || !set_up(h)) {
		error_set(err, CLEAT_ENOMEM, "out of memory");
		destroy(h);
		return NULL;
	}
	if (try_handle(h, err)) {
		destroy(h);
		return NULL;
	}
	return h;
}

static void destroy(struct fetcher *h)
{
	cleat_allocator mem = h->mem;

	h->doomed = true;
	while (h->fetches) {
		h->fetches->state = FETCH_DEAD;
		fetch_end(h->fetches, NULL);
	}
	while (h->n_handles)
		h->curl.curl_easy_cleanup(h->handles[--h->n_handles]);
	if (h->multi)
		h->curl.curl_multi_cleanup(h->multi);
	while (h->sockets)
		socket_free(h->sockets);
	loop_cancel(h->loop, &h->kick);
	loop_timer_free(h->timer);
	loop_timer_free(h->idle);
	mem_free(&mem, h->proxy);
	mem_free(&mem, h->ca_file);
	mem_free(&mem, h->client_cert);
	mem_free(&mem, h->client_key);
	mem_free(&mem, h->unix_socket);
	mem_free(&mem, h->user_agent);
	mem_free(&mem, h);
}

void fetcher_free(struct fetcher *h)
{
	if (!h || h->doomed)
		return;
	h->doomed = true;
	for (struct fetch *f = h->fetches; f; f = f->next)
		f->state = FETCH_DEAD;
	if (!h->busy)
		destroy(h);
}
