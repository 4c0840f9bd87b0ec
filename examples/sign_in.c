/* sign_in.c - send the user to a web page, for what must not pass through the client or its model:
 * passwords, payment, consent. Accepting means "I will go there", not "I am done".
 *
 *	examples/try sign_in inbox '{}'
 *	examples/try sign_in inbox '{}' '{"sign-in":{"action":"accept"}}'
 */
#include <cleat/cleat.h>

/* A real one looks up a token that the web page has stored for this user. */
static bool signed_in(void)
{
	static int asked;

	return ++asked > 1;
}

static int inbox(cleat_request *req)
{
	int rc;

	if (!cleat_request_client_can(req, CLEAT_CLIENT_URL))
		return cleat_reply_error(req, "Please open https://mail.example/connect first.");
	rc = cleat_ask_url(req, "sign-in", "Sign in to read your mail",
			   "https://mail.example/connect");
	if (rc == CLEAT_EDECLINED || rc == CLEAT_ECANCELLED)
		return cleat_reply_error(req, "Without signing in there is no mail.");
	if (rc != CLEAT_OK)
		return rc;
	if (!signed_in())
		return cleat_reply_error(req, "Not signed in yet; try again in a moment.");
	cleat_ask_url_done(req, "sign-in");
	return cleat_reply_text(req, "You have no new mail.");
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("sign_in", "1.0.0", NULL);
	cleat_server_add_tool(s, &(cleat_tool){
					 .signature = "inbox()",
					 .description = "New mail of the user",
					 .call = inbox,
					 .read_only = CLEAT_YES,
				 });
	return cleat_server_main(s, argc, argv);
}
