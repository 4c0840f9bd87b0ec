/* hello_wire.c - the hello server without a loop: bytes in, bytes out, one client. What a small device carries
 * (a minimal build needs nothing but yyjson); the descriptors could as well be a serial line.
 */
#define _POSIX_C_SOURCE 200809L
#include <cleat/cleat.h>

#include <unistd.h>

static int add(cleat_request *req)
{
	return cleat_reply_textf(req, "%g", cleat_arg_num(req, "a") + cleat_arg_num(req, "b"));
}

int main(void)
{
	cleat_server *s = cleat_server_new("adder", "1.0.0", NULL);
	cleat_wire *w;
	char chunk[4096];
	const void *out;
	ssize_t n, k;
	size_t m;

	cleat_server_add_tool(s, &(cleat_tool){ .signature = "add(a: number, b: number)",
						.description = "Add two numbers",
						.call = add });
	w = cleat_wire_server(s, NULL);
	while ((n = read(0, chunk, sizeof chunk)) > 0 &&
	       cleat_wire_feed(w, chunk, (size_t)n) == CLEAT_OK)
		while ((m = cleat_wire_peek(w, &out)) > 0 && (k = write(1, out, m)) > 0)
			cleat_wire_consume(w, (size_t)k);
	cleat_wire_free(w);
	cleat_server_free(s);
	return 0;
}
