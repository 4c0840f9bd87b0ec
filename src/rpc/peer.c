/* rpc/peer.c - the JSON-RPC peer itself: making and freeing, methods, and the way out.
 *
 * Not here: what happens to a message (intake.c, call.c, request.c). Freeing is put off while any
 * call into the peer is on the stack, so no callback can pull the ground away from its caller.
 */
#include "rpc/peer.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/sized.h"

#include <string.h>

enum {
	DEFAULT_MESSAGE = 4 << 20,
	DEFAULT_BATCH = 100,
	DEFAULT_TABLE = 256,
	MAX_METHODS = 10000,
	OUT_FIRST = 512, /* there from the start, so that a short error needs no memory */
	OUT_KEEP = 64 << 10,
	ERROR_ROOM = 2048 /* more than an error with the longest details takes beside its id */
};

/* ---- making and freeing ------------------------------------------------------------------- */

static void peer_resolve(cleat_rpc_options *o)
{
	if (!o->max_message)
		o->max_message = DEFAULT_MESSAGE;
	if (!o->max_batch)
		o->max_batch = DEFAULT_BATCH;
	if (!o->max_inflight)
		o->max_inflight = DEFAULT_TABLE;
	if (!o->max_pending)
		o->max_pending = DEFAULT_TABLE;
	o->allocator = NULL;
}

/* A peer has no source of randomness; where it lies in memory is at least not told to anybody. */
static uint32_t seed_of(const cleat_rpc *rpc)
{
	uint64_t x = (uint64_t)(uintptr_t)rpc * 0x9E3779B97F4A7C15u;

	return (uint32_t)(x >> 32);
}

/* Results are held to max_message by call.c. What goes beyond are errors, and those are small but
 * for the ids they echo, which came in with at most max_message. */
static size_t out_max(const cleat_rpc_options *o)
{
	size_t half = SIZE_MAX / 8;
	size_t message = o->max_message < half ? o->max_message : half;
	size_t batch = o->max_batch < half / ERROR_ROOM ? o->max_batch : half / ERROR_ROOM;

	return 2 * message + (batch + 4) * ERROR_ROOM;
}

cleat_rpc *cleat_rpc_new_(const cleat_rpc_options *opts, size_t size)
{
	cleat_rpc_options o;
	cleat_allocator mem;
	cleat_rpc *rpc;

	if (SIZED_TAKE(&o, opts, size, cleat_rpc_options, NULL) || !o.send ||
	    SIZED_RESERVED(&o.limits, cleat_json_limits, NULL))
		return NULL;
	mem = mem_resolve(o.allocator);
	rpc = mem_zalloc(&mem, sizeof *rpc);
	if (!rpc)
		return NULL;
	rpc->mem = mem;
	peer_resolve(&o);
	rpc->opts = o;
	rpc->rules.integer_ids = rpc->opts.strict_ids;
	rpc_table_init(&rpc->inflight, &mem, rpc->opts.max_inflight, seed_of(rpc));
	rpc_table_init(&rpc->pending, &mem, rpc->opts.max_pending, seed_of(rpc));
	buf_init(&rpc->out, &mem, out_max(&rpc->opts));
	if (!buf_reserve(&rpc->out, OUT_FIRST)) {
		mem_free(&mem, rpc);
		return NULL;
	}
	return rpc;
}

static void destroy(cleat_rpc *rpc)
{
	cleat_allocator mem = rpc->mem;

	while (rpc->intakes) {
		struct intake *in = rpc->intakes;

		rpc->intakes = in->next;
		intake_free(in);
	}
	if (rpc->spare)
		intake_free(rpc->spare);
	for (size_t i = 0; i < rpc->n_methods; i++)
		mem_free(&mem, rpc->methods[i].name);
	mem_free(&mem, rpc->methods);
	rpc_table_done(&rpc->inflight);
	rpc_table_done(&rpc->pending);
	buf_done(&rpc->out);
	mem_free(&mem, rpc);
}

void peer_enter(cleat_rpc *rpc)
{
	rpc->depth++;
}

void peer_leave(cleat_rpc *rpc)
{
	if (--rpc->depth == 0 && rpc->dying)
		destroy(rpc);
}

void cleat_rpc_close(cleat_rpc *rpc)
{
	if (!rpc || rpc->closed)
		return;
	peer_enter(rpc);
	rpc->closed = true;
	pending_close_all(rpc);
	peer_leave(rpc);
}

void cleat_rpc_free(cleat_rpc *rpc)
{
	if (!rpc || rpc->dying)
		return;
	peer_enter(rpc);
	rpc->dying = true;
	cleat_rpc_close(rpc);
	peer_leave(rpc);
}

