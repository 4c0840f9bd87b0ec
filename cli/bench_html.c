/* cli/bench_html.c - the report as one page of HTML: no scripts, nothing from elsewhere, plots as SVG. */
#include "bench_report.h"

#include <errno.h>
#include <string.h>

enum { WIDTH = 860, HEIGHT = 260, LEFT = 70, BOTTOM = 36, TOP = 14, RIGHT = 16, COLUMNS = 60 };

static const char style[] =
	"body{font:15px/1.5 system-ui,sans-serif;color:#1a1a2e;background:#fff;max-width:900px;"
	"margin:2em auto;padding:0 1em}"
	"h1{font-size:1.4em;margin-bottom:0}h2{font-size:1.05em;margin:2em 0 .4em}"
	"table{border-collapse:collapse}td,th{padding:.15em 1.2em .15em 0;text-align:right;"
	"font-variant-numeric:tabular-nums}td:first-child,th:first-child{text-align:left}"
	"th{font-weight:600;border-bottom:1px solid #ccd}.dim{color:#667}svg{width:100%;height:auto}"
	"svg text{font:11px system-ui,sans-serif;fill:#556}.grid{stroke:#e4e6ee}"
	".good{fill:#3b6fd4}.bad{fill:#d4453b}.line{fill:none;stroke:#d4873b;stroke-width:1.5}"
	"@media(prefers-color-scheme:dark){body{background:#14161c;color:#dde}.grid{stroke:#2a2e3a}"
	"svg text,.dim{fill:#99a;color:#99a}.good{fill:#5f8fe8}th{border-color:#334}}";

/* Untrusted text. */
static void put_text(struct text *to, const char *s)
{
	for (; *s; s++) {
		if (*s == '<')
			text_puts(to, "&lt;");
		else if (*s == '&')
			text_puts(to, "&amp;");
		else if (*s == '"')
			text_puts(to, "&quot;");
		else if ((unsigned char)*s >= 0x20 && *s != 0x7F)
			text_add(to, s, 1);
	}
}

/* ---- plots -------------------------------------------------------------------------------------- */

/* The plot's height in units that are whole, 1, 2 or 5 times a power of ten each. */
static uint64_t step_of(uint64_t most)
{
	uint64_t step = 1;

	while (step * 5 < most) {
		if (step * 10 >= most)
			return step * 2;
		if (step * 25 >= most)
			return step * 5;
		step *= 10;
	}
	return step;
}

static void plot_begin(struct text *to, uint64_t most, uint64_t step,
		       const char *(*show)(char *room, uint64_t v))
{
	char room[32];

	text_printf(to, "<svg viewBox=\"0 0 %d %d\" role=\"img\">", WIDTH, HEIGHT);
	for (uint64_t v = 0; v <= most; v += step) {
		int y = HEIGHT - BOTTOM - (int)(v * (HEIGHT - BOTTOM - TOP) / (most ? most : 1));

		text_printf(to,
			    "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>"
			    "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>",
			    LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4, show(room, v));
	}
}

static void bar(struct text *to, const char *class, size_t i, size_t n, uint64_t from, uint64_t v,
		uint64_t most)
{
	uint64_t room = WIDTH - LEFT - RIGHT, high = HEIGHT - BOTTOM - TOP;
	uint64_t x = i * room * 10 / n, next = (i + 1) * room * 10 / n;
	uint64_t h = most ? v * high * 10 / most : 0, base = most ? from * high * 10 / most : 0;
	uint64_t y = (uint64_t)(HEIGHT - BOTTOM) * 10 - base - h, w = next - x;

	if (!h)
		return;
	w -= w > 14 ? 5 : 0;
	x += LEFT * 10u;
	text_printf(to,
		    "<rect class=\"%s\" x=\"%llu.%llu\" width=\"%llu.%llu\" y=\"%llu.%llu\" "
		    "height=\"%llu.%llu\"/>",
		    class, (unsigned long long)x / 10, (unsigned long long)x % 10,
		    (unsigned long long)w / 10, (unsigned long long)w % 10,
		    (unsigned long long)y / 10, (unsigned long long)y % 10,
		    (unsigned long long)h / 10, (unsigned long long)h % 10);
}

