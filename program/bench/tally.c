/* program/bench/tally.c - see tally.h. */
#include "bench/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_FIRST 10000000u /* 10 ms */

bool tally_init(struct tally *t, size_t n_each)
{
	memset(t, 0, sizeof *t);
	t->slice_ns = SLICE_FIRST;
	t->until = UINT64_MAX;
	t->n_each = n_each;
	t->each = calloc(n_each ? n_each : 1, sizeof *t->each);
	t->failed = calloc(n_each ? n_each : 1, sizeof *t->failed);
	return t->each && t->failed;
}

void tally_done(struct tally *t)
{
	free(t->each);
	free(t->failed);
	t->each = NULL;
	t->failed = NULL;
}

static void slice_merge(struct tally_slice *to, const struct tally_slice *from)
{
	to->good += from->good;
	to->failed += from->failed;
	to->sum += from->sum;
	to->most = from->most > to->most ? from->most : to->most;
}

/* Slices of twice the length, two by two. */
static void coarser(struct tally *t)
{
	for (size_t i = 0; i < TALLY_SLICES; i++) {
		struct tally_slice s = t->slices[i];

		memset(&t->slices[i], 0, sizeof s);
		slice_merge(&t->slices[i / 2], &s);
	}
	t->slice_ns *= 2;
	t->n_slices = (t->n_slices + 1) / 2;
}

static struct tally_slice *slice_at(struct tally *t, uint64_t now)
{
	uint64_t at = now > t->begin ? now - t->begin : 0;

	while (at / t->slice_ns >= TALLY_SLICES)
		coarser(t);
	if (t->n_slices <= at / t->slice_ns)
		t->n_slices = (size_t)(at / t->slice_ns) + 1;
	return &t->slices[at / t->slice_ns];
}

static void add_code(struct tally *t, enum outcome kind, int64_t detail, uint64_t n)
{
	for (size_t i = 0; i < TALLY_CODES; i++) {
		struct tally_code *c = &t->codes[i];

		if (c->n && (c->kind != kind || c->detail != detail))
			continue;
		c->kind = kind;
		c->detail = detail;
		c->n += n;
		return;
	}
	t->other_codes += n;
}

void tally_add(struct tally *t, enum outcome kind, int64_t detail, size_t which, uint64_t now,
	       uint64_t took)
{
	struct tally_slice *s = slice_at(t, now);

	t->kinds[kind]++;
	if (now > t->last)
		t->last = now;
	if (kind != OUT_GOOD) {
		s->failed++;
		t->failed[which] += kind != OUT_CONNECT;
		if (kind == OUT_HTTP || kind == OUT_RPC)
			add_code(t, kind, detail, 1);
		return;
	}
	s->good++;
	t->in_time += now <= t->until;
	s->sum += took;
	s->most = took > s->most ? took : s->most;
	hist_add(&t->each[which], took);
}

void tally_end(struct tally *t, uint64_t now, bool all_sent)
{
	if (all_sent && t->last)
		t->end = t->last;
	else
		t->end = now < t->until ? now : t->until;
}

void tally_why(struct tally *t, const char *text)
{
	if (!t->why[0] && text)
		snprintf(t->why, sizeof t->why, "%s", text);
}

void tally_quote(struct tally *t, const char *text, size_t n)
{
	size_t at = 0;

	if (t->why[0] || !n)
		return;
	for (; at < n && at < sizeof t->why - 4; at++)
		t->why[at] = strchr("\t\r\n", text[at]) && text[at] ? ' '
			     : text[at] < 0x20 || text[at] > 0x7E   ? '?'
								    : text[at];
	if (at < n) {
		memcpy(t->why + at, "...", 3);
		at += 3;
	}
	t->why[at] = '\0';
}

static void merge_slices(struct tally *to, const struct tally *from)
{
	uint64_t times = 1;

	while (to->slice_ns < from->slice_ns)
		coarser(to);
	times = to->slice_ns / from->slice_ns;
	for (size_t i = 0; i < from->n_slices; i++) {
		slice_merge(&to->slices[i / times], &from->slices[i]);
		if (to->n_slices <= i / times)
			to->n_slices = (size_t)(i / times) + 1;
	}
}

void tally_merge(struct tally *to, const struct tally *from)
{
	if (!to->begin || from->begin < to->begin)
		to->begin = from->begin;
	if (from->end > to->end)
		to->end = from->end;
	merge_slices(to, from);
	for (int i = 0; i < OUT_KINDS; i++)
		to->kinds[i] += from->kinds[i];
	for (size_t i = 0; i < TALLY_CODES && from->codes[i].n; i++)
		add_code(to, from->codes[i].kind, from->codes[i].detail, from->codes[i].n);
	to->other_codes += from->other_codes;
	to->in_time += from->in_time;
	tally_why(to, from->why[0] ? from->why : NULL);
	to->bytes_in += from->bytes_in;
	to->bytes_out += from->bytes_out;
	to->reconnects += from->reconnects;
	to->unsent += from->unsent;
	for (size_t i = 0; i < from->n_each && i < to->n_each; i++) {
		hist_merge(&to->each[i], &from->each[i]);
		hist_merge(&to->all, &from->each[i]);
		to->failed[i] += from->failed[i];
	}
}

uint64_t tally_failed(const struct tally *t)
{
	uint64_t n = 0;

	for (int i = OUT_GOOD + 1; i < OUT_KINDS; i++)
		n += t->kinds[i];
	return n;
}

const char *outcome_name(enum outcome kind)
{
	static const char *const names[OUT_KINDS] = { "good",    "http",    "rpc",  "tool", "asks",
						      "timeout", "connect", "lost", "bad" };

	return names[kind];
}
