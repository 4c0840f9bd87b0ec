/* test_era.c - the tables of revisions and features, which era a message belongs to, what each era
 * admits, and what a client can be asked.
 */
#include "protocol/era.h"
#include "test.h"
#include "json/parse.h"

#include <stdio.h>
#include <string.h>

/* ---- revisions -------------------------------------------------------------------------------- */

TEST(revisions_have_their_names)
{
	static const char *const names[] = { "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25",
					     "2026-07-28" };

	assert_int_equal(REV_COUNT, CLEAT_COUNT(names));
	for (int r = 0; r < REV_COUNT; r++) {
		assert_string_equal(revision_name((enum revision)r), names[r]);
		assert_int_equal(revision_find(str_of(names[r])), r);
	}
	assert_int_equal(revision_find(STR_LIT("2025-11-2")), REV_NONE);
	assert_int_equal(revision_find(STR_LIT("2025-11-25 ")), REV_NONE);
	assert_int_equal(revision_find(STR_LIT("2025-11-25\0")), REV_NONE);
	assert_int_equal(revision_find(STR_LIT("")), REV_NONE);
	assert_int_equal(revision_find((struct str){ NULL, 0 }), REV_NONE);
}

/* 2025-11-25 basic/lifecycle: version negotiation. 2026-07-28 has no initialize. */
TEST(negotiation_gives_the_newest_legacy_revision)
{
	for (int r = 0; r < REV_2026_07_28; r++)
		assert_int_equal(revision_negotiate(str_of(revision_name((enum revision)r))), r);
	assert_int_equal(revision_negotiate(STR_LIT("2026-07-28")), REV_2025_11_25);
	assert_int_equal(revision_negotiate(STR_LIT("1.0")), REV_2025_11_25);
	assert_int_equal(revision_negotiate(STR_LIT("DRAFT-2026")), REV_2025_11_25);
}