static void below(struct text *to, size_t i, size_t n, const char *label)
{
	text_printf(to, "<text x=\"%zu\" y=\"%d\" text-anchor=\"middle\">%s</text>",
		    LEFT + i * (WIDTH - LEFT - RIGHT) / n, HEIGHT - BOTTOM + 18, label);
}

/* Some slices of time taken together; *ret_failed and what it gives are per second. */
static uint64_t taken_together(const struct tally *t, size_t first, size_t count,
			       uint64_t *ret_failed)
{
	uint64_t good = 0, failed = 0;

	for (size_t i = first; i < first + count && i < t->n_slices; i++) {
		good += t->slices[i].good;
		failed += t->slices[i].failed;
	}
	*ret_failed = report_rate(failed, t->slice_ns * count);
	return report_rate(good, t->slice_ns * count);
}

/* Requests a second over time: answered, and on top of that failed. */
static void plot_course(struct text *to, const struct tally *t)
{
	size_t together = t->n_slices / COLUMNS + 1;
	/* The last column is cut short by the end: its rate would mislead. */
	size_t n = t->n_slices > together ? t->n_slices / together : 1;
	uint64_t most = 1, step, good, failed;
	char room[32];

	for (size_t i = 0; i < n; i++) {
		good = taken_together(t, i * together, together, &failed);
		most = good + failed > most ? good + failed : most;
	}
	step = step_of(most);
	most = (most + step - 1) / step * step;
	plot_begin(to, most, step, show_number);
	for (size_t i = 0; i < n; i++) {
		good = taken_together(t, i * together, together, &failed);
		bar(to, "good", i, n, 0, good, most);
		bar(to, "bad", i, n, good, failed, most);
	}
	for (size_t i = 0; i <= 5; i++)
		below(to, i, 5, show_time(room, n * together * t->slice_ns * i / 5));
	text_puts(to, "</svg>");
}

/* How many took how long, on a logarithmic scale. */
static void plot_latency(struct text *to, const struct hist *h)
{
	uint64_t columns[COLUMNS] = { 0 }, most = 1, step;
	size_t first = 0, end = HIST_SLOTS, n;
	char room[32];

	while (first < end - 1 && !h->slots[first])
		first++;
	while (end > first + 1 && !h->slots[end - 1])
		end--;
	n = end - first < COLUMNS ? end - first : COLUMNS;
	for (size_t i = first; i < end; i++) {
		uint64_t *c = &columns[(i - first) * n / (end - first)];

		*c += h->slots[i];
		most = *c > most ? *c : most;
	}
	step = step_of(most);
	most = (most + step - 1) / step * step;
	plot_begin(to, most, step, show_number);
	for (size_t i = 0; i < n; i++)
		bar(to, "good", i, n, 0, columns[i], most);
	for (size_t i = 0; i <= 6; i++)
		below(to, i, 6, show_time(room, hist_low(first + (end - first) * i / 6)));
	text_puts(to, "</svg>");
}

/* Latency by percentile: 0, 90, 99, 99.9 and 99.99 % at equal distances. */
static void plot_percentiles(struct text *to, const struct hist *h)
{
	static const char *const labels[] = { "0 %", "90 %", "99 %", "99.9 %", "99.99 %" };
	uint64_t most = h->most ? h->most : 1, step = step_of(most);
	int high = HEIGHT - BOTTOM - TOP;
	double rest = 1;

	most = (most + step - 1) / step * step;
	plot_begin(to, most, step, show_time);
	text_puts(to, "<polyline class=\"line\" points=\"");
	for (int i = 0; i <= 200; i++, rest *= 0.954992586021436) { /* the 50th root of 1/10 */
		text_printf(to, "%d,%d ", LEFT + i * (WIDTH - LEFT - RIGHT) / 200,
			    HEIGHT - BOTTOM -
				    (int)(hist_quantile(h, 1 - rest) * (uint64_t)high / most));
	}
	text_puts(to, "\"/>");
	for (size_t i = 0; i <= 4; i++)
		below(to, i, 4, labels[i]);
	text_puts(to, "</svg>");
}

/* ---- tables ------------------------------------------------------------------------------------- */

static void row(struct text *to, const char *label, const char *value)
{
	text_puts(to, "<tr><td>");
	put_text(to, label);
	text_puts(to, "</td><td>");
	put_text(to, value);
	text_puts(to, "</td></tr>\n");
}

