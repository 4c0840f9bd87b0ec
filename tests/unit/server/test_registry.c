/* test_registry.c - shelves of entries: order, lookup, pages by serial, best template, references. */
#include "request/registry.h"
#include "support.h"
#include "test.h"

#include <string.h>

static struct registry reg;
static struct fail_alloc fa;
static int destroyed;

static int nothing(cleat_request *req)
{
	return cleat_reply_nothing(req);
}

static void count_destroy(void *userdata)
{
	(void)userdata;
	destroyed++;
}

static int setup(void **state)
{
	(void)state;
	destroyed = 0;
	fail_alloc_init(&fa, 0, false);
	registry_init(&reg, &fa.hook);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	registry_done(&reg);
	return fa.live == 0 ? 0 : -1;
}

static struct entry *tool(const char *name)
{
	cleat_tool t = { .name = name, .call = nothing, .destroy = count_destroy };
	cleat_error note, err;
	struct entry *e = NULL;

	assert_int_equal(entry_from_tool(&fa.hook, &t, &e, &note, &err), CLEAT_OK);
	return e;
}

static struct entry *resource(const char *uri)
{
	cleat_resource r = { .uri = uri, .read = nothing };
	cleat_error note, err;
	struct entry *e = NULL;

	assert_int_equal(entry_from_resource(&fa.hook, &r, &e, &note, &err), CLEAT_OK);
	return e;
}

static struct entry *put(struct entry *e)
{
	cleat_error err;

	assert_int_equal(registry_add(&reg, e, &err), CLEAT_OK);
	return e;
}

TEST_WITH(find_and_take, setup, teardown)
{
	struct entry *a = put(tool("a")), *b = put(tool("b"));
	cleat_error err;
	struct entry *again = tool("a");

	assert_ptr_equal(registry_find(&reg, SHELF_TOOLS, STR_LIT("a")), a);
	assert_null(registry_find(&reg, SHELF_PROMPTS, STR_LIT("a")));
	assert_null(registry_find(&reg, SHELF_TOOLS, STR_LIT("a\0")));
	assert_null(registry_find(&reg, SHELF_TOOLS, STR_LIT("")));
	assert_int_equal(registry_add(&reg, again, &err), CLEAT_EEXIST);
	entry_unref(again); /* still the caller's */
	assert_int_equal(destroyed, 1);
	assert_ptr_equal(registry_take(&reg, SHELF_TOOLS, STR_LIT("a")), a);
	assert_null(registry_take(&reg, SHELF_TOOLS, STR_LIT("a")));
	assert_null(registry_find(&reg, SHELF_TOOLS, STR_LIT("a")));
	assert_ptr_equal(registry_find(&reg, SHELF_TOOLS, STR_LIT("b")), b);
	assert_true(reg.shelves[SHELF_TOOLS].ever);
	assert_false(reg.shelves[SHELF_PROMPTS].ever);
	entry_ref(a);
	entry_unref(a);
	assert_int_equal(destroyed, 1);
	entry_unref(a);
	assert_int_equal(destroyed, 2);
	entry_unref(NULL);
	entry_discard(NULL);
}

/* Through several sizes of the hash table, with removals between. */
TEST_WITH(thousand_names_are_found, setup, teardown)
{
	char name[32];

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof name, "t%d", i);
		put(tool(name));
		if (i % 3 == 2) {
			snprintf(name, sizeof name, "t%d", i - 1);
			entry_unref(registry_take(&reg, SHELF_TOOLS, str_of(name)));
		}
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof name, "t%d", i);
		assert_int_equal(!registry_find(&reg, SHELF_TOOLS, str_of(name)),
				 i % 3 == 1 && i < 999);
	}
	for (size_t i = 1; i < reg.shelves[SHELF_TOOLS].count; i++)
		assert_true(reg.shelves[SHELF_TOOLS].list[i - 1]->serial <
			    reg.shelves[SHELF_TOOLS].list[i]->serial);
}

