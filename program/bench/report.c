/* program/bench/report.c - the report as text and as JSON: see report.h. */
#include "bench/report.h"
#include "cli/run.h"
#include "text/print.h"

#include <string.h>

enum { ROWS = 16, BAR = 44, LABEL = 24 };

static const struct {
	const char *name;
	double q;
} quantiles[] = { { "p50", 0.5 }, { "p90", 0.9 }, { "p99", 0.99 }, { "p99.9", 0.999 } };

/* ---- text --------------------------------------------------------------------------------------- */

static void put_load(FILE *to, const struct report *r)
{
	struct text line = { 0 };

	report_load(&line, r);
	fprintf(to, "%s\n", text_str(&line));
	text_free(&line);
	if (r->library)
		fputs("through the library's client, which costs more than the raw sockets of http:// "
		      "and stdio\n",
		      to);
}

static void put_counts(FILE *to, const struct report *r)
{
	uint64_t failed = tally_failed(r->t), count;
	char a[32], b[32], what[64];

	fprintf(to, "  answered  %14s   %s/s\n", show_number(a, r->t->kinds[OUT_GOOD]),
		show_number(b, report_per_second(r)));
	fprintf(to, "  failed    %14s\n", show_number(a, failed));
	for (size_t i = 0; report_failure(r->t, i, what, sizeof what, &count); i++)
		fprintf(to, "    %12s   %s\n", show_number(a, count), what);
	if (failed && r->t->why[0]) {
		fputs("    the first: ", to);
		print_safe(to, r->t->why, strlen(r->t->why));
		fputc('\n', to);
	}
	if (r->t->unsent)
		fprintf(to,
			"  not sent  %14s   were due, but no connection was free: more -c, or less "
			"--rate\n",
			show_number(a, r->t->unsent));
}

static void put_latency(FILE *to, const struct hist *h)
{
	char room[32];

	fprintf(to, "  mean   %10s\n", show_time(room, hist_mean(h)));
	for (size_t i = 0; i < CLEAT_COUNT(quantiles); i++)
		fprintf(to, "  %-6s %10s\n", quantiles[i].name,
			show_time(room, hist_quantile(h, quantiles[i].q)));
	fprintf(to, "  max    %10s\n", show_time(room, h->most));
}

/* The slots from the first to the last that hold something. */
static void span(const struct hist *h, size_t *ret_first, size_t *ret_end)
{
	size_t first = 0, end = HIST_SLOTS;

	while (first < HIST_SLOTS && !h->slots[first])
		first++;
	while (end > first && !h->slots[end - 1])
		end--;
	*ret_first = first;
	*ret_end = end;
}

static void put_histogram(FILE *to, const struct hist *h)
{
	uint64_t rows[ROWS] = { 0 }, most = 1;
	size_t first, end, n;
	char room[32];

	span(h, &first, &end);
	n = end - first < ROWS ? end - first : ROWS;
	for (size_t i = first; i < end; i++) {
		uint64_t *row = &rows[(i - first) * n / (end - first)];

		*row += h->slots[i];
		most = *row > most ? *row : most;
	}
	for (size_t i = 0; i < n; i++) {
		size_t low = first + ((end - first) * i + n - 1) / n;
		int bar = (int)((rows[i] * BAR + most - 1) / most);
		uint64_t tenths = (rows[i] * 1000 + h->n / 2) / h->n;

		fprintf(to, "  %10s |%-*.*s %3llu.%llu %%\n", show_time(room, hist_low(low)), BAR,
			bar, "############################################",
			(unsigned long long)(tenths / 10), (unsigned long long)(tenths % 10));
	}
}

/* At most LABEL bytes, and no part of a character; in LABEL columns. */
static void put_label(FILE *to, const char *label)
{
	size_t n = strcspn(label, "\r\n"), at;
	char room[LABEL + 1];

	for (n = n < LABEL ? n : LABEL; n && ((unsigned char)label[n] & 0xC0) == 0x80;)
		n--;
	memcpy(room, label, n);
	room[n] = '\0';
	fputs("  ", to);
	print_safe(to, room, n);
	for (at = print_width(room); at < LABEL; at++)
		fputc(' ', to);
}

