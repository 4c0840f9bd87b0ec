/* test_content.c - blocks of content in every revision, and when memory or room ends. */
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

TEST(text_has_extras)
{
	cleat_annotations a = { .user = true,
				.assistant = true,
				.has_priority = true,
				.priority = 1,
				.last_modified = "2026" };
	struct content_extras x = { &a, STR_LIT("{\"k\":1}") };

	content_text(&w, begin(REV_2024_11_05), STR_LIT("a\n\0b"), NULL);
	assert_written("{\"type\":\"text\",\"text\":\"a\\n\\u0000b\"}");
	content_text(&w, begin(REV_2025_06_18), STR_LIT(""), &x);
	assert_written(
		"{\"type\":\"text\",\"text\":\"\",\"annotations\":{\"audience\":[\"user\","
		"\"assistant\"],\"priority\":1,\"lastModified\":\"2026\"},\"_meta\":{\"k\":1}}");
	content_text(&w, begin(REV_2025_03_26), STR_LIT("x"), &x);
	assert_written("{\"type\":\"text\",\"text\":\"x\",\"annotations\":{\"audience\":[\"user\","
		       "\"assistant\"],\"priority\":1}}");
}

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

/* 2025-03-26 brought audio. */
TEST(binary_in_every_revision)
{
	struct content_extras x = { NULL, STR_LIT("{}") };

	for (int r = 0; r < REV_COUNT; r++) {
		content_binary(&w, begin((enum revision)r), CONTENT_IMAGE, "image/png",
			       "u:", STR_LIT("\xff"), NULL);
		assert_written("{\"type\":\"image\",\"data\":\"/w==\",\"mimeType\":\"image/png\"}");
		content_binary(&w, begin((enum revision)r), CONTENT_AUDIO, "audio/wav", "u:a",
			       STR_LIT("ab"), NULL);
		if (r == REV_2024_11_05)
			assert_written("{\"type\":\"resource\",\"resource\":{\"uri\":\"u:a\","
				       "\"mimeType\":\"audio/wav\",\"blob\":\"YWI=\"}}");
		else
			assert_written("{\"type\":\"audio\",\"data\":\"YWI=\",\"mimeType\":"
				       "\"audio/wav\"}");
	}
	content_binary(&w, begin(REV_2026_07_28), CONTENT_OTHER, "x/y", "u:o", STR_LIT(""), &x);
	assert_written("{\"type\":\"resource\",\"resource\":{\"uri\":\"u:o\",\"mimeType\":\"x/y\","
		       "\"blob\":\"\"},\"_meta\":{}}");
}

TEST(resources_alone_and_embedded)
{
	unsigned f = begin(REV_2025_11_25);
	struct content_extras x = { &(cleat_annotations){ .assistant = true }, none };

	content_resource_text(&w, f, "u:1", NULL, STR_LIT("t"), STR_LIT("{\"m\":1}"));
	assert_written("{\"uri\":\"u:1\",\"text\":\"t\",\"_meta\":{\"m\":1}}");
	content_resource_blob(&w, begin(REV_2025_03_26), "u:1", "a/b", STR_LIT("abc"),
			      STR_LIT("{\"m\":1}"));
	assert_written("{\"uri\":\"u:1\",\"mimeType\":\"a/b\",\"blob\":\"YWJj\"}");
	f = begin(REV_2025_11_25);
	content_embed(&w);
	content_resource_text(&w, f, "u:\"q\"", "a/b", STR_LIT(""), none);
	content_embed_end(&w, f, &x);
	assert_written(
		"{\"type\":\"resource\",\"resource\":{\"uri\":\"u:\\\"q\\\"\",\"mimeType\":\"a/b\","
		"\"text\":\"\"},\"annotations\":{\"audience\":[\"assistant\"]}}");
}

/* 2025-06-18 brought resource_link. */
TEST(links_in_every_revision)
{
	for (int r = 0; r < REV_COUNT; r++) {
		content_link(&w, begin((enum revision)r), "u:1", "N\"", "a/b", "d", NULL);
		if (r < REV_2025_06_18)
			assert_written("{\"type\":\"text\",\"text\":\"N\\\": u:1\"}");
		else
			assert_written(
				"{\"type\":\"resource_link\",\"uri\":\"u:1\",\"name\":\"N\\\"\","
				"\"mimeType\":\"a/b\",\"description\":\"d\"}");
	}
	content_link(&w, begin(REV_2024_11_05), "u:1", "u:1", NULL, NULL, NULL);
	assert_written("{\"type\":\"text\",\"text\":\"u:1\"}");
}

/* Two blocks after each other are separated, whatever was inside the first. */
TEST(blocks_are_separated)
{
	unsigned f = begin(REV_2025_11_25);
	struct content_extras x = { NULL, STR_LIT("{\"a\":1}") };

	content_text(&w, f, STR_LIT("1"), &x);
	content_link(&w, f, "u:", "n", NULL, NULL, &x);
	content_binary(&w, f, CONTENT_OTHER, "x/y", "u:", STR_LIT(""), NULL);
	content_text(&w, f, STR_LIT("2"), NULL);
	buf_putc(&b, '\0');
	assert_non_null(strstr(buf_str(&b).p, "}},{\"type\":\"resource_link\""));
	assert_non_null(strstr(buf_str(&b).p, "}},{\"type\":\"resource\""));
	assert_non_null(strstr(buf_str(&b).p, "}},{\"type\":\"text\",\"text\":\"2\"}"));
	buf_done(&b);
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