TEST_WITH(page_starts_after_a_serial, setup, teardown)
{
	const struct shelf *s = &reg.shelves[SHELF_TOOLS];
	struct entry *a = put(tool("a")), *b, *c;

	put(resource("x:1")); /* serials are shared by all shelves: there are gaps */
	b = put(tool("b"));
	c = put(tool("c"));
	assert_int_equal(registry_page_start(s, 0), 0);
	assert_int_equal(registry_page_start(s, a->serial - 1), 0);
	assert_int_equal(registry_page_start(s, a->serial), 1);
	assert_int_equal(registry_page_start(s, a->serial + 1), 1);
	assert_int_equal(registry_page_start(s, b->serial), 2);
	assert_int_equal(registry_page_start(s, c->serial), 3);
	assert_int_equal(registry_page_start(s, UINT64_MAX), 3);
	assert_int_equal(registry_page_start(&reg.shelves[SHELF_PROMPTS], 0), 0);
}

/* The most literal template wins, whatever the order of registration. */
TEST_WITH(best_template_wins, setup, teardown)
{
	static const char *const orders[2][3] = { { "x://{a}", "x://{a}/{b}", "x://{a}/end" },
						  { "x://{a}/end", "x://{a}/{b}", "x://{a}" } };
	struct uri_vars vars;
	struct arena ar;
	struct entry *e;

	arena_init(&ar, NULL, 0);
	for (int i = 0; i < 2; i++) {
		for (int k = 0; k < 3; k++)
			put(resource(orders[i][k]));
		e = registry_match(&reg, STR_LIT("x://1/end"), &ar, &vars);
		assert_non_null(e);
		assert_string_equal(e->key.p, "x://{a}/end");
		assert_int_equal(vars.n, 1);
		assert_string_equal(vars.v[0].value.p, "1");
		e = registry_match(&reg, STR_LIT("x://1/2"), &ar, &vars);
		assert_string_equal(e->key.p, "x://{a}/{b}");
		assert_string_equal(vars.v[1].value.p, "2");
		assert_null(registry_match(&reg, STR_LIT("y://1"), &ar, &vars));
		for (int k = 0; k < 3; k++)
			entry_unref(registry_take(&reg, SHELF_TEMPLATES, str_of(orders[i][k])));
	}
	arena_done(&ar);
}

TEST_WITH(nearest_name, setup, teardown)
{
	put(tool("forecast"));
	put(tool("history"));
	assert_string_equal(registry_nearest(&reg, SHELF_TOOLS, STR_LIT("forcast")).p, "forecast");
	assert_null(registry_nearest(&reg, SHELF_TOOLS, STR_LIT("zzz")).p);
	assert_null(registry_nearest(&reg, SHELF_PROMPTS, STR_LIT("forecast")).p);
}

TEST_WITH(completions_are_noticed, setup, teardown)
{
	cleat_prompt p = { .signature = "p(a: string)", .get = nothing };
	cleat_error note, err;
	struct entry *e;

	assert_int_equal(entry_from_prompt(&fa.hook, &p, &e, &note, &err), CLEAT_OK);
	put(e);
	put(resource("x://{a}"));
	assert_false(reg.completes);
	p.signature = "q(unit: cm|in)"; /* choices complete themselves */
	assert_int_equal(entry_from_prompt(&fa.hook, &p, &e, &note, &err), CLEAT_OK);
	put(e);
	assert_true(reg.completes);
}

TEST_WITH(adding_survives_failures, setup, teardown)
{
	for (size_t n = 1, hit = 1; hit; n++) {
		struct entry *e;
		cleat_error err;
		size_t before;

		for (int i = 0; i < 16; i++) { /* the next one grows list and buckets */
			char name[16];

			snprintf(name, sizeof name, "t%d", i);
			put(tool(name));
		}
		e = tool("more");
		before = fa.failures;
		fa.countdown = n;
		if (registry_add(&reg, e, &err)) {
			assert_int_equal(err.status, CLEAT_ENOMEM);
			assert_null(registry_find(&reg, SHELF_TOOLS, STR_LIT("more")));
			entry_unref(e);
		}
		fa.countdown = 0;
		hit = fa.failures > before;
		assert_non_null(registry_find(&reg, SHELF_TOOLS, STR_LIT("t15")));
		registry_done(&reg);
		registry_init(&reg, &fa.hook);
	}
}
