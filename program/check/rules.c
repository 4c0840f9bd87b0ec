/* program/check/rules.c - which rules there are, which are wanted, and how a finding is told. */
#include "check/check.h"
#include "text/nearest.h"
#include "text/print.h"

#include <string.h>

/* At most 64: see struct check. */
const struct check_rule check_rules[] = {
	{ "protocol", "every message of the server is as the protocol says",
	  "cleat validate tells more; the SDK of the server may be old or wrong" },
	{ "list", "every list that a capability promises is there and ends",
	  "answer the list, or do not declare the capability" },
	{ "capability", "what works is declared", "declare the capability, or answer -32601" },
	{ "order", "a list is the same when it is asked for again",
	  "list in a fixed order: clients and models cache it" },
	{ "name", "names are 1 to 128 of A-Z a-z 0-9 _ - . (64 for many clients)", "rename it" },
	{ "duplicate", "no name, URI or argument appears twice", "rename or remove one of them" },
	{ "lookalike", "no two names that are easily confused",
	  "give them names that say what the difference is" },
	{ "description", "descriptions are there and say something",
	  "say in a sentence or two what it does and when to use it" },
	{ "argument-description", "arguments are described",
	  "say what each argument means and what form it takes" },
	{ "hidden-text", "no invisible or control characters in texts that a model reads",
	  "remove the characters; they look like an attempt to hide instructions" },
	{ "schema", "schemas are valid JSON Schema of a type that is allowed",
	  "correct the schema" },
	{ "schema-reference", "schemas need nothing from the network",
	  "put the schema into $defs and refer to #/$defs/..." },
	{ "schema-portable", "schemas that other clients and models understand",
	  "describe the arguments by type, properties and required at the top" },
	{ "schema-closed", "schemas say whether other members are allowed",
	  "add \"additionalProperties\": false where unknown arguments are mistakes" },
	{ "annotations", "hints do not contradict each other or the name",
	  "set readOnlyHint, destructiveHint and idempotentHint as the tool really is" },
	{ "uri", "URIs and URI templates are well-formed",
	  "give a URI with a scheme: file:///a/b" },
	{ "unknown-method", "an unknown method is answered with -32601",
	  "answer -32601 to what is not known" },
	{ "unknown-tool", "an unknown tool is answered with -32602",
	  "answer with the JSON-RPC error -32602 when there is no such tool" },
	{ "unknown-resource", "an unknown resource is an error",
	  "answer -32602 (up to 2025-11-25: -32002) when there is no such resource" },
	{ "unknown-prompt", "an unknown prompt is answered with -32602",
	  "answer -32602 when there is no such prompt" },
	{ "arguments",
	  "arguments that do not fit the schema are refused (tools with readOnlyHint only)",
	  "check arguments by the schema before the tool runs" },
	{ "output", "results fit outputSchema (tools with readOnlyHint and no required arguments)",
	  "return structuredContent that fits, or correct outputSchema" },
	{ "read", "resources that are listed can be read", "list only what can be read" },
	{ "prompt", "prompts without required arguments work without any; others refuse",
	  "check the arguments by what the list says about them" },
	{ 0 },
};

static bool is_rule(const char *id, struct words *all)
{
	bool found = false;

	for (const struct check_rule *r = check_rules; r->id; r++) {
		words_add(all, r->id);
		found = found || strcmp(r->id, id) == 0;
	}
	return found;
}

int check_choose(struct cli *cli)
{
	static const char *const options[] = { "rule", "skip" };

	for (size_t i = 0; i < CLEAT_COUNT(options); i++) {
		const char *id;

		for (size_t k = 0; (id = cli_option_at(cli, options[i], k)) != NULL; k++) {
			struct words all = { 0 };
			const char *near;

			if (is_rule(id, &all))
				continue;
			near = nearest(id, all.at, all.n);
			return cli_usage(
				cli,
				"there is no rule \"%s\"%s%s%s (cleat check --rules lists them)",
				id, near ? ", did you mean \"" : "", near ? near : "",
				near ? "\"?" : "");
		}
	}
	return EXIT_GOOD;
}

static bool among(const struct cli *cli, const char *option, const char *rule)
{
	const char *id;

	for (size_t i = 0; (id = cli_option_at(cli, option, i)) != NULL; i++)
		if (strcmp(id, rule) == 0)
			return true;
	return false;
}

bool check_wanted(const struct check *c, const char *rule)
{
	return (!cli_option(c->cli, "rule") || among(c->cli, "rule", rule)) &&
	       !among(c->cli, "skip", rule);
}

static size_t rule_index(const char *rule)
{
	size_t i = 0;

	while (strcmp(check_rules[i].id, rule) != 0)
		i++;
	return i;
}

static void print_finding(struct check *c, enum check_severity severity, const char *rule,
			  const char *where, const char *text)
{
	static const char *const words[] = { "error", "warning", "note" };
	static const char *const colors[] = { COLOR_BAD, COLOR_NUMBER, COLOR_DIM };
	size_t i = rule_index(rule);

	fprintf(c->to, "%s%-8s%s", c->cli->color ? colors[severity] : "", words[severity],
		c->cli->color ? COLOR_OFF : "");
	print_line(c->to, where);
	fputs(": ", c->to);
	print_line(c->to, text);
	fprintf(c->to, " [%s]\n", rule);
	/* What to do is said once. */
	if (!(c->told & UINT64_C(1) << i))
		fprintf(c->to, "        fix: %s\n", check_rules[i].fix);
	c->told |= UINT64_C(1) << i;
}

void check_report(struct check *c, enum check_severity severity, const char *rule,
		  const char *where, const char *fmt, ...)
{
	static const char *const words[] = { "error", "warning", "note" };
	const char *fix = check_rules[rule_index(rule)].fix;
	bool machine = c->cli->json || cli_option(c->cli, "jq");
	va_list ap;
	char *text;

	if (!check_wanted(c, rule) || (severity == CHECK_NOTE && !c->cli->verbose && !machine))
		return;
	va_start(ap, fmt);
	text = keep(must_vprintf(fmt, ap));
	va_end(ap);
	c->found[severity]++;
	cleat_build_valuef(c->findings, NULL,
			   "{severity: %s, rule: %s, where: %s, text: %s, fix: %s}",
			   words[severity], rule, where, text, fix);
	if (!machine)
		print_finding(c, severity, rule, where, text);
}
