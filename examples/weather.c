/* weather.c - a small complete server: a tool with a typed result that reports its progress, a
 * resource and a prompt. `make run` shows a conversation with it.
 *
 *	examples/try weather forecast '{"city":"Oslo"}'
 */
#include <cleat/cleat.h>

#include <string.h>

struct forecast {
	const char *city, *sky;
	double high, low;
};

static const cleat_field forecast_fields[] = {
	CLEAT_FIELD(struct forecast, city, "As asked"),
	CLEAT_FIELD(struct forecast, sky, "In a word", .choices = "sun|clouds|rain"),
	CLEAT_FIELD(struct forecast, high, "Day high, degrees Celsius"),
	CLEAT_FIELD(struct forecast, low, "Night low, degrees Celsius"),
	CLEAT_FIELD_END,
};

static int forecast(cleat_request *req)
{
	static const char *const sky[] = { "sun", "clouds", "rain" };
	static const char *const steps[] = { "finding", "asking the stations near", "averaging" };
	const char *city = cleat_arg_str(req, "city");
	size_t n = strlen(city);

	for (int i = 0; i < 3; i++)
		cleat_request_progress(req, i + 1, 3, "%s %s", steps[i], city);
	return cleat_reply_record(req, &(struct forecast){ .city = city,
							   .sky = sky[n % 3],
							   .high = 12 + (double)(n % 12),
							   .low = 4 + (double)(n % 7) });
}

static int packing(cleat_request *req)
{
	return cleat_reply_message(req, "user", "What should I pack for a week in %s?",
				   cleat_arg_str(req, "city"));
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("weather", "1.0.0", NULL);
	cleat_server_add_tool(s, &(cleat_tool){ .signature = "forecast(city: string 1..80)",
						.description = "Tomorrow's weather in a city",
						.output = forecast_fields,
						.call = forecast,
						.read_only = CLEAT_YES });
	cleat_server_add_resource(s, &(cleat_resource){ .uri = "weather://stations",
							.mime_type = "text/plain",
							.text = "Bergen\nOslo\nTromso\n" });
	cleat_server_add_prompt(s, &(cleat_prompt){ .signature = "packing(city: string)",
						    .description = "Plan what to pack",
						    .get = packing });
	return cleat_server_main(s, argc, argv);
}
