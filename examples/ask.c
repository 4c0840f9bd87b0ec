/* ask.c - ask the user before doing something that cannot be undone. The handler runs once to ask
 * and again, from the top, when the answer is there; so nothing is done before the question.
 *
 *	examples/try ask delete '{"path":"old.txt"}'
 *	examples/try ask delete '{"path":"old.txt"}' '{"sure":{"action":"decline"}}'
 */
#include <cleat/cleat.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct answer {
	bool sure;
};

static const cleat_field form[] = {
	CLEAT_FIELD(struct answer, sure, "Yes, delete it for good", .title = "Sure?"),
	CLEAT_FIELD_END,
};

static int delete_file(cleat_request *req)
{
	const char *path = cleat_arg_str(req, "path");
	const char *question = cleat_request_printf(req, "Delete %s?", path);
	struct answer answer;
	int rc = cleat_ask_form(req, "sure", question, form, &answer);

	if (rc == CLEAT_EDECLINED || rc == CLEAT_ECANCELLED || (rc == CLEAT_OK && !answer.sure))
		return cleat_reply_textf(req, "The user said no; %s is still there.", path);
	if (rc != CLEAT_OK)
		return rc; /* not answered yet, or this client cannot be asked */
	if (remove(path) != 0)
		return cleat_reply_error(req, "%s: %s", path, strerror(errno));
	return cleat_reply_textf(req, "%s is gone.", path);
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("ask", "1.0.0", NULL);
	cleat_server_add_tool(s, &(cleat_tool){
					 .signature = "delete(path: string 1..)",
					 .description = "Delete a file, after asking the user",
					 .call = delete_file,
					 .destructive = CLEAT_YES,
				 });
	return cleat_server_main(s, argc, argv);
}
