/* program/terminal/jq.c - jq expressions through libjq, which is opened when it is first needed (Debian: libjq1).
 *
 * libjq has no soname but libjq.so.1 since 1.5, and its values are passed as structs of 16 bytes, whose
 * inside is nobody's business here. Numbers become doubles in jq before 1.7.
 */
#include "terminal/jq.h"

#include "terminal/output.h"
#include "text/print.h"
#include "text/text.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
	unsigned char kind_flags, pad_;
	unsigned short offset;
	int size;
	union {
		void *ptr;
		double number;
	} u;
} jv; /* as in jv.h of libjq */

enum { JV_KIND_INVALID = 0, JV_KIND_STRING = 5 };

typedef struct jq_state jq_state;
typedef void jq_error_cb(void *ctx, jv message);

static struct {
	void *library;
	jq_state *(*init)(void);
	void (*teardown)(jq_state **jq);
	int (*compile)(jq_state *jq, const char *program);
	void (*set_error_cb)(jq_state *jq, jq_error_cb *cb, void *ctx);
	void (*start)(jq_state *jq, jv value, int flags);
	jv (*next)(jq_state *jq);
	jv (*parse)(const char *text, int length);
	jv (*copy)(jv v);
	void (*free)(jv v);
	int (*kind)(jv v);
	const char *(*string_value)(jv v);
	int (*string_length)(jv v);
	int (*has_message)(jv v);
	jv (*get_message)(jv v);
	jv (*dump)(jv v, int flags);
	void (*set_attr)(jq_state *jq, jv name, jv value);
	jv (*string)(const char *text);
	jv (*array)(void);
	/* Since 1.6; NULL before. */
	int (*halted)(jq_state *jq);
	jv (*exit_code)(jq_state *jq);
	jv (*error_message)(jq_state *jq);
} lib;

static bool jq_load(const char *name, void *function)
{
	void *found = dlsym(lib.library, name);

	memcpy(function, &found, sizeof found);
	return found != NULL;
}

