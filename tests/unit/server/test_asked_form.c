/* test_asked_form.c - elicitation/create as the client sees it: which forms and URLs may be asked with,
 * and what becomes of a handler's answer: defaults, checks, decline and cancel.
 */
#include "test.h"
#include "unit/server/test_asked.h"

/* What the handler does is in its userdata. */
struct answer {
	const char *json; /* NULL: cleat_reply_nothing() */
	int status;
	int calls;
};

static int answer(cleat_request *req)
{
	struct answer *a = cleat_request_userdata(req);
	cleat_error err;
	cleat_doc *doc;
	int rc;

	a->calls++;
	if (a->status)
		return a->status;
	if (!a->json)
		return cleat_reply_nothing(req);
	doc = cleat_doc_parse(json_of(a->json), strlen(a->json), NULL, NULL, &err);
	assert_non_null(doc);
	rc = cleat_reply_json(req, cleat_doc_root(doc));
	cleat_doc_free(doc);
	return rc;
}

static void start(struct bench *b, enum revision rev, struct answer *a)
{
	bench_start(b, rev,
		    &(struct server_asked){ .on_form = answer, .on_url = answer, .userdata = a });
}

static const char *ask_form(struct bench *b, const char *schema)
{
	char message[8192];

	snprintf(message, sizeof message,
		 REQUEST("1", "elicitation/create", "'message':'Please','requestedSchema':%s"),
		 schema);
	return bench_ask(b, message);
}

/* A form with these properties, none of them required. */
static const char *form_of(char *buf, size_t n, const char *properties)
{
	snprintf(buf, n, "{'type':'object','properties':{%s}}", properties);
	return buf;
}

/* ---- forms ---------------------------------------------------------------------------------- */

struct shape_case {
	const char *schema;
	const char *says; /* in the error */
	bool old_only;    /* fits from 2025-11-25 on */
};

