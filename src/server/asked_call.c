/* server/asked_call.c - see asked_call.h: what all questions have in common. */
#include "server/asked_call.h"

#include "request/life.h"
#include "request/note.h"
#include "request/out.h"
#include "request/reply.h"
#include "json/parse.h"

#include <stdio.h>

bool asked_refuse(cleat_request *req, const char *fmt, ...)
{
	char why[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	out_errorf(req, CLEAT_RPC_INVALID_PARAMS, NULL, "%s: %s", req->msg.method.p, why);
	return false;
}

bool asked_no_memory(cleat_request *req)
{
	out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(CLEAT_ENOMEM));
	return false;
}

/* The whole of params is the handler's arguments, so its keys are held to what holds for those. */
struct asked_call *asked_begin(cleat_request *req, enum shape shape)
{
	const struct server_asked *who = &req->server->asked->who;
	struct asked_call *call;
	cleat_error err;

	if (req->msg.params && json_check_all_keys(req->msg.params, &err)) {
		asked_refuse(req, "params: %s", err.message);
		return NULL;
	}
	call = arena_zalloc(&req->arena, sizeof *call);
	if (!call) {
		asked_no_memory(req);
		return NULL;
	}
	req->shape = shape;
	req->userdata = who->userdata;
	call->client = who->client;
	req->arguments = req->msg.params;
	req->asked = call;
	return call;
}

void asked_misfit(cleat_request *req, const char *told, const char *why)
{
	server_note(req->server, CLEAT_LOG_ERROR, "the answer to %s cannot be sent: %s",
		    req->msg.method.p, why);
	cleat_reply_reject(req, CLEAT_RPC_INTERNAL_ERROR, "%s", told);
}

cleat_client *cleat_request_client(cleat_request *req)
{
	return req && req->asked ? req->asked->client : NULL;
}

void asked_settle(cleat_request *req)
{
	req->asked->settle(req);
	reply_send(req);
	request_end(req);
}
