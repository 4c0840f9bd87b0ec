/* resources.c - things to read: a text, bytes, a family with a URI template, one that changes.
 *
 *	examples/try resources resources/read '{"uri":"city://oslo"}'
 */
#include <cleat/cleat.h>

#include <string.h>

static int clicks;

static int read_city(cleat_request *req)
{
	if (strcmp(cleat_request_var(req, "name"), "atlantis") == 0)
		return cleat_reply_not_found(req);
	return cleat_reply_textf(req, "%s is a city.", cleat_request_var(req, "name"));
}

static int complete_city(cleat_request *req)
{
	static const char *const known[] = { "bergen", "oslo", "rome" };
	const char *typed = cleat_request_typed(req);

	for (size_t i = 0; i < CLEAT_COUNT(known); i++)
		if (strncmp(known[i], typed, strlen(typed)) == 0)
			cleat_reply_suggest(req, known[i]);
	return cleat_reply_nothing(req); /* there may be none */
}

static int read_pixel(cleat_request *req)
{
	return cleat_reply_blob(req, NULL, "GIF89a\1\0\1\0\0\0\0;", 14);
}

static int read_clicks(cleat_request *req)
{
	return cleat_reply_textf(req, "%d", clicks);
}

/* Whoever subscribed to the counter is told that there is something new to read. */
static int click(cleat_request *req)
{
	clicks++;
	cleat_server_resource_changed(cleat_request_server(req), "counter://clicks");
	return cleat_reply_nothing(req);
}

int main(int argc, char **argv)
{
	cleat_server *s = cleat_server_new("resources", "1.0.0", NULL);
	const cleat_resource all[] = {
		{ .uri = "text://motto", .mime_type = "text/plain", .text = "Make it fast." },
		{ .uri = "pixel://1", .mime_type = "image/gif", .read = read_pixel, .size = 14 },
		{ .uri = "counter://clicks", .mime_type = "text/plain", .read = read_clicks },
		{ .uri = "city://{name}", .read = read_city, .complete = complete_city },
	};
	cleat_server_add_resources(s, all, CLEAT_COUNT(all));
	cleat_server_add_tool(s, &(cleat_tool){ .signature = "click()", .call = click });
	return cleat_server_main(s, argc, argv);
}
