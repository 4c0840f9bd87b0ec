/* program/bench/html.c - the report as one page of HTML: no scripts, nothing from elsewhere, plots as SVG.
 *
 * Names, addresses and answers come from others and are written as text only. Coordinates are whole
 * numbers or tenths, so that no locale can get into them.
 */
#include "bench/report.h"

#include <errno.h>
#include <string.h>

enum { WIDTH = 860, HEIGHT = 260, LEFT = 70, BOTTOM = 36, TOP = 14, RIGHT = 30, COLUMNS = 60 };

#define ROOM  (WIDTH - LEFT - RIGHT)
#define HIGH  (HEIGHT - BOTTOM - TOP)
#define FLOOR (HEIGHT - BOTTOM)

static const char style[] =
	"body{font:15px/1.5 system-ui,sans-serif;color:#1a1a2e;background:#fff;max-width:900px;"
	"margin:2em auto;padding:0 1em}"
	"h1{font-size:1.4em;margin-bottom:0}h2{font-size:1.05em;margin:2em 0 .4em}"
	".dim,.tile span{color:#667}.dim{margin-top:.3em;overflow-wrap:anywhere}"
	".tiles{display:flex;flex-wrap:wrap;gap:.8em;margin:1.2em 0}"
	".tile{border:1px solid #dde;border-radius:8px;padding:.5em 1em;min-width:6em}"
	".tile b{display:block;font-size:1.5em;line-height:1.3;font-variant-numeric:tabular-nums}"
	".tile span{font-size:.85em}.tile.red b{color:#c4352b}"
	".wide{overflow-x:auto}table{border-collapse:collapse}"
	"td,th{padding:.15em 1.2em .15em 0;text-align:right;white-space:nowrap;"
	"font-variant-numeric:tabular-nums}"
	"td:first-child,th:first-child{text-align:left;white-space:normal}"
	"th{font-weight:600;border-bottom:1px solid #ccd}"
	"svg{display:block;width:100%;min-width:620px;height:auto}"
	"svg text{font:11px system-ui,sans-serif;fill:#556}.grid{stroke:#e4e6ee}"
	".good{fill:#3b6fd4}.bad{fill:#d4453b}.line{fill:none;stroke:#d4873b;stroke-width:1.5}"
	".mark{stroke:#d4873b;stroke-dasharray:3 3}.key{display:inline-block;width:.8em;height:.8em;"
	"margin:0 .4em 0 1em;background:#3b6fd4}.key.red{background:#d4453b}h2 small{font-weight:400}"
	"@media(prefers-color-scheme:dark){body{background:#14161c;color:#dde}.grid{stroke:#2a2e3a}"
	".tile{border-color:#334}.tile.red b{color:#f0786f}.dim,.tile span{color:#99a}"
	"svg text{fill:#99a}.good{fill:#5f8fe8}th{border-color:#334}}";

/* Untrusted text. */
static void html_put_text(struct text *to, const char *s)
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

static void plot_begin(struct text *to, const char *about, uint64_t most, uint64_t step,
		       const char *(*show)(char *room, uint64_t v))
{
	char room[32];

	text_printf(
		to,
		"<div class=\"wide\"><svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">",
		WIDTH, HEIGHT, about);
	for (uint64_t v = 0; v <= most; v += step) {
		int y = FLOOR - (int)(v * HIGH / (most ? most : 1));

		text_printf(to,
			    "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>"
			    "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>",
			    LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4, show(room, v));
	}
}

static void plot_end(struct text *to)
{
	text_puts(to, "</svg></div>\n");
}

static void tenths(struct text *to, const char *name, uint64_t v)
{
	text_printf(to, " %s=\"%llu.%llu\"", name, (unsigned long long)(v / 10),
		    (unsigned long long)(v % 10));
}

