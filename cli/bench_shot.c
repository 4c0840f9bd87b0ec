/* cli/bench_shot.c - see bench_shot.h. */
#define _POSIX_C_SOURCE 200809L

#include "bench_shot.h"
#include "bench_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32 /* of properties in properties that may be headers */

/* ---- values of headers -------------------------------------------------------------------------- */

static void put_base64(FILE *f, const char *text, size_t n)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *p = (const unsigned char *)text;

	for (size_t i = 0; i < n; i += 3) {
		unsigned long v = (unsigned long)p[i] << 16;

		v |= i + 1 < n ? (unsigned long)p[i + 1] << 8 : 0;
		v |= i + 2 < n ? p[i + 2] : 0;
		putc(digits[v >> 18], f);
		putc(digits[v >> 12 & 63], f);
		putc(i + 1 < n ? digits[v >> 6 & 63] : '=', f);
		putc(i + 2 < n ? digits[v & 63] : '=', f);
	}
}

/* "Value Encoding": what a field cannot carry as it is, or what looks like the encoding. */
static bool is_plain(const char *p, size_t n)
{
	if (n && (p[0] == ' ' || p[0] == '\t' || p[n - 1] == ' ' || p[n - 1] == '\t'))
		return false;
	for (size_t i = 0; i < n; i++)
		if ((p[i] < 0x20 && p[i] != '\t') || p[i] > 0x7E)
			return false;
	return n < 10 || memcmp(p, "=?base64?", 9) != 0 || memcmp(p + n - 2, "?=", 2) != 0;
}

static void put_field(FILE *f, const char *prefix, const char *name, size_t name_n,
		      const char *value, size_t n)
{
	fprintf(f, "%s%.*s: ", prefix, (int)name_n, name);
	if (is_plain(value, n)) {
		fwrite(value, 1, n, f);
	} else {
		fputs("=?base64?", f);
		put_base64(f, value, n);
		fputs("?=", f);
	}
	fputs("\r\n", f);
}

static void put_param(FILE *f, const cleat_json *header, const cleat_json *v)
{
	size_t name_n = 0, n = 0;
	const char *name = cleat_json_strn(header, &name_n), *text = NULL;

	switch (cleat_json_type(v)) {
	case CLEAT_JSON_STRING: text = cleat_json_strn(v, &n); break;
	case CLEAT_JSON_NUMBER: text = cleat_json_number_text(v); break;
	case CLEAT_JSON_BOOL: text = cleat_json_bool(v, false) ? "true" : "false"; break;
	default: break;
	}
	if (name && text)
		put_field(f, "Mcp-Param-", name, name_n, text,
			  cleat_json_type(v) == CLEAT_JSON_STRING ? n : strlen(text));
}

/* "Custom Headers from Tool Parameters": properties with x-mcp-header, at any depth. */
static void put_params(FILE *f, const cleat_json *schema, const cleat_json *arguments, int depth)
{
	cleat_json_iter it = cleat_json_each(cleat_json_get(schema, "properties"));

	while (depth && cleat_json_next(&it)) {
		size_t n = 0;
		const char *key = cleat_json_strn(it.key, &n);
		const cleat_json *v = cleat_json_getn(arguments, key, n);

		put_param(f, cleat_json_get(it.value, "x-mcp-header"), v);
		put_params(f, it.value, v, depth - 1);
	}
}

/* ---- heads ------------------------------------------------------------------------------------ */

void shot_fields(FILE *f, const cleat_json *message, const cleat_json *schema)
{
	const cleat_json *params = cleat_json_get(message, "params");
	size_t method_n = 0, n = 0;
	const char *method = cleat_json_strn(cleat_json_get(message, "method"), &method_n);
	const char *name = cleat_json_strn(cleat_json_get(params, "name"), &n);

	if (!method)
		return;
	put_field(f, "", "Mcp-Method", 10, method, method_n);
	if (strcmp(method, "resources/read") == 0)
		name = cleat_json_strn(cleat_json_get(params, "uri"), &n);
	else if (strcmp(method, "tools/call") != 0 && strcmp(method, "prompts/get") != 0)
		name = NULL;
	if (name)
		put_field(f, "", "Mcp-Name", 8, name, n);
	if (strcmp(method, "tools/call") == 0)
		put_params(f, schema, cleat_json_get(params, "arguments"), DEPTH_MAX);
}

