/* client_sampling.c - answer what a server asks: with a model, and with what the user types. Calls one
 * tool.
 *
 *	build/release/examples/client_sampling build/release/examples/sampling summarise '{"text":"…"}'
 */
#include <cleat/cleat.h>

#include <stdio.h>
#include <string.h>

/* Ask a real model here. This one answers with the first words of the question. */
static int on_sampling(cleat_request *req)
{
	const cleat_json *first = cleat_json_at(cleat_arg(req, "messages"), 0);
	const char *text =
		cleat_json_str(cleat_json_get(cleat_json_get(first, "content"), "text"), "nothing");

	cleat_reply_model(req, "parrot-1");
	return cleat_reply_textf(req, "%.*s ...", (int)strcspn(text, "."), text);
}

/* It may wait for the user: `blocking_handlers` gives it a thread. This one can fill in forms with one
 * box to tick; what does not fit the form is never sent. */
static int on_form(cleat_request *req)
{
	cleat_json_iter it =
		cleat_json_each(cleat_json_get(cleat_arg(req, "requestedSchema"), "properties"));
	char line[100];

	fprintf(stderr, "%s [yes/no] ", cleat_arg_str(req, "message"));
	if (!cleat_json_next(&it) || !fgets(line, sizeof line, stdin))
		return CLEAT_ECANCELLED;
	if (line[0] != 'y')
		return CLEAT_EDECLINED;
	return cleat_reply_jsonf(req, "{%s: true}", cleat_json_str(it.key, ""));
}

int main(int argc, char **argv)
{
	const char *const server[] = { argc > 1 ? argv[1] : "./sampling", NULL };
	const char *tool = argc > 2 ? argv[2] : "summarise";
	const char *args = argc > 3 ? argv[3] : "{\"text\": \"Once. Upon a time.\"}";
	cleat_doc *doc = cleat_doc_parse(args, strlen(args), NULL, NULL, NULL);
	cleat_client_options o = { .on_sampling = on_sampling,
				   .on_form = on_form,
				   .blocking_handlers = true };
	cleat_client *c = cleat_client_spawn(server, &o);
	cleat_result *r = cleat_client_call(c, tool, cleat_doc_root(doc));
	int rc = cleat_result_status(r);

	puts(rc == CLEAT_OK ? cleat_result_text(r) : cleat_result_error(r)->message);
	cleat_result_free(r);
	cleat_client_free(c);
	cleat_doc_free(doc);
	return rc != CLEAT_OK;
}
