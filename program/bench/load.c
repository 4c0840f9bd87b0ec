/* program/bench/load.c - the workers of a run: see load.h; what one does is in worker.c. */
#include "bench/worker.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct load {
	struct load_options o;
	struct worker *workers;
	unsigned n;
};

uint64_t load_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void *thread(void *worker)
{
	worker_run(worker);
	return NULL;
}

static void load_free(struct load *l)
{
	for (unsigned i = 0; i < l->n; i++)
		worker_done(&l->workers[i]);
	free(l->workers);
	free(l);
}

struct load *load_start(const struct load_options *o, const char **ret_why)
{
	struct load *l = calloc(1, sizeof *l);

	*ret_why = "out of memory or file descriptors";
	if (!l)
		return NULL;
	l->o = *o;
	l->workers = calloc(o->threads, sizeof *l->workers);
	if (!l->workers) {
		free(l);
		return NULL;
	}
	for (; l->n < o->threads; l->n++) {
		if (!worker_init(&l->workers[l->n], &l->o, l->n)) {
			load_free(l);
			return NULL;
		}
	}
	for (unsigned i = 0; i < l->n; i++) {
		struct worker *w = &l->workers[i];

		w->running = pthread_create(&w->thread, NULL, thread, w) == 0;
		if (!w->running) {
			*ret_why = "could not start a thread";
			load_stop(l);
			for (unsigned k = 0; k < i; k++)
				pthread_join(l->workers[k].thread, NULL);
			load_free(l);
			return NULL;
		}
	}
	return l;
}

void load_look(struct load *l, struct load_live *ret)
{
	*ret = (struct load_live){ .begin = atomic_load(&l->workers[0].shown_begin), .over = true };
	for (unsigned i = 0; i < l->n; i++) {
		ret->good += atomic_load_explicit(&l->workers[i].good, memory_order_relaxed);
		ret->failed += atomic_load_explicit(&l->workers[i].failed, memory_order_relaxed);
		ret->over = ret->over && atomic_load(&l->workers[i].over);
	}
}

void load_stop(struct load *l)
{
	for (unsigned i = 0; i < l->n; i++)
		atomic_store(&l->workers[i].stop, true);
}

void load_finish(struct load *l, struct tally *ret)
{
	for (unsigned i = 0; i < l->n; i++) {
		pthread_join(l->workers[i].thread, NULL);
		tally_merge(ret, &l->workers[i].tally);
	}
	load_free(l);
}
