/* state.c - several questions, one after the other, and something that must not change between
 * them: the price is found once, in the first run, and travels to the later runs as state. A client
 * of 2026-07-28 carries it, sealed; it can neither read nor change it.
 *
 *	examples/try state order '{"item":"tea"}'
 */
#include <cleat/cleat.h>

#include <stdlib.h>

struct amount {
	int pieces;
};

static const cleat_field amount_form[] = {
	CLEAT_FIELD(struct amount, pieces, "Pieces", CLEAT_RANGE(1, 99)),
	CLEAT_FIELD_END,
};

static int order(cleat_request *req)
{
	const char *item = cleat_arg_str(req, "item");
	const cleat_json *state = cleat_request_state(req);
	int price = (int)cleat_json_int(cleat_json_get(state, "price"), 1 + rand() % 50);
	const char *offer;
	struct amount amount;
	int rc;

	if (!state)
		cleat_request_set_state(req, "{price: %d}", price);
	rc = cleat_ask_form(req, "amount", "How many do you want?", amount_form, &amount);
	if (rc != CLEAT_OK)
		return rc;
	/* The offer is the key of the question as well: a yes is a yes to this offer only. */
	offer = cleat_request_printf(req, "%d %s for %d?", amount.pieces, item,
				     amount.pieces * price);
	rc = cleat_ask_confirm(req, offer, "%s", offer);
	if (rc != CLEAT_OK)
		return rc;
	return cleat_reply_jsonf(req, "{item: %s, pieces: %d, price: %d}", item, amount.pieces,
				 price);
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("state", "1.0.0", NULL);
	cleat_server_add_tool(s, &(cleat_tool){ .signature = "order(item: tea|coffee)",
						.description = "Order something",
						.call = order });
	return cleat_server_main(s, argc, argv);
}
