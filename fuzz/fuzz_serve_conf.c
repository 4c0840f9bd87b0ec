/* fuzz_serve_conf.c - configurations of `cleat serve`: any text as a file, and as an option of the command
 * line. Every value is asked for its place, its text, its time and its size; no file is opened but those
 * that a "secrets" names.
 */
#include "serve/config/conf_impl.h"

#include "require.h"
#include "json/node.h"

#include <stdlib.h>
#include <string.h>

static void look_at(struct conf *c, const cleat_json *v)
{
	const char *text = conf_text(c, v, "");

	require(*conf_where(c, v) && text);
	conf_template(c, v, "");
	conf_loose_text(c, v);
	conf_is_secret(c, v);
	conf_ms(c, v, 1);
	conf_bytes(c, v, 1);
	conf_path_at(c, v);
	conf_problem(c, v, "%s", text);
}

static void look_at_all(struct conf *c)
{
	enum { ENOUGH = 1000 };
	unsigned n = 0;

	conf_ready(c);
	for (size_t i = 0; conf_root(c, i); i++) {
		const yyjson_val *root = node_of(conf_root(c, i)), *end = root + c->files[i].count;

		for (const yyjson_val *v = root; v < end && n < ENOUGH; v++, n++)
			look_at(c, node_json(v));
	}
	for (size_t i = 0; conf_problem_line(c, i); i++)
		for (const char *p = conf_problem_line(c, i); *p; p++)
			require((unsigned char)*p >= 0x20); /* safe on a terminal */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const options[] = { "sh", "cmd", "dir", "sqlite", "openapi", "prompts" };
	struct conf *c = conf_new(NULL);
	char *text = fuzz_text(data, size);

	require(c);
	if (size && data[0] < CLEAT_COUNT(options))
		conf_add_option(c, options[data[0]], text + 1);
	else
		conf_parse(c, conf_new_file(c, "fuzz.json"), text, size);
	look_at_all(c);
	conf_free(c);
	free(text);
	return 0;
}
