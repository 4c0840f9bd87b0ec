/* fixture_shapes.c - one tool, resource, template and prompt with every member set, so that lists
 * show what each revision knows of them; and the weather server of the documentation.
 */
#include "fixture.h"

static const cleat_icon icons[] = {
	{ .src = "https://example.com/a.png",
	  .mime_type = "image/png",
	  .sizes = "48x48  96x96 ",
	  .theme = "light" },
	{ .src = "data:image/svg+xml;base64,PHN2Zy8+", .sizes = "any" },
	{ .src = NULL },
};
static const cleat_annotations annotations = { .user = true,
					       .assistant = true,
					       .has_priority = true,
					       .priority = 0.5,
					       .last_modified = "2025-01-12T15:00:58Z" };

/* ---- weather ------------------------------------------------------------------------------ */

struct place {
	double lat, lon;
};
static const cleat_field place_fields[] = {
	CLEAT_FIELD(struct place, lat, "Latitude", CLEAT_RANGE(-90, 90)),
	CLEAT_FIELD(struct place, lon, "Longitude", CLEAT_RANGE(-180, 180)), CLEAT_FIELD_END
};

struct forecast {
	const char *city;
	int days;
	const char *unit;
	bool has_unit;
	struct place at;
	bool has_at;
	const char *const *tags;
	size_t n_tags;
};
static const cleat_field forecast_fields[] = {
	CLEAT_FIELD(struct forecast, city, "City name", CLEAT_AT_LEAST(1)),
	CLEAT_FIELD(struct forecast, days, "Days ahead", CLEAT_RANGE(1, 14), .fallback = "2"),
	CLEAT_FIELD(struct forecast, unit, "Scale", .optional = true,
		    .choices = "celsius|fahrenheit", CLEAT_PRESENT(struct forecast, has_unit)),
	CLEAT_RECORD(struct forecast, at, place_fields, "Where exactly", .optional = true,
		     CLEAT_PRESENT(struct forecast, has_at)),
	CLEAT_ARRAY(struct forecast, tags, n_tags, "Labels", .optional = true, CLEAT_AT_MOST(3)),
	CLEAT_FIELD_END
};

struct day {
	int day;
	double high;
	const char *sky;
};
static const cleat_field day_fields[] = { CLEAT_FIELD(struct day, day, "From today"),
					  CLEAT_FIELD(struct day, high, "Highest temperature"),
					  CLEAT_FIELD(struct day, sky, "What it looks like"),
					  CLEAT_FIELD_END };

struct outlook {
	const char *city;
	const struct day *days;
	size_t n_days;
	bool sure;
};
static const cleat_field outlook_fields[] = {
	CLEAT_FIELD(struct outlook, city, "As asked for"),
	CLEAT_RECORD_ARRAY(struct outlook, days, n_days, day_fields, "One entry a day"),
	CLEAT_FIELD(struct outlook, sure, "Is this more than a guess?"), CLEAT_FIELD_END
};

static int forecast(cleat_request *req)
{
	const struct forecast *f = cleat_request_args(req);
	size_t n = (size_t)f->days;
	struct day *days = cleat_request_alloc(req, n * sizeof *days);
	struct outlook out = { .city = f->city, .days = days, .n_days = n, .sure = f->has_at };
	bool warm = f->has_unit && f->unit[0] == 'f';

	cleat_request_progress(req, 1, 3, "Reading the stations");
	cleat_request_progress(req, 2, 3, "Computing");
	for (size_t i = 0; days && i < n; i++)
		days[i] = (struct day){ .day = (int)i,
					.high = warm ? 64.4 : 18,
					.sky = f->n_tags ? f->tags[0] : "clear" };
	cleat_request_progress(req, 3, 3, "Done");
	return cleat_reply_record(req, &out);
}

/* ---- shapes ------------------------------------------------------------------------------- */

static int say_ok(cleat_request *req)
{
	return cleat_reply_text(req, "ok");
}

static int say_list(cleat_request *req)
{
	return cleat_reply_jsonf(req, "['ok']");
}

static int show_prompt(cleat_request *req)
{
	cleat_reply_description(req, "A review, made to measure");
	cleat_reply_message(req, "user", "Review %s in style %s.", cleat_arg_str(req, "file"),
			    cleat_arg_str(req, "style"));
	return cleat_reply_message(req, "assistant", "Gladly.");
}

struct review {
	const char *file;
	const char *style;
	int depth;
};
static const cleat_field review_fields[] = {
	CLEAT_FIELD(struct review, file, "What to review", .title = "File"),
	CLEAT_FIELD(struct review, style, "How", .choices = "kind|strict|terse",
		    .fallback = "\"kind\""),
	CLEAT_FIELD(struct review, depth, "How deep", .optional = true), CLEAT_FIELD_END
};

static void given_back(void *userdata)
{
	struct fixture *f = userdata;

	if (f)
		f->destroyed++;
}

void fixture_add_shapes(cleat_server *s)
{
	void *shared = cleat_server_userdata(s);

	cleat_server_add_tool(s, &(cleat_tool){ .name = "forecast",
						.title = "Weather forecast",
						.description = "Weather of the next days",
						.call = forecast,
						.input = forecast_fields,
						.output = outlook_fields,
						.read_only = CLEAT_YES,
						.destructive = CLEAT_NO,
						.idempotent = CLEAT_YES,
						.open_world = CLEAT_NO,
						.icons = icons,
						.meta = "{ \"example.com/tier\": 1 }",
						.userdata = shared,
						.destroy = given_back });
	cleat_server_add_tool(s, &(cleat_tool){ .name = "any_output",
						.description = "Its output is a list",
						.call = say_list,
						.output_schema = "{\"type\":\"array\"}" });
	cleat_server_add_resource(s, &(cleat_resource){ .uri = "shape://full",
							.name = "full",
							.title = "A full resource",
							.description = "Has every member",
							.mime_type = "text/plain",
							.read = say_ok,
							.size = 2,
							.annotations = &annotations,
							.ttl_ms = 60000,
							.scope = CLEAT_CACHE_PUBLIC,
							.icons = icons,
							.meta = "{\"example.com/tier\":2}",
							.userdata = shared,
							.destroy = given_back });
	cleat_server_add_resource(s, &(cleat_resource){ .uri = "shape://family/{member}",
							.name = "family",
							.title = "A full template",
							.description = "Has every member",
							.mime_type = "text/plain",
							.read = say_ok,
							.annotations = &annotations,
							.icons = icons,
							.meta = "{\"example.com/tier\":3}",
							.userdata = shared,
							.destroy = given_back });
	cleat_server_add_prompt(s, &(cleat_prompt){ .name = "review",
						    .title = "Code review",
						    .description = "Reviews a file",
						    .get = show_prompt,
						    .input = review_fields,
						    .icons = icons,
						    .meta = "{\"example.com/tier\":4}",
						    .userdata = shared,
						    .destroy = given_back });
}
