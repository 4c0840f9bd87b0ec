/* request/out.c - see out.h. */
#include "request/out.h"
#include "request/note.h"

#include "base/mem.h"
#include "protocol/describe.h"

#include <stdio.h>

bool out_begin(struct out *o, cleat_connection *c, cleat_request *about, enum peer_weight weight)
{
	if (c->closed || (weight == PEER_SHOULD && c->sink.congested(c->sink.ctx)))
		return false;
	*o = (struct out){ .conn = c,
			   .req = about,
			   .tag = about ? about->tag : NULL,
			   .limit = c->server->opts.max_reply };
	o->b = c->sink.begin(c->sink.ctx, o->tag);
	if (!o->b)
		return false;
	o->start = buf_size(o->b);
	jw_init(&o->w, o->b);
	return true;
}

bool out_begin_for(struct out *o, cleat_connection *c, void *tag, int kind)
{
	if (c->closed)
		return false;
	*o = (struct out){
		.conn = c, .tag = tag, .kind = kind, .limit = c->server->opts.max_reply
	};
	o->b = c->sink.begin(c->sink.ctx, tag);
	if (!o->b)
		return false;
	o->start = buf_size(o->b);
	jw_init(&o->w, o->b);
	return true;
}

static bool begin_in_batch(struct out *o, cleat_request *req)
{
	struct answers *into = req->answers;

	*o = (struct out){ .conn = req->conn,
			   .req = req,
			   .into = into,
			   .b = &into->text,
			   .limit = req->server->opts.max_reply };
	if (req->conn->closed)
		return false;
	o->start = buf_size(o->b);
	buf_putc(o->b, into->n ? ',' : '[');
	jw_init(&o->w, o->b);
	return true;
}

static bool begin_answer(struct out *o, cleat_request *req)
{
	if (req->answers)
		return begin_in_batch(o, req);
	if (!out_begin(o, req->conn, req, PEER_MUST))
		return false;
	o->kind = PEER_ANSWER;
	return true;
}

int out_end(struct out *o)
{
	int rc = buf_status(o->b);

	if (!rc && buf_size(o->b) - (o->into ? 0 : o->start) > o->limit)
		rc = CLEAT_ELIMIT;
	if (o->into) {
		if (rc)
			buf_truncate(o->b, o->start);
		else
			o->into->n++;
		return rc;
	}
	if (rc) {
		o->conn->sink.end(o->conn->sink.ctx, o->tag, PEER_TAKE_BACK);
		return rc;
	}
	return o->conn->sink.end(o->conn->sink.ctx, o->tag, o->kind);
}

/* Until 2025-06-18 the schema knows no error without an id, and JSON-RPC says null; later revisions
 * leave it out. */
static bool null_id(const cleat_connection *c)
{
	return conn_has_revision(c) && !(revision_features(c->session.rev) & FEAT_ERROR_WITHOUT_ID);
}

/* 2026-07-28 streamable-http: 400 for what is wrong with the request itself, 404 for a method that
 * is not there; what a handler finds is an answer like any other. */
static int error_status(const cleat_request *req, int code)
{
	bool modern = req->ctx.era && req->ctx.era->modern;

	if (!req->read)
		return req->ctx.era && !modern ? 200 : 400;
	if (modern && code == CLEAT_RPC_METHOD_NOT_FOUND && !req->method)
		return 404;
	return modern && (code == CLEAT_RPC_MISSING_CAPABILITY || code == CLEAT_RPC_HEADER_MISMATCH)
		       ? 400
		       : 200;
}

static void answered(cleat_request *req, bool error)
{
	const struct server_hooks *h = &req->server->hooks;

	req->answered = true;
	if (h->answered)
		h->answered(h->ctx, req->msg.method.p ? req->msg.method : STR_LIT(""), error);
}