static void bar(struct text *to, const char *class, size_t i, size_t n, uint64_t from, uint64_t v,
		uint64_t most)
{
	uint64_t x = i * ROOM * 10 / n, w = (i + 1) * ROOM * 10 / n - x;
	uint64_t h = most ? v * HIGH * 10 / most : 0, base = most ? from * HIGH * 10 / most : 0;

	if (v && h < 10)
		h = 10; /* what there is can be seen */
	if (!h)
		return;
	text_printf(to, "<rect class=\"%s\"", class);
	tenths(to, "x", x + LEFT * 10u);
	tenths(to, "width", w - (w > 14 ? 5 : 0));
	tenths(to, "y", (uint64_t)FLOOR * 10 - base - h);
	tenths(to, "height", h);
	text_puts(to, "/>");
}

static void below(struct text *to, size_t i, size_t n, const char *label)
{
	text_printf(to, "<text x=\"%zu\" y=\"%d\" text-anchor=\"middle\">%s</text>",
		    LEFT + i * ROOM / n, FLOOR + 18, label);
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
	plot_begin(to, "requests a second over time", most, step, show_number);
	for (size_t i = 0; i < n; i++) {
		good = taken_together(t, i * together, together, &failed);
		bar(to, "good", i, n, 0, good, most);
		bar(to, "bad", i, n, good, failed, most);
	}
	for (size_t i = 0; i <= 5; i++)
		below(to, i, 5, show_time(room, n * together * t->slice_ns * i / 5));
	plot_end(to);
}

/* A line where a quantile is, in the plot of the slots from `first` to `end`. */
static void mark(struct text *to, const struct hist *h, double q, const char *label, int y,
		 size_t first, size_t end)
{
	uint64_t v = hist_quantile(h, q);
	size_t x = LEFT + (hist_slot(v) - first) * ROOM / (end > first ? end - first : 1);
	bool right = x > WIDTH - 150;
	char room[32];

	text_printf(to, "<line class=\"mark\" x1=\"%zu\" x2=\"%zu\" y1=\"%d\" y2=\"%d\"/>", x, x,
		    TOP, FLOOR);
	text_printf(to, "<text x=\"%zu\" y=\"%d\" text-anchor=\"%s\">%s %s</text>",
		    right ? x - 4 : x + 4, y, right ? "end" : "start", label, show_time(room, v));
}

/* Round times of a logarithmic scale: 1, 2 and 5 times a power of ten, or the powers only where there are
 * many; where there is none between, what stands at its ends. */
static void times_below(struct text *to, size_t first, size_t end)
{
	static const unsigned of_ten[] = { 1, 2, 5 };
	uint64_t low = hist_low(first), high = hist_low(end), ten = 1;
	bool many = high / 1000 > low;
	size_t n = 0;
	char room[32];

	for (; first < end && ten <= high; ten *= 10)
		for (size_t i = 0; i < (many ? 1 : CLEAT_COUNT(of_ten)); i++) {
			uint64_t v = ten * of_ten[i];

			if (v < low || v > high)
				continue;
			below(to, hist_slot(v) - first, end - first, show_time(room, v));
			n++;
		}
	for (size_t i = 0; n < 2 && i <= 1; i++)
		below(to, i, 1, show_time(room, i ? high : low));
}

/* How many took how long, on a logarithmic scale. */
static void plot_latency(struct text *to, const struct hist *h)
{
	uint64_t columns[COLUMNS] = { 0 }, most = 1, step;
	size_t first = hist_slot(h->least), end = hist_slot(h->most) + 1, n;

	n = end - first < COLUMNS ? end - first : COLUMNS;
	for (size_t i = first; i < end; i++) {
		uint64_t *c = &columns[(i - first) * n / (end - first)];

		*c += h->slots[i];
		most = *c > most ? *c : most;
	}
	step = step_of(most);
	most = (most + step - 1) / step * step;
	plot_begin(to, "how many requests took how long", most, step, show_number);
	for (size_t i = 0; i < n; i++)
		bar(to, "good", i, n, 0, columns[i], most);
	mark(to, h, 0.5, "p50", TOP + 10, first, end);
	mark(to, h, 0.9, "p90", TOP + 24, first, end);
	mark(to, h, 0.99, "p99", TOP + 38, first, end);
	mark(to, h, 0.999, "p99.9", TOP + 52, first, end);
	times_below(to, first, end);
	plot_end(to);
}

