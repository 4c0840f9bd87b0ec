/* program/terminal/terminal.c - questions to whoever sits at the terminal.
 *
 * Lines are read with poll(), so that Ctrl-C and the end of the request end a question, too.
 */
#include "terminal/terminal.h"

#include "cli/arguments.h"
#include "terminal/await.h"
#include "text/print.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_SIZE = 4096 };

struct terminal {
	int in;
	FILE *out;
	bool own; /* in was opened here */
	cleat_request *req;
	char line[LINE_SIZE];
};

struct terminal *terminal_open(void)
{
	struct terminal *t;
	int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (fd >= 0 && !out)
		close(fd);
	if (!out && !(isatty(STDIN_FILENO) && isatty(STDERR_FILENO)))
		return NULL;
	t = must_alloc(sizeof *t);
	*t = (struct terminal){ .in = out ? fd : STDIN_FILENO,
				.out = out ? out : stderr,
				.own = out };
	return t;
}

void terminal_close(struct terminal *t)
{
	if (t && t->own)
		fclose(t->out);
	free(t);
}

void terminal_begin(struct terminal *t, cleat_request *req)
{
	t->req = req;
}

/* A line without its end. False: end of input, Ctrl-C, or the request is over. */
static bool read_line(struct terminal *t)
{
	struct pollfd fds[] = { { .fd = t->in, .events = POLLIN },
				{ .fd = cli_interrupt_fd(), .events = POLLIN },
				{ .fd = cleat_request_cancel_fd(t->req), .events = POLLIN } };
	ssize_t n;

	fflush(t->out);
	while (poll(fds, 3, -1) < 0)
		if (cli_interrupted())
			return false;
	if (fds[1].revents || fds[2].revents || cleat_request_cancelled(t->req))
		return false;
	n = read(t->in, t->line, LINE_SIZE - 1);
	if (n <= 0)
		return false;
	t->line[n] = '\0';
	t->line[strcspn(t->line, "\r\n")] = '\0';
	return true;
}

static void ask_title(struct terminal *t, const char *what, const char *message)
{
	fprintf(t->out, "%s\n", what);
	print_safe(t->out, message, strlen(message));
	fputc('\n', t->out);
}

/* Yes or no; an empty line is `fallback`. */
static int confirm(struct terminal *t, const char *question, bool fallback)
{
	for (;;) {
		fprintf(t->out, "%s [%s] ", question, fallback ? "Y/n" : "y/N");
		if (!read_line(t))
			return CLEAT_ECANCELLED;
		if (!t->line[0])
			return fallback ? CLEAT_OK : CLEAT_EDECLINED;
		if (strchr("yY", t->line[0]))
			return CLEAT_OK;
		if (strchr("nN", t->line[0]))
			return CLEAT_EDECLINED;
	}
}

/* ---- forms --------------------------------------------------------------------------------------- */

static const cleat_json *choices_of(const cleat_json *field, bool *titled)
{
	const cleat_json *items = cleat_json_get(field, "items");
	const cleat_json *from = items ? items : field, *list = cleat_json_get(from, "enum");

	*titled = !list;
	if (!list)
		list = cleat_json_get(from, "oneOf");
	return list ? list : cleat_json_get(from, "anyOf");
}

static const char *choice_value(const cleat_json *choice, bool titled)
{
	return cleat_json_str(titled ? cleat_json_get(choice, "const") : choice, "");
}

static void print_choices(struct terminal *t, const cleat_json *field)
{
	const cleat_json *names = cleat_json_get(field, "enumNames");
	bool titled;
	cleat_json_iter it = cleat_json_each(choices_of(field, &titled));

	while (cleat_json_next(&it)) {
		const char *value = choice_value(it.value, titled);
		const char *title =
			titled ? cleat_json_str(cleat_json_get(it.value, "title"), value)
			       : cleat_json_str(cleat_json_at(names, it.index), value);

		fprintf(t->out, "    %zu  ", it.index + 1);
		print_line(t->out, title);
		fputc('\n', t->out);
	}
}

