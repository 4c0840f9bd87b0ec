/* program/bench/library.c - see library.h. Everything happens on the client's loop, in one thread. */
#include "bench/library.h"

#include <cleat/loop.h>

#include <stdlib.h>
#include <string.h>

#define TICK_NS 100000000u

struct slot {
	struct library *l;
	bool busy, counted;
	size_t which;
	uint64_t due;
};

struct library {
	struct cli *cli;
	const struct plan *plan;
	const struct load_options *o;
	struct tally *t;
	struct slot *slots;
	size_t under_way;
	uint64_t begin, end, left, arrival, random, weights;
	bool draining, stopped;
};

static void library_start(struct slot *s, uint64_t due);

static size_t pick(struct library *l)
{
	uint64_t at;
	size_t i = 0;

	l->random = l->random * 6364136223846793005u + 1442695040888963407u;
	at = (l->random >> 33) % l->weights;
	while (at >= l->plan->items[i].weight)
		at -= l->plan->items[i++].weight;
	return i;
}

static uint64_t next_due(const struct library *l)
{
	return l->begin - l->o->warmup_ns + (uint64_t)(1e9 / l->o->rate * (double)l->arrival);
}

static bool may_send(const struct library *l, uint64_t due)
{
	return !l->draining && !l->stopped && due < l->end && l->left > 0;
}

/* The next request for a slot that has none, if one is due. */
static void next(struct slot *s, uint64_t now)
{
	struct library *l = s->l;
	uint64_t due = l->o->rate > 0 ? next_due(l) : now;

	if (due > now || !may_send(l, due))
		return;
	l->arrival++;
	library_start(s, due);
}

static enum outcome outcome_of(const cleat_result *r, int64_t *ret_detail)
{
	*ret_detail = cleat_result_error(r)->rpc_code;
	if (cleat_result_status(r) == CLEAT_OK)
		return OUT_GOOD;
	if (cleat_result_is_tool_error(r))
		return OUT_TOOL;
	if (cleat_result_status(r) == CLEAT_ETIMEOUT)
		return OUT_TIMEOUT;
	switch (cleat_result_step(r)) {
	case CLEAT_STEP_ANSWER: return OUT_RPC;
	case CLEAT_STEP_HTTP:
	case CLEAT_STEP_AUTH: *ret_detail = cleat_result_http_status(r); return OUT_HTTP;
	case CLEAT_STEP_DNS:
	case CLEAT_STEP_CONNECT:
	case CLEAT_STEP_TLS: return OUT_CONNECT;
	case CLEAT_STEP_EXCHANGE: return OUT_LOST;
	case CLEAT_STEP_ASKED: return OUT_ASKS;
	default: return OUT_BAD;
	}
}

static void library_on_done(cleat_call *call, cleat_result *result)
{
	struct slot *s = cleat_call_userdata(call);
	struct library *l = s->l;
	uint64_t now = load_clock();
	enum outcome kind;
	int64_t detail;

	s->busy = false;
	l->under_way--;
	if (s->counted && !l->stopped) {
		kind = outcome_of(result, &detail);
		if (kind != OUT_GOOD)
			tally_why(l->t, cleat_result_error(result)->message);
		tally_add(l->t, kind, detail, s->which, now, now > s->due ? now - s->due : 0);
	}
	cleat_result_free(result);
	next(s, now);
}

static void library_start(struct slot *s, uint64_t due)
{
	struct library *l = s->l;
	cleat_call_options o = { .on_done = library_on_done,
				 .no_cache = true,
				 .timeout_ms = (unsigned)(l->o->timeout_ns / 1000000),
				 .userdata = s };
	const struct plan_item *item;

	s->which = pick(l);
	s->due = due;
	s->counted = due >= l->begin;
	item = &l->plan->items[s->which];
	if (s->counted && l->left != UINT64_MAX)
		l->left--;
	s->busy = item->params ? cleat_client_start_requestf(l->cli->client, &o, item->method, "%p",
							     (void *)item->params) != NULL
			       : cleat_client_start_requestf(l->cli->client, &o, item->method,
							     NULL) != NULL;
	l->under_way += s->busy;
}

static void library_fill(struct library *l, uint64_t now)
{
	for (unsigned i = 0; i < l->o->connections; i++)
		if (!l->slots[i].busy)
			next(&l->slots[i], now);
}

/* Milliseconds that the loop may wait. */
static int patience(const struct library *l, uint64_t now)
{
	uint64_t due;

	if (l->o->rate <= 0 || l->under_way == l->o->connections || l->draining)
		return 50;
	due = next_due(l);
	return due <= now ? 0 : due - now > 50000000u ? 50 : (int)((due - now) / 1000000u);
}

static void library_look(const struct library *l, struct load_live *ret)
{
	*ret = (struct load_live){ .good = l->t->kinds[OUT_GOOD],
				   .failed = tally_failed(l->t),
				   .begin = l->begin };
}

static void bench_library_run(struct library *l,
			      bool (*tick)(void *ctx, const struct load_live *live), void *ctx)
{
	uint64_t now = load_clock(), ticked = now;
	struct load_live live;
	bool begun = false;

	while (!l->stopped && (!l->draining || l->under_way)) {
		if (!begun && l->o->rate > 0 && now >= l->begin)
			for (begun = true; next_due(l) < l->begin;)
				l->arrival++; /* what the warm-up could not send */
		library_fill(l, now);
		if (cleat_loop_step(l->cli->loop, patience(l, now)) != CLEAT_OK)
			break;
		now = load_clock();
		if (now >= l->end || (!l->left && now >= l->begin))
			l->draining = true;
		if (now - ticked < TICK_NS)
			continue;
		ticked = now;
		library_look(l, &live);
		l->stopped = tick(ctx, &live);
	}
	tally_end(l->t, now, !l->left);
	for (; l->o->rate > 0 && l->o->duration_ns && next_due(l) < (now < l->end ? now : l->end);
	     l->arrival++)
		l->t->unsent++;
}

bool library_run(struct cli *cli, const struct plan *plan, const struct load_options *o,
		 struct tally *ret, bool (*tick)(void *ctx, const struct load_live *live),
		 void *ctx)
{
	struct library *l = calloc(1, sizeof *l);
	uint64_t now = load_clock();

	if (!l)
		return false;
	*l = (struct library){ .cli = cli, .plan = plan, .o = o, .t = ret, .random = 1 };
	l->slots = calloc(o->connections, sizeof *l->slots);
	l->begin = ret->begin = now + o->warmup_ns;
	l->end = ret->until = o->duration_ns ? l->begin + o->duration_ns : UINT64_MAX;
	l->left = o->requests ? o->requests : UINT64_MAX;
	for (size_t i = 0; i < plan->n; i++)
		l->weights += plan->items[i].weight;
	for (unsigned i = 0; l->slots && i < o->connections; i++)
		l->slots[i].l = l;
	if (l->slots)
		bench_library_run(l, tick, ctx);
	l->stopped = true;
	cleat_client_free(cli->client); /* ends the calls that are under way, in here */
	cli->client = NULL;
	for (size_t i = 0; i < ret->n_each; i++)
		hist_merge(&ret->all, &ret->each[i]);
	free(l->slots);
	free(l);
	return true;
}
