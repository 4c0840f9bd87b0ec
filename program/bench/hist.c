/* program/bench/hist.c - see hist.h. */
#include "bench/hist.h"

#include <string.h>

#define HALF 128u

void hist_clear(struct hist *h)
{
	memset(h, 0, sizeof *h);
}

/* The number of the highest bit that is set; v is not 0. */
static unsigned highest(uint64_t v)
{
	unsigned at = 0;

	for (unsigned step = 32; step; step /= 2) {
		if (v >> step) {
			v >>= step;
			at += step;
		}
	}
	return at;
}

size_t hist_slot(uint64_t v)
{
	unsigned shift = v < 2 * HALF ? 0 : highest(v) - 7;
	size_t slot = (size_t)shift * HALF + (size_t)(v >> shift);

	return slot < HIST_SLOTS ? slot : HIST_SLOTS - 1;
}

uint64_t hist_low(size_t slot)
{
	size_t shift = slot < 2 * HALF ? 0 : slot / HALF - 1;

	return (uint64_t)(slot - shift * HALF) << shift;
}

void hist_add(struct hist *h, uint64_t value)
{
	if (!h->n || value < h->least)
		h->least = value;
	if (value > h->most)
		h->most = value;
	h->n++;
	h->sum += value;
	h->slots[hist_slot(value)]++;
}

void hist_merge(struct hist *to, const struct hist *from)
{
	if (!from->n)
		return;
	if (!to->n || from->least < to->least)
		to->least = from->least;
	if (from->most > to->most)
		to->most = from->most;
	to->n += from->n;
	to->sum += from->sum;
	for (size_t i = 0; i < HIST_SLOTS; i++)
		to->slots[i] += from->slots[i];
}

/* The middle of a slot, as far as values went. */
static uint64_t middle(const struct hist *h, size_t slot)
{
	uint64_t low = hist_low(slot), v = low + (hist_low(slot + 1) - low) / 2;

	v = v < h->least ? h->least : v;
	return v > h->most || slot == HIST_SLOTS - 1 ? h->most : v;
}

uint64_t hist_quantile(const struct hist *h, double q)
{
	uint64_t rank = (uint64_t)(q * (double)h->n), seen = 0;

	if (!h->n)
		return 0;
	if ((double)rank < q * (double)h->n || rank == 0)
		rank++;
	if (rank >= h->n)
		return h->most;
	for (size_t i = 0; i < HIST_SLOTS; i++) {
		seen += h->slots[i];
		if (seen >= rank)
			return middle(h, i);
	}
	return h->most;
}

uint64_t hist_mean(const struct hist *h)
{
	return h->n ? h->sum / h->n : 0;
}
