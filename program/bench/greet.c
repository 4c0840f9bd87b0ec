/* program/bench/greet.c - see greet.h. */
#define _GNU_SOURCE /* SOCK_NONBLOCK and friends, in what is included */

#include "bench/greet.h"
#include "bench/reader.h"
#include "bench/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAY_MAX ((size_t)1024 * 1024) /* of an answer to initialize */

static bool greet_fail(struct greeting *g, const char *what, const char *why)
{
	snprintf(g->why, sizeof g->why, "%s: %s", what, why);
	return false;
}

/* Ready within the time? */
static bool ready(int fd, short events, uint64_t until)
{
	struct pollfd p = { .fd = fd, .events = events };

	for (;;) {
		uint64_t now = load_clock();
		int n = now >= until ? 0 : poll(&p, 1, (int)((until - now) / 1000000) + 1);

		if (n < 0 && errno == EINTR)
			continue;
		errno = n == 0 ? ETIMEDOUT : errno;
		return n > 0;
	}
}

static bool send_all(int fd, const char *p, size_t n, uint64_t until)
{
	while (n) {
		ssize_t k = write(fd, p, n);

		if (k < 0 && (errno == EAGAIN || errno == EINTR)) {
			if (!ready(fd, POLLOUT, until))
				return false;
			continue;
		}
		if (k < 0)
			return false;
		p += k;
		n -= (size_t)k;
	}
	return true;
}

/* ---- HTTP -------------------------------------------------------------------------------------- */

/* One connection, while the server keeps it. */
struct talk {
	const struct goal *goal;
	int fd;
	struct reader r;
};

static void talk_end(struct talk *t)
{
	if (t->fd >= 0)
		close(t->fd);
	reader_done(&t->r);
}

static bool talk_connect(struct talk *t, uint64_t until)
{
	bool waiting = false;
	int error = 0;
	socklen_t n = sizeof error;

	reader_reset(&t->r);
	t->fd = goal_connect(t->goal, &waiting);
	if (t->fd < 0 || (waiting && !ready(t->fd, POLLOUT, until)))
		return false;
	getsockopt(t->fd, SOL_SOCKET, SO_ERROR, &error, &n);
	errno = error;
	return error == 0;
}

static bool talk_receive(struct talk *t, uint64_t until)
{
	size_t room = 0;
	char *p = reader_room(&t->r, &room);
	ssize_t k;

	if (!p) {
		errno = EMSGSIZE;
		return false;
	}
	if (!ready(t->fd, POLLIN, until))
		return false;
	k = recv(t->fd, p, room, 0);
	if (k < 0)
		return errno == EAGAIN || errno == EINTR;
	if (k == 0)
		reader_ended(&t->r);
	reader_received(&t->r, (size_t)k);
	return true;
}

/* Sends a request and reads its whole answer; *ret_kind is what the JSON-RPC response in it is. */
static bool talk_exchange(struct talk *t, const char *bytes, size_t n, uint64_t until,
			  enum scan_kind *ret_kind)
{
	struct scan s;

	*ret_kind = SCAN_GARBAGE;
	if (t->fd < 0 && !talk_connect(t, until))
		return false;
	if (!send_all(t->fd, bytes, n, until))
		return false;
	for (;;) {
		enum reader_step step = reader_step(&t->r);

		if (step == READER_BAD) {
			errno = EPROTO;
			return false;
		}
		if (step == READER_EVENT || (step == READER_DONE && t->r.body)) {
			scan_message(t->r.body, t->r.body_n, &s);
			if (s.kind != SCAN_NOTICE && s.kind != SCAN_REQUEST)
				*ret_kind = s.kind;
		}
		if (step == READER_DONE)
			return true;
		if (step == READER_MORE && !talk_receive(t, until))
			return false;
	}
}

/* After an answer: for the next request. */
static void talk_next(struct talk *t)
{
	if (t->r.close) {
		close(t->fd);
		t->fd = -1;
	} else {
		reader_next(&t->r);
	}
}

/* One session: initialize and notifications/initialized. "" when the server gives none. */
static bool open_session(struct greeting *g, struct talk *t, const struct shot_options *o,
			 char **ret_id, int *ret_status)
{
	struct shot_options first = *o;
	uint64_t until = load_clock() + g->timeout_ns;
	enum scan_kind kind;
	size_t n = 0;
	char *bytes;
	bool good;

	first.revision = NULL;
	bytes = shot_plain(&first, "POST", NULL, g->initialize, g->initialize_n, &n);
	good = bytes && talk_exchange(t, bytes, n, until, &kind);
	free(bytes);
	if (!good)
		return greet_fail(g, "initialize", t->r.why ? t->r.why : strerror(errno));
	if (t->r.status != 200 || kind != SCAN_RESULT) {
		*ret_status = t->r.status;
		snprintf(g->why, sizeof g->why, "initialize: the server answered with HTTP %d%s",
			 t->r.status, t->r.status == 200 ? ", but with no result" : "");
		return false;
	}
	*ret_id = strdup(t->r.session);
	talk_next(t);
	bytes = *ret_id ? shot_plain(o, "POST", **ret_id ? *ret_id : NULL, g->initialized,
				     g->initialized_n, &n)
			: NULL;
	good = bytes && talk_exchange(t, bytes, n, until, &kind);
	free(bytes);
	if (!good)
		return greet_fail(g, "notifications/initialized",
				  t->r.why ? t->r.why : strerror(errno));
	talk_next(t);
	return true;
}

