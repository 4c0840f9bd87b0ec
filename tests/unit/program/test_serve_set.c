/* test_serve_set.c - one configuration in place of another: what stays, what goes, and that nothing
 * changes when something is wrong (program/serve/kit/set.c, program/serve/kit/draft.c, program/serve/serve.c, server_exchange()).
 */
#include "base/mem.h"
#include "request/conn.h"
#include "request/server.h"
#include "serve/kit/set.h"
#include "serve/serve.h"
#include "server/core.h"
#include "support.h"
#include "support_files.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sets by hand ------------------------------------------------------------------------------ */

static int nothing(cleat_request *req)
{
	return cleat_reply_nothing(req);
}

static unsigned destroyed[8];

static void count(void *userdata)
{
	++*(unsigned *)userdata;
}

static int add_tool(struct set *s, const char *name, const char *recipe, unsigned *counter)
{
	const cleat_tool t = {
		.name = name, .call = nothing, .userdata = counter, .destroy = count
	};
	const cleat_json *other;
	cleat_error note = { 0 }, err = { 0 };
	struct entry *e = NULL;
	int rc = entry_from_tool(&mem_default, &t, &e, &note, &err);

	if (!rc)
		rc = set_add(s, e, recipe, NULL, &other, &err);
	if (rc)
		entry_discard(e);
	return rc;
}

static unsigned *gone_on;

static void note(void *thing)
{
	gone_on = thing;
}

static bool keep(struct set *s, const char *recipe, unsigned *counter)
{
	return set_keep(
		s, &(struct set_thing){
			   .thing = counter, .destroy = count, .recipe = recipe, .go_on = note });
}

static struct entry *find(cleat_server *s, const char *name)
{
	return registry_find(server_registry(s), SHELF_TOOLS, str_of(name));
}

TEST(what_is_the_same_stays_and_the_rest_is_replaced)
{
	cleat_server *server = cleat_server_new("s", "1", NULL);
	struct set *one = set_new(NULL), *two = set_new(NULL);
	struct entry *same, *changed;
	struct set_change change;

	assert_true(server && one && two);
	memset(destroyed, 0, sizeof destroyed);
	assert_int_equal(add_tool(one, "same", "1", &destroyed[0]), CLEAT_OK);
	assert_int_equal(add_tool(one, "changed", "1", &destroyed[1]), CLEAT_OK);
	assert_int_equal(add_tool(one, "gone", "1", &destroyed[2]), CLEAT_OK);
	assert_true(keep(one, NULL, &destroyed[6]));
	assert_int_equal(set_apply(one, NULL, server, &change), CLEAT_OK);
	assert_int_equal(change.added, 3);
	same = find(server, "same");
	changed = find(server, "changed");
	assert_non_null(same);
	assert_int_equal(add_tool(two, "same", "1", &destroyed[3]), CLEAT_OK);
	assert_int_equal(add_tool(two, "changed", "2", &destroyed[4]), CLEAT_OK);
	assert_int_equal(add_tool(two, "new", "1", &destroyed[5]), CLEAT_OK);
	assert_int_equal(set_apply(two, one, server, &change), CLEAT_OK);
	assert_int_equal(change.added, 1);
	assert_int_equal(change.removed, 1);
	assert_int_equal(change.changed, 1);
	assert_int_equal(change.kept, 1);
	assert_ptr_equal(find(server, "same"), same);
	assert_ptr_not_equal(find(server, "changed"), changed);
	assert_null(find(server, "gone"));
	assert_non_null(find(server, "new"));
	/* The old ones that went, the new one that was not needed, and what was kept. */
	assert_int_equal(destroyed[0], 0);
	assert_int_equal(destroyed[1], 1);
	assert_int_equal(destroyed[2], 1);
	assert_int_equal(destroyed[3], 1);
	assert_int_equal(destroyed[4], 0);
	assert_int_equal(destroyed[5], 0);
	assert_int_equal(destroyed[6], 1);
	set_free(one);
	set_free(two);
	cleat_server_free(server);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(destroyed[i], 1);
}

TEST(a_set_that_never_was_in_force_takes_all_of_it_along)
{
	struct set *s = set_new(NULL);

	assert_true(s);
	memset(destroyed, 0, sizeof destroyed);
	assert_int_equal(add_tool(s, "a", "1", &destroyed[0]), CLEAT_OK);
	assert_int_equal(add_tool(s, "a", "1", &destroyed[1]), CLEAT_EEXIST);
	assert_true(keep(s, NULL, &destroyed[2]));
	set_free(s);
	assert_int_equal(destroyed[0], 1);
	assert_int_equal(destroyed[2], 1);
}

