/* tests/unit/test_rpc_table.c - the table of requests (rpc/table.h). */
#include "test.h"
#include "unit/rpc/test_rpc.h"

#include "rpc/table.h"

static const cleat_json *item(const cleat_doc *doc, size_t i)
{
	return cleat_json_at(cleat_doc_root(doc), i);
}

TEST(ids_are_found_by_type_and_token)
{
	cleat_doc *doc = rig_parse("[1,1.0,\"1\",null,\"null\",-0,0,\"\",18446744073709551616]");
	cleat_doc *same = rig_parse("[1,1.0,\"1\",null,\"null\",-0,0,\"\",18446744073709551616]");
	size_t n = cleat_json_size(cleat_doc_root(doc));
	struct rpc_node nodes[16] = { 0 };
	struct rpc_table t;

	rpc_table_init(&t, NULL, 100, 42);
	assert_null(rpc_table_find(&t, item(doc, 0)));
	for (size_t i = 0; i < n; i++)
		assert_int_equal(rpc_table_put(&t, &nodes[i], item(doc, i)), CLEAT_OK);
	for (size_t i = 0; i < n; i++)
		assert_ptr_equal(rpc_table_find(&t, item(same, i)), &nodes[i]);
	assert_int_equal(rpc_table_count(&t), n);
	assert_null(rpc_table_find(&t, NULL));
	assert_int_equal(rpc_table_put(&t, &nodes[15], NULL), CLEAT_EINVAL);
	for (size_t i = 0; i < n; i++)
		rpc_table_remove(&t, &nodes[i]);
	rpc_table_remove(&t, &nodes[0]);
	assert_int_equal(rpc_table_count(&t), 0);
	assert_null(rpc_table_first(&t));
	rpc_table_done(&t);
	cleat_doc_free(doc);
	cleat_doc_free(same);
}

TEST(a_second_equal_id_is_refused_and_the_first_stays)
{
	cleat_doc *doc = rig_parse("[\"a\",\"a\"]");
	struct rpc_node first = { 0 }, second = { 0 };
	struct rpc_table t;

	rpc_table_init(&t, NULL, 100, 0);
	assert_int_equal(rpc_table_put(&t, &first, item(doc, 0)), CLEAT_OK);
	assert_int_equal(rpc_table_put(&t, &second, item(doc, 1)), CLEAT_EEXIST);
	assert_int_equal(rpc_table_put(&t, &first, item(doc, 1)), CLEAT_EMISUSE);
	assert_ptr_equal(rpc_table_find(&t, item(doc, 1)), &first);
	assert_int_equal(rpc_table_count(&t), 1);
	rpc_table_remove(&t, &second); /* is not in: nothing happens */
	assert_ptr_equal(rpc_table_find(&t, item(doc, 1)), &first);
	rpc_table_remove(&t, &first);
	assert_int_equal(rpc_table_put(&t, &second, item(doc, 1)), CLEAT_OK);
	rpc_table_done(&t);
	cleat_doc_free(doc);
}

/* A response matches the integer that was sent only as that integer. */
TEST(an_integer_key_matches_its_decimal_form_only)
{
	cleat_doc *doc = rig_parse("[5,5.0,5e0,0.5e1,\"5\",-5,9223372036854775807,null]");
	struct rpc_node five = { 0 }, large = { 0 }, other = { 0 };
	struct rpc_table t;

	rpc_table_init(&t, NULL, 100, 1);
	assert_int_equal(rpc_table_put_int(&t, &five, 5), CLEAT_OK);
	assert_int_equal(rpc_table_put_int(&t, &large, INT64_MAX), CLEAT_OK);
	assert_int_equal(rpc_table_put_int(&t, &other, 5), CLEAT_EEXIST);
	assert_ptr_equal(rpc_table_find(&t, item(doc, 0)), &five);
	for (size_t i = 1; i <= 5; i++)
		assert_null(rpc_table_find(&t, item(doc, i)));
	for (size_t i = 0; i <= 7; i++) { /* among our own "5" can only be 5 */
		bool loose;

		assert_ptr_equal(rpc_table_find_own(&t, item(doc, i), &loose), i < 5    ? &five
									       : i == 6 ? &large
											: NULL);
		assert_int_equal(loose, i > 0 && i < 5);
	}
	assert_ptr_equal(rpc_table_find(&t, item(doc, 6)), &large);
	assert_null(rpc_table_find(&t, item(doc, 7)));
	assert_ptr_equal(rpc_table_find_int(&t, 5), &five);
	assert_null(rpc_table_find_int(&t, 6));
	/* Both kinds of keys in one table mean the same thing. */
	assert_int_equal(rpc_table_put(&t, &other, item(doc, 0)), CLEAT_EEXIST);
	rpc_table_remove(&t, &five);
	assert_int_equal(rpc_table_put(&t, &other, item(doc, 0)), CLEAT_OK);
	assert_ptr_equal(rpc_table_find_int(&t, 5), &other);
	assert_int_equal(rpc_table_put_int(&t, &five, 5), CLEAT_EEXIST);
	rpc_table_done(&t);
	cleat_doc_free(doc);
}