static void put_scenarios(FILE *to, const struct report *r)
{
	char a[32], b[32], c[32];

	fprintf(to, "\n  %-*s %11s %9s %9s %9s %9s\n", LABEL, "request", "answered", "failed",
		"mean", "p50", "p99");
	for (size_t i = 0; i < r->load->n_shots; i++) {
		const struct hist *h = &r->t->each[i];

		put_label(to, r->labels[i]);
		fprintf(to, " %11s %9s", show_number(a, h->n), show_number(b, r->t->failed[i]));
		if (h->n)
			fprintf(to, " %9s %9s %9s", show_time(a, hist_mean(h)),
				show_time(b, hist_quantile(h, 0.5)),
				show_time(c, hist_quantile(h, 0.99)));
		fputc('\n', to);
	}
}

static void put_cpu(FILE *to, const char *who, uint64_t cpu_ns, const struct report *r)
{
	uint64_t elapsed = report_elapsed(r);
	char room[32];

	fprintf(to, "  %-9s %llu %% of a core, %s a request", who,
		(unsigned long long)(elapsed ? cpu_ns * 100 / elapsed : 0),
		show_time(room, report_cost(cpu_ns, r)));
}

static void put_usage(FILE *to, const struct report *r)
{
	const struct usage *u = r->usage;
	char a[32], b[32];

	if (u->n) {
		put_cpu(to, "server", u->cpu_ns, r);
		fprintf(to, "; memory %s", show_bytes(a, u->rss_most));
		if (strcmp(a, show_bytes(b, u->rss_first)) != 0)
			fprintf(to, ", at first %s", b);
		if (u->n > 1)
			fprintf(to, ", in %zu processes", u->n);
		fputc('\n', to);
	}
	put_cpu(to, "cleat", r->own_cpu_ns, r);
	fputc('\n', to);
	if (report_elapsed(r) &&
	    r->own_cpu_ns > (uint64_t)r->load->threads * report_elapsed(r) / 100 * 95)
		fputs("  the load generator itself was busy all the time: --threads gives it more\n",
		      to);
}

