/* request/output.c - see output.h. */
#include "request/output.h"

#include "base/cold.h"
#include "field/field.h"
#include "request/note.h"
#include "request/out.h"
#include "schema/check.h"

enum { PROBLEMS_MAX = 8192 };

static int server_output_check(const cleat_request *req, struct buf *problems)
{
	const struct entry *e = req->entry;

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
