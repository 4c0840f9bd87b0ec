/* test_buf.c - base/buf: appending up to a maximum, consuming, and memory that runs out. */

#include "base/buf.h"
#include "base/str.h"
#include "support.h"
#include "test.h"

#include <string.h>

#define assert_str(s, z) assert_slice(s, z, sizeof(z) - 1)

static void assert_slice(struct str s, const char *want, size_t n)
{
	assert_int_equal(s.n, n);
	assert_memory_equal(s.p, want, n);
}

TEST(buf_starts_empty_and_without_memory)
{
	struct fail_alloc fa;
	struct buf b;

	fail_alloc_init(&fa, 0, false);
	buf_init(&b, &fa.hook, 100);
	assert_str(buf_str(&b), "");
	assert_non_null(buf_str(&b).p); /* empty, not absent */
	buf_append(&b, NULL, 0);
	buf_truncate(&b, 0);
	buf_consume(&b, 0);
	assert_int_equal(fa.requests, 0);
	buf_done(&b);
	buf_done(&b);
	buf_init(&b, &fa.hook, SIZE_MAX);
	assert_int_equal(b.max, SIZE_MAX / 2);
}

MEMORY_TEST(buf_appends_of_all_kinds)
{
	struct buf b;
	char *to;

	buf_init(&b, &fa->hook, 10000);
	buf_append(&b, "a\0b", 3);
	buf_appendz(&b, "cd");
	buf_appendz(&b, "");
	buf_putc(&b, 'e');
	buf_printf(&b, "<%s %d>", "f", 7);
	to = buf_reserve(&b, 5);
	memcpy(to, "ghijk", 5);
	buf_commit(&b, 2); /* less than reserved */
	assert_str(buf_str(&b), "a\0bcde<f 7>gh");
	assert_int_equal(buf_size(&b), 13);
	buf_done(&b);
}

TEST(buf_maximum_is_exact_and_latches)
{
	struct buf b;

	buf_init(&b, NULL, 8);
	buf_appendz(&b, "12345678"); /* exactly full is fine */
	assert_int_equal(buf_status(&b), CLEAT_OK);
	assert_non_null(buf_reserve(&b, 0));
	buf_putc(&b, '9');
	assert_int_equal(buf_status(&b), CLEAT_ELIMIT);
	buf_consume(&b, 8);
	buf_putc(&b, 'x'); /* there is room now, but the message before is broken */
	assert_null(buf_reserve(&b, 1));
	assert_null(buf_reserve(&b, 0));
	buf_printf(&b, "y");
	assert_int_equal(buf_size(&b), 0);
	buf_reset(&b, SIZE_MAX);
	assert_int_equal(buf_status(&b), CLEAT_OK);
	assert_null(buf_reserve(&b, SIZE_MAX));
	assert_int_equal(buf_status(&b), CLEAT_ELIMIT);
	buf_done(&b);
	assert_int_equal(buf_status(&b), CLEAT_OK);
}

TEST(buf_printf_fills_to_the_last_byte)
{
	struct buf b;

	buf_init(&b, NULL, 8); /* the terminator that printf writes does not count */
	buf_printf(&b, "%s", "12345678");
	assert_str(buf_str(&b), "12345678");
	buf_printf(&b, "%s", "");
	assert_int_equal(buf_status(&b), CLEAT_OK);
	buf_printf(&b, "%d", 9);
	assert_int_equal(buf_status(&b), CLEAT_ELIMIT);
	assert_str(buf_str(&b), "12345678");
	buf_done(&b);
	buf_init(&b, NULL, 600); /* and at the border of the memory, which is at 512 */
	buf_printf(&b, "%0511d", 1);
	buf_printf(&b, "%s", "x");
	assert_int_equal(buf_size(&b), 512);
	assert_int_equal(buf_str(&b).p[511], 'x');
	buf_done(&b);
}

