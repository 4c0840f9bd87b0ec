/* base/error.c - see error.h; also the fixed texts of status codes and log levels.
 *
 * Messages may quote what a peer sent, so this is where they are made fit to be printed: one line,
 * no control characters, no half of a UTF-8 sequence at the end.
 */
#include "base/error.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

const char *cleat_strstatus(int status)
{
	switch (status) {
#define STATUS_CASE(name, value, text)                                                             \
	case value: return text;
		CLEAT_STATUS_MAP(STATUS_CASE)
#undef STATUS_CASE
	default: return "unknown status";
	}
}

const char *cleat_version(void)
{
	return CLEAT_VERSION;
}

int cleat_version_num(void)
{
	return CLEAT_VERSION_NUM;
}

const char *cleat_log_level_name(int level)
{
	static const char *const names[] = { "debug", "info",     "notice", "warning",
					     "error", "critical", "alert",  "emergency" };

	return level >= 0 && (size_t)level < CLEAT_COUNT(names) ? names[level] : NULL;
}

/* Cuts off a UTF-8 sequence that the end of the record has split: n is the length. */
static void trim_split(char *s, size_t n)
{
	size_t back = 1;

	while (back < 4 && back < n && ((unsigned char)s[n - back] & 0xC0) == 0x80)
		back++;
	if (back <= n && utf8_valid_prefix((struct str){ s + n - back, back }) == 0)
		s[n - back] = '\0';
}

static void make_one_line(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7F)
			*s = ' ';
}

/* By way of a copy, because the arguments may point into *e: "while reading x: %s". */
int error_vset(cleat_error *e, int status, int rpc_code, const char *fmt, va_list ap)
{
	char text[sizeof e->message] = "";
	int n;

	if (!e)
		return status;
	n = vsnprintf(text, sizeof text, fmt, ap);
	if (n >= (int)sizeof text)
		trim_split(text, sizeof text - 1);
	make_one_line(text);
	*e = (cleat_error){ .status = status, .rpc_code = rpc_code };
	memcpy(e->message, text, sizeof text);
	return status;
}

int error_set(cleat_error *e, int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_vset(e, status, 0, fmt, ap);
	va_end(ap);
	return status;
}

int error_rpc(cleat_error *e, int status, int rpc_code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_vset(e, status, rpc_code, fmt, ap);
	va_end(ap);
	return status;
}

void error_clear(cleat_error *e)
{
	if (e)
		memset(e, 0, sizeof *e);
}