bool jq_present(void)
{
	if (lib.library)
		return lib.init != NULL;
	lib.library = dlopen("libjq.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!lib.library)
		return false;
	if (jq_load("jq_teardown", &lib.teardown) && jq_load("jq_compile", &lib.compile) &&
	    jq_load("jq_set_error_cb", &lib.set_error_cb) && jq_load("jq_start", &lib.start) &&
	    jq_load("jq_next", &lib.next) && jq_load("jv_parse_sized", &lib.parse) &&
	    jq_load("jv_copy", &lib.copy) && jq_load("jv_free", &lib.free) &&
	    jq_load("jv_get_kind", &lib.kind) && jq_load("jv_string_value", &lib.string_value) &&
	    jq_load("jv_string_length_bytes", &lib.string_length) &&
	    jq_load("jv_invalid_has_msg", &lib.has_message) &&
	    jq_load("jv_invalid_get_msg", &lib.get_message) &&
	    jq_load("jv_dump_string", &lib.dump) && jq_load("jq_set_attr", &lib.set_attr) &&
	    jq_load("jv_string", &lib.string) && jq_load("jv_array", &lib.array))
		jq_load("jq_init", &lib.init);
	if (!jq_load("jq_get_exit_code", &lib.exit_code) ||
	    !jq_load("jq_get_error_message", &lib.error_message) ||
	    !jq_load("jq_halted", &lib.halted))
		lib.halted = NULL;
	return lib.init != NULL;
}

/* libjq reports a mistake in several calls; the first says what is wrong. */
static void on_error(void *ctx, jv message)
{
	char **first = ctx;

	if (!*first && lib.kind(message) == JV_KIND_STRING) {
		const char *text = lib.string_value(message);

		if (strncmp(text, "jq: ", 4) == 0)
			text += 4;
		if (strncmp(text, "error: ", 7) == 0)
			text += 7;
		*first = keepf("%.*s", (int)strcspn(text, "\n"), text);
	}
	lib.free(message);
}

static jq_state *compile(struct cli *cli, const char *expression, char **why, int *ret_code)
{
	jq_state *jq;

	if (!jq_present()) {
		*ret_code =
			cli_error(cli, EXIT_OTHER,
				  "--jq needs libjq, which is not installed (Debian and Ubuntu: "
				  "apt install libjq1); --json prints everything");
		return NULL;
	}
	jq = lib.init();
	if (!jq) {
		*ret_code = cli_error(cli, EXIT_OTHER, "libjq cannot be started");
		return NULL;
	}
	lib.set_error_cb(jq, on_error, why);
	/* Modules are looked for nowhere; without a list libjq would abort. */
	lib.set_attr(jq, lib.string("JQ_LIBRARY_PATH"), lib.array());
	if (lib.compile(jq, expression))
		return jq;
	lib.teardown(&jq);
	*ret_code =
		cli_error(cli, EXIT_USAGE, "--jq: %s", *why ? *why : "this is not a jq expression");
	return NULL;
}

int jq_check(struct cli *cli)
{
	const char *expression = cli_option(cli, "jq");
	int code = EXIT_GOOD;
	char *why = NULL;
	jq_state *jq;

	if (!expression)
		return EXIT_GOOD;
	jq = compile(cli, expression, &why, &code);
	if (jq)
		lib.teardown(&jq);
	return code;
}

static void print_value(FILE *to, jv v)
{
	jv text = lib.kind(v) == JV_KIND_STRING ? v : lib.dump(v, 0);

	print_content(to, lib.string_value(text), (size_t)lib.string_length(lib.copy(text)));
	fputc('\n', to);
	lib.free(text);
}

/* A text for people of any value; takes the value. */
static int complain(struct cli *cli, jv message)
{
	int code;

	if (lib.kind(message) != JV_KIND_STRING)
		message = lib.dump(message, 0);
	cli_out_drop(cli);
	code = cli_error(cli, EXIT_OTHER, "--jq: %s", lib.string_value(message));
	lib.free(message);
	return code;
}

/* halt and halt_error: with a code, the second with a message. */
static int halted(struct cli *cli, jq_state *jq)
{
	jv code = lib.exit_code(jq), message = lib.error_message(jq);
	bool bad = lib.kind(code) != JV_KIND_INVALID;

	lib.free(code);
	if (lib.kind(message) != JV_KIND_INVALID)
		return complain(cli, message);
	lib.free(message);
	return bad ? EXIT_OTHER : EXIT_GOOD;
}

/* The end of the results, or a mistake that was made while running. */
static int jq_finish(struct cli *cli, jq_state *jq, jv last)
{
	int code = EXIT_GOOD;

	if (lib.halted && lib.halted(jq))
		code = halted(cli, jq);
	else if (lib.has_message(lib.copy(last)))
		code = complain(cli, lib.get_message(lib.copy(last)));
	lib.free(last);
	return code;
}

int jq_print(struct cli *cli, const char *expression, const cleat_json *v)
{
	int code = EXIT_OTHER;
	char *why = NULL, *text;
	jq_state *jq = compile(cli, expression, &why, &code);
	FILE *to = jq ? cli_out(cli) : NULL;
	size_t n;
	jv next;

	if (!to) {
		if (jq)
			lib.teardown(&jq);
		return code;
	}
	text = cleat_json_print(v, &n);
	if (!text || n > INT32_MAX) {
		free(text);
		lib.teardown(&jq);
		return cli_error(cli, EXIT_OTHER, "the result is too large for jq");
	}
	next = lib.parse(text, (int)n);
	free(text);
	if (lib.kind(next) == JV_KIND_INVALID) { /* deeper than it likes */
		code = jq_finish(cli, jq, next);
		lib.teardown(&jq);
		return code ? code : cli_error(cli, EXIT_OTHER, "--jq cannot read the result");
	}
	lib.start(jq, next, 0);
	for (next = lib.next(jq); lib.kind(next) != JV_KIND_INVALID; next = lib.next(jq))
		print_value(to, next);
	code = jq_finish(cli, jq, next);
	lib.teardown(&jq);
	return code;
}
