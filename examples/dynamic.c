/* dynamic.c - tools that make and remove tools while the server runs; clients are told each time.
 *
 *	examples/try dynamic learn '{"word":"cleat","meaning":"what a line is made fast to"}'
 */
#define _POSIX_C_SOURCE 200809L
#include <cleat/cleat.h>

#include <stdlib.h>
#include <string.h>

static int explain(cleat_request *req)
{
	return cleat_reply_text(req, cleat_request_userdata(req));
}

static int learn(cleat_request *req)
{
	const char *word = cleat_arg_str(req, "word");
	int rc = cleat_server_add_tool(cleat_request_server(req),
				       &(cleat_tool){
					       .name = word,
					       .description = "Explains a word that was learnt",
					       .call = explain,
					       .userdata = strdup(cleat_arg_str(req, "meaning")),
					       .destroy = free,
				       });

	if (rc == CLEAT_EEXIST)
		return cleat_reply_error(req, "I know %s already.", word);
	if (rc != CLEAT_OK)
		return cleat_reply_error(req, "%s cannot be a tool: %s", word, cleat_strstatus(rc));
	return cleat_reply_textf(req, "Now there is a tool %s.", word);
}

static int forget(cleat_request *req)
{
	const char *word = cleat_arg_str(req, "word");

	if (cleat_server_remove_tool(cleat_request_server(req), word) != CLEAT_OK)
		return cleat_reply_error(req, "I never knew %s.", word);
	return cleat_reply_textf(req, "%s is forgotten.", word);
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("dynamic", "1.0.0", NULL);
	const cleat_tool tools[] = {
		{ .signature = "learn(word: string 1..64, meaning: string)", .call = learn },
		{ .signature = "forget(word: string)", .call = forget, .destructive = CLEAT_YES },
	};

	cleat_server_add_tools(s, tools, CLEAT_COUNT(tools));
	return cleat_server_main(s, argc, argv);
}