/* Latency by percentile: 0, 90, 99, 99.9 and 99.99 % at equal distances, as far as there are values that
 * tell them apart. */
static void plot_percentiles(struct text *to, const struct hist *h)
{
	static const char *const labels[] = { "0 %", "90 %", "99 %", "99.9 %", "99.99 %" };
	uint64_t most = h->most ? h->most : 1, step = step_of(most);
	size_t tens = 1;
	double rest = 1;

	for (uint64_t n = 100; tens < 4 && n <= h->n; n *= 10)
		tens++;
	most = (most + step - 1) / step * step;
	plot_begin(to, "latency by percentile", most, step, show_time);
	text_puts(to, "<polyline class=\"line\" points=\"");
	for (size_t i = 0; i <= 50 * tens; i++, rest *= 0.954992586021436) /* 1/10, its 50th root */
		text_printf(to, "%zu,%d ", LEFT + i * ROOM / (50 * tens),
			    FLOOR - (int)(hist_quantile(h, 1 - rest) * HIGH / most));
	text_puts(to, "\"/>");
	for (size_t i = 0; i <= tens; i++)
		below(to, i, tens, labels[i]);
	plot_end(to);
}

/* ---- figures ------------------------------------------------------------------------------------ */

static void tile(struct text *to, const char *value, const char *label, bool red)
{
	text_printf(to, "<div class=\"tile%s\"><b>%s</b><span>%s</span></div>\n", red ? " red" : "",
		    value, label);
}

static void put_tiles(struct text *to, const struct report *r)
{
	const struct hist *h = &r->t->all;
	char room[32];

	text_puts(to, "<div class=\"tiles\">\n");
	tile(to, show_number(room, report_per_second(r)), "answers a second", false);
	if (h->n) {
		tile(to, show_time(room, hist_quantile(h, 0.5)), "p50", false);
		tile(to, show_time(room, hist_quantile(h, 0.99)), "p99", false);
		tile(to, show_time(room, hist_quantile(h, 0.999)), "p99.9", false);
	}
	tile(to, show_number(room, tally_failed(r->t)), "failed", tally_failed(r->t) > 0);
	text_puts(to, "</div>\n");
}

static void row(struct text *to, const char *label, const char *value)
{
	text_puts(to, "<tr><td>");
	html_put_text(to, label);
	text_puts(to, "</td><td>");
	html_put_text(to, value);
	text_puts(to, "</td></tr>\n");
}

static void put_counts(struct text *to, const struct report *r)
{
	uint64_t count;
	char room[32], what[64];

	row(to, "answered", show_number(room, r->t->kinds[OUT_GOOD]));
	row(to, "failed", show_number(room, tally_failed(r->t)));
	for (size_t i = 0; report_failure(r->t, i, what, sizeof what, &count); i++) {
		text_puts(to, "<tr><td>&nbsp;&nbsp;");
		html_put_text(to, what);
		text_printf(to, "</td><td>%s</td></tr>\n", show_number(room, count));
	}
	if (r->t->unsent)
		row(to, "due, but not sent: no connection was free",
		    show_number(room, r->t->unsent));
	if (r->t->reconnects)
		row(to, "connections made anew", show_number(room, r->t->reconnects));
}

static void put_summary(struct text *to, const struct report *r)
{
	char room[32];

	text_puts(to, "<div class=\"wide\"><table>\n");
	put_counts(to, r);
	if (r->usage->n) {
		row(to, "server: processor time of a request",
		    show_time(room, report_cost(r->usage->cpu_ns, r)));
		row(to, "server: memory at first", show_bytes(room, r->usage->rss_first));
		row(to, "server: memory at most", show_bytes(room, r->usage->rss_most));
	}
	row(to, "load generator: processor time of a request",
	    show_time(room, report_cost(r->own_cpu_ns, r)));
	text_puts(to, "</table></div>\n");
	if (tally_failed(r->t) && r->t->why[0]) {
		text_puts(to, "<p class=\"dim\">The first failure: ");
		html_put_text(to, r->t->why);
		text_puts(to, "</p>\n");
	}
}

