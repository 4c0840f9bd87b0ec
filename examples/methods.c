/* methods.c - methods of your own beside those of the protocol, for clients that know them: a question, and
 * a notification that nobody waits for.
 *
 *	examples/try methods com.example/convert '{"amount":3,"to":"krone"}'
 */
#include <cleat/cleat.h>

static double rate = 11.5; /* kroner for a euro */

static int convert(cleat_request *req)
{
	double amount = cleat_arg_num(req, "amount");

	return cleat_reply_jsonf(req, "{amount: %g, unit: %s}", amount * rate,
				 cleat_arg_str(req, "to"));
}

static int set_rate(cleat_request *req)
{
	rate = cleat_arg_num(req, "rate");
	return CLEAT_OK;
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("methods", "1.0.0", NULL);

	cleat_server_add_method(
		s,
		&(cleat_method){
			.signature = "com.example/convert(amount: number, to: string = \"krone\")",
			.call = convert });
	cleat_server_add_method(s, &(cleat_method){ .signature = "com.example/rate(rate: number)",
						    .notification = true,
						    .call = set_rate });
	return cleat_server_main(s, argc, argv);
}
