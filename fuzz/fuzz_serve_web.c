/* fuzz_serve_web.c - a tool's "http", and values for its places: where a request goes cannot be changed by a
 * value, no value makes a step or a header of its own, and a body of JSON is JSON.
 *
 * Input: the "http" object in the first line, the arguments as an object after it.
 */
#include "serve/web/web_request.h"

#include "base/mem.h"
#include "require.h"
#include "uri/reference.h"
#include "json/parse.h"
#include "json/writer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* {"properties": {each argument}} */
static const cleat_json *names_of(struct arena *ar, const cleat_json *args)
{
	cleat_json_iter it = cleat_json_each(args);
	const cleat_json *ret = NULL;
	struct buf text;
	struct jw w;

	buf_init(&text, NULL, 1 << 20);
	jw_init(&w, &text);
	jw_obj(&w);
	jw_key(&w, "properties");
	jw_obj(&w);
	while (cleat_json_next(&it)) {
		jw_keyn(&w, json_str(it.key));
		jw_obj(&w);
		jw_obj_end(&w);
	}
	jw_obj_end(&w);
	jw_obj_end(&w);
	if (buf_status(&text) == CLEAT_OK)
		json_parse(ar, buf_str(&text), NULL, &ret, NULL);
	buf_done(&text);
	return ret;
}

static void check_url(const char *template, const char *url)
{
	const char *authority = strstr(template, "//") + 2;
	size_t fixed = (size_t)(authority - template) + strcspn(authority, "/?{");
	struct uri uri;

	require(strncmp(template, url, fixed) == 0);
	require(url[fixed] == '\0' || url[fixed] == '/' || url[fixed] == '?');
	require(uri_split(str_of(url), 0, &uri));
	for (const char *p = url; *p; p++)
		require((unsigned char)*p > ' ' && (unsigned char)*p < 127);
	for (size_t i = 0; i < uri.path.n; i++)
		if (uri.path.p[i] == '/') {
			struct str rest = { uri.path.p + i + 1, uri.path.n - i - 1 };
			const char *end = memchr(rest.p, '/', rest.n);
			size_t n = end ? (size_t)(end - rest.p) : rest.n;

			require(!(n == 2 && memcmp(rest.p, "..", 2) == 0));
			require(!(n == 6 && strncasecmp(rest.p, "%2e%2e", 6) == 0));
			require(!(n == 1 && *rest.p == '.'));
		}
}

static void check_message(const char *template, const struct web_message *m)
{
	bool json = false;

	check_url(template, m->url);
	for (size_t i = 0; i < m->fields.n; i++) {
		json = json || (str_samez(m->fields.at[i].name, "content-type") &&
				str_samez(m->fields.at[i].value, "application/json"));
		require(http_is_field_value(m->fields.at[i].value));
	}
	if (json && m->body.n) {
		cleat_doc *doc = cleat_doc_parse(
			m->body.p, m->body.n, &(cleat_json_limits){ .max_depth = 512 }, NULL, NULL);

		require(doc != NULL);
		cleat_doc_free(doc);
	}
}

static void try_it(struct draft *b, const cleat_json *http, const cleat_json *args)
{
	const char *url = cleat_json_str(cleat_json_get(http, "url"), "");
	struct web_request *w = web_request_new(b, http, names_of(conf_arena(b->conf), args));
	struct web_message m;
	cleat_error err = { 0 };
	struct arena ar;
	int rc;

	if (!w) {
		require(conf_problems(b->conf) > 0);
		return;
	}
	arena_init(&ar, NULL, 0);
	rc = web_request_render(w, args, &ar, &m, &err);
	require(rc == CLEAT_OK || *err.message);
	/* A variable of the environment may appear in it: then it is not what it seems. */
	if (rc == CLEAT_OK && !strchr(url, '$'))
		check_message(url, &m);
	arena_done(&ar);
	web_request_free(w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *line = memchr(data, '\n', size);
	struct runtime rt = { .mem = mem_default };
	struct draft b = { .conf = conf_new(NULL), .rt = &rt };
	const cleat_json *http = NULL, *args = NULL;
	size_t n = line ? (size_t)(line - (const char *)data) : size;

	require(b.conf != NULL);
	conf_ready(b.conf);
	json_parse(conf_arena(b.conf), (struct str){ (const char *)data, n }, NULL, &http, NULL);
	if (line)
		json_parse(conf_arena(b.conf), (struct str){ line + 1, size - n - 1 }, NULL, &args,
			   NULL);
	if (json_is_object(http) && json_is_string(cleat_json_get(http, "url")) &&
	    json_is_object(args))
		try_it(&b, http, args);
	conf_free(b.conf);
	return 0;
}
