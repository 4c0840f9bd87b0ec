/* torture.c - see torture.h. */
#include "torture.h"

#include "server/core.h"
#include "session.h"
#include "unit/support.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_S = 120, REASON_MAX = 8192 };

enum outcome { NO_ANSWER, ANSWERED, REFUSED };

/* What a run is judged by; that of a run without failures is the measure for the others. */
struct verdict {
	size_t unanswered; /* lines */
	size_t strays;
	size_t told; /* messages that could not be read or answered, as the server said: there by an
		      * error that names no request, or here by a remark */
	enum outcome probe[SESSION_CONNS];
};

/* Which allocation fails; shared with the parent, which wants to know where a child died. */
struct attempt {
	size_t fail_at; /* 0: none */
	bool for_good;
	enum slicing how;
	struct torture_counts counts;
	bool ok;
	char reason[REASON_MAX];
};

struct torment {
	const struct script *script;
	const char *revision;
	bool from_start;
	struct attempt *now;
	struct verdict normal[SLICE_COUNT];
};

/* ---- memory ------------------------------------------------------------------------------- */

struct memory {
	struct fail_alloc fa; /* armed with the first allocation that counts */
	cleat_allocator hook;
	const struct session *session;
	const struct attempt *attempt;
	bool armed, from_start;
	size_t before; /* allocations that did not count */
};

static void *take(void *ctx, void *p, size_t old_size, size_t n)
{
	struct memory *m = ctx;

	if (!m->armed && (m->from_start || m->session->connected)) {
		m->armed = true;
		m->before = m->fa.requests;
		m->fa.countdown = m->attempt->fail_at;
		m->fa.forever = m->attempt->for_good;
	}
	return p ? m->fa.hook.realloc(&m->fa, p, old_size, n) : m->fa.hook.malloc(&m->fa, n);
}

static void *hook_malloc(void *ctx, size_t n)
{
	return take(ctx, NULL, 0, n);
}

static void *hook_realloc(void *ctx, void *p, size_t old_size, size_t n)
{
	return take(ctx, p, old_size, n);
}

static void hook_free(void *ctx, void *p)
{
	struct memory *m = ctx;

	m->fa.hook.free(&m->fa, p);
}

static void memory_init(struct memory *m, const struct torment *t, const struct session *s)
{
	fail_alloc_init(&m->fa, 0, false);
	m->hook = (cleat_allocator){ hook_malloc, hook_realloc, hook_free, m };
	m->session = s;
	m->attempt = t->now;
	m->from_start = t->from_start;
}

static void memory_is_back(struct memory *m)
{
	m->armed = true;
	m->fa.countdown = 0;
	m->fa.forever = false;
}

/* ---- the end of a run --------------------------------------------------------------------- */

static bool talks(const struct wire_conn *l)
{
	return l->wire && !l->ended;
}

static enum outcome probe_outcome(struct wire_conn *l)
{
	enum outcome found = NO_ANSWER;
	cleat_doc *doc;

	while ((doc = conn_take(l))) {
		const cleat_json *m = cleat_doc_root(doc);

		if (strcmp(cleat_json_str(cleat_json_get(m, "id"), ""), "torture-probe") == 0)
			found = cleat_json_get(m, "result") ? ANSWERED : REFUSED;
		cleat_doc_free(doc);
	}
	return found;
}

/* One request more on every connection. The line end first: a transcript may stop inside a line. */
static bool probe(struct session *s, struct verdict *v)
{
	static const char ping[] =
		"\n{\"jsonrpc\":\"2.0\",\"id\":\"torture-probe\",\"method\":\"ping\"}";
	static const char discover[] =
		"\n{\"jsonrpc\":\"2.0\",\"id\":\"torture-probe\",\"method\":\"server/discover\","
		"\"params\":{\"_meta\":$META}}";
	bool legacy = s->revision && strcmp(s->revision, "2026-07-28") != 0;

	for (int i = 0; i < SESSION_CONNS; i++) {
		if (!talks(&s->conns[i]))
			continue;
		if (!session_send(s, i, legacy ? ping : discover) || !session_flush(s))
			return false;
		v->probe[i] = probe_outcome(&s->conns[i]);
	}
	return true;
}

/* Brings everything to an end that handlers, questions and subscriptions have left open. */
static bool settle(struct session *s, struct verdict *v)
{
	static const uint64_t a_day = 86400000;
	bool ok;

	if (!s->connected && !cleat_server_error(s->server)->status && !session_conn(s, 0))
		return false;
	ok = session_flush(s);
	while (ok && s->fixture.n_parked) { /* each may let another one begin that was queued */
		fixture_finish_all(&s->fixture);
		ok = session_flush(s);
	}
	s->now += a_day;
	ok = ok && session_flush(s) && session_flush(s) && probe(s, v);
	if (s->server)
		server_shutdown(s->server);
	return ok && session_flush(s);
}

/* Remarks that a message, or an answer to one, was lost. */
static size_t count_told(const char *notes)
{
	size_t n = 0;

	while (*notes) {
		size_t k = strcspn(notes, "\n");
		char *line = text_dup(notes, k);

		n += strstr(line, "lost") != NULL;
		free(line);
		notes += k + (notes[k] == '\n');
	}
	return n;
}

