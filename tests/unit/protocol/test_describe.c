/* test_describe.c - tools, resources, templates, prompts and implementations as each revision's lists
 * show them: what a revision does not know is left out (schema/REV/schema.ts).
 */
#include "protocol/describe.h"
#include "test.h"

#include <string.h>

static char text[4096];

/* Runs one describe_* statement with `w` and `f` and leaves what it wrote in `text`. */
#define DESCRIBE(revision, statement)                                                              \
	do {                                                                                       \
		unsigned f = revision_features(revision);                                          \
		struct buf b;                                                                      \
		struct jw writer, *w = &writer;                                                    \
		buf_init(&b, NULL, sizeof text - 1);                                               \
		jw_init(w, &b);                                                                    \
		statement;                                                                         \
		assert_int_equal(buf_status(&b), CLEAT_OK);                                        \
		memcpy(text, buf_str(&b).p, buf_size(&b));                                         \
		text[buf_size(&b)] = '\0';                                                         \
		buf_done(&b);                                                                      \
	} while (0)

static const cleat_icon icons[] = {
	{ .src = "https://i/1", .mime_type = "image/png", .sizes = "48x48  any ", .theme = "dark" },
	{ .src = "data:,x" },
	{ .src = NULL },
};

static int nothing(cleat_request *req)
{
	return cleat_reply_nothing(req);
}

TEST(tool_in_every_revision)
{
	const cleat_tool t = { .name = "n",
			       .title = "T",
			       .description = "D",
			       .call = nothing,
			       .read_only = CLEAT_YES,
			       .destructive = CLEAT_NO,
			       .icons = icons,
			       .meta = "{\"m\":1}" };
	const struct tool_schemas s = { .input = STR_LIT("{\"type\":\"object\"}"),
					.output = STR_LIT("{\"type\":\"object\"}"),
					.output_is_object = true };

	DESCRIBE(REV_2024_11_05, describe_tool(w, f, &t, &s));
	assert_string_equal(
		text,
		"{\"name\":\"n\",\"description\":\"D\",\"inputSchema\":{\"type\":\"object\"}}");
	DESCRIBE(REV_2025_03_26, describe_tool(w, f, &t, &s));
	assert_string_equal(
		text, "{\"name\":\"n\",\"description\":\"D\",\"inputSchema\":{\"type\":\"object\"},"
		      "\"annotations\":{\"title\":\"T\",\"readOnlyHint\":true,\"destructiveHint\":"
		      "false}}");
	DESCRIBE(REV_2025_06_18, describe_tool(w, f, &t, &s));
	assert_string_equal(
		text,
		"{\"name\":\"n\",\"title\":\"T\",\"description\":\"D\",\"inputSchema\":{\"type\":"
		"\"object\"},\"outputSchema\":{\"type\":\"object\"},\"annotations\":{"
		"\"readOnlyHint\":true,\"destructiveHint\":false},\"_meta\":{\"m\":1}}");
	DESCRIBE(REV_2025_11_25, describe_tool(w, f, &t, &s));
	assert_non_null(strstr(text,
			       "\"icons\":[{\"src\":\"https://i/1\",\"mimeType\":\"image/png\","
			       "\"sizes\":[\"48x48\",\"any\"],\"theme\":\"dark\"},{\"src\":"
			       "\"data:,x\"}],\"_meta\":"));
}

TEST(bare_tool_says_nothing_more)
{
	const cleat_tool t = { .name = "n", .call = nothing };
	const struct tool_schemas s = { .input = STR_LIT("{}") };

	for (int r = 0; r < REV_COUNT; r++) {
		DESCRIBE((enum revision)r, describe_tool(w, f, &t, &s));
		assert_string_equal(text, "{\"name\":\"n\",\"inputSchema\":{}}");
	}
}