/* Which revision brought what; schema/REV/schema.ts. */
TEST(features_by_revision)
{
	static const struct {
		unsigned feature;
		const char *in; /* a letter for each revision: y has it */
	} all[] = {
		{ FEAT_BATCH, "-y---" },
		{ FEAT_TOOL_ANNOTATIONS, "-yyyy" },
		{ FEAT_AUDIO, "-yyyy" },
		{ FEAT_PROGRESS_MESSAGE, "-yyyy" },
		{ FEAT_COMPLETIONS, "-yyyy" },
		{ FEAT_TITLE, "--yyy" },
		{ FEAT_META, "--yyy" },
		{ FEAT_STRUCTURED, "--yyy" },
		{ FEAT_RESOURCE_LINK, "--yyy" },
		{ FEAT_LAST_MODIFIED, "--yyy" },
		{ FEAT_ELICITATION, "--yyy" },
		{ FEAT_ICONS, "---yy" },
		{ FEAT_SERVER_DETAILS, "---yy" },
		{ FEAT_ELICITATION_MODES, "---yy" },
		{ FEAT_ELICITATION_ID, "---y-" },
		{ FEAT_SAMPLING_TOOLS, "---yy" },
		{ FEAT_ERROR_WITHOUT_ID, "---yy" },
		{ FEAT_INPUT_TOOL_ERROR, "---yy" },
		{ FEAT_ANY_STRUCTURED, "----y" },
		{ FEAT_CACHING, "----y" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(all); i++)
		for (int r = 0; r < REV_COUNT; r++)
			assert_int_equal(!!(revision_features((enum revision)r) & all[i].feature),
					 all[i].in[r] == 'y');
}

TEST(log_levels_are_found_by_name)
{
	assert_int_equal(log_level_find(STR_LIT("debug")), CLEAT_LOG_DEBUG);
	assert_int_equal(log_level_find(STR_LIT("emergency")), CLEAT_LOG_EMERGENCY);
	assert_int_equal(log_level_find(STR_LIT("Debug")), -1);
	assert_int_equal(log_level_find(STR_LIT("warn")), -1);
	assert_int_equal(log_level_find(STR_LIT("")), -1);
	assert_int_equal(log_level_find((struct str){ NULL, 0 }), -1);
}

/* ---- messages ----------------------------------------------------------------------------------- */

#define V "\"io.modelcontextprotocol/protocolVersion\":"
#define C "\"io.modelcontextprotocol/clientCapabilities\":"
#define I "\"io.modelcontextprotocol/clientInfo\":"
#define L "\"io.modelcontextprotocol/logLevel\":"

static struct arena ar;

/* A request of this method; `params` is JSON or NULL. */
static struct rpc_message message(const char *method, const char *params)
{
	struct rpc_message m = { .kind = RPC_REQUEST, .method = str_of(method) };

	if (params)
		assert_int_equal(json_parse(&ar, str_of(params), NULL, &m.params, NULL), CLEAT_OK);
	return m;
}

static const cleat_json *parse(const char *text)
{
	const cleat_json *v;

	assert_int_equal(json_parse(&ar, str_of(text), NULL, &v, NULL), CLEAT_OK);
	return v;
}

static bool is_modern(bool open, const char *method, const char *params)
{
	struct legacy_session session = { .open = open, .rev = REV_2025_06_18 };
	struct rpc_message m = message(method, params);

	return era_of(&session, &m, era_meta(&m))->modern;
}

/* 2026-07-28 basic/versioning: the claim in _meta decides, then the session. */
TEST(era_is_decided_message_by_message)
{
	arena_init(&ar, NULL, 0);
	assert_false(is_modern(false, "initialize", "{\"protocolVersion\":\"2025-06-18\"}"));
	assert_false(is_modern(false, "ping", NULL));
	assert_false(is_modern(true, "tools/list", NULL));
	assert_false(is_modern(true, "tools/list", "{\"_meta\":{\"progressToken\":1}}"));
	assert_false(is_modern(true, "tools/list", "{\"_meta\":{" C "{}}}"));
	assert_true(is_modern(false, "tools/list", NULL));
	assert_true(is_modern(false, "tools/list", "{\"_meta\":{}}"));
	assert_true(is_modern(true, "tools/list", "{\"_meta\":{" V "\"2026-07-28\"}}"));
	/* a malformed claim is a claim */
	assert_true(is_modern(true, "tools/list", "{\"_meta\":{" V "7}}"));
	assert_true(is_modern(true, "tools/list", "{\"_meta\":{" V "null}}"));
	assert_true(is_modern(true, "ping", "{\"_meta\":{" V "\"2026-07-28\"}}"));
	assert_true(is_modern(false, "initialize", "{\"_meta\":{" V "\"2026-07-28\"}}"));
	/* a _meta that is none */
	assert_false(is_modern(true, "tools/list", "{\"_meta\":[]}"));
	assert_false(is_modern(true, "tools/list", "[]"));
	arena_done(&ar);
}

struct verdict {
	int rc;
	struct context c;
	cleat_error err;
	char data[512];
};

static struct verdict admit_in(const struct legacy_session *session, const char *method,
			       const char *params)
{
	struct rpc_message m = message(method, params);
	struct verdict v = { 0 };
	struct buf data;

	buf_init(&data, NULL, 4096);
	v.c.meta = era_meta(&m);
	v.rc = era_of(session, &m, v.c.meta)->admit(session, &m, &v.c, &data, &v.err);
	assert_true(buf_size(&data) < sizeof v.data);
	memcpy(v.data, buf_str(&data).p, buf_size(&data));
	buf_done(&data);
	return v;
}

static void assert_refused(const char *params, int code, const char *part)
{
	struct legacy_session none = { 0 };
	struct verdict v = admit_in(&none, "tools/call", params);

	assert_int_equal(v.rc, CLEAT_EPROTO);
	assert_int_equal(v.err.rpc_code, code);
	assert_non_null(strstr(v.err.message, part));
}

/* 2026-07-28 basic/index: what _meta must hold. */
TEST(modern_requests_are_checked)
{
	struct legacy_session none = { 0 };
	struct verdict v;

	arena_init(&ar, NULL, 0);
	assert_refused(NULL, -32602, "protocolVersion\"] is missing");
	assert_refused("{}", -32602, "protocolVersion\"] is missing");
	assert_refused("{\"_meta\":7}", -32602, "_meta must be an object");
	assert_refused("{\"_meta\":{" V "1}}", -32602, "must be a string, not");
	assert_refused("{\"_meta\":{" V "\"2026-07-28\"}}", -32602,
		       "clientCapabilities\"] is missing");
	assert_refused("{\"_meta\":{" V "\"2026-07-28\"," C "[]}}", -32602,
		       "must be an object, not");
	assert_refused("{\"_meta\":{" V "\"2026-07-28\"," C "{}," I "\"me\"}}", -32602,
		       "clientInfo\"] must be an object");
	assert_refused("{\"_meta\":{" V "\"2026-07-28\"," C "{}," L "\"loud\"}}", -32602,
		       "logLevel\"] must be one of debug");
	assert_refused("{\"_meta\":{" V "\"2026-07-28\"," C "{}," L "3}}", -32602, "logLevel");
	assert_refused("{\"_meta\":{" V "\"2026-07-28\"," C "{},\"progressToken\":1.5}}", -32602,
		       "progressToken must be a string or an integer");
	assert_refused("{\"_meta\":{" V "\"2026-07-28\"," C "{},\"progressToken\":null}}", -32602,
		       "progressToken");
	/* which of two counts would depend on the reader */
	assert_refused("{\"_meta\":{" V "\"2026-07-28\"," V "\"x\"," C "{}}}", -32602, "_meta");
	assert_refused("{\"_meta\":{" V "\"2026-07-28\"," C "{}},\"_meta\":{}}", -32602, "params");
	v = admit_in(&none, "tools/list",
		     "{\"_meta\":{" V "\"2026-07-28\"," C "{\"roots\":{}}," I "{\"name\":\"n\"}," L
		     "\"error\",\"progressToken\":\"t\"}}");
	assert_int_equal(v.rc, CLEAT_OK);
	assert_ptr_equal(v.c.era, &era_modern);
	assert_int_equal(v.c.rev, REV_2026_07_28);
	assert_int_equal(v.c.log_level, CLEAT_LOG_ERROR);
	assert_string_equal(cleat_json_str(cleat_json_get(v.c.client_info, "name"), ""), "n");
	assert_true(era_client_can(&v.c, CLEAT_CLIENT_ROOTS));
	assert_string_equal(cleat_json_str(v.c.progress_token, ""), "t");
	v = admit_in(&none, "tools/list", "{\"_meta\":{" V "\"2026-07-28\"," C "{}}}");
	assert_int_equal(v.c.log_level, -1); /* no log messages unless asked for */
	assert_null(v.c.client_info);
	arena_done(&ar);
}

/* 2026-07-28 basic/versioning: -32022 tells what is spoken here. */
TEST(unknown_version_is_told_the_known_ones)
{
	static const char *const others[] = { "2025-11-25", "2027-01-01", "", "2026-07-28 " };
	struct legacy_session none = { 0 };
	char params[128], data[128];

	arena_init(&ar, NULL, 0);
	for (size_t i = 0; i < CLEAT_COUNT(others); i++) {
		struct verdict v;

		snprintf(params, sizeof params, "{\"_meta\":{" V "\"%s\"," C "{}}}", others[i]);
		v = admit_in(&none, "tools/list", params);
		assert_int_equal(v.rc, CLEAT_EPROTO);
		assert_int_equal(v.err.rpc_code, -32022);
		snprintf(data, sizeof data, "{\"supported\":[\"2026-07-28\"],\"requested\":\"%s\"}",
			 others[i]);
		assert_string_equal(v.data, data);
	}
	arena_done(&ar);
}

TEST(legacy_requests_are_checked)
{
	struct legacy_session open = { .open = true,
				       .rev = REV_2025_06_18,
				       .log_level = CLEAT_LOG_ALERT };
	struct legacy_session none = { 0 };
	struct verdict v;

	arena_init(&ar, NULL, 0);
	open.client_caps = parse("{\"sampling\":{}}");
	v = admit_in(&open, "tools/list", NULL);
	assert_int_equal(v.rc, CLEAT_OK);
	assert_ptr_equal(v.c.era, &era_legacy);
	assert_int_equal(v.c.rev, REV_2025_06_18);
	assert_int_equal(v.c.features, revision_features(REV_2025_06_18));
	assert_int_equal(v.c.log_level, CLEAT_LOG_ALERT);
	assert_true(era_client_can(&v.c, CLEAT_CLIENT_SAMPLING));
	v = admit_in(&open, "initialize", "{}");
	assert_int_equal(v.rc, CLEAT_EPROTO);
	assert_int_equal(v.err.rpc_code, -32600);
	assert_non_null(strstr(v.err.message, "2025-06-18"));
	v = admit_in(&open, "tools/list", "{\"_meta\":[]}");
	assert_int_equal(v.err.rpc_code, -32602);
	v = admit_in(&open, "tools/list", "{\"_meta\":{\"progressToken\":{}}}");
	assert_int_equal(v.err.rpc_code, -32602);
	v = admit_in(&open, "tools/list", "{\"a\":1,\"a\":2}");
	assert_int_equal(v.err.rpc_code, -32602);
	v = admit_in(&none, "ping", NULL);
	assert_int_equal(v.rc, CLEAT_OK);
	assert_int_equal(v.c.log_level, -1);
	v = admit_in(&none, "initialize", "{}");
	assert_int_equal(v.rc, CLEAT_OK);
	arena_done(&ar);
}

TEST(error_codes_by_era)
{
	assert_int_equal(era_legacy.not_found_code, -32002);
	assert_int_equal(era_modern.not_found_code, -32602);
	assert_int_equal(era_legacy.cancelled_code, -32800);
	assert_int_equal(era_legacy.too_large_code, -32801);
	/* 2026-07-28 basic/index knows neither: -32603 */
	assert_int_equal(era_modern.cancelled_code, -32603);
	assert_int_equal(era_modern.too_large_code, -32603);
	assert_true(era_modern.asks_by_result && !era_legacy.asks_by_result);
}

/* ---- capabilities --------------------------------------------------------------------------------- */

/* A letter for each: form, url, sampling, sampling with tools, roots. */
static void assert_can(enum revision rev, const char *caps, const char *want)
{
	struct context c = { .features = revision_features(rev),
			     .client_caps = caps ? parse(caps) : NULL };
	char got[6] = "-----";

	got[0] = era_client_can(&c, CLEAT_CLIENT_FORM) ? 'f' : '-';
	got[1] = era_client_can(&c, CLEAT_CLIENT_URL) ? 'u' : '-';
	got[2] = era_client_can(&c, CLEAT_CLIENT_SAMPLING) ? 's' : '-';
	got[3] = era_client_can(&c, CLEAT_CLIENT_SAMPLING_TOOLS) ? 't' : '-';
	got[4] = era_client_can(&c, CLEAT_CLIENT_ROOTS) ? 'r' : '-';
	if (strcmp(got, want) != 0)
		print_error("%s: %s\n", revision_name(rev), caps ? caps : "NULL");
	assert_string_equal(got, want);
}

TEST(capabilities_of_clients)
{
	static const char all[] =
		"{\"elicitation\":{\"form\":{},\"url\":{}},\"sampling\":{\"tools\":{}},"
		"\"roots\":{\"listChanged\":true}}";

	arena_init(&ar, NULL, 0);
	assert_can(REV_2025_11_25, NULL, "-----");
	assert_can(REV_2025_11_25, "{}", "-----");
	/* 2025-11-25 client/elicitation: an empty object means form mode only */
	assert_can(REV_2025_11_25, "{\"elicitation\":{}}", "f----");
	assert_can(REV_2025_11_25, "{\"elicitation\":{\"form\":{}}}", "f----");
	assert_can(REV_2025_11_25, "{\"elicitation\":{\"url\":{}}}", "-u---");
	assert_can(REV_2025_11_25, "{\"elicitation\":{\"form\":{},\"url\":{}}}", "fu---");
	assert_can(REV_2026_07_28, "{\"elicitation\":{}}", "f----");
	assert_can(REV_2026_07_28, "{\"elicitation\":{\"url\":{}}}", "-u---");
	/* not objects: not declared */
	assert_can(REV_2025_11_25, "{\"elicitation\":true,\"sampling\":true,\"roots\":[]}",
		   "-----");
	assert_can(REV_2025_11_25, "{\"elicitation\":null,\"sampling\":null,\"roots\":null}",
		   "-----");
	assert_can(REV_2025_11_25, "{\"sampling\":{}}", "--s--");
	assert_can(REV_2025_11_25, "{\"sampling\":{\"tools\":{}}}", "--st-");
	/* what the revision does not know is not asked, whatever the client says */
	assert_can(REV_2024_11_05, all, "--s-r");
	assert_can(REV_2025_03_26, all, "--s-r");
	assert_can(REV_2025_06_18, "{\"elicitation\":{}}", "f----");
	assert_can(REV_2025_06_18, all, "f-s-r");
	assert_can(REV_2025_11_25, all, "fustr");
	assert_can(REV_2026_07_28, all, "fustr");
	arena_done(&ar);
}

TEST(capabilities_have_json_and_names)
{
	static const enum cleat_client_capability all[] = { CLEAT_CLIENT_FORM, CLEAT_CLIENT_URL,
							    CLEAT_CLIENT_SAMPLING,
							    CLEAT_CLIENT_SAMPLING_TOOLS,
							    CLEAT_CLIENT_ROOTS };

	arena_init(&ar, NULL, 0);
	for (size_t i = 0; i < CLEAT_COUNT(all); i++) {
		/* who declares what is demanded can do it */
		struct context c = { .features = revision_features(REV_2026_07_28),
				     .client_caps = parse(era_capability_json(all[i])) };

		assert_true(era_client_can(&c, all[i]));
		assert_true(strlen(era_capability_name(all[i])) > 3);
	}
	arena_done(&ar);
}

/* ---- results ---------------------------------------------------------------------------------------- */

static void assert_result(const struct era *era, const struct result_facts *f, const char *want)
{
	struct buf b;
	struct jw w;

	buf_init(&b, NULL, 4096);
	jw_init(&w, &b);
	jw_obj(&w);
	era->result_head(&w, f);
	jw_kv_int(&w, "x", 1);
	era->result_tail(&w, f);
	jw_obj_end(&w);
	buf_putc(&b, '\0');
	assert_string_equal(buf_str(&b).p, want);
	buf_done(&b);
}

TEST(results_carry_what_their_era_says)
{
	struct result_facts f = { .cacheable = true,
				  .ttl_ms = 5,
				  .shared = true,
				  .server_info = STR_LIT("{\"name\":\"s\"}") };

	assert_result(&era_legacy, &f, "{\"x\":1}");
	assert_result(
		&era_modern, &f,
		"{\"resultType\":\"complete\",\"x\":1,\"ttlMs\":5,\"cacheScope\":\"public\",\"_meta\":{"
		"\"io.modelcontextprotocol/serverInfo\":{\"name\":\"s\"}}}");
	f = (struct result_facts){ .input_required = true, .meta = STR_LIT("{\"a\":1,\"b\":{}}") };
	assert_result(&era_legacy, &f, "{\"x\":1,\"_meta\":{\"a\":1,\"b\":{}}}");
	assert_result(&era_modern, &f,
		      "{\"resultType\":\"input_required\",\"x\":1,\"_meta\":{\"a\":1,\"b\":{}}}");
	f.server_info = STR_LIT("{}");
	assert_result(&era_modern, &f,
		      "{\"resultType\":\"input_required\",\"x\":1,\"_meta\":{"
		      "\"io.modelcontextprotocol/serverInfo\":{},\"a\":1,\"b\":{}}}");
	f = (struct result_facts){ .meta = STR_LIT("{}") };
	assert_result(&era_modern, &f, "{\"resultType\":\"complete\",\"x\":1,\"_meta\":{}}");
	arena_init(&ar, NULL, 0);
	f = (struct result_facts){ .subscription = parse("\"s\\n1\"") };
	assert_result(&era_modern, &f,
		      "{\"resultType\":\"complete\",\"x\":1,\"_meta\":{"
		      "\"io.modelcontextprotocol/subscriptionId\":\"s\\n1\"}}");
	arena_done(&ar);
}
