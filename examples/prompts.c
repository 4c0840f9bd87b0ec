/* prompts.c - messages for a model, with arguments that complete themselves: choices by their
 * declaration, everything else by a handler. A message may be an image.
 *
 *	examples/try prompts prompts/get '{"name":"review","arguments":{"file":"main.c"}}'
 */
#include <cleat/cleat.h>

struct review {
	const char *file, *focus;
};

static const cleat_field review_fields[] = {
	CLEAT_FIELD(struct review, file, "The file to review"),
	CLEAT_FIELD(struct review, focus, "What matters most", .choices = "bugs|speed|style",
		    .fallback = "\"bugs\""),
	CLEAT_FIELD_END,
};

static int review(cleat_request *req)
{
	const struct review *in = cleat_request_args(req);

	cleat_reply_message(req, "user", "Review %s. Look for %s.", in->file, in->focus);
	return cleat_reply_message(req, "assistant", "I will read %s first.", in->file);
}

static int describe(cleat_request *req)
{
	cleat_reply_message(req, "user", "Describe this %s.", cleat_arg_str(req, "what"));
	return cleat_reply_image(req, "image/gif", "GIF89a\1\0\1\0\0\0\0;", 14);
}

static int complete(cleat_request *req)
{
	static const char *const known[] = { "painting", "photo", "plan" };

	return cleat_reply_suggest_from(req, known, CLEAT_COUNT(known));
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("prompts", "1.0.0", NULL);
	const cleat_prompt all[] = {
		{ .name = "review", .input = review_fields, .get = review },
		{ .signature = "describe(what: string)", .get = describe, .complete = complete },
	};

	cleat_server_add_prompts(s, all, CLEAT_COUNT(all));
	return cleat_server_main(s, argc, argv);
}
