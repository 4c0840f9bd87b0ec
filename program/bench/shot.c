/* program/bench/shot.c - see shot.h. */
#include "bench/shot.h"
#include "bench/scan.h"
#include "record/tap/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- heads ------------------------------------------------------------------------------------ */

/* Mcp-Method, Mcp-Name and Mcp-Param-* (2026-07-28). */
static void put_mirror(FILE *f, const cleat_json *message, const cleat_json *schema)
{
	const char *tool =
		cleat_json_str(cleat_json_get(cleat_json_get(message, "params"), "name"), NULL);
	cleat_doc *tools = tool && schema ? cleat_doc_newf(NULL, "[{name: %s, inputSchema: %p}]",
							   tool, (void *)schema)
					  : NULL;
	struct mirror *m = mirror_new(NULL);
	struct arena ar;
	struct http_field_list fields = { .ar = &ar };

	arena_init(&ar, NULL, 0);
	if (m) {
		mirror_learn(m, cleat_doc_root(tools));
		mirror_fields(m, message, &fields, NULL);
	}
	for (size_t i = 0; i < fields.n; i++)
		fprintf(f, "%.*s: %.*s\r\n", STR_ARGS(fields.at[i].name),
			STR_ARGS(fields.at[i].value));
	arena_done(&ar);
	mirror_free(m);
	cleat_doc_free(tools);
}

/* All but the session, the length and the empty line. */
static void put_head(FILE *f, const struct shot_options *o, const char *method,
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
		put_mirror(f, message, schema);
	if (o->bearer)
		fprintf(f, "Authorization: Bearer %s\r\n", o->bearer);
	for (size_t i = 0; o->headers && o->headers[i]; i++)
		fprintf(f, "%s\r\n", o->headers[i]);
}

char *shot_plain(const struct shot_options *o, const char *method, const char *session,
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

static bool make_http(struct shot *s, const struct shot_options *o, const char *body, size_t n,
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

bool shot_make(struct shot *s, const struct shot_options *o, const char *message, size_t n,
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
