/* hello.c - the shortest useful server: one tool, declared by its signature.
 *
 *	printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"ping"}' | ./hello
 */
#include <cleat/cleat.h>

static int add(cleat_request *req)
{
	return cleat_reply_textf(req, "%g", cleat_arg_num(req, "a") + cleat_arg_num(req, "b"));
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("adder", "1.0.0", NULL);
	cleat_server_add_tool(s, &(cleat_tool){ .signature = "add(a: number, b: number)",
						.description = "Add two numbers",
						.call = add });
	return cleat_server_main(s, argc, argv);
}