bool greet_sessions(struct greeting *g, const struct goal *t, const struct shot_options *o,
		    size_t n, char ***ret, int *ret_status)
{
	struct talk talk = { .goal = t, .fd = -1 };
	char **ids = calloc(n + 1, sizeof *ids);
	bool good = ids && reader_init(&talk.r, false, SAY_MAX);
	size_t i = 0;

	*ret = NULL;
	*ret_status = 0;
	if (!good)
		greet_fail(g, "initialize", "out of memory");
	for (; good && i < n; i++) {
		good = open_session(g, &talk, o, &ids[i], ret_status);
		if (good && !ids[i][0])
			break; /* no sessions here */
	}
	talk_end(&talk);
	if (good && i == n && n) {
		*ret = ids;
		return true;
	}
	for (i = 0; ids && i < n; i++)
		free(ids[i]);
	free(ids);
	return good;
}

void greet_goodbye(const struct goal *t, const struct shot_options *o, char **sessions, size_t n)
{
	struct talk talk = { .goal = t, .fd = -1 };
	uint64_t until = load_clock() + 1000000000u;
	bool good = reader_init(&talk.r, false, SAY_MAX);

	for (size_t i = 0; i < n; i++) {
		enum scan_kind kind;
		size_t len = 0;
		char *bytes = good ? shot_plain(o, "DELETE", sessions[i], NULL, 0, &len) : NULL;

		good = bytes && talk_exchange(&talk, bytes, len, until, &kind);
		if (good)
			talk_next(&talk);
		free(bytes);
		free(sessions[i]);
	}
	free(sessions);
	talk_end(&talk);
}

/* ---- lines ------------------------------------------------------------------------------------- */

bool greet_connect(struct greeting *g, const struct goal *t, struct load_pipe *pipes, size_t n)
{
	uint64_t until = load_clock() + g->timeout_ns;

	for (size_t i = 0; i < n; i++) {
		struct talk talk = { .goal = t, .fd = -1 };

		if (!talk_connect(&talk, until)) {
			greet_fail(g, "connecting", strerror(errno));
			if (talk.fd >= 0)
				close(talk.fd);
			while (i--)
				close(pipes[i].in);
			return false;
		}
		pipes[i] = (struct load_pipe){ talk.fd, talk.fd };
	}
	return true;
}

static bool read_byte(int fd, char *ret, uint64_t until)
{
	for (;;) {
		ssize_t k = read(fd, ret, 1);

		if (k == 1)
			return true;
		if (k == 0)
			errno = EPIPE;
		if (k == 0 || (errno != EAGAIN && errno != EINTR) || !ready(fd, POLLIN, until))
			return false;
	}
}

/* Up to the response, and not a byte further: what follows belongs to the load. */
static bool read_response(struct greeting *g, int fd, uint64_t until)
{
	char *line = malloc(SAY_MAX);
	struct scan s = { .kind = SCAN_GARBAGE };
	size_t n = 0;
	char c;

	while (line && read_byte(fd, &c, until)) {
		if (c != '\n') {
			line[n++] = c;
			if (n == SAY_MAX)
				break;
			continue;
		}
		scan_message(line, n, &s);
		n = 0;
		if (s.kind != SCAN_NOTICE && s.kind != SCAN_REQUEST && s.kind != SCAN_GARBAGE)
			break;
	}
	free(line);
	if (s.kind == SCAN_GARBAGE)
		return greet_fail(g, "waiting for the server",
				  n == SAY_MAX ? "it does not send lines" : strerror(errno));
	if (s.kind == SCAN_ERROR)
		return greet_fail(g, "starting", "the server refused the first request");
	return true;
}

static bool greet_say(struct greeting *g, int fd, const char *p, size_t n, uint64_t until)
{
	return send_all(fd, p, n, until) || greet_fail(g, "writing to the server", strerror(errno));
}

bool greet_pipes(struct greeting *g, const struct load_pipe *pipes, size_t n,
		 const struct shot *shot)
{
	uint64_t until = load_clock() + g->timeout_ns;
	bool good = true;

	for (size_t i = 0; i < n; i++) {
		fcntl(pipes[i].in, F_SETFL, fcntl(pipes[i].in, F_GETFL) | O_NONBLOCK);
		fcntl(pipes[i].out, F_SETFL, fcntl(pipes[i].out, F_GETFL) | O_NONBLOCK);
	}
	/* All at once, then all in turn: programs take their time to start. */
	for (size_t i = 0; i < n && good; i++)
		good = g->initialize ? greet_say(g, pipes[i].out, g->initialize, g->initialize_n,
						 until) &&
					       greet_say(g, pipes[i].out, "\n", 1, until)
				     : greet_say(g, pipes[i].out, shot->tail, shot->tail_n, until);
	for (size_t i = 0; i < n && good; i++) {
		good = read_response(g, pipes[i].in, until);
		if (good && g->initialize)
			good = greet_say(g, pipes[i].out, g->initialized, g->initialized_n,
					 until) &&
			       greet_say(g, pipes[i].out, "\n", 1, until);
	}
	return good;
}