/* Two of the same recipe: each stands for one. */
TEST(a_thing_of_the_same_recipe_goes_on)
{
	cleat_server *server = cleat_server_new("s", "1", NULL);
	struct set *one = set_new(NULL), *two = set_new(NULL), *three = set_new(NULL);
	struct set_change change;

	assert_true(server && one && two && three);
	memset(destroyed, 0, sizeof destroyed);
	gone_on = NULL;
	assert_true(keep(one, "a", &destroyed[0]));
	assert_true(keep(one, "b", &destroyed[1]));
	assert_int_equal(set_apply(one, NULL, server, &change), CLEAT_OK);
	assert_true(keep(two, "b", &destroyed[2]));
	assert_true(keep(two, "b", &destroyed[3]));
	assert_true(keep(two, "c", &destroyed[4]));
	assert_int_equal(set_apply(two, one, server, &change), CLEAT_OK);
	set_free(one);
	assert_ptr_equal(gone_on, &destroyed[1]);
	assert_int_equal(destroyed[0], 1);
	assert_int_equal(destroyed[1], 0);
	assert_int_equal(destroyed[2] + destroyed[3], 1);
	assert_int_equal(destroyed[4], 0);
	assert_int_equal(set_apply(three, two, server, &change), CLEAT_OK);
	set_free(two);
	set_free(three);
	cleat_server_free(server);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(destroyed[i], 1);
}

static unsigned begun[2];

static void come_into_force(void *thing)
{
	*(unsigned *)thing += 10; /* count() adds 1 at its end */
}

/* Once, when its set is in force; one that goes on does not begin again, nor does one whose set never came. */
TEST(a_thing_begins_with_its_set)
{
	cleat_server *server = cleat_server_new("s", "1", NULL);
	struct set *sets[2] = { set_new(NULL), set_new(NULL) };
	struct set_change change;

	assert_true(server && sets[0] && sets[1]);
	for (size_t i = 0; i < 2; i++)
		assert_true(set_keep(sets[i], &(struct set_thing){ .thing = &begun[i],
								   .destroy = count,
								   .begin = come_into_force,
								   .recipe = "same",
								   .go_on = note }));
	assert_int_equal(begun[0], 0);
	assert_int_equal(set_apply(sets[0], NULL, server, &change), CLEAT_OK);
	assert_int_equal(begun[0], 10);
	assert_int_equal(set_apply(sets[1], sets[0], server, &change), CLEAT_OK);
	assert_int_equal(begun[0], 10);
	assert_int_equal(begun[1], 1);
	set_free(sets[0]);
	set_free(sets[1]);
	cleat_server_free(server);
}

static void take_away(void *server)
{
	cleat_server_remove_tool(server, "r");
}

/* A thing of the old set (a folder that is watched) has added what the new one has in its own right. */
TEST(what_old_things_added_makes_room)
{
	cleat_server *server = cleat_server_new("s", "1", NULL);
	struct set *one = set_new(NULL), *two = set_new(NULL);
	struct set_change change;

	assert_true(server && one && two);
	memset(destroyed, 0, sizeof destroyed);
	assert_true(set_keep(one, &(struct set_thing){ .thing = server, .destroy = take_away }));
	assert_int_equal(set_apply(one, NULL, server, &change), CLEAT_OK);
	assert_int_equal(cleat_server_add_tool(server, &(cleat_tool){ .name = "r",
								      .call = nothing,
								      .userdata = &destroyed[0],
								      .destroy = count }),
			 CLEAT_OK);
	assert_int_equal(add_tool(two, "r", "1", &destroyed[1]), CLEAT_OK);
	assert_int_equal(set_apply(two, one, server, &change), CLEAT_OK);
	assert_non_null(find(server, "r"));
	assert_int_equal(destroyed[0], 1);
	assert_int_equal(destroyed[1], 0);
	set_free(one);
	set_free(two);
	cleat_server_free(server);
	assert_int_equal(destroyed[1], 1);
}