void out_error(cleat_request *req, int code, const char *data, const char *message)
{
	struct out o;
	int rc;

	if (req->silent || req->answered || !begin_answer(&o, req))
		return;
	o.kind = error_status(req, code);
	o.limit = SIZE_MAX;
	rpc_write_error(&o.w, req->msg.id, null_id(req->conn), code, str_of(message), str_of(data));
	rc = out_end(&o);
	if (rc == CLEAT_OK)
		answered(req, true);
	else if (req->msg.id && rc == CLEAT_ENOMEM)
		req->phase = PHASE_UNSENT;
	else {
		req->conn->lost = true;
		server_note(req->server, CLEAT_LOG_ERROR, "an error response was lost: %s",
			    cleat_strstatus(rc));
	}
}

void out_lost(cleat_connection *c, void *tag)
{
	struct out o;
	int rc = CLEAT_ECLOSED;

	if (out_begin_for(&o, c, tag, PEER_ANSWER)) {
		o.kind = 503;
		rpc_write_error(&o.w, NULL, null_id(c), CLEAT_RPC_INTERNAL_ERROR,
				STR_LIT("out of memory: a message was not read"),
				(struct str){ NULL, 0 });
		rc = out_end(&o);
	}
	if (rc) {
		c->lost = true;
		server_note(c->server, CLEAT_LOG_ERROR, "a message was lost: out of memory");
	}
}

void out_errorf(cleat_request *req, int code, const char *data, const char *fmt, ...)
{
	char message[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof message, fmt, ap);
	va_end(ap);
	out_error(req, code, data, message);
}

void out_unknown(cleat_request *req, int code, const char *what, struct str name,
		 struct str nearest)
{
	int shown = (int)(name.n < 128 ? name.n : 128);
	struct buf data;
	struct jw w;
	bool ok;

	if (!nearest.p) {
		out_errorf(req, code, NULL, "Unknown %s: %.*s", what, shown, name.p);
		return;
	}
	buf_init(&data, &req->server->mem, 4096);
	jw_init(&w, &data);
	jw_format(&w, NULL, "{details: %s}",
		  cleat_request_printf(req, "did you mean %.*s?",
				       (int)(nearest.n < 256 ? nearest.n : 256), nearest.p));
	buf_putc(&data, '\0');
	ok = buf_status(&data) == CLEAT_OK;
	out_errorf(req, code, ok ? buf_str(&data).p : NULL, "Unknown %s: %.*s", what, shown,
		   name.p);
	buf_done(&data);
}

/* The server's Implementation as JSON, for this revision; absent when out of memory. */
static struct str server_info(cleat_server *s, enum revision rev)
{
	struct str *info = &s->info[rev];
	struct buf b;
	struct jw w;

	if (info->p)
		return *info;
	buf_init(&b, &s->mem, 1 << 20);
	jw_init(&w, &b);
	describe_implementation(&w, revision_features(rev), s->name, s->version, &s->opts);
	if (!buf_status(&b)) {
		size_t n = buf_size(&b);

		info->p = arena_strndup(&s->arena, buf_str(&b).p, n);
		info->n = info->p ? n : 0;
	}
	buf_done(&b);
	return *info;
}

bool result_begin(struct out *o, cleat_request *req, const struct result_facts *f)
{
	if (req->silent || req->answered || !begin_answer(o, req))
		return false;
	rpc_begin_result_object(&o->w, req->msg.id);
	req->ctx.era->result_head(&o->w, f);
	return true;
}

int result_end(struct out *o, cleat_request *req, struct result_facts *f)
{
	int rc;

	if (req->ctx.era->modern)
		f->server_info = server_info(req->server, req->ctx.rev);
	req->ctx.era->result_tail(&o->w, f);
	rpc_end_result_object(&o->w);
	rc = out_end(o);
	if (rc == CLEAT_OK)
		answered(req, false);
	return rc;
}

void result_empty(cleat_request *req)
{
	struct result_facts f = { 0 };
	struct out o;
	int rc;

	if (!result_begin(&o, req, &f))
		return;
	rc = result_end(&o, req, &f);
	if (rc)
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(rc));
}