/* A number from the list of choices to its value. */
static const char *chosen(const cleat_json *field, const char *word)
{
	bool titled;
	const cleat_json *list = choices_of(field, &titled);
	char *end;
	unsigned long i = strtoul(word, &end, 10);

	if (!list || *end || !*word || !i || i > cleat_json_size(list))
		return word;
	return choice_value(cleat_json_at(list, i - 1), titled);
}

/* Words to the elements of an array. */
static cleat_doc *list_value(const cleat_json *field, char *line, const char **why)
{
	cleat_build *b = cleat_build_new(NULL);
	char *rest = NULL;

	cleat_build_array(b, NULL);
	for (char *w = strtok_r(line, ", ", &rest); w; w = strtok_r(NULL, ", ", &rest)) {
		const char *word = chosen(field, w);
		cleat_doc *doc = argument_value(field, cleat_json_get(field, "items"), word,
						strlen(word), why);

		if (!doc) {
			cleat_build_free(b);
			return NULL;
		}
		cleat_build_value(b, NULL, cleat_doc_root(doc));
		cleat_doc_free(doc);
	}
	cleat_build_end(b);
	return cleat_build_finish(b, NULL);
}

static cleat_doc *field_value(const cleat_json *field, char *line, const char **why)
{
	const char *type = cleat_json_str(cleat_json_get(field, "type"), "");
	const char *word;

	if (strcmp(type, "array") == 0)
		return list_value(field, line, why);
	word = chosen(field, line);
	if (strcmp(type, "boolean") == 0 && (strcmp(word, "y") == 0 || strcmp(word, "n") == 0))
		word = *word == 'y' ? "true" : "false";
	return argument_value(field, field, word, strlen(word), why);
}

/* Is it what the field's schema wants? Otherwise *why says it. */
static bool fits(const cleat_json *field, const cleat_json *value, const char **why)
{
	cleat_schema_options strict = { .assert_formats = true };
	cleat_schema *schema = cleat_schema_new(field, &strict, NULL);
	cleat_error err;
	bool good = !schema || cleat_schema_check(schema, value, &err) == CLEAT_OK;

	if (!good)
		*why = keepf("%s", err.message);
	cleat_schema_free(schema);
	return good;
}

static void print_field(struct terminal *t, const char *name, const cleat_json *field,
			bool required)
{
	const char *title = cleat_json_str(cleat_json_get(field, "title"), NULL);
	const char *about = cleat_json_str(cleat_json_get(field, "description"), NULL);
	char *fallback = cleat_json_print(cleat_json_get(field, "default"), NULL);
	bool titled;

	fputs("  ", t->out);
	print_line(t->out, title ? title : name);
	fputs(" (", t->out);
	print_line(t->out, choices_of(field, &titled) ? "choose" : argument_type(field));
	if (fallback) {
		fputs(", default ", t->out);
		print_line(t->out, fallback);
	} else {
		fputs(required ? ", required" : ", may be empty", t->out);
	}
	fputs(")", t->out);
	if (about) {
		fputs(": ", t->out);
		print_line(t->out, about);
	}
	fputs("\n", t->out);
	print_choices(t, field);
	free(fallback);
}

/* Asks until the answer fits, and adds it to the object. */
static int ask_field(struct terminal *t, const char *name, const cleat_json *field, bool required,
		     cleat_build *object)
{
	const cleat_json *fallback = cleat_json_get(field, "default");
	const char *unfit;
	bool usable = fallback && fits(field, fallback, &unfit), optional = !required || usable;

	print_field(t, name, field, required);
	for (;;) {
		const char *why = "out of memory";
		cleat_doc *value;
		bool good;

		fputs("  > ", t->out);
		if (!read_line(t))
			return CLEAT_ECANCELLED;
		/* What is left out is sent with its default, so that it is shown with it. */
		if (!t->line[0] && usable)
			cleat_build_value(object, name, fallback);
		if (!t->line[0] && optional)
			return CLEAT_OK;
		value = field_value(field, t->line, &why);
		good = value && fits(field, cleat_doc_root(value), &why);
		if (good)
			cleat_build_value(object, name, cleat_doc_root(value));
		cleat_doc_free(value);
		if (good)
			return CLEAT_OK;
		fputs("    ", t->out);
		print_line(t->out, why);
		fputs("\n", t->out);
	}
}

