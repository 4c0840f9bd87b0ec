/* unit_test.c - test a tool without a process, a pipe or a thread: a client and a server in one program.
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

static bool check(bool ok, const char *what)
{
	static int number;

	printf("%s %d - %s\n", ok ? "ok" : "not ok", ++number, what);
	return ok;
}

int main(void)
{
	cleat_server *s = cleat_server_new("test", "0", NULL);
	cleat_client *c;
	cleat_result *r;
	bool ok;

	cleat_server_add_tool(
		s, &(cleat_tool){ .signature = "divide(n: number, by: number)", .call = divide });
	c = cleat_client_inproc(s, NULL);

	r = cleat_client_callf(c, "divide", "{n: %d, by: %d}", 1, 2);
	ok = check(cleat_json_num(cleat_json_get(cleat_result_json(r), "quotient"), 0) == 0.5,
		   "1 / 2 is a half");
	cleat_result_free(r);

	r = cleat_client_callf(c, "divide", "{n: 1, by: 0}");
	ok &= check(cleat_result_is_tool_error(r), "1 / 0 fails");
	cleat_result_free(r);

	r = cleat_client_callf(c, "divide", "{n: 1}");
	ok &= check(strstr(cleat_result_text(r), "by: ") != NULL,
		    "1 / nothing says what is missing");
	cleat_result_free(r);

	cleat_client_free(c);
	cleat_server_free(s);
	return ok ? 0 : 1;
}