static void cell(struct text *to, const char *value)
{
	text_printf(to, "<td>%s</td>", value);
}

static void put_request(struct text *to, const char *label, const struct hist *h, uint64_t failed)
{
	static const double q[] = { 0.5, 0.9, 0.99, 0.999 };
	char room[32];

	text_puts(to, "<tr><td>");
	html_put_text(to, label);
	text_puts(to, "</td>");
	cell(to, show_number(room, h->n));
	cell(to, show_number(room, failed));
	cell(to, h->n ? show_time(room, hist_mean(h)) : "");
	for (size_t i = 0; i < CLEAT_COUNT(q); i++)
		cell(to, h->n ? show_time(room, hist_quantile(h, q[i])) : "");
	cell(to, h->n ? show_time(room, h->most) : "");
	text_puts(to, "</tr>\n");
}

static void put_requests(struct text *to, const struct report *r)
{
	text_puts(to,
		  "<h2>By request</h2>\n<div class=\"wide\"><table>\n"
		  "<tr><th>request</th><th>answered</th><th>failed</th><th>mean</th><th>p50</th>"
		  "<th>p90</th><th>p99</th><th>p99.9</th><th>max</th></tr>\n");
	for (size_t i = 0; i < r->load->n_shots; i++)
		put_request(to, r->labels[i], &r->t->each[i], r->t->failed[i]);
	if (r->load->n_shots > 1)
		put_request(to, "all", &r->t->all, tally_failed(r->t));
	text_puts(to, "</table></div>\n");
}

/* ---- the page ----------------------------------------------------------------------------------- */

static void put_head(struct text *to, const struct report *r)
{
	text_puts(to,
		  "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		  "<meta name=\"viewport\" content=\"width=device-width\">\n<title>cleat bench: ");
	html_put_text(to, r->server);
	text_printf(to, "</title>\n<style>%s</style></head>\n<body>\n<h1>", style);
	html_put_text(to, r->server);
	text_puts(to, " ");
	html_put_text(to, r->version);
	text_printf(to, "</h1>\n<p class=\"dim\">%s over %s, ", r->revision, r->transport);
	html_put_text(to, r->where);
	text_puts(to, "<br>");
	report_load(to, r);
	if (r->load->rate > 0)
		text_puts(to, "; latency counts from the time that a request was due");
	if (r->library)
		text_puts(to, "; through the library's client");
	text_printf(to, "<br>%s, cleat %s</p>\n", r->started, CLEAT_VERSION);
}

static void put_page(struct text *to, const struct report *r)
{
	put_head(to, r);
	put_tiles(to, r);
	put_summary(to, r);
	text_puts(to, "<h2>Requests a second over time");
	if (tally_failed(r->t))
		text_puts(to, "<small><span class=\"key\"></span>answered"
			      "<span class=\"key red\"></span>failed</small>");
	text_puts(to, "</h2>\n");
	plot_course(to, r->t);
	if (r->t->all.n) {
		text_puts(to, "<h2>Latency: how many took how long</h2>\n");
		plot_latency(to, &r->t->all);
		text_puts(to, "<h2>Latency by percentile</h2>\n");
		plot_percentiles(to, &r->t->all);
	}
	put_requests(to, r);
	text_puts(to, "</body></html>\n");
}

bool report_html(const char *path, const struct report *r)
{
	struct text page = { 0 };
	FILE *f = fopen(path, "wb");
	bool good;

	if (!f)
		return false;
	put_page(&page, r);
	good = fwrite(text_str(&page), 1, page.n, f) == page.n;
	good = fclose(f) == 0 && good;
	text_free(&page);
	return good;
}
