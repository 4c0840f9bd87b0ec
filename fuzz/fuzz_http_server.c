/* fuzz_http_server.c - two clients and a service, told what to do by a script: one letter a line.
 *
 *	1 2         which client is meant from now on     n           it connects (anew)
 *	>text       it sends the line, with CRLF          +text       without
 *	= x !       it shuts down, closes, resets         <           it reads
 *	s           the loop turns                        t           11 seconds pass
 *	r b w W e a c   from outside: reply, begin, write, write a lot, end, abort, close after
 *	m           the next allocation fails             d f         drain, free
 *
 * What the service does from inside is in the path, as the same letters: those before a '-' in
 * head(), those after it in request().
 *
 * Invariants: every exchange that the service has seen ends exactly once, by its own doing or by
 * gone(); none is left when the server is freed; no memory and no descriptor is either.
 */
#include "httpd/conn.h"
#include "require.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 2 };

static struct {
	cleat_loop *loop;
	struct httpd *h;
	struct http_exchange *open[CLIENTS]; /* that the service has to end */
	int fd[CLIENTS];
	size_t client;
	size_t live, countdown;
	uint64_t now_us;
	bool drained;
} f;

/* ---- memory and time ---------------------------------------------------------------------- */

static bool fails(void)
{
	return f.countdown && --f.countdown == 0;
}

static void *get(void *ctx, size_t n)
{
	(void)ctx;
	if (fails())
		return NULL;
	f.live++;
	return malloc(n);
}

static void *resize(void *ctx, void *p, size_t old, size_t n)
{
	(void)ctx;
	(void)old;
	return fails() ? NULL : realloc(p, n);
}

static void put_back(void *ctx, void *p)
{
	(void)ctx;
	f.live -= p != NULL;
	free(p);
}

static const cleat_allocator mem = { get, resize, put_back, NULL };

static uint64_t clock_us(void *ctx)
{
	(void)ctx;
	return f.now_us;
}

/* ---- the service -------------------------------------------------------------------------- */

static struct http_exchange **slot(const struct http_exchange *ex)
{
	for (size_t i = 0; i < CLIENTS; i++)
		if (f.open[i] == ex)
			return &f.open[i];
	return NULL;
}

static void act(struct http_exchange *ex, char what)
{
	static const char much[70000] = "";
	struct http_exchange **mine = ex ? slot(ex) : NULL;
	bool ends = what == 'r' || what == 'e' || what == 'a';

	if (!mine)
		return;
	if (ends)
		*mine = NULL;
	switch (what) {
	case 'r': http_exchange_reply(ex, 200, STR_LIT("a/b"), NULL, 0, STR_LIT("text")); break;
	case 'R': /* large */
		*mine = NULL;
		http_exchange_reply(ex, 200, STR_LIT("a/b"), NULL, 0,
				    (struct str){ much, sizeof much });
		break;
	case 'b': http_exchange_begin(ex, 200, STR_LIT("a/b"), NULL, 0); break;
	case 'w': http_exchange_write(ex, STR_LIT("tick"), false); break;
	case 'W': http_exchange_write(ex, (struct str){ much, sizeof much }, true); break;
	case 'e': http_exchange_end(ex); break;
	case 'a': http_exchange_abort(ex); break;
	case 'c': http_exchange_close_after(ex); break;
	case 'l': http_exchange_limit_body(ex, 5); break;
	case 'd': httpd_drain(f.h, NULL, NULL); break;
	case 'f':
		httpd_free(f.h);
		f.h = NULL;
		break;
	default: break;
	}
}

static void act_all(struct http_exchange *ex, struct str letters)
{
	for (size_t i = 0; i < letters.n && i < 20 && f.h; i++)
		act(ex, letters.p[i]);
}

static void see(struct http_exchange *ex)
{
	for (size_t i = 0; i < CLIENTS && !slot(ex); i++)
		if (!f.open[i])
			f.open[i] = ex;
	require(slot(ex) != NULL);
}

/* The letters of the path, copied: the request is gone when it was answered. */
static struct str letters(const struct http_exchange *ex, bool head, char room[64])
{
	struct str path = http_exchange_request(ex)->path;
	const char *dash = memchr(path.p, '-', path.n);
	size_t first = dash ? (size_t)(dash - path.p) : 0, n;

	if (!head) {
		path.p += first;
		path.n -= first;
	} else {
		path.n = first;
	}
	n = path.n < 64 ? path.n : 64;
	memcpy(room, path.p, n);
	return (struct str){ room, n };
}

static void on_head(void *ctx, struct http_exchange *ex)
{
	char room[64];

	(void)ctx;
	see(ex);
	act_all(ex, letters(ex, true, room));
}

