/* test_cli_protocol.c - the checker of messages: every table becomes a schema, conversations are followed, and
 * findings name the place (program/check/protocol.c). That the tables agree with the official schemas is
 * test_cli_validate.mjs's to show. */
#include "support.h"
#include "test.h"

#include "check/protocol.h"
#include "check/protocol_types.h"
#include "unit/program/cli_support.h"

#include <stdlib.h>
#include <string.h>

/* ---- tables ---------------------------------------------------------------------------------- */

/* The tables are written by hand; a typo in a name makes a type that nothing fits ("false"). */
TEST(every_type_is_a_schema_that_knows_its_names)
{
	for (char r = 'a'; r < 'a' + PROTOCOL_REVISIONS; r++) {
		struct text t = { 0 };
		cleat_doc *doc;

		protocol_schema_all(&t, r, "mcp:/x");
		doc = cleat_doc_parse(text_str(&t), t.n, NULL, NULL, NULL);
		assert_non_null(doc);
		assert_null(strstr(t.p, "false"));
		cleat_doc_free(doc);
		text_free(&t);
		for (const struct protocol_method *m = protocol_methods; m->name; m++) {
			if (!strchr(m->revisions, r))
				continue;
			protocol_schema(&t, m->params + (*m->params == '?'), r, "mcp:/x");
			if (m->result)
				protocol_schema(&t, m->result, r, "mcp:/x");
			if (strstr(text_str(&t), "false"))
				fail_msg("%s of %c: %s", m->name, r, t.p);
			text_free(&t);
		}
	}
}

TEST(a_method_has_one_line_for_a_revision)
{
	for (const struct protocol_method *m = protocol_methods; m->name; m++)
		for (const struct protocol_method *o = m + 1; o->name; o++)
			for (const char *r = m->revisions; strcmp(m->name, o->name) == 0 && *r; r++)
				if (strchr(o->revisions, *r))
					fail_msg("%s twice for %c", m->name, *r);
}

/* ---- conversations --------------------------------------------------------------------------- */

static struct text found;

static void on_finding(void *ctx, const struct protocol_finding *f)
{
	(void)ctx;
	assert_non_null(f->text);
	text_printf(&found, "%s%s%s %s", found.n ? "; " : "", f->warning ? "?" : "", f->rule,
		    f->pointer);
}

struct said {
	enum protocol_side from;
	const char *text;
	const char *found;    /* "" is a valid message */
	const char *revision; /* NULL: whichever */
};

#define META(version)                                                                              \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"" version                        \
	"\",\"io.modelcontextprotocol/clientCapabilities\":{}}"

static void follow(const char *revision, const struct said *all, size_t n)
{
	struct protocol *p = protocol_new(revision);

	assert_non_null(p);
	for (size_t i = 0; i < n; i++) {
		struct protocol_message m;
		size_t errors;

		text_free(&found);
		errors = protocol_check_text(p, all[i].from, all[i].text, strlen(all[i].text),
					     on_finding, NULL, &m);
		if (strcmp(text_str(&found), all[i].found) != 0)
			fail_msg("%s: found %s instead of %s", all[i].text, found.p, all[i].found);
		assert_int_equal(errors > 0, *all[i].found && *all[i].found != '?');
		if (all[i].revision)
			assert_string_equal(m.revision, all[i].revision);
	}
	protocol_free(p);
	text_free(&found);
}
#define FOLLOW(revision, ...)                                                                      \
	follow(revision, (const struct said[]){ __VA_ARGS__ },                                     \
	       CLEAT_COUNT(((const struct said[]){ __VA_ARGS__ })))
#define C PROTOCOL_CLIENT
#define S PROTOCOL_SERVER

TEST(the_session_decides_the_revision_unless_a_request_says_it)
{
	FOLLOW(NULL,
	       { C,
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
		 "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"a\",\"version\":\"1\"}}}",
		 "", "2025-11-25" },
	       { S,
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2024-11-05\","
		 "\"capabilities\":{},\"serverInfo\":{\"name\":\"a\",\"version\":\"1\"}}}",
		 "", "2024-11-05" },
	       { C, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}", "", "2024-11-05" },
	       { C,
		 "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\",\"params\":{" META(
			 "2026-07-28") "}}",
		 "", "2026-07-28" },
	       /* each answer by its own request's revision: ttlMs is the newer one's */
	       { S, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[]}}", "", "2024-11-05" },
	       { S, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"tools\":[]}}",
		 "member /result/resultType; member /result/ttlMs; member /result/cacheScope",
		 "2026-07-28" }, );
}

TEST(an_id_is_in_use_until_its_answer)
{
	FOLLOW("2025-06-18", { C, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "", NULL },
	       { S, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "", NULL },
	       { C, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "id /id", NULL },
	       { C, "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"ping\"}", "", NULL },
	       { S, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", "", NULL },
	       { C, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "", NULL }, );
}

TEST(each_kind_of_mistake_has_its_rule_and_place)
{
	FOLLOW("2025-11-25", { C, "{", "json ", NULL }, { C, "7", "json-rpc ", NULL },
	       { C, "{\"jsonrpc\":\"2.0\",\"method\":7}", "json-rpc /method", NULL },
	       { C, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/cal\",\"params\":{}}",
		 "method /method", NULL },
	       { C, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"acme/x\"}", "?method /method",
		 NULL },
	       { C, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"server/discover\"}",
		 "method /method", NULL },
	       { S, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/list\"}", "direction /method",
		 NULL },
	       { C, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\"}", "member ", NULL },
	       { C,
		 "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"tools/"
		 "call\",\"params\":{\"name\":\"a\\u0000b\",\"arguments\":[]}}",
		 "member /params/arguments", NULL },
	       { C, "{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}", "id ", NULL },
	       { C, "[{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}]", "batch ", NULL },
	       { C, "[]", "batch ", NULL },
	       { S, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"x\"}}",
		 "null-id /id", NULL }, );
	assert_null(protocol_new("2020-01-01"));
}

/* The oldest of too many open requests is forgotten, and its answer is then one to nobody knows what. */
TEST(requests_that_are_never_answered_are_forgotten)
{
	struct protocol *p = protocol_new("2025-11-25");
	struct protocol_message m;

	for (int i = 0; i < 3000; i++) {
		const char *text =
			keepf("{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/list\"}", i);

		assert_int_equal(protocol_check_text(p, C, text, strlen(text), NULL, NULL, &m), 0);
	}
	static const char old[] = "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}",
			  new[] = "{\"jsonrpc\":\"2.0\",\"id\":2999,\"result\":{}}";

	assert_int_equal(protocol_check_text(p, S, old, sizeof old - 1, NULL, NULL, &m), 0);
	assert_false(m.matched);
	assert_int_equal(protocol_check_text(p, S, new, sizeof new - 1, NULL, NULL, &m), 1);
	assert_true(m.matched);
	protocol_free(p);
}

TEST_GROUP(NULL, forget)