void report_text(struct cli *cli, FILE *to, const struct report *r)
{
	const char *bold = cli->color ? COLOR_BOLD : "", *off = cli->color ? COLOR_OFF : "";

	fputs(bold, to);
	print_line(to, r->server);
	fputc(' ', to);
	print_line(to, r->version);
	fprintf(to, "%s, %s over %s, ", off, r->revision, r->transport);
	print_line(to, r->where);
	fputc('\n', to);
	put_load(to, r);
	fputc('\n', to);
	put_counts(to, r);
	if (r->t->all.n) {
		fprintf(to, "\n%slatency%s%s\n", bold, off,
			r->load->rate > 0 ? ", from the time that a request was due" : "");
		put_latency(to, &r->t->all);
		fputc('\n', to);
		put_histogram(to, &r->t->all);
		if (r->load->n_shots > 1)
			put_scenarios(to, r);
	}
	fprintf(to, "\n%sprocessor%s\n", bold, off);
	put_usage(to, r);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static void json_ms(struct jw *w, const char *key, uint64_t ns)
{
	char room[32];

	jw_kv_raw(w, key, str_of(show_ms(room, ns)));
}

static void json_count(struct jw *w, const char *key, uint64_t n)
{
	jw_key(w, key);
	jw_uint(w, n);
}

static void json_latency(struct jw *w, const struct hist *h)
{
	jw_key(w, "latency_ms");
	jw_obj(w);
	json_ms(w, "min", h->least);
	json_ms(w, "mean", hist_mean(h));
	for (size_t i = 0; i < CLEAT_COUNT(quantiles); i++)
		json_ms(w, quantiles[i].name, hist_quantile(h, quantiles[i].q));
	json_ms(w, "max", h->most);
	jw_obj_end(w);
}

static void json_codes(struct jw *w, const struct tally *t, enum outcome kind)
{
	char code[32];

	jw_key(w, outcome_name(kind));
	jw_obj(w);
	for (size_t i = 0; i < TALLY_CODES; i++) {
		if (!t->codes[i].n || t->codes[i].kind != kind)
			continue;
		snprintf(code, sizeof code, "%lld", (long long)t->codes[i].detail);
		json_count(w, code, t->codes[i].n);
	}
	jw_obj_end(w);
}

static void json_errors(struct jw *w, const struct tally *t)
{
	jw_key(w, "errors");
	jw_obj(w);
	json_count(w, "total", tally_failed(t));
	json_codes(w, t, OUT_HTTP);
	json_codes(w, t, OUT_RPC);
	for (int i = OUT_TOOL; i < OUT_KINDS; i++)
		json_count(w, outcome_name((enum outcome)i), t->kinds[i]);
	if (tally_failed(t) && t->why[0])
		jw_kv_str(w, "first", t->why);
	jw_obj_end(w);
}

static void json_course(struct jw *w, const struct tally *t)
{
	jw_key(w, "course");
	jw_obj(w);
	json_ms(w, "slice_ms", t->slice_ns);
	jw_key(w, "answered");
	jw_arr(w);
	for (size_t i = 0; i < t->n_slices; i++)
		jw_uint(w, t->slices[i].good);
	jw_arr_end(w);
	jw_key(w, "failed");
	jw_arr(w);
	for (size_t i = 0; i < t->n_slices; i++)
		jw_uint(w, t->slices[i].failed);
	jw_arr_end(w);
	jw_obj_end(w);
}

static void json_cpu(struct jw *w, const char *key, uint64_t cpu_ns, const struct report *r)
{
	jw_key(w, key);
	jw_obj(w);
	json_ms(w, "cpu_ms", cpu_ns);
	json_ms(w, "cpu_ms_per_request", report_cost(cpu_ns, r));
}

static void json_load(struct jw *w, const struct report *r)
{
	const struct load_options *o = r->load;

	jw_key(w, "load");
	jw_obj(w);
	jw_kv_str(w, "started", r->started);
	json_count(w, "connections", o->connections);
	json_count(w, "threads", o->threads);
	json_count(w, "sessions", r->sessions);
	json_count(w, "rate", (uint64_t)(o->rate + 0.5));
	jw_kv_str(w, "loop", o->rate > 0 ? "open" : "closed");
	jw_kv_str(w, "engine", r->library ? "library" : "raw");
	json_ms(w, "warmup_ms", o->warmup_ns);
	json_ms(w, "elapsed_ms", report_elapsed(r));
	jw_kv_bool(w, "interrupted", r->interrupted);
	jw_obj_end(w);
}

static void json_scenarios(struct jw *w, const struct report *r)
{
	jw_key(w, "scenarios");
	jw_arr(w);
	for (size_t i = 0; i < r->load->n_shots; i++) {
		jw_obj(w);
		jw_kv_str(w, "request", r->labels[i]);
		json_count(w, "weight", r->weights[i]);
		json_count(w, "answered", r->t->each[i].n);
		json_count(w, "failed", r->t->failed[i]);
		json_latency(w, &r->t->each[i]);
		jw_obj_end(w);
	}
	jw_arr_end(w);
}

void report_json(struct jw *w, const struct report *r)
{
	jw_obj(w);
	jw_key(w, "server");
	jw_obj(w);
	jw_kv_str(w, "name", r->server);
	jw_kv_str(w, "version", r->version);
	jw_kv_str(w, "protocolVersion", r->revision);
	jw_kv_str(w, "transport", r->transport);
	jw_kv_str(w, "address", r->where);
	jw_obj_end(w);
	json_load(w, r);
	json_count(w, "answered", r->t->kinds[OUT_GOOD]);
	json_count(w, "per_second", (uint64_t)report_per_second(r));
	json_count(w, "not_sent", r->t->unsent);
	json_errors(w, r->t);
	json_latency(w, &r->t->all);
	jw_key(w, "bytes");
	jw_obj(w);
	json_count(w, "sent", r->t->bytes_out);
	json_count(w, "received", r->t->bytes_in);
	jw_obj_end(w);
	json_count(w, "reconnects", r->t->reconnects);
	json_cpu(w, "generator", r->own_cpu_ns, r);
	jw_obj_end(w);
	if (r->usage->n) {
		json_cpu(w, "usage", r->usage->cpu_ns, r);
		json_count(w, "processes", r->usage->n);
		json_count(w, "rss_first", r->usage->rss_first);
		json_count(w, "rss_most", r->usage->rss_most);
		json_count(w, "rss_last", r->usage->rss_last);
		jw_obj_end(w);
	}
	json_scenarios(w, r);
	json_course(w, r->t);
	jw_obj_end(w);
}
