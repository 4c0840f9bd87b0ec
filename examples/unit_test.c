/* unit_test.c - test a tool without a process, a pipe or a thread: a message in, its answer out.
 *
 *	./unit_test
 */
#include <cleat/cleat.h>

#include <stdio.h>
#include <string.h>

/* What is tested. */
static int divide(cleat_request *req)
{
	double by = cleat_arg_num(req, "by");

	if (by == 0)
		return cleat_reply_error(req, "Nothing can be divided by 0.");
	return cleat_reply_jsonf(req, "{quotient: %g}", cleat_arg_num(req, "n") / by);
}

/* One call over a connection of its own; is `expected` part of the answer? */
static bool answers(cleat_server *s, const char *arguments, const char *expected)
{
	static int number;
	cleat_wire *w = cleat_wire_server(s, NULL);
	char text[2000];
	const void *answer;
	int n = snprintf(text, sizeof text,
			 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
			 "\"name\":\"divide\",\"arguments\":%s,\"_meta\":{"
			 "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
			 "\"io.modelcontextprotocol/clientCapabilities\":{}}}}\n",
			 arguments);
	bool ok;

	cleat_wire_feed(w, text, (size_t)n);
	n = (int)cleat_wire_peek(w, &answer);
	snprintf(text, sizeof text, "%.*s", n, (const char *)answer);
	ok = strstr(text, expected) != NULL;
	printf("%s %d - %s gives %s\n", ok ? "ok" : "not ok", ++number, arguments, expected);
	cleat_wire_free(w);
	return ok;
}

int main(void)
{
	cleat_server *s = cleat_server_new("test", "0", NULL);
	bool ok;

	cleat_server_add_tool(
		s, &(cleat_tool){ .signature = "divide(n: number, by: number)", .call = divide });
	ok = answers(s, "{\"n\":1,\"by\":2}", "\"structuredContent\":{\"quotient\":0.5}");
	ok &= answers(s, "{\"n\":1,\"by\":0}", "\"isError\":true");
	ok &= answers(s, "{\"n\":1}", "by: ");
	cleat_server_free(s);
	return ok ? 0 : 1;
}