/* All but the session, the length and the empty line. */
static void put_head(FILE *f, const struct shot_opts *o, const char *method,
		     const cleat_json *message, const cleat_json *schema)
{
	fprintf(f, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: cleat-bench/%s\r\n", method, o->path,
		o->host, CLEAT_VERSION);
	if (message)
		fputs("Content-Type: application/json\r\n"
		      "Accept: application/json, text/event-stream\r\n",
		      f);
	if (o->revision)
		fprintf(f, "MCP-Protocol-Version: %s\r\n", o->revision);
	if (o->modern)
		shot_fields(f, message, schema);
	if (o->bearer)
		fprintf(f, "Authorization: Bearer %s\r\n", o->bearer);
	for (size_t i = 0; o->headers && o->headers[i]; i++)
		fprintf(f, "%s\r\n", o->headers[i]);
}

char *shot_plain(const struct shot_opts *o, const char *method, const char *session,
		 const char *message, size_t n, size_t *ret_n)
{
	cleat_doc *doc = message ? cleat_doc_parse(message, n, NULL, NULL, NULL) : NULL;
	char *text = NULL;
	FILE *f = open_memstream(&text, ret_n);
	bool good = f != NULL;

	if (f && o->http) {
		put_head(f, o, method, cleat_doc_root(doc), NULL);
		if (session)
			fprintf(f, "Mcp-Session-Id: %s\r\n", session);
		fprintf(f, "Content-Length: %zu\r\n\r\n", n);
	}
	if (f && message)
		fwrite(message, 1, n, f);
	if (f && !o->http)
		putc('\n', f);
	cleat_doc_free(doc);
	good = f && fclose(f) == 0 && good;
	if (!good) {
		free(text);
		return NULL;
	}
	return text;
}

/* The message with a place for ids; *ret_at is that place. */
static char *widen(const char *message, size_t n, size_t *ret_at, size_t *ret_n)
{
	struct scan s;
	char *text;

	scan_message(message, n, &s);
	if (s.kind != SCAN_REQUEST)
		return NULL;
	*ret_at = s.id_at;
	*ret_n = n - s.id_n + LOAD_ID_DIGITS;
	text = malloc(*ret_n);
	if (!text)
		return NULL;
	memcpy(text, message, s.id_at);
	memset(text + s.id_at, '1', LOAD_ID_DIGITS);
	memcpy(text + s.id_at + LOAD_ID_DIGITS, message + s.id_at + s.id_n, n - s.id_at - s.id_n);
	return text;
}

static bool make_http(struct shot *s, const struct shot_opts *o, const char *body, size_t n,
		      const cleat_json *schema)
{
	cleat_doc *doc = cleat_doc_parse(body, n, NULL, NULL, NULL);
	FILE *f = open_memstream(&s->head, &s->head_n), *g = open_memstream(&s->tail, &s->tail_n);
	bool good = f && g && doc;

	if (good) {
		put_head(f, o, "POST", cleat_doc_root(doc), schema);
		fprintf(f, "Content-Length: %zu\r\n%s", n,
			o->session ? "Mcp-Session-Id: " : "\r\n");
		fputs(o->session ? "\r\n\r\n" : "", g);
		fwrite(body, 1, n, g);
	}
	good = (!f || fclose(f) == 0) && good;
	good = (!g || fclose(g) == 0) && good;
	s->id_at += o->session ? 4 : 0;
	cleat_doc_free(doc);
	return good;
}

/* Without sessions all of it is one piece. */
static bool join(struct shot *s)
{
	char *all = malloc(s->head_n + s->tail_n);

	if (!all)
		return false;
	memcpy(all, s->head, s->head_n);
	memcpy(all + s->head_n, s->tail, s->tail_n);
	s->id_at += s->head_n;
	s->tail_n += s->head_n;
	s->head_n = 0;
	free(s->tail);
	s->tail = all;
	return true;
}

bool shot_make(struct shot *s, const struct shot_opts *o, const char *message, size_t n,
	       const cleat_json *schema)
{
	size_t body_n = 0;
	char *body = widen(message, n, &s->id_at, &body_n);
	bool good = false;

	if (!body)
		return false;
	if (o->http) {
		good = make_http(s, o, body, body_n, schema) && (o->session || join(s));
	} else {
		s->tail = malloc(body_n + 1);
		if (s->tail) {
			memcpy(s->tail, body, body_n);
			s->tail[body_n] = '\n';
			s->tail_n = body_n + 1;
			good = true;
		}
	}
	free(body);
	return good;
}

void shot_done(struct shot *s)
{
	free(s->label);
	free(s->head);
	free(s->tail);
	memset(s, 0, sizeof *s);
}
