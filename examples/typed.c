/* typed.c - arguments and results as C structs. One table per struct gives the JSON Schema, the
 * check of what comes in (ranges, choices, defaults) and the conversion in both directions.
 *
 *	examples/try typed forecast '{"city":"Oslo","days":2,"place":{"latitude":59.9}}'
 */
#include <cleat/cleat.h>

struct place {
	double latitude, longitude;
};
struct query {
	const char *city, *unit;
	int days;
	struct place place;
};
struct outlook {
	const char *city;
	const double *highs;
	size_t n_highs;
};

static const cleat_field place_fields[] = {
	CLEAT_FIELD(struct place, latitude, "Degrees north", CLEAT_RANGE(-90, 90)),
	CLEAT_FIELD(struct place, longitude, "Degrees east", .fallback = "0"),
	CLEAT_FIELD_END,
};
static const cleat_field query_fields[] = {
	CLEAT_FIELD(struct query, city, "City name", CLEAT_RANGE(1, 80)),
	CLEAT_FIELD(struct query, days, "Days ahead", CLEAT_RANGE(1, 14), .fallback = "1"),
	CLEAT_FIELD(struct query, unit, "Scale", .choices = "C|F", .fallback = "\"C\""),
	CLEAT_RECORD(struct query, place, place_fields, "Where it is", .optional = true),
	CLEAT_FIELD_END,
};
static const cleat_field outlook_fields[] = {
	CLEAT_FIELD(struct outlook, city, "As asked"),
	CLEAT_ARRAY(struct outlook, highs, n_highs, "The highest temperature of each day"),
	CLEAT_FIELD_END,
};

static int forecast(cleat_request *req)
{
	const struct query *in = cleat_request_args(req);
	bool f = *in->unit == 'F';
	double highs[14]; /* enough: the table says so */

	for (int i = 0; i < in->days; i++)
		highs[i] = (25 - in->place.latitude / 5 + i) * (f ? 1.8 : 1) + (f ? 32 : 0);
	return cleat_reply_record(req, &(struct outlook){ in->city, highs, (size_t)in->days });
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("typed", "1.0.0", NULL);
	cleat_server_add_tool(s, &(cleat_tool){ .name = "forecast",
						.call = forecast,
						.input = query_fields,
						.output = outlook_fields });
	return cleat_server_main(s, argc, argv);
}
