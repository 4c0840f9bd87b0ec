/* request/output.c - see output.h. */
#include "request/output.h"

#include "base/cold.h"
#include "field/field.h"
#include "request/note.h"
#include "request/out.h"
#include "schema/check.h"
#include "json/parse.h"

enum { PROBLEMS_MAX = 8192, DEEPEST = 1024 };

int output_value(cleat_request *req, cleat_error *err)
{
	struct str json = buf_str(&req->structured);
	/* The program's own text: only its size (max_reply) is limited. */
	const cleat_json_limits limits = { .max_depth = DEEPEST, .max_nodes = json.n };

	return req->value ? CLEAT_OK : json_parse(&req->arena, json, &limits, &req->value, err);
}

static int server_output_check(cleat_request *req, struct buf *problems)
{
	const struct entry *e = req->entry;
	cleat_error err;
	int rc = output_value(req, &err);

	if (rc) {
		buf_appendz(problems, err.message);
		return rc;
	}
	if (e->output_schema)
		return schema_check(e->output_schema, req->value, "member", problems);
	return field_check(e->output, req->value, false, problems);
}

static COLD void log_misfit(cleat_request *req, struct buf *problems)
{
	struct str lines = buf_str(problems);
	struct buf line;

	buf_init(&line, &req->server->mem, 2 * PROBLEMS_MAX);
	for (size_t i = 0; i < lines.n; i++)
		if (lines.p[i] == '\n')
			buf_appendz(&line, "; ");
		else
			buf_putc(&line, lines.p[i]);
	server_note(req->server, CLEAT_LOG_ERROR,
		    "the result of %s does not fit its output schema: %.*s", req->entry->key.p,
		    STR_ARGS(buf_str(&line)));
	buf_done(&line);
}

static COLD bool missing(cleat_request *req)
{
	server_note(req->server, CLEAT_LOG_ERROR,
		    "the handler of %s gave no structured result, but has an output schema; call "
		    "cleat_reply_record, _json or _jsonf",
		    req->entry->key.p);
	out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, "the tool gave no structured result");
	return false;
}

bool output_check(cleat_request *req)
{
	struct buf problems = BUF_INIT(&req->server->mem, PROBLEMS_MAX);
	int rc;

	if (!buf_size(&req->structured))
		return missing(req);
	rc = server_output_check(req, &problems);
	if (rc == CLEAT_ENOMEM) {
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL, cleat_strstatus(rc));
	} else if (rc) {
		log_misfit(req, &problems);
		out_error(req, CLEAT_RPC_INTERNAL_ERROR, NULL,
			  "the tool's result does not fit its output schema");
	}
	buf_done(&problems);
	return rc == CLEAT_OK;
}
