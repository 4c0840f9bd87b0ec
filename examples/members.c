/* members.c - structs as programs have them: a char array, an enum, a byte. The schema says what fits into
 * them, and what does not is refused, never cut.
 *
 *	examples/try members light '{"name":"desk","colour":"warm","brightness":200}'
 */
#include <cleat/cleat.h>

#include <string.h>

enum colour { WARM = 2700, COLD = 6500 };
struct lamp {
	char name[8]; /* seven bytes and their end */
	enum colour colour;
	uint8_t brightness;
};

static const cleat_enum colours[] = { { "warm", WARM }, { "cold", COLD }, CLEAT_ENUM_END };
static const cleat_field lamp_fields[] = {
	CLEAT_FIELD(struct lamp, name, "Which lamp", CLEAT_AT_LEAST(1)),
	CLEAT_ENUM(struct lamp, colour, colours, "Of its light", .fallback = "\"warm\""),
	CLEAT_FIELD(struct lamp, brightness, "255 is all it has", .fallback = "255"),
	CLEAT_FIELD_END,
};

/* Dims a cold lamp, which is brighter, and shows the struct as it is now. */
static int light(cleat_request *req)
{
	struct lamp lamp;

	memcpy(&lamp, cleat_request_args(req), sizeof lamp);
	if (lamp.colour == COLD)
		lamp.brightness /= 2;
	return cleat_reply_record(req, &lamp);
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("members", "1.0.0", NULL);
	cleat_server_add_tool(s, &(cleat_tool){ .name = "light",
						.call = light,
						.input = lamp_fields,
						.output = lamp_fields });
	return cleat_server_main(s, argc, argv);
}