/* A tool that does something else is the same to a list: no list_changed, and the order stays. */
TEST(a_list_has_changed_when_it_says_something_else)
{
	static const struct {
		const char *names[4], *title, *order;
		bool told;
	} table[] = {
		{ { "a", "b", "c" }, NULL, "abc", false },
		{ { "b", "c", "a" }, NULL, "abc", false },
		{ { "a", "b", "c" }, "B", "abc", true },
		{ { "a", "c", "b", "d" }, NULL, "abcd", true },
		{ { "b", "c" }, NULL, "bc", true },
		{ { "d", "b" }, NULL, "bd", true },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		cleat_server *server = cleat_server_new("s", "1", NULL);
		cleat_error note = { 0 }, err = { 0 };
		cleat_connection somebody = { 0 }; /* to be told */
		struct entry *e, *gone[3];
		struct registry more;
		char order[5] = "";

		assert_true(server);
		registry_init(&more, &mem_default);
		for (size_t j = 0; j < 3; j++) {
			const char name[] = { "abc"[j], 0 };

			assert_int_equal(
				cleat_server_add_tool(
					server, &(cleat_tool){ .name = name, .call = nothing }),
				CLEAT_OK);
			gone[j] = find(server, name);
		}
		for (size_t j = 0; j < 4 && table[i].names[j]; j++) {
			const cleat_tool t = { .name = table[i].names[j],
					       .call = nothing,
					       .title = *table[i].names[j] == 'b' ? table[i].title
										  : NULL };

			assert_int_equal(entry_from_tool(&mem_default, &t, &e, &note, &err),
					 CLEAT_OK);
			assert_int_equal(registry_add(&more, e, &err), CLEAT_OK);
		}
		server->conns = &somebody;
		assert_int_equal(server_exchange(server, gone, 3, &more, NULL, NULL), CLEAT_OK);
		server->conns = NULL;
		assert_int_equal(server->changed != 0, table[i].told);
		for (size_t j = 0; server_tool_name(server, j); j++)
			strcat(order, server_tool_name(server, j));
		assert_string_equal(order, table[i].order);
		registry_done(&more);
		cleat_server_free(server);
	}
}

/* What is in the way and does not go: nothing has changed. */
TEST(an_exchange_is_all_or_nothing)
{
	cleat_server *server = cleat_server_new("s", "1", NULL);
	cleat_error note = { 0 }, err = { 0 };
	struct registry more;
	struct entry *e;

	assert_true(server);
	registry_init(&more, &mem_default);
	for (int i = 0; i < 2; i++) {
		const cleat_tool t = { .name = i ? "b" : "a", .call = nothing };

		assert_int_equal(entry_from_tool(&mem_default, &t, &e, &note, &err), CLEAT_OK);
		assert_int_equal(registry_add(&more, e, &err), CLEAT_OK);
	}
	assert_int_equal(
		cleat_server_add_tool(server, &(cleat_tool){ .name = "b", .call = nothing }),
		CLEAT_OK);
	assert_int_equal(server_exchange(server, NULL, 0, &more, NULL, NULL), CLEAT_EEXIST);
	assert_null(find(server, "a"));
	assert_int_equal(server_start_status(server), CLEAT_OK);
	e = find(server, "b");
	assert_int_equal(server_exchange(server, &e, 1, &more, NULL, NULL), CLEAT_OK);
	assert_non_null(find(server, "a"));
	registry_done(&more);
	cleat_server_free(server);
}

/* ---- whole configurations ---------------------------------------------------------------------- */

static char said[8192];

static void on_say(void *ctx, int level, const char *line)
{
	(void)ctx;
	(void)level;
	if (strlen(said) + strlen(line) + 2 < sizeof said)
		strcat(strcat(said, line), "\n");
}

static void put(const char *text)
{
	scratch_put("c.json", text);
}

static int begin(void **state)
{
	said[0] = 0;
	return scratch_begin(state);
}

static struct serve *start(const cleat_allocator *mem, int *ret)
{
	const char *const files[] = { scratch_path("c.json"), NULL };
	const struct serve_options o = { .files = files, .say = on_say, .mem = mem };

	return serve_new(&o, ret);
}

#define A_AND_B                                                                                    \
	"{\"tools\":{\"a\":{\"cmd\":[\"echo\",\"${v}\"]},\"b\":{\"cmd\":[\"echo\"]}},\"vars\":{\"v\":\"1\"}"

