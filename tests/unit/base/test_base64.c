/* test_base64.c - bytes as text and back, with exactly one text for some bytes. */
#include "base/base64.h"
#include "support.h"
#include "test.h"

#include <stdlib.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* RFC 4648 section 10, and section 5 without padding */
TEST(base64_is_that_of_the_rfc)
{
	static const struct {
		const char *plain, *standard, *url;
	} cases[] = {
		{ "", "", "" },
		{ "f", "Zg==", "Zg" },
		{ "fo", "Zm8=", "Zm8" },
		{ "foo", "Zm9v", "Zm9v" },
		{ "foob", "Zm9vYg==", "Zm9vYg" },
		{ "fooba", "Zm9vYmE=", "Zm9vYmE" },
		{ "foobar", "Zm9vYmFy", "Zm9vYmFy" },
		{ "\xFB\xEF\xFF\xFE", "++///g==", "--___g" },
	};

	for (size_t i = 0; i < 2 * COUNT(cases); i++) {
		enum base64 kind = i % 2 ? BASE64_URL : BASE64_STANDARD;
		const char *text = i % 2 ? cases[i / 2].url : cases[i / 2].standard;
		struct str plain = str_of(cases[i / 2].plain);
		char room[16];
		struct buf b;

		assert_int_equal(base64_size(kind, plain.n), strlen(text));
		assert_ptr_equal(base64_encode(kind, plain.p, plain.n, room), room + strlen(text));
		assert_memory_equal(room, text, strlen(text));
		buf_init(&b, NULL, 100);
		assert_int_equal(base64_decode(kind, str_of(text), &b), CLEAT_OK);
		assert_true(str_eq(buf_str(&b), plain));
		buf_done(&b);
	}
	assert_int_equal(base64_size(BASE64_STANDARD, SIZE_MAX), SIZE_MAX);
	assert_int_equal(base64_size(BASE64_URL, SIZE_MAX - 2), SIZE_MAX);
}

/* Exactly one text for some bytes: every text of four characters is refused or encodes to itself. */
TEST(base64_is_canonical)
{
	static const char set[] = "AQgwBZaz09+/-_= \n";
	size_t n = sizeof set - 1;

	for (size_t i = 0; i < 2 * n * n * n * n; i++) {
		enum base64 kind = i % 2 ? BASE64_URL : BASE64_STANDARD;
		char text[4] = { set[i / 2 % n], set[i / 2 / n % n], set[i / 2 / n / n % n],
				 set[i / 2 / n / n / n] };

		for (size_t len = 0; len <= 4; len++) {
			char again[8];
			struct buf b;

			buf_init(&b, NULL, 100);
			if (base64_decode(kind, (struct str){ text, len }, &b) == CLEAT_OK) {
				char *end = base64_encode(kind, buf_str(&b).p, buf_size(&b), again);

				assert_int_equal(end - again, len);
				assert_memory_equal(again, text, len);
			}
			buf_done(&b);
		}
	}
}

TEST(lack_of_room_is_told)
{
	struct fail_alloc fa;
	struct buf b;

	buf_init(&b, NULL, 3);
	buf_appendz(&b, "x");
	assert_int_equal(base64_decode(BASE64_STANDARD, STR_LIT("Zm9v"), &b), CLEAT_ELIMIT);
	assert_int_equal(buf_size(&b), 1);
	buf_done(&b);
	fail_alloc_init(&fa, 1, true);
	buf_init(&b, &fa.hook, 100);
	assert_int_equal(base64_decode(BASE64_URL, STR_LIT("Zm9v"), &b), CLEAT_ENOMEM);
	buf_done(&b);
}
