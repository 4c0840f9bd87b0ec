/* rpc_calculator - JSON-RPC 2.0 without MCP: a message a line (up to 64 KiB) on stdin, the
 * answers on stdout.
 *
 *	$ echo '{"jsonrpc":"2.0","method":"subtract","params":[42,23],"id":1}' | rpc_calculator
 *	{"jsonrpc":"2.0","id":1,"result":19}
 */
#include <cleat/rpc.h>

#include <stdio.h>
#include <string.h>

/* Two numbers, by position or by name. */
static bool operands(cleat_rpc_call *call, double *a, double *b)
{
	const double none = 1e308;

	*a = cleat_json_num(cleat_rpc_param(call, 0, "a"), none);
	*b = cleat_json_num(cleat_rpc_param(call, 1, "b"), none);
	return *a < none && *b < none;
}

static int calculate(cleat_rpc_call *call)
{
	const char *op = cleat_rpc_userdata(call);
	double a, b;

	if (!operands(call, &a, &b))
		return cleat_rpc_reject(call, CLEAT_RPC_INVALID_PARAMS,
					"give two numbers, a and b");
	if (*op == '/' && b == 0)
		return cleat_rpc_reject(call, 1, "%g / 0 has no answer", a);
	return cleat_rpc_replyf(call, "%g", *op == '+' ? a + b : *op == '-' ? a - b : a / b);
}

static int write_line(void *userdata, const char *bytes, size_t n)
{
	fwrite(bytes, 1, n, userdata);
	fputc('\n', userdata);
	return fflush(userdata) == 0 ? CLEAT_OK : CLEAT_EIO;
}

int main(void)
{
	static char line[64 * 1024];
	cleat_rpc *rpc =
		cleat_rpc_new(&(cleat_rpc_options){ .send = write_line, .userdata = stdout });

	cleat_rpc_on(rpc, "add", calculate, "+");
	cleat_rpc_on(rpc, "subtract", calculate, "-");
	cleat_rpc_on(rpc, "divide", calculate, "/");
	while (fgets(line, sizeof line, stdin))
		cleat_rpc_receive(rpc, line, strcspn(line, "\n"));
	cleat_rpc_free(rpc);
	return ferror(stdout) ? 1 : 0;
}