TEST_WITH(only_what_behaves_otherwise_is_replaced, begin, scratch_end)
{
	static const struct {
		const char *text;
		bool a_stays, b_stays;
		const char *words;
	} cases[] = {
		{ A_AND_B "}", true, true, "loaded again: nothing has changed\n" },
		{ A_AND_B ",\"name\":\"n\"}", true, true,
		  "\"name\" has changed: that counts from the next start on\nloaded again: nothing has "
		  "changed\n" },
		{ "{\"vars\":{\"v\":\"2\"},\"tools\":{\"b\":{\"cmd\":[\"echo\"]},\"a\":{\"cmd\":[\"echo\","
		  "\"${v}\"]}}}",
		  false, true, "loaded again: 0 added, 0 removed, 1 changed, 1 as before\n" },
		{ A_AND_B ",\"defaults\":{\"timeout\":\"5s\"}}", false, false,
		  "loaded again: 0 added, 0 removed, 2 changed, 0 as before\n" },
		{ "{\"tools\":{\"a\":{\"cmd\":[\"echo\",\"1\"],\"title\":\"A\"},\"b\":{\"cmd\":[\"echo\"]}}}",
		  false, true, "loaded again: 0 added, 0 removed, 1 changed, 1 as before\n" },
		{ "{\"tools\":{\"a\":{\"cmd\":[\"echo\",\"${v}\"]}}}", true, true,
		  "%s:1:30: tools.a.cmd[1]: ${v} is neither in \"vars\" nor in \"secrets\" nor set in the "
		  "environment\nthe configuration stays as it was\n" },
	};
	char expected[500];

	unsetenv("v");
	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct entry *a, *b;
		struct serve *s;
		int rc;

		put(A_AND_B "}");
		s = start(NULL, &rc);
		assert_non_null(s);
		a = find(serve_server(s), "a");
		b = find(serve_server(s), "b");
		put(cases[i].text);
		said[0] = 0;
		rc = serve_reload(s);
		snprintf(expected, sizeof expected, cases[i].words[0] == '%' ? "%s%s" : "%.0s%s",
			 scratch_path("c.json"),
			 cases[i].words[0] == '%' ? cases[i].words + 2 : cases[i].words);
		assert_string_equal(said, expected);
		assert_int_equal(find(serve_server(s), "a") == a, cases[i].a_stays);
		assert_int_equal(find(serve_server(s), "b") == b, cases[i].b_stays);
		assert_int_equal(serve_count(s, SERVE_TOOLS), 2);
		serve_free(s);
	}
}

/* Every line but the last says that there is no memory. */
static bool only_memory(char *lines)
{
	char *line = strtok(lines, "\n");

	for (; line && strcmp(line, "the configuration stays as it was") != 0;
	     line = strtok(NULL, "\n"))
		if (!strstr(line, "memory"))
			fail_msg("%s", line);
	return line && !strtok(NULL, "\n");
}

TEST_WITH(memory_that_runs_out_leaves_the_old_configuration, begin, scratch_end)
{
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);
	     fa.round += fa.round < 200 ? 0 : 6) {
		struct serve *s;
		int rc;

		put(A_AND_B "}");
		fail_alloc_calm(&fa);
		s = start(&fa.hook, &rc);
		assert_non_null(s);
		put("{\"tools\":{\"a\":{\"cmd\":[\"echo\",\"2\"]},\"c\":{\"args\":\"x: integer = 1\","
		    "\"cmd\":[\"echo\",\"{x}\"],\"confirm\":\"{x}?\"}}}");
		fail_alloc_arm(&fa);
		said[0] = 0;
		rc = serve_reload(s);
		fail_alloc_calm(&fa);
		if (rc) {
			/* what follows from it is not told, or would be taken for the reason */
			assert_true(only_memory(said));
			assert_non_null(find(serve_server(s), "b"));
			assert_null(find(serve_server(s), "c"));
			assert_int_equal(serve_reload(s), CLEAT_OK);
		}
		assert_non_null(find(serve_server(s), "c"));
		assert_null(find(serve_server(s), "b"));
		serve_free(s);
	}
}

TEST_WITH(memory_that_runs_out_at_the_start_is_an_error, begin, scratch_end)
{
	put("{\"tools\":{\"a\":{\"cmd\":[\"echo\",\"${v:-1}\"]}},\"prompts\":{\"p\":{\"text\":\"{x}\","
	    "\"args\":\"x: string\"}}}");
	for (struct fail_alloc fa = { 0 }; fail_alloc_next(&fa);) {
		struct serve *s;
		int rc;

		s = start(&fa.hook, &rc);
		assert_int_equal(s != NULL, rc == CLEAT_OK);
		assert_true(fail_alloc_hit(&fa) || s);
		fail_alloc_calm(&fa);
		serve_free(s);
	}
}
