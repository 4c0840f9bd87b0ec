/* test_content.c - blocks of content where the transcripts do not reach: annotations that say nothing, kinds of bytes,
 * and when memory or room ends. (What each revision shows: tests/wire/transcripts/common/contents.txt.)
 */
#include "protocol/content.h"
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