/* 2025-11-25 client/elicitation, requested schema. */
TEST(a_form_that_cannot_be_shown_is_refused_with_the_place)
{
	static const struct shape_case table[] = {
		{ "null", "requestedSchema: a form must say", false },
		{ "[]", "requestedSchema: a form must say", false },
		{ "{}", "a form must say", false },
		{ "{'type':'object'}", "needs \\\"properties\\\"", false },
		{ "{'type':'string'}", "must say", false },
		{ "{'type':'object','properties':{'a':{}}}", "property \\\"a\\\"", false },
		{ "{'type':'object','properties':{'a':{'type':'object'}}}", "property \\\"a\\\"",
		  false },
		{ "{'type':'object','properties':{'a':{'type':'string','format':'hostname'}}}",
		  "property \\\"a\\\"", false },
		{ "{'type':'object','properties':{'a':{'type':'array','items':{'type':'string'}}}}",
		  "property \\\"a\\\"", false },
		{ "{'type':'object','properties':{'a':{'type':'array','items':{'type':'string',"
		  "'enum':['x']}}}}",
		  "no arrays in forms", true },
		{ "{'type':'object','properties':{'a':{'type':'integer','minimum':'1'}}}",
		  "/properties/a/minimum", false },
		{ "{'type':'object','properties':{},'required':'a'}", "/required", false },
		{ "{'type':'object','properties':{},'$ref':'#'}", "$ref", false },
		{ "{'type':'object','properties':{'a':{'type':'string'},'a':{'type':'string'}}}",
		  "-32602", false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++)
		for (enum revision rev = REV_2025_06_18; rev <= REV_2026_07_28; rev++) {
			struct answer a = { 0 };
			struct bench b;
			const char *got;

			start(&b, rev, &a);
			got = ask_form(&b, table[i].schema);
			if (table[i].old_only && rev > REV_2025_06_18) {
				assert_has(got, "accept");
			} else {
				assert_has(got, "'id':1,'error':{'code':-32602");
				assert_has(got, table[i].says);
				assert_int_equal(a.calls, 0);
			}
			bench_stop(&b);
		}
}

BENCH_TEST(a_form_needs_a_message)
{
	static const char *const questions[] = {
		REQUEST("1", "elicitation/create",
			"'requestedSchema':{'type':'object','properties':{}}"),
		REQUEST("1", "elicitation/create",
			"'message':5,'requestedSchema':{'type':'object','properties':{}}"),
		REQUEST("1", "elicitation/create", "'message':'no form'"),
	};
	struct answer a = { 0 };

	start(b, REV_2025_11_25, &a);
	for (size_t i = 0; i < CLEAT_COUNT(questions); i++)
		assert_has(bench_ask(b, questions[i]), "-32602");
	assert_int_equal(a.calls, 0);
}

/* ---- defaults ------------------------------------------------------------------------------- */

struct fill_case {
	const char *properties;
	const char *given;  /* NULL: nothing */
	const char *wanted; /* the content that is sent */
};

/* SEP-1034: every kind of field can have a default; what the user said comes first. */
static const struct fill_case fills[] = {
	{ "'s':{'type':'string','default':'John'}", NULL, "{'s':'John'}" },
	{ "'s':{'type':'string','default':'John'}", "{}", "{'s':'John'}" },
	{ "'s':{'type':'string','default':'John'}", "{'s':'Eve'}", "{'s':'Eve'}" },
	{ "'s':{'type':'string','default':'John'}", "{'s':''}", "{'s':''}" },
	{ "'i':{'type':'integer','default':30}", NULL, "{'i':30}" },
	{ "'i':{'type':'integer','default':30}", "{'i':0}", "{'i':0}" },
	{ "'n':{'type':'number','default':95}", NULL, "{'n':95}" },
	{ "'b':{'type':'boolean','default':true}", NULL, "{'b':true}" },
	{ "'b':{'type':'boolean','default':true}", "{'b':false}", "{'b':false}" },
	{ "'b':{'type':'boolean','default':false}", NULL, "{'b':false}" },
	{ "'e':{'type':'string','enum':['a','b'],'default':'b'}", NULL, "{'e':'b'}" },
	{ "'e':{'type':'string','enum':['a','b'],'enumNames':['A','B'],'default':'a'}", NULL,
	  "{'e':'a'}" },
	/* no default: nothing is made up */
	{ "'s':{'type':'string'}", NULL, "{}" },
	{ "'s':{'type':'string'},'i':{'type':'integer','default':3}", "{'s':'x'}",
	  "{'s':'x','i':3}" },
	/* a default that its own field would not take is not a default */
	{ "'s':{'type':'string','minLength':1,'default':''}", NULL, "{}" },
	{ "'s':{'type':'string','default':null}", NULL, "{}" },
	{ "'i':{'type':'integer','default':1.5}", NULL, "{}" },
	{ "'i':{'type':'integer','maximum':3,'default':4}", NULL, "{}" },
	{ "'e':{'type':'string','enum':['a'],'default':'z'}", NULL, "{}" },
	{ "'m':{'type':'string','format':'email','default':'none'}", NULL, "{}" },
	{ "'m':{'type':'string','format':'email','default':'a@b.example'}", NULL,
	  "{'m':'a@b.example'}" },
	/* keys are any text */
	{ "'a/b~c':{'type':'integer','default':1},'':{'type':'integer','default':2}", NULL,
	  "{'a/b~c':1,'':2}" },
};

/* These have their place from 2025-11-25 on. */
static const struct fill_case later_fills[] = {
	{ "'t':{'type':'string','oneOf':[{'const':'r','title':'Red'},{'const':'g','title':"
	  "'Green'}],'default':'g'}",
	  NULL, "{'t':'g'}" },
	{ "'l':{'type':'array','items':{'type':'string','enum':['a','b','c']},'default':['a','c']}",
	  NULL, "{'l':['a','c']}" },
	{ "'l':{'type':'array','items':{'type':'string','enum':['a','b','c']},'default':['a','c']}",
	  "{'l':[]}", "{'l':[]}" },
	{ "'l':{'type':'array','items':{'anyOf':[{'const':'a','title':'A'}]},'default':['a']}",
	  NULL, "{'l':['a']}" },
	{ "'l':{'type':'array','minItems':1,'items':{'type':'string','enum':['a']},'default':[]}",
	  NULL, "{}" },
};

static void check_fill(enum revision rev, const struct fill_case *c)
{
	char schema[2048], wanted[512];
	struct answer a = { .json = c->given };
	struct bench b;
	const char *got;

	start(&b, rev, &a);
	got = ask_form(&b, form_of(schema, sizeof schema, c->properties));
	snprintf(wanted, sizeof wanted,
		 "{'jsonrpc':'2.0','id':1,'result':{'action':'accept','content':%s}}\n", c->wanted);
	assert_string_equal(got, json_of(wanted));
	assert_published(rev, "ElicitResult", got);
	bench_stop(&b);
}

TEST(what_was_left_out_gets_its_default)
{
	for (enum revision rev = REV_2025_06_18; rev <= REV_2026_07_28; rev++)
		for (size_t i = 0; i < CLEAT_COUNT(fills); i++)
			check_fill(rev, &fills[i]);
	for (enum revision rev = REV_2025_11_25; rev <= REV_2026_07_28; rev++)
		for (size_t i = 0; i < CLEAT_COUNT(later_fills); i++)
			check_fill(rev, &later_fills[i]);
}

/* Numbers keep what the user, or the server, wrote. */
BENCH_TEST(numbers_are_not_rounded)
{
	struct answer a = { .json = "{'x':0.10000000000000000001}" };

	start(b, REV_2025_11_25, &a);
	assert_has(
		ask_form(
			b,
			"{'type':'object','properties':{'x':{'type':'number'},'y':{'type':'number',"
			"'default':95.50}}}"),
		"{'x':0.10000000000000000001,'y':95.50}");
}

/* ---- answers that do not fit ---------------------------------------------------------------- */

struct misfit_case {
	const char *schema, *given;
	const char *field; /* that the server is told; NULL: none */
	const char *note;
};

#define ONE(type)      "{'type':'object','properties':{'f':{" type "}}}"
#define REQUIRED(type) "{'type':'object','properties':{'f':{" type "}},'required':['f']}"

/* 2025-11-25 client/elicitation, security: clients SHOULD validate all responses against the schema. */
TEST(an_answer_that_does_not_fit_is_not_sent)
{
	static const struct misfit_case table[] = {
		{ ONE("'type':'string'"), "{'f':5}", "f", "expected" },
		{ ONE("'type':'string'"), "{'f':null}", "f", "expected" },
		{ ONE("'type':'string','minLength':3"), "{'f':'ab'}", "f", "f:" },
		{ ONE("'type':'string','format':'email'"), "{'f':'secret'}", "f", "secret" },
		{ ONE("'type':'string','format':'date'"), "{'f':'2026-02-30'}", "f", "f:" },
		{ ONE("'type':'string','enum':['a']"), "{'f':'b'}", "f", "f:" },
		{ ONE("'type':'integer'"), "{'f':1.5}", "f", "f:" },
		{ ONE("'type':'integer','maximum':3"), "{'f':4}", "f", "f:" },
		{ ONE("'type':'boolean'"), "{'f':'true'}", "f", "f:" },
		{ REQUIRED("'type':'string'"), "{}", "f", "missing" },
		{ REQUIRED("'type':'string'"), NULL, "f", "missing" },
		/* a default that is none does not help */
		{ REQUIRED("'type':'string','minLength':1,'default':''"), NULL, "f", "missing" },
		{ ONE("'type':'string'"), "{'g':'x'}", "g", "does not have" },
		{ ONE("'type':'string'"), "{'f':'x','g':{}}", "g", "does not have" },
		/* the first of several */
		{ "{'type':'object','properties':{'f':{'type':'string'},'g':{'type':'string'}}}",
		  "{'f':2,'g':1}", "f", "f: expected" },
		{ ONE("'type':'string'"), "[]", NULL, "not an object" },
		{ ONE("'type':'string'"), "'f'", NULL, "not an object" },
		{ "{'type':'object','properties':{'f':{'type':'string'}},'minProperties':1}", "{}",
		  NULL, "" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct answer a = { .json = table[i].given };
		char told[64];
		struct bench b;
		const char *got;

		start(&b, REV_2025_11_25, &a);
		got = ask_form(&b, table[i].schema);
		assert_has(got, "'id':1,'error':{'code':-32603");
		assert_lacks(got, "secret"); /* what the user typed is in the log only */
		snprintf(told, sizeof told, "field \\\"%s\\\"",
			 table[i].field ? table[i].field : "");
		if (table[i].field)
			assert_has(got, told);
		else
			assert_lacks(got, "field");
		assert_has(b.notes, "the answer to elicitation/create cannot be sent");
		assert_has(b.notes, table[i].note);
		bench_stop(&b);
	}
}

/* ---- no ------------------------------------------------------------------------------------- */

struct status_case {
	int status;
	const char *answer;
};

static const struct status_case outcomes[] = {
	{ CLEAT_EDECLINED, "{'jsonrpc':'2.0','id':1,'result':{'action':'decline'}}\n" },
	{ CLEAT_ECANCELLED, "{'jsonrpc':'2.0','id':1,'result':{'action':'cancel'}}\n" },
	{ CLEAT_EIO, "-32603" },
	{ CLEAT_ENOMEM, "-32603" },
	{ CLEAT_EUNSUPPORTED, "-32603" },
	{ CLEAT_PENDING, "-32603" },
};

#define ASK_URL(url)                                                                               \
	REQUEST("1", "elicitation/create", "'mode':'url','message':'Go','url':'" url "'")

/* 2025-11-25 client/elicitation, response actions. */
TEST(the_users_no_is_said_and_failures_are_errors)
{
	for (size_t i = 0; i < CLEAT_COUNT(outcomes); i++)
		for (enum revision rev = REV_2025_11_25; rev <= REV_2026_07_28; rev++)
			for (int url = 0; url < 2; url++) {
				struct answer a = { .status = outcomes[i].status };
				struct bench b;
				const char *got;

				start(&b, rev, &a);
				got = url ? bench_ask(&b, ASK_URL("https://h/"))
					  : ask_form(&b, REQUIRED("'type':'string'"));
				assert_has(got, outcomes[i].answer);
				if (i < 2) {
					assert_string_equal(got, json_of(outcomes[i].answer));
					assert_published(rev, "ElicitResult", got);
					assert_string_equal(b.notes, "");
				}
				bench_stop(&b);
			}
}

/* ---- URLs ----------------------------------------------------------------------------------- */

TEST(only_web_addresses_are_shown_to_the_user)
{
	static const struct {
		const char *question;
		bool ok;
	} table[] = {
		{ ASK_URL("https://mcp.example.com/ui/set_api_key"), true },
		{ ASK_URL("http://localhost:8080/x?y=1#z"), true },
		{ ASK_URL("HTTPS://h"), true },
		{ ASK_URL("https://[::1]/"), true },
		{ ASK_URL("javascript:alert(1)"), false },
		{ ASK_URL("file:///etc/passwd"), false },
		{ ASK_URL("data:text/html,x"), false },
		{ ASK_URL("httpsx://h/"), false },
		{ ASK_URL("https:///no-host"), false },
		{ ASK_URL("https:h"), false },
		{ ASK_URL("//h/relative"), false },
		{ ASK_URL("/relative"), false },
		{ ASK_URL(""), false },
		{ ASK_URL("https://h/a b"), false },
		{ ASK_URL("https://h/\\n"), false },
		{ ASK_URL("https://h/\\u0000"), false },
		{ ASK_URL("https://h/\xc3\xa9"), false },
		{ REQUEST("1", "elicitation/create", "'mode':'url','message':'Go'"), false },
		{ REQUEST("1", "elicitation/create", "'mode':'url','url':'https://h/'"), false },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++)
		for (enum revision rev = REV_2025_11_25; rev <= REV_2026_07_28; rev++) {
			struct answer a = { 0 };
			struct bench b;

			start(&b, rev, &a);
			assert_has(bench_ask(&b, table[i].question),
				   table[i].ok ? "{'action':'accept'}}" : "-32602");
			assert_int_equal(a.calls, table[i].ok);
			bench_stop(&b);
		}
}

/* ---- replies that have no place here -------------------------------------------------------- */

static int ok(cleat_request *req)
{
	(void)req;
	return CLEAT_OK;
}

static int text(cleat_request *req)
{
	return cleat_reply_text(req, "x");
}

static int image(cleat_request *req)
{
	return cleat_reply_image(req, NULL, "x", 1);
}

static int resource(cleat_request *req)
{
	return cleat_reply_resource_text(req, "a:b", NULL, "x");
}

static int link(cleat_request *req)
{
	return cleat_reply_link(req, "a:b", NULL, NULL, NULL);
}

static int suggest(cleat_request *req)
{
	return cleat_reply_suggest(req, "x");
}

static int record(cleat_request *req)
{
	int n = 5;

	assert_int_equal(cleat_reply_record(req, &n), CLEAT_EMISUSE);
	return CLEAT_OK;
}

static int model(cleat_request *req)
{
	assert_int_equal(cleat_reply_model(req, "x"), CLEAT_EMISUSE);
	return CLEAT_OK;
}

static int error(cleat_request *req)
{
	return cleat_reply_error(req, "no hands: %d", 5);
}

static int reject(cleat_request *req)
{
	cleat_reply_jsonf(req, "{f: 1}");
	return cleat_reply_reject_data(req, -5, "{\"why\":1}", "never");
}

static int bad_template(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{f: }");
}

static int json(cleat_request *req)
{
	return cleat_reply_jsonf(req, "{f: %s}", "x");
}

TEST(other_replies_are_errors)
{
	static const struct {
		cleat_handler *handler;
		const char *form, *url; /* in the answers */
	} table[] = {
		{ ok, "-32603", "{'action':'accept'}" },
		{ text, "use cleat_reply_jsonf", "use cleat_reply_nothing" },
		{ image, "use cleat_reply_jsonf", "use cleat_reply_nothing" },
		{ resource, "use cleat_reply_jsonf", "use cleat_reply_nothing" },
		{ link, "cannot reply with a link", "cannot reply with a link" },
		{ suggest, "cannot reply with a suggestion", "cannot reply with a suggestion" },
		{ record, "use cleat_reply_jsonf", "-32603" },
		{ model, "cannot reply with a model", "cannot reply with a model" },
		{ error, "{'code':-32603,'message':'no hands: 5'}", "no hands: 5" },
		{ reject, "{'code':-5,'message':'never','data':{'why':1}}", "-5" },
		{ bad_template, "-32603", "-32603" },
		{ json, "'content':{'f':'x'}", "-32603" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		const struct server_asked who = { .on_form = table[i].handler,
						  .on_url = table[i].handler };
		struct bench b;

		bench_start(&b, REV_2025_11_25, &who);
		assert_has(ask_form(&b, ONE("'type':'string'")), table[i].form);
		assert_has(bench_ask(&b, ASK_URL("https://h/")), table[i].url);
		bench_stop(&b);
	}
}

static int with_meta(cleat_request *req)
{
	cleat_reply_meta(req, "{\"m\": 1}");
	return cleat_reply_nothing(req);
}

BENCH_TEST(an_answer_can_have_meta)
{
	bench_start(b, REV_2025_11_25, &(struct server_asked){ .on_form = with_meta });
	assert_has(ask_form(b, "{'type':'object','properties':{}}"),
		   "{'action':'accept','content':{},'_meta':{'m':1}}");
}

/* Every default is checked by itself: a form as large as a message may be takes no longer for that. */
BENCH_TEST(a_large_form_is_filled_in)
{
	enum { N = 2000 };
	struct answer a = { 0 };
	struct buf m;

	start(b, REV_2025_11_25, &a);
	buf_init(&m, NULL, 1 << 20);
	buf_appendz(&m,
		    "{'jsonrpc':'2.0','id':1,'method':'elicitation/create','params':{'message':'',"
		    "'requestedSchema':{'type':'object','properties':{");
	for (int i = 0; i < N; i++)
		buf_printf(&m, "%s'f%d':{'type':'integer','default':%d}", i ? "," : "", i, i);
	buf_appendz(&m, "}}}}");
	buf_putc(&m, '\0');
	assert_has(bench_ask(b, buf_str(&m).p), "'f1999':1999}");
	buf_done(&m);
}