enum { MANY = 1000 };

TEST(the_table_is_bounded_and_keeps_the_order)
{
	static struct rpc_node nodes[MANY + 1];
	struct rpc_table t;
	struct rpc_node *n;
	int64_t expect = 0;

	memset(nodes, 0, sizeof nodes);
	rpc_table_init(&t, NULL, MANY, 99);
	for (int64_t i = 0; i < MANY; i++)
		assert_int_equal(rpc_table_put_int(&t, &nodes[i], i), CLEAT_OK);
	assert_int_equal(rpc_table_put_int(&t, &nodes[MANY], MANY), CLEAT_ELIMIT);
	for (int64_t i = 0; i < MANY; i++)
		assert_ptr_equal(rpc_table_find_int(&t, i), &nodes[i]);
	for (size_t i = 0; i < MANY; i += 2)
		rpc_table_remove(&t, &nodes[i]);
	for (n = rpc_table_first(&t), expect = 1; n; n = rpc_table_next(n), expect += 2)
		assert_int_equal(n->number, expect);
	assert_int_equal(expect, MANY + 1);
	for (n = rpc_table_last(&t); n; n = rpc_table_prev(n))
		assert_int_equal(n->number, expect -= 2);
	assert_int_equal(rpc_table_put_int(&t, &nodes[0], 0), CLEAT_OK);
	assert_ptr_equal(rpc_table_last(&t), &nodes[0]);
	assert_int_equal(rpc_table_count(&t), MANY / 2 + 1);
	rpc_table_done(&t);
}

TEST(deadlines_come_in_order_of_time_then_of_insertion)
{
	static struct rpc_node nodes[MANY];
	struct rpc_table t;
	struct rpc_node *n;
	uint64_t seen = 0, order = 0;
	uint32_t x = 12345;
	size_t expired = 0;

	memset(nodes, 0, sizeof nodes);
	rpc_table_init(&t, NULL, MANY, 0);
	assert_int_equal(rpc_table_next_deadline(&t), 0);
	for (size_t i = 0; i < MANY; i++) {
		assert_int_equal(rpc_table_put_int(&t, &nodes[i], (int64_t)i), CLEAT_OK);
		x = x * 1664525u + 1013904223u;
		rpc_table_set_deadline(&t, &nodes[i], 1 + (x >> 16) % 200);
	}
	for (size_t i = 0; i < MANY; i += 3) /* change, and take away */
		rpc_table_set_deadline(&t, &nodes[i], i % 2 ? 0 : 150);
	for (size_t i = 1; i < MANY; i += 10)
		rpc_table_remove(&t, &nodes[i]);
	assert_null(rpc_table_expired(&t, 0));
	for (uint64_t now = 1; now <= 200; now++) {
		while ((n = rpc_table_expired(&t, now))) {
			assert_int_equal(n->deadline, now);
			assert_int_equal(rpc_table_next_deadline(&t), now);
			if (now == seen)
				assert_true(n->order > order);
			seen = now;
			order = n->order;
			expired++;
			rpc_table_remove(&t, n);
		}
	}
	assert_int_equal(rpc_table_next_deadline(&t), 0);
	assert_true(expired > MANY / 2);
	for (n = rpc_table_first(&t); n; n = rpc_table_next(n))
		assert_int_equal(n->deadline, 0);
	rpc_table_set_deadline(&t, &nodes[1], 5); /* is not in: nothing happens */
	assert_int_equal(rpc_table_next_deadline(&t), 0);
	rpc_table_done(&t);
}

TEST(a_failed_put_changes_nothing)
{
	static struct rpc_node nodes[200];
	struct fail_alloc fa;

	for (size_t n = 1;; n++) {
		struct rpc_table t;
		size_t in = 0;

		memset(nodes, 0, sizeof nodes);
		fail_alloc_init(&fa, n, false);
		rpc_table_init(&t, &fa.hook, 1000, 3);
		for (size_t i = 0; i < 200; i++) {
			int rc = rpc_table_put_int(&t, &nodes[i], (int64_t)i);

			if (rc != CLEAT_OK) {
				assert_int_equal(rc, CLEAT_ENOMEM);
				assert_int_equal(rpc_table_count(&t), in);
				assert_null(rpc_table_find_int(&t, (int64_t)i));
				rc = rpc_table_put_int(&t, &nodes[i], (int64_t)i);
			}
			assert_int_equal(rc, CLEAT_OK);
			rpc_table_set_deadline(&t, &nodes[i], 1000 - i);
			in++;
		}
		for (size_t i = 0; i < 200; i++)
			assert_ptr_equal(rpc_table_find_int(&t, (int64_t)i), &nodes[i]);
		assert_int_equal(rpc_table_next_deadline(&t), 801);
		rpc_table_done(&t);
		rpc_table_done(&t);
		assert_int_equal(fa.live, 0);
		if (!fail_alloc_hit(&fa))
			break;
	}
}
