/* hello_stdio.c - the hello server for standard input and output alone: what a small program carries
 * when it links the static library and never listens on HTTP.
 */
#include <cleat/cleat.h>

static int add(cleat_request *req)
{
	return cleat_reply_textf(req, "%g", cleat_arg_num(req, "a") + cleat_arg_num(req, "b"));
}

int main(void)
{
	cleat_server *s = cleat_server_new("adder", "1.0.0", NULL);
	int rc;

	cleat_server_add_tool(s, &(cleat_tool){ .signature = "add(a: number, b: number)",
						.description = "Add two numbers",
						.call = add });
	rc = cleat_server_run_stdio(s);
	cleat_server_free(s);
	return rc ? 1 : 0;
}
