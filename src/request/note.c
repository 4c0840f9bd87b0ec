/* request/note.c - see note.h. */
#include "request/note.h"

#include "base/error.h"
#include "base/mem.h"
#include "request/server.h"

#include <stdio.h>

int server_fail(cleat_server *s, int status, const char *fmt, ...)
{
	cleat_error err;
	va_list ap;

	va_start(ap, fmt);
	error_vset(&err, status, 0, fmt, ap);
	va_end(ap);
	if (s->serving || !s->error.status)
		s->error = err;
	if (!s->serving && !s->start_status)
		s->start_status = status;
	server_note(s, CLEAT_LOG_ERROR, "%s", err.message);
	return status;
}

int server_refuse(cleat_server *s, int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_vset(&s->error, status, 0, fmt, ap);
	va_end(ap);
	server_note(s, CLEAT_LOG_ERROR, "%s", s->error.message);
	return status;
}

void server_note(cleat_server *s, int level, const char *fmt, ...)
{
	char message[512];
	va_list ap;

	if (!s->log && (s->serving || s->n_early == CLEAT_COUNT(s->early)))
		return;
	va_start(ap, fmt);
	vsnprintf(message, sizeof message, fmt, ap);
	va_end(ap);
	if (s->log) {
		s->log(s->log_data, level, message);
		return;
	}
	s->early[s->n_early].level = level;
	s->early[s->n_early].text = mem_strdup(&s->mem, message);
	s->n_early += s->early[s->n_early].text != NULL;
}
