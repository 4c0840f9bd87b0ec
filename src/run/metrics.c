/* run/metrics.c - see metrics.h. Numbers are counted as integers, times as microseconds, and written
 * without the help of printf's floating point: the format wants a point, whatever the locale.
 *
 * All additions are relaxed: a counter orders nothing.
 */
#include "run/metrics.h"

#include <inttypes.h>

#define ADD(counter, n) atomic_fetch_add_explicit(&(counter), (n), memory_order_relaxed)
#define READ(counter)   atomic_load_explicit(&(counter), memory_order_relaxed)

static const char *const method_names[METRICS_METHODS] = {
	[METRICS_TOOLS_CALL] = "tools/call",
	[METRICS_TOOLS_LIST] = "tools/list",
	[METRICS_RESOURCES_READ] = "resources/read",
	[METRICS_PROMPTS_GET] = "prompts/get",
	[METRICS_OTHER] = "other",
};

static const char *const class_names[METRICS_CLASSES] = {
	"none", "1xx", "2xx", "3xx", "4xx", "5xx"
};

/* Upper bounds, and how the format shows them, in seconds. */
static const struct {
	uint64_t micros;
	const char *seconds;
} bounds[METRICS_BUCKETS] = {
	{ 500, "0.0005" },  { 1000, "0.001" },  { 2500, "0.0025" }, { 5000, "0.005" },
	{ 10000, "0.01" },  { 25000, "0.025" }, { 50000, "0.05" },  { 100000, "0.1" },
	{ 250000, "0.25" }, { 500000, "0.5" },  { 1000000, "1" },   { 2500000, "2.5" },
	{ 5000000, "5" },   { 10000000, "10" },
};

/* ---- counting ----------------------------------------------------------------------------- */

enum metrics_method metrics_method_of(struct str name)
{
	int i = 0;

	while (i < METRICS_OTHER && !str_eqz(name, method_names[i]))
		i++;
	return (enum metrics_method)i;
}

void metrics_count_http(struct metrics *m, int status)
{
	ADD(m->http[status >= 100 && status <= 599 ? status / 100 : 0], 1);
}

void metrics_count_rpc(struct metrics *m, enum metrics_method method, bool error)
{
	ADD(m->rpc[method], 1);
	if (error)
		ADD(m->rpc_errors[method], 1);
}

void metrics_observe(struct metrics *m, uint64_t micros)
{
	size_t i = 0;

	while (i < METRICS_BUCKETS && micros > bounds[i].micros)
		i++;
	ADD(m->latency[i], 1);
	ADD(m->latency_micros, micros);
}

/* ---- writing ------------------------------------------------------------------------------ */

static void write_head(struct buf *b, const char *name, const char *type, const char *help)
{
	buf_printf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* One series for each of n labels. */
static void write_counters(struct buf *b, const char *name, const char *help, const char *label,
			   const char *const *values, atomic_uint_least64_t *counters, size_t n)
{
	write_head(b, name, "counter", help);
	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%s{%s=\"%s\"} %" PRIu64 "\n", name, label, values[i],
			   (uint64_t)READ(counters[i]));
}

/* The count is the sum of the buckets as they were read, so that both agree. */
static void write_latency(struct metrics *m, struct buf *b)
{
	static const char name[] = "cleat_request_duration_seconds";
	uint64_t micros = READ(m->latency_micros), sum = 0;

	write_head(b, name, "histogram", "Time from a request to the end of its answer.");
	for (size_t i = 0; i < METRICS_BUCKETS; i++) {
		sum += READ(m->latency[i]);
		buf_printf(b, "%s_bucket{le=\"%s\"} %" PRIu64 "\n", name, bounds[i].seconds, sum);
	}
	sum += READ(m->latency[METRICS_BUCKETS]);
	buf_printf(b, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, sum);
	buf_printf(b, "%s_sum %" PRIu64 ".%06u\n", name, micros / 1000000,
		   (unsigned)(micros % 1000000));
	buf_printf(b, "%s_count %" PRIu64 "\n", name, sum);
}

static void write_readings(const struct metrics *m, struct buf *b)
{
	static const struct {
		const char *name, *type, *help;
		size_t at;
	} series[] = {
#define AT(field) offsetof(struct metrics_readings, field)
		{ "cleat_connections", "gauge", "Open connections.", AT(connections) },
		{ "cleat_sessions", "gauge", "Sessions.", AT(sessions) },
		{ "cleat_streams", "gauge", "Open event streams.", AT(streams) },
		{ "cleat_queued_bytes", "gauge", "Bytes that wait to be sent.", AT(queued_bytes) },
		{ "cleat_connections_accepted_total", "counter", "Connections accepted.",
		  AT(accepted) },
		{ "cleat_connections_refused_total", "counter", "Connections refused over a limit.",
		  AT(refused) },
		{ "cleat_timeouts_total", "counter", "Connections closed because of a deadline.",
		  AT(timeouts) },
		{ "cleat_access_log_dropped_total", "counter",
		  "Lines of the access log that nobody took in time.", AT(log_dropped) },
#undef AT
	};
	struct metrics_readings r = { 0 };
	uint64_t value;

	m->read(m->read_ctx, &r);
	for (size_t i = 0; i < CLEAT_COUNT(series); i++) {
		write_head(b, series[i].name, series[i].type, series[i].help);
		memcpy(&value, (const char *)&r + series[i].at, sizeof value);
		buf_printf(b, "%s %" PRIu64 "\n", series[i].name, value);
	}
}

void metrics_write(struct metrics *m, struct buf *b)
{
	write_counters(b, "cleat_http_requests_total", "HTTP requests by class of the status.",
		       "code", class_names, m->http, METRICS_CLASSES);
	write_counters(b, "cleat_rpc_requests_total", "JSON-RPC requests answered.", "method",
		       method_names, m->rpc, METRICS_METHODS);
	write_counters(b, "cleat_rpc_errors_total", "JSON-RPC requests answered with an error.",
		       "method", method_names, m->rpc_errors, METRICS_METHODS);
	write_latency(m, b);
	if (m->read)
		write_readings(m, b);
}
