/* fuzz_http_answer.c - the input is what an HTTP server sends (transport/http_client). It comes whole or
 * in slices, and then the connection is closed or stays open.
 *
 * Whatever it is: the fetch ends exactly once, with an answer whose status is one or with a failure that
 * has words, never with both; the body that was handed over is no longer than allowed; and nothing is
 * left when the client is freed. The first byte says how the bytes come and what is asked for.
 */
#include "fetch/fetcher.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_BODY = 4096 };

struct server {
	cleat_loop *l;
	int ear;
	char url[64];
	struct loop_watch *watch;
	/* the connection */
	int fd;
	struct loop_watch *conn;
	/* what it sends; each connection gets it from the beginning */
	const uint8_t *data;
	size_t size, at, slice;
	bool reset;
};

struct seen {
	unsigned heads, ends;
	size_t body;
	bool paused;
	struct fetch *f;
};

static void hang_up(struct server *s)
{
	struct linger at_once = { 1, 0 };

	if (s->fd < 0)
		return;
	if (s->reset)
		setsockopt(s->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
	loop_watch_free(s->conn);
	s->conn = NULL;
	close(s->fd);
	s->fd = -1;
}

static void on_conn(void *ctx, unsigned events, bool failed)
{
	struct server *s = ctx;
	size_t n = s->size - s->at;
	char request[4096];
	ssize_t done;

	(void)failed;
	if (events & LOOP_READ) {
		/* It is answered as soon as something of the request is there. */
		if (recv(s->fd, request, sizeof request, 0) <= 0) {
			hang_up(s);
			return;
		}
		loop_watch_set(s->conn, LOOP_READ | LOOP_WRITE);
	}
	if (!(events & LOOP_WRITE))
		return;
	if (s->slice && s->slice < n)
		n = s->slice;
	done = n ? send(s->fd, s->data + s->at, n, MSG_NOSIGNAL) : 0;
	if (done > 0)
		s->at += (size_t)done;
	if (s->at == s->size || (done < 0 && errno != EAGAIN))
		hang_up(s);
}

static void on_ear(void *ctx, unsigned events, bool failed)
{
	struct server *s = ctx;

	(void)events, (void)failed;
	hang_up(s);
	s->fd = accept4(s->ear, NULL, NULL, SOCK_NONBLOCK);
	if (s->fd < 0)
		return;
	s->at = 0;
	if (loop_watch_new(s->l, s->fd, on_conn, s, &s->conn) != CLEAT_OK)
		abort();
	loop_watch_set(s->conn, LOOP_READ);
}

static void server_open(struct server *s)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t n = sizeof in;

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	s->fd = -1;
	s->l = cleat_loop_new(NULL);
	s->ear = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (bind(s->ear, (struct sockaddr *)&in, sizeof in) || listen(s->ear, 16) ||
	    getsockname(s->ear, (struct sockaddr *)&in, &n) ||
	    loop_watch_new(s->l, s->ear, on_ear, s, &s->watch) != CLEAT_OK)
		abort();
	loop_watch_set(s->watch, LOOP_READ);
	snprintf(s->url, sizeof s->url, "http://127.0.0.1:%u/", ntohs(in.sin_port));
}

static bool on_head(void *ctx, struct fetch *f, int status)
{
	struct seen *seen = ctx;
	struct str v = fetch_field(f, "content-type");

	if (seen->heads++ || seen->ends || status < 200 || status > 999 ||
	    status != fetch_status(f) || (v.n && (memchr(v.p, '\n', v.n) || v.p[0] == ' ')))
		abort();
	return true;
}

static bool on_body(void *ctx, struct fetch *f, struct str bytes)
{
	struct seen *seen = ctx;

	seen->body += bytes.n;
	if (seen->heads != 1 || seen->ends || seen->paused || seen->body > MAX_BODY)
		abort();
	if (seen->body % 3 == 0) {
		seen->paused = true;
		fetch_pause(f, true);
	}
	return true;
}

static void on_end(void *ctx, struct fetch *f, const struct link_failure *why)
{
	struct seen *seen = ctx;

	if (seen->ends++ || f != seen->f)
		abort();
	if (!why ? !seen->heads : why->error.status >= 0 || !why->error.message[0])
		abort();
	seen->f = NULL;
}

static void fetch(struct fetcher *h, struct server *s, const char *method)
{
	struct seen seen = { 0 };
	struct fetch_options o = { .method = method,
				   .url = s->url,
				   .max_body = MAX_BODY,
				   .idle_ms = 500,
				   .on_head = on_head,
				   .on_body = on_body,
				   .on_end = on_end,
				   .ctx = &seen };

	seen.f = fetch_start(h, &o, NULL);
	if (!seen.f)
		abort();
	while (!seen.ends) {
		cleat_loop_step(s->l, 100);
		if (seen.paused && seen.f) {
			seen.paused = false;
			fetch_pause(seen.f, false);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct server s; /* for all inputs */
	struct fetcher *h;

	if (size == 0)
		return 0;
	if (!s.l)
		server_open(&s);
	s.slice = data[0] & 1 ? 1 + (data[0] >> 4) : 0;
	s.reset = data[0] & 4;
	s.data = data + 1;
	s.size = size - 1;
	s.at = 0;
	h = fetcher_new(&(struct fetcher_options){ .loop = s.l, .proxy = "" }, NULL);
	if (!h)
		return 0; /* there is no libcurl */
	fetch(h, &s, data[0] & 2 ? "GET" : "POST");
	fetcher_free(h);
	hang_up(&s);
	cleat_loop_step(s.l, 0);
	return 0;
}