void peer_notice(cleat_rpc *rpc, int status, int rpc_code, const char *fmt, ...)
{
	cleat_error e;
	va_list ap;

	if (!rpc->opts.on_notice)
		return;
	va_start(ap, fmt);
	error_vset(&e, status, rpc_code, fmt, ap);
	va_end(ap);
	rpc->opts.on_notice(rpc->opts.userdata, &e);
}

/* ---- methods ------------------------------------------------------------------------------ */

static int peer_compare(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;

	return c ? c : a.n < b.n ? -1 : a.n > b.n;
}

/* Where the name stands, or where it would have to be inserted. */
static size_t position(const cleat_rpc *rpc, struct str name, bool *found)
{
	size_t lo = 0, hi = rpc->n_methods;

	*found = false;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int c = peer_compare(str_of(rpc->methods[mid].name), name);

		if (c == 0) {
			*found = true;
			return mid;
		}
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

int cleat_rpc_on(cleat_rpc *rpc, const char *method, cleat_rpc_handler *handler, void *userdata)
{
	struct str name = str_of(method);
	void *array;
	struct method *at;
	char *copy;
	bool found;
	size_t i;
	int rc;

	/* JSON-RPC 2.0, 4.: names that begin with "rpc." are reserved. */
	if (!rpc || !name.n || !handler || str_starts(name, "rpc.") ||
	    utf8_valid_prefix(name) != name.n)
		return CLEAT_EINVAL;
	i = position(rpc, name, &found);
	if (found)
		return CLEAT_EEXIST;
	array = rpc->methods;
	rc = mem_grow(&rpc->mem, &array, &rpc->cap_methods, rpc->n_methods, sizeof *rpc->methods,
		      MAX_METHODS);
	rpc->methods = array;
	if (rc != CLEAT_OK)
		return rc;
	copy = mem_strndup(&rpc->mem, name.p, name.n);
	if (!copy)
		return CLEAT_ENOMEM;
	at = rpc->methods + i;
	memmove(at + 1, at, (rpc->n_methods - i) * sizeof *at);
	*at = (struct method){ copy, handler, userdata };
	rpc->n_methods++;
	return CLEAT_OK;
}

struct method peer_method(const cleat_rpc *rpc, struct str name)
{
	bool found;
	size_t i = position(rpc, name, &found);

	return found ? rpc->methods[i] : (struct method){ NULL, NULL, NULL };
}

struct str peer_nearest(const cleat_rpc *rpc, struct str name)
{
	struct str_nearest nearest = { .wanted = name };

	for (size_t i = 0; i < rpc->n_methods; i++)
		str_nearest_offer(&nearest, str_of(rpc->methods[i].name));
	return nearest.best;
}

/* ---- the way out -------------------------------------------------------------------------- */

struct buf peer_take_out(cleat_rpc *rpc)
{
	struct buf out = rpc->out;

	buf_init(&rpc->out, &rpc->mem, out.max);
	return out;
}

void peer_give_back(cleat_rpc *rpc, struct buf *out)
{
	buf_reset(out, OUT_KEEP);
	if (out->cap > rpc->out.cap) {
		struct buf smaller = rpc->out;

		rpc->out = *out;
		*out = smaller;
	}
	buf_done(out);
}

int peer_send(cleat_rpc *rpc, struct str text)
{
	int rc;

	if (rpc->closed)
		return CLEAT_ECLOSED;
	rc = rpc->opts.send(rpc->opts.userdata, text.p, text.n);
	return rc < 0 ? rc : CLEAT_OK;
}

const char *peer_code_text(int code)
{
	switch (code) {
	case CLEAT_RPC_PARSE_ERROR: return "Parse error";
	case CLEAT_RPC_INVALID_REQUEST: return "Invalid Request";
	case CLEAT_RPC_METHOD_NOT_FOUND: return "Method not found";
	case CLEAT_RPC_INVALID_PARAMS: return "Invalid params";
	case CLEAT_RPC_INTERNAL_ERROR: return "Internal error";
	default: return "Server error";
	}
}

void peer_write_error(cleat_rpc *rpc, struct buf *out, const cleat_json *id, int code,
		      const char *details)
{
	struct str text = { NULL, 0 };
	struct buf data;
	struct jw w;

	buf_init(&data, &rpc->mem, ERROR_ROOM);
	if (details) {
		jw_init(&w, &data);
		jw_obj(&w);
		jw_kv_str(&w, "details", details);
		jw_obj_end(&w);
		/* Out of memory, the error goes out without its explanation. */
		if (buf_status(&data) == CLEAT_OK)
			text = buf_str(&data);
	}
	jw_init(&w, out);
	rpc_write_error(&w, id, !rpc->opts.strict_ids, code, str_of(peer_code_text(code)), text);
	buf_done(&data);
}
