/* sampling.c - ask the client's model: the server needs no model and no key of its own, and the
 * user sees what is asked.
 *
 *	examples/try sampling summarise '{"text":"Once upon a time ..."}'
 */
#include <cleat/cleat.h>

static int summarise(cleat_request *req)
{
	const char *summary;
	int rc = cleat_ask_sampling(req, "summary",
				    &(cleat_sampling){
					    .system = "Answer with one short sentence.",
					    .prompt = cleat_arg_str(req, "text"),
					    .max_tokens = 100,
				    },
				    &summary, NULL);

	if (rc == CLEAT_EUNSUPPORTED)
		return cleat_reply_error(req,
					 "This client offers no model; read the text yourself.");
	if (rc != CLEAT_OK)
		return rc;
	return cleat_reply_textf(req, "In short: %s", summary);
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("sampling", "1.0.0", NULL);
	cleat_server_add_tool(s, &(cleat_tool){
					 .signature = "summarise(text: string 1..100000)",
					 .description = "Summarise a text in one sentence",
					 .call = summarise,
				 });
	return cleat_server_main(s, argc, argv);
}
