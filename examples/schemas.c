/* schemas.c - a tool whose schemas are written by hand, because a signature cannot say "a name or a
 * place". Arguments and results are checked against them all the same.
 *
 *	examples/try schemas equator '{"to":{"lat":59.9,"lon":10.7}}'
 */
#include <cleat/cleat.h>

#include <string.h>

static const char input[] =
	"{ \"type\": \"object\","
	"  \"properties\": { \"to\": { \"anyOf\": ["
	"    { \"type\": \"string\", \"minLength\": 1 }, { \"$ref\": \"#/$defs/place\" } ] } },"
	"  \"required\": [ \"to\" ],"
	"  \"additionalProperties\": false,"
	"  \"$defs\": { \"place\": { \"type\": \"object\","
	"    \"properties\": { \"lat\": { \"type\": \"number\", \"minimum\": -90, \"maximum\": 90 },"
	"                    \"lon\": { \"type\": \"number\" } },"
	"    \"required\": [ \"lat\", \"lon\" ] } } }";

static const char output[] =
	"{ \"type\": \"object\","
	"  \"properties\": { \"km\": { \"type\": \"number\", \"minimum\": 0 } },"
	"  \"required\": [ \"km\" ] }";

static int equator(cleat_request *req)
{
	const cleat_json *to = cleat_arg(req, "to"); /* a string, or an object with both */
	double lat = cleat_json_num(cleat_json_get(to, "lat"), 59.9);

	if (cleat_json_type(to) == CLEAT_JSON_STRING && strcmp(cleat_json_str(to, ""), "Oslo") != 0)
		return cleat_reply_error(req, "I only know where Oslo is.");
	return cleat_reply_jsonf(req, "{km: %g}", (lat < 0 ? -lat : lat) * 111.2);
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("schemas", "1.0.0", NULL);
	cleat_server_add_tool(s, &(cleat_tool){ .name = "equator",
						.description = "How far from the equator it is",
						.input_schema = input,
						.output_schema = output,
						.call = equator });
	return cleat_server_main(s, argc, argv);
}
