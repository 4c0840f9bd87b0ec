/* roots.c - ask the client which folders it works in.
 *
 *	examples/try roots folders '{}' '{"roots":{"roots":[{"uri":"file:///tmp"}]}}'
 */
#include <cleat/cleat.h>

static int folders(cleat_request *req)
{
	const cleat_json *roots;
	cleat_json_iter it;
	int rc = cleat_ask_roots(req, "roots", &roots);

	if (rc != CLEAT_OK)
		return rc;
	if (cleat_json_size(roots) == 0)
		return cleat_reply_text(req, "The client shares no folder.");
	for (it = cleat_json_each(roots); cleat_json_next(&it);) {
		const char *uri = cleat_json_str(cleat_json_get(it.value, "uri"), "?");

		cleat_reply_textf(req, "%s (%s)", uri,
				  cleat_json_str(cleat_json_get(it.value, "name"), "no name"));
	}
	return CLEAT_OK;
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("roots", "1.0.0", NULL);
	cleat_server_add_tool(s, &(cleat_tool){
					 .signature = "folders()",
					 .description = "The folders that the client works in",
					 .call = folders,
					 .read_only = CLEAT_YES,
				 });
	return cleat_server_main(s, argc, argv);
}