MEMORY_TEST(buf_growth_keeps_the_bytes)
{
	struct buf b;

	buf_init(&b, &fa->hook, 1 << 20);
	for (int i = 0; i < 100000; i++)
		buf_putc(&b, (char)(i % 127));
	assert_int_equal(buf_size(&b), 100000);
	for (int i = 0; i < 100000; i++)
		assert_int_equal(buf_str(&b).p[i], i % 127);
	assert_true(fa->requests <= 10); /* doubles */
	buf_reset(&b, 1 << 20);
	assert_int_equal(fa->live, 1);
	buf_putc(&b, 'k');
	assert_str(buf_str(&b), "k");
	buf_reset(&b, 1000); /* larger than what is worth keeping */
	assert_int_equal(fa->live, 0);
	buf_putc(&b, 'l');
	assert_str(buf_str(&b), "l");
	buf_done(&b);
}

/* A queue that never gets empty must not eat memory: the front is reused. */
TEST(buf_consumed_front_is_reused)
{
	struct fail_alloc fa;
	struct buf b;
	unsigned in = 0, out = 0;

	fail_alloc_init(&fa, 0, false);
	buf_init(&b, &fa.hook, 4096);
	for (int round = 0; round < 20000; round++) {
		unsigned take = (unsigned)round * 7 % 100;

		for (unsigned i = 0; i < 45; i++)
			buf_putc(&b, (char)(in++ % 251));
		for (; take > 0 && buf_size(&b) > 1; take--) {
			assert_int_equal((unsigned char)buf_str(&b).p[0], out++ % 251);
			buf_consume(&b, 1);
		}
	}
	assert_int_equal(buf_status(&b), CLEAT_OK);
	assert_int_equal(in - out, buf_size(&b));
	assert_true(fa.peak <= 4 * 4096);
	assert_true(fa.requests < 10);
	buf_done(&b);
}

TEST(buf_compacts_instead_of_growing)
{
	struct fail_alloc fa;
	struct buf b;

	fail_alloc_init(&fa, 0, false);
	buf_init(&b, &fa.hook, 512);
	buf_printf(&b, "%0500d", 0);
	buf_appendz(&b, "tail");
	buf_consume(&b, 500);
	buf_printf(&b, "%0300d", 1);
	assert_int_equal(fa.requests, 1);
	assert_int_equal(buf_size(&b), 304);
	assert_memory_equal(buf_str(&b).p, "tail000", 7);
	buf_consume(&b, 304); /* empty: starts over at the front */
	assert_int_equal(b.head, 0);
	assert_int_equal(b.len, 0);
	buf_done(&b);
}

TEST(buf_truncate_undoes_half_a_message)
{
	struct buf b;
	size_t mark;

	buf_init(&b, NULL, 16);
	buf_appendz(&b, "xxkeep");
	buf_consume(&b, 2);
	mark = buf_size(&b);
	buf_appendz(&b, "half");
	buf_appendz(&b, "of a message");
	assert_int_equal(buf_status(&b), CLEAT_ELIMIT);
	buf_truncate(&b, mark);
	assert_int_equal(buf_status(&b), CLEAT_OK);
	buf_putc(&b, '!');
	assert_str(buf_str(&b), "keep!");
	buf_truncate(&b, 0);
	assert_int_equal(buf_size(&b), 0);
	buf_done(&b);
}

TEST(buf_survives_every_failing_allocation)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct buf b;
		bool hit;

		buf_init(&b, &fa.hook, 1 << 20);
		buf_appendz(&b, "some");
		buf_printf(&b, "%01000d", 1);
		buf_reserve(&b, 10000);
		hit = fail_alloc_hit(&fa);
		assert_int_equal(buf_status(&b), hit ? CLEAT_ENOMEM : CLEAT_OK);
		assert_int_equal(buf_size(&b), !hit            ? 1004
					       : fa.round == 1 ? 0
					       : fa.round == 2 ? 4
							       : 1004);
		buf_done(&b);
	}
}
