/* test_client_list.c - what lists may hold; see tests/wire/transcripts/client/list.txt, too. */
#include "test.h"
#include "unit/client/client_rig.h"

static size_t items(struct rig *rig)
{
	return cleat_json_size(cleat_result_items(rig_result(rig)));
}

MODERN_TEST(a_cursor_has_a_limit)
{
	static char huge[80000];

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
