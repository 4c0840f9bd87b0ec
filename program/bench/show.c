/* program/bench/show.c - figures of a run for people, and what is computed from them: see report.h. */
#include "bench/report.h"

#include <string.h>

/* With three digits: `whole` units of which `per` make one of the next. */
static const char *digits(char *room, uint64_t value, uint64_t per, const char *unit)
{
	uint64_t whole = value / per, rest = value % per;

	if (per == 1 || whole >= 100)
		snprintf(room, 32, "%llu %s", (unsigned long long)whole, unit);
	else if (whole >= 10)
		snprintf(room, 32, "%llu.%llu %s", (unsigned long long)whole,
			 (unsigned long long)(rest * 10 / per), unit);
	else
		snprintf(room, 32, "%llu.%02llu %s", (unsigned long long)whole,
			 (unsigned long long)(rest * 100 / per), unit);
	return room;
}

const char *show_time(char *room, uint64_t ns)
{
	if (!ns)
		return digits(room, 0, 1, "s");
	if (ns < 1000)
		return digits(room, ns, 1, "ns");
	if (ns < 1000000)
		return digits(room, ns, 1000, "us");
	if (ns < 1000000000)
		return digits(room, ns, 1000000, "ms");
	return digits(room, ns, 1000000000, "s");
}

const char *show_bytes(char *room, uint64_t n)
{
	if (n < 1024)
		return digits(room, n, 1, "B");
	if (n < (uint64_t)1 << 20)
		return digits(room, n, 1024, "KiB");
	if (n < (uint64_t)1 << 30)
		return digits(room, n, (uint64_t)1 << 20, "MiB");
	return digits(room, n, (uint64_t)1 << 30, "GiB");
}

const char *show_number(char *room, uint64_t n)
{
	char plain[24];
	size_t len = (size_t)snprintf(plain, sizeof plain, "%llu", (unsigned long long)n), at = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			room[at++] = ',';
		room[at++] = plain[i];
	}
	room[at] = '\0';
	return room;
}

const char *show_ms(char *room, uint64_t ns)
{
	snprintf(room, 32, "%llu.%06llu", (unsigned long long)(ns / 1000000),
		 (unsigned long long)(ns % 1000000));
	return room;
}

uint64_t report_rate(uint64_t n, uint64_t ns)
{
	return ns ? (uint64_t)((double)n * 1e9 / (double)ns + 0.5) : 0;
}

uint64_t report_per_second(const struct report *r)
{
	return report_rate(r->t->in_time, report_elapsed(r));
}

uint64_t report_elapsed(const struct report *r)
{
	return r->t->end > r->t->begin ? r->t->end - r->t->begin : 0;
}

uint64_t report_cost(uint64_t cpu_ns, const struct report *r)
{
	uint64_t n = r->t->kinds[OUT_GOOD] + tally_failed(r->t);

	return n ? cpu_ns / n : 0;
}

void report_load(struct text *to, const struct report *r)
{
	const struct load_options *o = r->load;
	bool child = strcmp(r->transport, "stdio") == 0;
	char a[32], b[32];

	text_printf(to, "%u %s%s, ", o->connections, child ? "process" : "connection",
		    o->connections == 1 ? ""
		    : child             ? "es"
					: "s");
	if (r->sessions)
		text_printf(to, "%zu session%s, ", r->sessions, r->sessions == 1 ? "" : "s");
	if (o->rate > 0)
		text_printf(to, "%s requests/s by schedule, ",
			    show_number(a, (uint64_t)(o->rate + 0.5)));
	else
		text_puts(to, "closed loop, ");
	text_printf(to, "%s after %s of warm-up%s", show_time(a, report_elapsed(r)),
		    show_time(b, o->warmup_ns), r->interrupted ? " (interrupted)" : "");
}

static const char *const words[OUT_KINDS] = { [OUT_TOOL] = "tool failed (isError)",
					      [OUT_ASKS] = "the server asked something first",
					      [OUT_TIMEOUT] = "timeout",
					      [OUT_CONNECT] = "no connection",
					      [OUT_LOST] = "connection lost",
					      [OUT_BAD] = "no valid answer" };

bool report_failure(const struct tally *t, size_t i, char *room, size_t n, uint64_t *ret_count)
{
	for (size_t k = 0; k < TALLY_CODES; k++) {
		const struct tally_code *c = &t->codes[k];

		if (!c->n || i--)
			continue;
		snprintf(room, n, c->kind == OUT_HTTP ? "HTTP %lld" : "JSON-RPC error %lld",
			 (long long)c->detail);
		*ret_count = c->n;
		return true;
	}
	if (t->other_codes && !i--) {
		snprintf(room, n, "other statuses and error codes");
		*ret_count = t->other_codes;
		return true;
	}
	for (int k = OUT_TOOL; k < OUT_KINDS; k++) {
		if (!t->kinds[k] || i--)
			continue;
		snprintf(room, n, "%s", words[k]);
		*ret_count = t->kinds[k];
		return true;
	}
	return false;
}
