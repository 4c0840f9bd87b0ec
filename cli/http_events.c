/* cli/http_events.c - see http_events.h. */
#include "http_events.h"

#include <string.h>
#include <strings.h>

enum { MESSAGE_MOST = 64 << 20 };

void http_events_begin(struct http_events *e, const char *type)
{
	size_t n = type ? strcspn(type, "; \t") : 0;

	e->id[0] = 0;
	e->cr_ = e->too_long_ = e->has_data_ = false;
	e->line_.n = e->data_.n = 0;
	e->kind_ = n == 16 && strncasecmp(type, "application/json", n) == 0    ? EVENTS_JSON
		   : n == 17 && strncasecmp(type, "text/event-stream", n) == 0 ? EVENTS_STREAM
									       : EVENTS_NONE;
}

/* What is longer than any message is thrown away, to its end. */
static void add(struct http_events *e, struct text *to, const char *p, size_t n)
{
	if (to->n + n > MESSAGE_MOST)
		e->too_long_ = true;
	else if (!e->too_long_)
		text_add(to, p, n);
}

static void end_event(struct http_events *e)
{
	if (e->has_data_ && e->data_.n && !e->too_long_)
		e->message(e->ctx, e->data_.p, e->data_.n);
	e->data_.n = 0;
	e->has_data_ = e->too_long_ = false;
}

static void end_line(struct http_events *e)
{
	const char *line = text_str(&e->line_);
	size_t n = e->line_.n, name = strcspn(line, ":"), at;

	e->line_.n = 0;
	if (!n) {
		end_event(e);
		return;
	}
	name = name < n ? name : n;
	at = name < n ? name + 1 : n;
	at += at < n && line[at] == ' ';
	if (name == 4 && memcmp(line, "data", 4) == 0) {
		if (e->has_data_)
			add(e, &e->data_, "\n", 1);
		e->has_data_ = true;
		add(e, &e->data_, line + at, n - at);
	} else if (name == 2 && memcmp(line, "id", 2) == 0 && n - at < sizeof e->id &&
		   !memchr(line + at, 0, n - at)) {
		memcpy(e->id, line + at, n - at);
		e->id[n - at] = 0;
	}
}

void http_events_feed(struct http_events *e, const char *p, size_t n)
{
	if (e->kind_ == EVENTS_JSON)
		add(e, &e->data_, p, n);
	if (e->kind_ != EVENTS_STREAM)
		return;
	while (n) {
		size_t part = 0;

		if (e->cr_ && *p == '\n') { /* of a CR LF */
			p++, n--;
			e->cr_ = false;
			continue;
		}
		e->cr_ = false;
		while (part < n && p[part] != '\n' && p[part] != '\r')
			part++;
		add(e, &e->line_, p, part);
		if (part < n) {
			e->cr_ = p[part] == '\r';
			end_line(e);
			part++;
		}
		p += part;
		n -= part;
	}
}

void http_events_end(struct http_events *e)
{
	if (e->kind_ == EVENTS_JSON && e->data_.n && !e->too_long_)
		e->message(e->ctx, e->data_.p, e->data_.n);
	e->data_.n = e->line_.n = 0;
	e->kind_ = EVENTS_NONE;
}

void http_events_free(struct http_events *e)
{
	text_free(&e->line_);
	text_free(&e->data_);
}