static void on_request(void *ctx, struct http_exchange *ex)
{
	char room[64];

	(void)ctx;
	require(slot(ex) != NULL); /* not answered in head() */
	act_all(ex, letters(ex, false, room));
}

static void on_gone(void *ctx, struct http_exchange *ex)
{
	(void)ctx;
	require(slot(ex) != NULL);
	*slot(ex) = NULL;
}

static void on_drained(void *ctx, struct http_exchange *ex)
{
	(void)ctx;
	require(slot(ex) != NULL && http_exchange_queued(ex) == 0);
	if (f.drained)
		act(ex, 'w');
	f.drained = false;
}

static void on_logged(void *ctx, const struct http_exchange *ex, int status, uint64_t bytes,
		      uint64_t micros)
{
	(void)ctx;
	(void)bytes;
	(void)micros;
	require(status == 0 || (status >= 200 && status < 600));
	require(http_exchange_request(ex)->path.p != NULL);
}

/* ---- the script --------------------------------------------------------------------------- */

static void hang_up(size_t i)
{
	if (f.fd[i] >= 0)
		close(f.fd[i]);
	f.fd[i] = -1;
}

static void dial(size_t i)
{
	int ends[2];

	hang_up(i);
	if (!f.h || f.h->stats.connections >= CLIENTS)
		return;
	require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
	f.fd[i] = ends[0];
	httpd_enter(f.h);
	http_conn_open(f.h, ends[1], "unix", NULL);
	httpd_leave(f.h);
}

static void say(size_t i, struct str text, bool line)
{
	if (f.fd[i] < 0)
		return;
	send(f.fd[i], text.p, text.n, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (line)
		send(f.fd[i], "\r\n", 2, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void listen_to(size_t i)
{
	static char heard[1 << 16];

	if (f.fd[i] >= 0)
		while (recv(f.fd[i], heard, sizeof heard, MSG_DONTWAIT) > 0)
			;
}

static void outside(char what)
{
	if (what == 'd' && f.h)
		httpd_drain(f.h, NULL, NULL);
	else if (what == 'f') {
		httpd_free(f.h);
		f.h = NULL;
	} else if (f.h) {
		act(f.open[f.client], what);
	}
}

static void run_line(struct str line)
{
	struct str rest = { line.p + 1, line.n - 1 };
	static const struct linger at_once = { 1, 0 };

	switch (line.p[0]) {
	case '1': f.client = 0; break;
	case '2': f.client = 1; break;
	case 'n': dial(f.client); break;
	case '>': say(f.client, rest, true); break;
	case '+': say(f.client, rest, false); break;
	case '<': listen_to(f.client); break;
	case '=':
		if (f.fd[f.client] >= 0)
			shutdown(f.fd[f.client], SHUT_WR);
		break;
	case '!':
		if (f.fd[f.client] >= 0)
			setsockopt(f.fd[f.client], SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
		hang_up(f.client);
		break;
	case 'x': hang_up(f.client); break;
	case 's': cleat_loop_step(f.loop, 0); break;
	case 't':
		f.now_us += 11000000;
		if (f.h)
			httpd_tick(f.h);
		break;
	case 'm': f.countdown = 1 + rest.n % 8; break;
	case 'p': f.drained = true; break;
	default: outside(line.p[0]); break;
	}
}

static void begin(void)
{
	struct httpd_options o = { .mem = &mem, .max_stream_queue = 100000 };

	if (!f.loop)
		f.loop = cleat_loop_new(NULL);
	o.loop = f.loop;
	o.service = (struct http_service){ .head = on_head,
					   .request = on_request,
					   .gone = on_gone,
					   .drained = on_drained,
					   .logged = on_logged };
	f.countdown = 0;
	f.client = 0;
	f.drained = false;
	f.fd[0] = f.fd[1] = -1;
	require(httpd_new(&o, &f.h) == CLEAT_OK);
	httpd_set_clock(f.h, clock_us, NULL);
	dial(0);
}

static void end(void)
{
	for (int i = 0; i < 3; i++)
		cleat_loop_step(f.loop, 0);
	f.countdown = 0;
	httpd_free(f.h);
	for (size_t i = 0; i < CLIENTS; i++) {
		require(f.open[i] == NULL);
		hang_up(i);
	}
	cleat_loop_step(f.loop, 0);
	require(f.live == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *stop = p + size;

	begin();
	for (int i = 0; p < stop && i < 400; i++) {
		const char *nl = memchr(p, '\n', (size_t)(stop - p));
		const char *line_end = nl ? nl : stop;

		if (line_end > p)
			run_line((struct str){ p, (size_t)(line_end - p) });
		p = line_end + 1;
	}
	end();
	return 0;
}