/* Until 2025-11-25 an outputSchema is of type "object"; later it may be anything. */
TEST(output_schema_that_is_no_object)
{
	const cleat_tool t = { .name = "n", .call = nothing };
	const struct tool_schemas s = { .input = STR_LIT("{}"),
					.output = STR_LIT("{\"type\":\"array\"}") };

	DESCRIBE(REV_2025_11_25, describe_tool(w, f, &t, &s));
	assert_null(strstr(text, "outputSchema"));
	DESCRIBE(REV_2026_07_28, describe_tool(w, f, &t, &s));
	assert_non_null(strstr(text, "\"outputSchema\":{\"type\":\"array\"}"));
}

TEST(resource_and_template)
{
	const cleat_resource r = { .uri = "u:1",
				   .name = "N",
				   .title = "T",
				   .mime_type = "a/b",
				   .size = 7,
				   .annotations = &(cleat_annotations){ .user = true,
									.last_modified = "2026" },
				   .icons = icons + 1,
				   .meta = "{}" };

	DESCRIBE(REV_2024_11_05, describe_resource(w, f, &r));
	assert_string_equal(text,
			    "{\"uri\":\"u:1\",\"name\":\"N\",\"mimeType\":\"a/b\",\"annotations\":{"
			    "\"audience\":[\"user\"]},\"size\":7}");
	DESCRIBE(REV_2026_07_28, describe_resource(w, f, &r));
	assert_string_equal(text,
			    "{\"uri\":\"u:1\",\"name\":\"N\",\"title\":\"T\",\"mimeType\":\"a/b\","
			    "\"annotations\":{\"audience\":[\"user\"],\"lastModified\":\"2026\"},"
			    "\"size\":7,\"icons\":[{\"src\":\"data:,x\"}],\"_meta\":{}}");
	DESCRIBE(REV_2025_06_18, describe_template(w, f, &r));
	assert_string_equal(
		text,
		"{\"uriTemplate\":\"u:1\",\"name\":\"N\",\"title\":\"T\",\"mimeType\":\"a/b\","
		"\"annotations\":{\"audience\":[\"user\"],\"lastModified\":\"2026\"},"
		"\"_meta\":{}}");
}

TEST(prompt_arguments)
{
	static const cleat_field fields[] = {
		{ .name = "a", .type = CLEAT_T_STRING, .doc = "Doc", .title = "A" },
		{ .name = "b", .type = CLEAT_T_INT, .optional = true },
		{ .name = "c", .type = CLEAT_T_INT, .fallback = "1" },
		CLEAT_FIELD_END,
	};
	const cleat_prompt p = { .name = "p", .input = fields };
	const cleat_prompt bare = { .name = "p" };

	DESCRIBE(REV_2024_11_05, describe_prompt(w, f, &p));
	assert_string_equal(
		text,
		"{\"name\":\"p\",\"arguments\":[{\"name\":\"a\",\"description\":\"Doc\",\"required\":"
		"true},{\"name\":\"b\",\"required\":false},{\"name\":\"c\",\"required\":false}]}");
	DESCRIBE(REV_2025_06_18, describe_prompt(w, f, &p));
	assert_non_null(strstr(text, "{\"name\":\"a\",\"title\":\"A\",\"description\":\"Doc\""));
	DESCRIBE(REV_2026_07_28, describe_prompt(w, f, &bare));
	assert_string_equal(text, "{\"name\":\"p\"}");
}

TEST(implementation_in_every_revision)
{
	const cleat_server_options o = { .title = "T",
					 .description = "D",
					 .website = "https://w",
					 .instructions = "not here",
					 .icons = icons + 1 };

	DESCRIBE(REV_2025_03_26, describe_implementation(w, f, "n", "1", &o));
	assert_string_equal(text, "{\"name\":\"n\",\"version\":\"1\"}");
	DESCRIBE(REV_2025_06_18, describe_implementation(w, f, "n", "1", &o));
	assert_string_equal(text, "{\"name\":\"n\",\"version\":\"1\",\"title\":\"T\"}");
	DESCRIBE(REV_2025_11_25, describe_implementation(w, f, "n", "1", &o));
	assert_string_equal(
		text, "{\"name\":\"n\",\"version\":\"1\",\"title\":\"T\",\"description\":\"D\","
		      "\"websiteUrl\":\"https://w\",\"icons\":[{\"src\":\"data:,x\"}]}");
}
