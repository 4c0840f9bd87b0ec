/* server_rig.c - see server_rig.h. */
#include "unit/server/server_rig.h"

static void rig_note(void *userdata, int level, const char *message)
{
	struct rig *r = userdata;
	size_t n = strlen(r->notes);

	snprintf(r->notes + n, sizeof r->notes - n, "%s: %s\n", cleat_log_level_name(level),
		 message);
}

static void rig_wake(void *userdata)
{
	atomic_fetch_add(&((struct rig *)userdata)->wakes, 1);
}

cleat_server_options rig_options(struct rig *r)
{
	return (cleat_server_options){ .log = rig_note, .userdata = r };
}

void rig_server(struct rig *r, const cleat_server_options *opts)
{
	cleat_server_options mine = rig_options(r);

	*r = (struct rig){ 0 };
	r->s = cleat_server_new("rig", "1", opts ? opts : &mine);
}

void rig_wire(struct rig *r)
{
	r->w = cleat_wire_server(r->s, &(cleat_wire_options){ .wake = rig_wake, .userdata = r });
	assert_non_null(r->w);
}

void rig_clear(struct rig *r)
{
	r->n_out = 0;
	if (r->out)
		r->out[0] = '\0';
}

const char *rig_take(struct rig *r)
{
	const void *p;
	size_t n;

	while ((n = cleat_wire_peek(r->w, &p)) > 0) {
		if (r->n_out + n + 1 > r->cap) {
			r->cap = (r->n_out + n + 1) * 2;
			r->out = realloc(r->out, r->cap);
			assert_non_null(r->out);
		}
		memcpy(r->out + r->n_out, p, n);
		r->n_out += n;
		r->out[r->n_out] = '\0';
		cleat_wire_consume(r->w, n);
	}
	return r->out ? r->out : "";
}

void rig_say(struct rig *r, const char *line)
{
	assert_int_equal(cleat_wire_feed(r->w, line, strlen(line)), CLEAT_OK);
	assert_int_equal(cleat_wire_feed(r->w, "\n", 1), CLEAT_OK);
}

const char *rig_ask(struct rig *r, const char *line)
{
	rig_take(r);
	rig_clear(r);
	rig_say(r, line);
	return rig_take(r);
}

const char *rig_poll(struct rig *r)
{
	cleat_wire_poll(r->w);
	return rig_take(r);
}

void rig_open_caps(struct rig *r, const char *revision, const char *caps)
{
	char line[512];

	snprintf(line, sizeof line,
		 REQUEST("\"init\"", "initialize",
			 "\"protocolVersion\":\"%s\",\"capabilities\":%s,\"clientInfo\":{\"name\":"
			 "\"bench\",\"version\":\"7\"}"),
		 revision, caps);
	assert_non_null(strstr(rig_ask(r, line), revision));
	assert_string_equal(rig_ask(r, NOTE("notifications/initialized", "")), "");
}

void rig_open(struct rig *r, const char *revision)
{
	rig_open_caps(r, revision, "{}");
}

void rig_start(struct rig *r, const cleat_tool *tools, size_t n)
{
	rig_server(r, NULL);
	assert_int_equal(cleat_server_add_tools(r->s, tools, n), CLEAT_OK);
	rig_wire(r);
	rig_open(r, "2025-11-25");
}

void rig_stop(struct rig *r)
{
	cleat_wire_free(r->w);
	cleat_server_free(r->s);
	free(r->out);
	*r = (struct rig){ 0 };
}

void assert_messages_(const char *text, size_t want, const char *file, int line)
{
	size_t n = 0;

	for (const char *p = text, *end; *p; p = end + 1, n++) {
		cleat_error err;
		cleat_doc *doc;

		end = strchr(p, '\n');
		if (!end) {
			print_error("no newline at the end: %.500s\n", p);
			_fail(file, line);
			return;
		}
		doc = cleat_doc_parse(p, (size_t)(end - p), NULL, NULL, &err);
		if (!doc) {
			print_error("no JSON (%s): %.*s\n", err.message, (int)(end - p), p);
			_fail(file, line);
			return;
		}
		cleat_doc_free(doc);
	}
	if (n == want)
		return;
	print_error("%zu messages instead of %zu: %.2000s\n", n, want, text);
	_fail(file, line);
}
