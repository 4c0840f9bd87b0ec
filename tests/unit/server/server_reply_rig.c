/* server_reply_rig.c - see server_reply_rig.h. */
#include "unit/server/server_reply_rig.h"

cleat_handler *now;

static const cleat_field place_fields[] = {
	CLEAT_FIELD(struct place, city, "City"),
	CLEAT_FIELD(struct place, days, "Days", .fallback = "3"),
	CLEAT_FIELD(struct place, sure, "Sure", .optional = true),
	CLEAT_FIELD(struct place, share, "Share", .optional = true),
	CLEAT_FIELD_END,
};

static int do_now(cleat_request *req)
{
	return now(req);
}

void open_rig(struct rig *r, const char *revision, size_t max_reply)
{
	cleat_server_options o = rig_options(r);

	o.max_reply = max_reply;
	rig_server(r, &o);
	cleat_server_add_tool(r->s, &(cleat_tool){ .name = "t", .call = do_now });
	cleat_server_add_tool(r->s, &(cleat_tool){ .name = "rec",
						   .call = do_now,
						   .input = place_fields,
						   .output = place_fields });
	cleat_server_add_tool(
		r->s,
		&(cleat_tool){ .signature = "sig(n: integer 1..9 = 4, s?: string, f?: boolean, "
					    "x?: number, list: string[] = [\"a\"])",
			       .call = do_now });
	cleat_server_add_tool(r->s, &(cleat_tool){ .name = "free",
						   .call = do_now,
						   .input_schema = "{\"type\":\"object\"}" });
	cleat_server_add_resource(
		r->s, &(cleat_resource){ .uri = "r:1", .read = do_now, .mime_type = "text/x-own" });
	cleat_server_add_resource(
		r->s,
		&(cleat_resource){ .uri = "v://{a}/{b}", .read = do_now, .complete = do_now });
	cleat_server_add_prompt(r->s, &(cleat_prompt){ .name = "p",
						       .get = do_now,
						       .description = "own",
						       .input = place_fields,
						       .complete = do_now });
	cleat_server_add_prompt(
		r->s, &(cleat_prompt){
			      .signature = "ps(n?: integer, f?: boolean, x?: number, s?: string)",
			      .get = do_now });
	assert_int_equal(cleat_server_error(r->s)->status, CLEAT_OK);
	rig_wire(r);
	if (revision)
		rig_open(r, revision);
}

const char *run(struct rig *r, cleat_handler *fn, const char *line)
{
	now = fn;
	assert_one_message(rig_ask(r, line));
	assert_has(r->out, "\"id\":1");
	return r->out;
}

int nothing(cleat_request *req)
{
	return cleat_reply_nothing(req);
}
