/* fuzz_serve_prompt.c - Markdown files with front matter: any bytes as a prompt's file. What comes out is
 * terminated text and slices of the file, in order and without overlap.
 */
#include "serve/prompts/frontmatter.h"
#include "serve/prompts/prompt.h"

#include "field/field.h"

#include <stdlib.h>

static void check_messages(struct str body)
{
	static struct prompt_message messages[PROMPT_MESSAGES_MAX];
	size_t n = prompt_split(body, messages);
	const char *from = body.p;

	for (size_t i = 0; i < n; i++) {
		struct str s = messages[i].text;

		if (s.n && (s.p < from || s.p + s.n > body.p + body.n))
			abort();
		if (s.n)
			from = s.p + s.n;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct prompt_file file;
	struct arena ar;
	cleat_error err = { .message = "" };

	arena_init(&ar, NULL, 0);
	if (prompt_file_parse(&ar, text, &file, &err)) {
		if (!err.message[0])
			abort();
	} else {
		if (file.body.n &&
		    (file.body.p < text.p || file.body.p + file.body.n != text.p + text.n))
			abort();
		field_table_check(file.fields, &err);
		check_messages(file.body);
	}
	check_messages(text);
	arena_done(&ar);
	return 0;
}