static void put_summary(struct text *to, const struct report *r)
{
	uint64_t count, elapsed = report_elapsed(r);
	char room[32], what[64];

	text_puts(to, "<table>\n");
	row(to, "answered", show_number(room, r->t->kinds[OUT_GOOD]));
	row(to, "a second", show_number(room, report_rate(r->t->kinds[OUT_GOOD], elapsed)));
	row(to, "failed", show_number(room, tally_failed(r->t)));
	for (size_t i = 0; report_failure(r->t, i, what, sizeof what, &count); i++)
		row(to, what, show_number(room, count));
	if (r->t->unsent)
		row(to, "due, but not sent", show_number(room, r->t->unsent));
	row(to, "measured for", show_time(room, elapsed));
	if (r->usage->n) {
		row(to, "server: processor time of a request",
		    show_time(room, report_cost(r->usage->cpu_ns, r)));
		row(to, "server: memory", show_bytes(room, r->usage->rss_most));
	}
	row(to, "load generator: processor time of a request",
	    show_time(room, report_cost(r->own_cpu_ns, r)));
	text_puts(to, "</table>\n");
}

static void cell(struct text *to, const char *value)
{
	text_printf(to, "<td>%s</td>", value);
}

static void put_requests(struct text *to, const struct report *r)
{
	static const double q[] = { 0.5, 0.9, 0.99, 0.999 };
	char room[32];

	text_puts(to, "<table>\n<tr><th>request</th><th>answered</th><th>mean</th><th>p50</th>"
		      "<th>p90</th><th>p99</th><th>p99.9</th><th>max</th></tr>\n");
	for (size_t i = 0; i <= r->load->n_shots; i++) {
		bool all = i == r->load->n_shots;
		const struct hist *h = all ? &r->t->all : &r->t->each[i];

		if (all && i == 1)
			continue;
		text_puts(to, "<tr><td>");
		put_text(to, all ? "all" : r->labels[i]);
		text_puts(to, "</td>");
		cell(to, show_number(room, h->n));
		cell(to, show_time(room, hist_mean(h)));
		for (size_t k = 0; k < CLEAT_COUNT(q); k++)
			cell(to, show_time(room, hist_quantile(h, q[k])));
		cell(to, show_time(room, h->most));
		text_puts(to, "</tr>\n");
	}
	text_puts(to, "</table>\n");
}

static void put_page(struct text *to, const struct report *r)
{
	const struct load_opts *o = r->load;

	text_printf(
		to,
		"<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">"
		"<meta name=\"viewport\" content=\"width=device-width\">\n<title>cleat bench: ");
	put_text(to, r->server);
	text_printf(to, "</title>\n<style>%s</style>\n<h1>", style);
	put_text(to, r->server);
	text_puts(to, " ");
	put_text(to, r->version);
	text_printf(to, "</h1>\n<p class=\"dim\">%s over %s, ", r->revision, r->transport);
	put_text(to, r->where);
	text_printf(to, "<br>%u connections, ", o->connections);
	if (o->rate > 0)
		text_printf(
			to,
			"%llu requests a second by schedule; latency counts from when a request "
			"was due",
			(unsigned long long)(o->rate + 0.5));
	else
		text_puts(to, "closed loop");
	text_printf(to, "%s</p>\n", r->interrupted ? "; interrupted" : "");
	put_summary(to, r);
	text_puts(to, "<h2>Requests a second over time</h2>\n");
	plot_course(to, r->t);
	if (!r->t->all.n)
		return;
	text_puts(to, "\n<h2>Latency: how many took how long</h2>\n");
	plot_latency(to, &r->t->all);
	text_puts(to, "\n<h2>Latency by percentile</h2>\n");
	plot_percentiles(to, &r->t->all);
	text_puts(to, "\n<h2>By request</h2>\n");
	put_requests(to, r);
}

bool report_html(const char *path, const struct report *r)
{
	struct text page = { 0 };
	FILE *f = fopen(path, "wb");
	bool good;

	if (!f)
		return false;
	put_page(&page, r);
	text_puts(&page, "\n</html>\n");
	good = fwrite(text_str(&page), 1, page.n, f) == page.n;
	good = fclose(f) == 0 && good;
	text_free(&page);
	return good;
}
