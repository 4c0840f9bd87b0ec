/* test_client_list.c - lists: what they may hold, and how long what is known of a tool is good. Single cases are
 * transcripts: tests/wire/transcripts/client/list.txt.
 */
#include "test.h"
#include "unit/client/client_rig.h"

#define PAGE(items, more) "\"result\":{\"tools\":[" items "]" more "}"

static size_t items(struct rig *rig)
{
	return cleat_json_size(cleat_result_items(rig_result(rig)));
}

/* ---- pages ------------------------------------------------------------------------------------- */

RIG_TEST(pages_and_cursors_have_limits)
{
	static char huge[80000];
	char page[64];

	rig_modern(rig, &(cleat_client_options){ .max_pages = 3 }, false);
	rig_list(rig, NULL, CLEAT_LIST_TOOLS);
	for (int i = 0; i < 3; i++) {
		snprintf(page, sizeof page, PAGE("", ",\"nextCursor\":\"%d\""), i);
		rig_answer(rig, page);
	}
	rig_expect(rig, CLEAT_ELIMIT, CLEAT_STEP_PROTOCOL, "max_pages");
	rig_list(rig, NULL, CLEAT_LIST_TOOLS);
	snprintf(huge, sizeof huge, "\"result\":{\"tools\":[],\"nextCursor\":\"%070000d\"}", 0);
	rig_answer(rig, huge);
	rig_expect(rig, CLEAT_EPROTO, CLEAT_STEP_PROTOCOL, "64 KiB");
}

#define TEN   "1,1,1,1,1,1,1,1,1,1"
#define FIFTY TEN "," TEN "," TEN "," TEN "," TEN

/* All pages become one value, which may have as much in it as that of one message, and four times the text:
 * {"prompts":[...],"nextCursor":"2"} are 55 values and keys, two more lists 51 each, and 200 bytes. */
TEST(a_list_has_the_limits_of_a_message)
{
	static const struct {
		cleat_client_options o;
		const char *part; /* of what is wrong; NULL: nothing */
	} cases[] = {
		{ { .json = { .max_nodes = 156 } }, "json.max_nodes" },
		{ { .json = { .max_nodes = 157 } }, NULL },
		{ { .max_message = 49 }, "max_message" },
		{ { .max_message = 50 }, NULL },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct rig rig;

		rig_modern(&rig, &cases[i].o, false);
		rig_list(&rig, NULL, CLEAT_LIST_PROMPTS);
		rig_answer(&rig, "\"result\":{\"prompts\":[" FIFTY "],\"nextCursor\":\"2\"}");
		rig_answer(&rig, "\"result\":{\"prompts\":[" FIFTY "],\"nextCursor\":\"3\"}");
		assert_int_equal(rig.n_done, 0);
		rig_answer(&rig, "\"result\":{\"prompts\":[" FIFTY "]}");
		assert_int_equal(rig.n_done, 1);
		if (cases[i].part) {
			rig_expect(&rig, CLEAT_ELIMIT, CLEAT_STEP_PROTOCOL, cases[i].part);
		} else {
			assert_int_equal(cleat_result_status(rig_result(&rig)), CLEAT_OK);
			assert_int_equal(items(&rig), 150);
		}
		rig_done(&rig);
	}
}

/* ---- tools ------------------------------------------------------------------------------------- */

#define WITH_OUTPUT                                                                                \
	PAGE("{\"name\":\"o\",\"inputSchema\":{\"type\":\"object\"},"                              \
	     "\"outputSchema\":{\"type\":\"object\",\"required\":[\"n\"]}}",                       \
	     "")

/* server/tools, List Changed Notification: what was promised in a list that is not good any more, or by
 * a server that is gone, is not held against results. */
TEST(a_promise_lasts_as_long_as_its_list)
{
	for (int gone = 0; gone < 2; gone++) {
		struct rig rig;

		rig_legacy(&rig, NULL, false, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
		rig_call(&rig, "tools/list", NULL);
		rig_answer(&rig, WITH_OUTPUT);
		rig_call(&rig, "tools/call", "{\"name\":\"o\"}");
		rig_answer(&rig, "\"result\":{\"content\":[],\"structuredContent\":{\"m\":1}}");
		rig_expect(&rig, CLEAT_EPROTO, CLEAT_STEP_PROTOCOL, "tools/call o: ");
		if (gone)
			rig_down(&rig, "exited");
		else
			rig_say(&rig, "{\"jsonrpc\":\"2.0\",\"method\":"
				      "\"notifications/tools/list_changed\"}");
		rig_call(&rig, "tools/call", "{\"name\":\"o\"}");
		if (gone) {
			rig_up(&rig);
			rig_answer(&rig, RIG_INITIALIZE("2025-11-25", RIG_CAPS));
		}
		rig_answer(&rig, "\"result\":{\"content\":[],\"structuredContent\":{\"m\":1}}");
		assert_int_equal(cleat_result_status(rig_result(&rig)), CLEAT_OK);
		rig_done(&rig);
	}
}