static void sum_up(const struct session *s, struct verdict *v)
{
	v->told = count_told(text_str(&s->notes));
	for (int i = 0; i < SESSION_CONNS; i++) {
		const struct wire_conn *l = &s->conns[i];

		if (!l->wire)
			continue;
		v->unanswered += conn_unanswered(l);
		v->strays += l->strays;
		v->told += l->orphans;
	}
}

/* Against a run without failures. */
static bool judge(struct session *s, const struct verdict *v, const struct verdict *normal)
{
	static const char *const names[] = { "nothing", "a result", "an error" };

	if (v->strays > normal->strays)
		return session_fail(s, "%zu answers too many", v->strays - normal->strays);
	if (v->unanswered + normal->told > normal->unanswered + v->told)
		return session_fail(s,
				    "lines with requests that got no answer: %zu, normally %zu; "
				    "said to be lost: %zu, normally %zu; remarks:\n%s",
				    v->unanswered, normal->unanswered, v->told, normal->told,
				    text_str(&s->notes));
	if (!s->connected && cleat_server_error(s->server)->status != CLEAT_ENOMEM)
		return session_fail(s, "no connection, but no lack of memory either");
	for (int i = 0; i < SESSION_CONNS; i++)
		if (talks(&s->conns[i]) && v->probe[i] != normal->probe[i])
			return session_fail(s, "the next request got %s, normally %s; remarks:\n%s",
					    names[v->probe[i]], names[normal->probe[i]],
					    text_str(&s->notes));
	return true;
}

/* ---- runs ---------------------------------------------------------------------------------- */

static bool explain(struct attempt *a, const char *reason)
{
	snprintf(a->reason, sizeof a->reason, "%s", reason);
	return false;
}

/* False when something broke. *more: the allocation that should fail was reached. */
static bool attempt(struct torment *t, bool *more)
{
	struct attempt *a = t->now;
	struct session *s = text_alloc(sizeof *s);
	struct memory *m = text_alloc(sizeof *m);
	struct verdict v = { 0 };
	bool ok;

	memory_init(m, t, s);
	s->script = t->script;
	s->revision = t->revision;
	s->how = a->how;
	s->torture = true;
	s->memory = &m->hook;
	ok = session_run(s);
	if (!a->fail_at && m->fa.requests - m->before > a->counts.allocations)
		a->counts.allocations = m->fa.requests - m->before;
	memory_is_back(m);
	ok = ok && settle(s, &v);
	sum_up(s, &v);
	if (!a->fail_at)
		t->normal[a->how] = v;
	ok = ok && judge(s, &v, &t->normal[a->how]);
	if (!ok)
		explain(a, text_str(&s->failure));
	*more = !a->fail_at || fail_alloc_hit(&m->fa);
	session_done(s);
	free(s);
	if (ok && m->fa.live)
		ok = explain(a, "memory was left behind");
	free(m);
	a->counts.runs++;
	return ok;
}

static bool attempt_all(struct torment *t)
{
	static const enum slicing ways[] = { SLICE_LINES, SLICE_ODD };
	struct attempt *a = t->now;

	for (size_t i = 0; i < CLEAT_COUNT(ways) * 2; i++) {
		bool more = true;

		a->how = ways[i / 2];
		a->for_good = i % 2;
		for (a->fail_at = a->for_good ? 1 : 0; more; a->fail_at++)
			if (!attempt(t, &more))
				return false;
	}
	return true;
}

/* How the child ended. */
static bool conclude(const struct attempt *a, int status, struct text *why)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && a->ok)
		return true;
	text_printf(why, "allocation %zu %s, %s: ", a->fail_at,
		    a->for_good ? "and all that follow" : "alone", slicing_name(a->how));
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		text_printf(why, "no end after %d s", PATIENCE_S);
	else if (WIFSIGNALED(status))
		text_printf(why, "signal %d", WTERMSIG(status));
	else if (a->reason[0])
		text_puts(why, a->reason);
	else
		text_printf(why, "ended with status %d%s", WEXITSTATUS(status),
			    a->ok ? " after the last run: a leak" : "");
	return false;
}

bool torture_run(const struct script *script, const char *revision, bool from_start,
		 struct torture_counts *counts, struct text *why)
{
	struct attempt *a =
		mmap(NULL, sizeof *a, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct torment t = {
		.script = script, .revision = revision, .from_start = from_start, .now = a
	};
	int status = 0;
	bool ok;
	pid_t child;

	if (a == MAP_FAILED)
		return false;
	fflush(NULL);
	child = fork();
	if (child == 0) {
		alarm(PATIENCE_S);
		a->ok = attempt_all(&t);
		exit(0); /* not _exit(): the sanitizer looks for leaks */
	}
	ok = child > 0 && waitpid(child, &status, 0) == child && conclude(a, status, why);
	*counts = a->counts;
	munmap(a, sizeof *a);
	return ok;
}