/* Asks for what is not given, one after the other. */
static int ask_fields(struct terminal *t, const cleat_json *schema, const cleat_json *given,
		      cleat_build *object)
{
	cleat_json_iter it = cleat_json_each(given);
	int rc = CLEAT_OK;

	while (cleat_json_next(&it))
		cleat_build_value(object, cleat_json_str(it.key, ""), it.value);
	it = cleat_json_each(cleat_json_get(schema, "properties"));
	while (rc == CLEAT_OK && cleat_json_next(&it)) {
		const char *name = cleat_json_str(it.key, "");

		if (!cleat_json_get(given, name))
			rc = ask_field(t, name, it.value, argument_required(schema, name), object);
	}
	return rc;
}

static int confirm_form(struct terminal *t, const cleat_json *object)
{
	size_t n = 0;
	char *text = cleat_json_print(object, &n);

	fputs("  ", t->out);
	print_safe(t->out, text ? text : "", n);
	free(text);
	return confirm(t, "\nSend this answer?", true);
}

int terminal_form(struct terminal *t, const char *message, const cleat_json *schema,
		  const cleat_json *given, cleat_doc **ret)
{
	cleat_build *b = cleat_build_new(NULL);
	int rc;

	*ret = NULL;
	ask_title(t, "The server asks:", message);
	cleat_build_object(b, NULL);
	rc = ask_fields(t, schema, given, b);
	cleat_build_end(b);
	if (rc != CLEAT_OK) {
		cleat_build_free(b);
		return rc;
	}
	*ret = cleat_build_finish(b, NULL);
	/* nothing but yes or no: what is asked may be destructive */
	if (!cleat_json_size(cleat_json_get(schema, "properties")))
		return confirm(t, "Do you agree?", false);
	return confirm_form(t, cleat_doc_root(*ret));
}

int terminal_url(struct terminal *t, const char *message, const char *url)
{
	ask_title(t, "The server asks you to open an address:", message);
	fputs("  ", t->out);
	print_line(t->out, url);
	fputs("\n", t->out);
	return confirm(t, "Do you agree to open it (in your browser, by yourself)?", false);
}

/* ---- sampling ------------------------------------------------------------------------------------ */

static void print_message(struct terminal *t, const cleat_json *message)
{
	const cleat_json *content = cleat_json_get(message, "content");
	const char *role = cleat_json_str(cleat_json_get(message, "role"), "?");
	const char *text;
	size_t i = 0;

	do {
		const cleat_json *block = cleat_json_type(content) == CLEAT_JSON_ARRAY
						  ? cleat_json_at(content, i)
						  : content;

		text = cleat_json_str(cleat_json_get(block, "text"), NULL);
		fputs("  ", t->out);
		print_line(t->out, role);
		fputs(": ", t->out);
		if (text)
			print_safe(t->out, text, strlen(text));
		else
			print_line(
				t->out,
				keepf("[%s]", cleat_json_str(cleat_json_get(block, "type"), "?")));
		fputc('\n', t->out);
	} while (cleat_json_type(content) == CLEAT_JSON_ARRAY && ++i < cleat_json_size(content));
}

int terminal_sampling(struct terminal *t, const cleat_json *params, struct text *ret)
{
	const char *system = cleat_json_str(cleat_json_get(params, "systemPrompt"), NULL);
	cleat_json_iter it = cleat_json_each(cleat_json_get(params, "messages"));

	ask_title(t, "The server asks for a model's answer:", system ? system : "");
	while (cleat_json_next(&it))
		print_message(t, it.value);
	fputs("Answer as the model (an empty line declines): ", t->out);
	if (!read_line(t))
		return CLEAT_ECANCELLED;
	if (!t->line[0])
		return CLEAT_EDECLINED;
	text_puts(ret, t->line);
	return CLEAT_OK;
}
