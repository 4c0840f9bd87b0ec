/* test_content.c - blocks of content where the transcripts do not reach: annotations that say nothing, kinds of bytes,
 * and when memory or room ends. (What each revision shows: tests/wire/transcripts/common/contents.txt.)
 */
#include "protocol/content.h"
#include "protocol/describe.h"
#include "support.h"
#include "test.h"

#include <string.h>

static struct buf b;
static struct jw w;

static unsigned begin(enum revision rev)
{
	buf_init(&b, NULL, 1 << 20);
	jw_init(&w, &b);
	return revision_features(rev);
}

#define assert_written(want)                                                                       \
	do {                                                                                       \
		buf_putc(&b, '\0');                                                                \
		assert_string_equal(buf_str(&b).p, want);                                          \
		buf_done(&b);                                                                      \
	} while (0)

static const struct str none = { NULL, 0 };

/* Annotations that would say nothing are not written. */
TEST(empty_annotations_are_left_out)
{
	cleat_annotations a = { .last_modified = "2026" };
	struct content_extras x = { &a, none };

	content_text(&w, begin(REV_2024_11_05), STR_LIT("x"), &x);
	assert_written("{\"type\":\"text\",\"text\":\"x\"}");
	a = (cleat_annotations){ .priority = 0.5 }; /* has_priority is not set */
	content_text(&w, begin(REV_2026_07_28), STR_LIT("x"), &x);
	assert_written("{\"type\":\"text\",\"text\":\"x\"}");
	a = (cleat_annotations){ .has_priority = true };
	content_text(&w, begin(REV_2026_07_28), STR_LIT("x"), &x);
	assert_written("{\"type\":\"text\",\"text\":\"x\",\"annotations\":{\"priority\":0}}");
}

TEST(each_part_of_the_extras_stands_alone)
{
	cleat_annotations a = { .assistant = true };

	content_text(&w, begin(REV_2026_07_28), STR_LIT("x"), &(struct content_extras){ &a, none });
	assert_written(
		json_of("{'type':'text','text':'x','annotations':{'audience':['assistant']}}"));
	content_text(&w, begin(REV_2026_07_28), STR_LIT("x"),
		     &(struct content_extras){ NULL, STR_LIT("{}") });
	assert_written(json_of("{'type':'text','text':'x','_meta':{}}"));
}

/* What is not there is not described, and each hint is a reason for annotations. */
TEST(each_part_of_a_description_stands_alone)
{
	static const cleat_icon icons[] = { { .src = "data:,x" }, { .src = NULL } };
	const cleat_tool tools[] = { { .name = "t", .read_only = CLEAT_YES },
				     { .name = "t", .destructive = CLEAT_YES },
				     { .name = "t", .idempotent = CLEAT_YES },
				     { .name = "t", .open_world = CLEAT_YES } };
	static const char *const hints[] = { "readOnly", "destructive", "idempotent", "openWorld" };
	cleat_resource r = { .uri = "u:1", .name = "N", .icons = icons };
	char want[128];

	for (size_t i = 0; i < CLEAT_COUNT(tools); i++) {
		describe_tool(&w, begin(REV_2026_07_28), &tools[i],
			      &(struct tool_schemas){ .input = STR_LIT("{}") });
		snprintf(want, sizeof want,
			 "{'name':'t','inputSchema':{},'annotations':{'%sHint':true}}", hints[i]);
		assert_written(json_of(want));
	}
	describe_resource(&w, begin(REV_2026_07_28), &r);
	assert_written(json_of("{'uri':'u:1','name':'N','icons':[{'src':'data:,x'}]}"));
	r.icons = icons + 1;
	describe_resource(&w, begin(REV_2026_07_28), &r);
	assert_written(json_of("{'uri':'u:1','name':'N'}"));
	describe_prompt(&w, begin(REV_2026_07_28), &(cleat_prompt){ .name = "p" });
	assert_written(json_of("{'name':'p'}"));
}

TEST(kind_by_mime_type)
{
	assert_int_equal(content_kind_of("image/png"), CONTENT_IMAGE);
	assert_int_equal(content_kind_of("audio/x"), CONTENT_AUDIO);
	assert_int_equal(content_kind_of("imagex/png"), CONTENT_OTHER);
	assert_int_equal(content_kind_of("image"), CONTENT_OTHER);
	assert_int_equal(content_kind_of("video/mp4"), CONTENT_OTHER);
	assert_int_equal(content_kind_of(""), CONTENT_OTHER);
	assert_int_equal(content_kind_of(NULL), CONTENT_OTHER);
}

/* Failures latch in the buffer, also those of the text that an old client gets instead of a link. */
TEST(failures_latch)
{
	char name[600];

	memset(name, 'n', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		buf_init(&b, &fa.hook, 1 << 20);
		jw_init(&w, &b);
		content_link(&w, revision_features(REV_2024_11_05), "u:1", name, NULL, NULL, NULL);
		assert_int_equal(buf_status(&b), fail_alloc_hit(&fa) ? CLEAT_ENOMEM : CLEAT_OK);
		buf_done(&b);
	}
	buf_init(&b, NULL, 500);
	jw_init(&w, &b);
	content_link(&w, revision_features(REV_2024_11_05), "u:1", name, NULL, NULL, NULL);
	assert_int_equal(buf_status(&b), CLEAT_ELIMIT);
	buf_done(&b);
}
