/* run/reach.c - see reach.h. */
#include "run/reach.h"

#include "base/error.h"
#include "http/field.h"

enum { ADDRESS_MAX = 8192 };

/* Does the address begin with this scheme ("http:")? Gives what is behind it. */
static const char *behind(const char *address, const char *scheme)
{
	size_t n = strlen(scheme);

	if (strlen(address) < n || !str_samez((struct str){ address, n }, scheme))
		return NULL;
	return address + n;
}

/* "/path" of "/path" and of "///path" (a URI without a host); NULL: neither. */
static const char *local_path(const char *rest)
{
	if (strncmp(rest, "//", 2) == 0)
		rest += 2;
	return rest[0] == '/' && rest[1] ? rest : NULL;
}

/* unix:/path[#/mcp] */
static int unix_target(struct reach *t, const char *rest, cleat_error *err)
{
	const char *path = local_path(rest);
	size_t n = path ? strcspn(path, "#") : 0;
	const char *mcp = path && path[n] ? path + n + 1 : "/mcp";

	if (n < 2 || mcp[0] != '/')
		return error_set(
			err, CLEAT_EINVAL,
			"unix:%.100s is not an address: write unix:/path/of.sock, with #/path "
			"where the server is not at /mcp",
			rest);
	buf_append(&t->text, path, n);
	buf_putc(&t->text, '\0');
	buf_printf(&t->text, "http://localhost%s", mcp);
	buf_putc(&t->text, '\0');
	if (buf_status(&t->text))
		return error_set(err, buf_status(&t->text), "out of memory");
	t->socket = buf_str(&t->text).p;
	t->url = t->socket + n + 1;
	t->http = true;
	return CLEAT_OK;
}

static int stream_target(struct reach *t, const char *rest, cleat_error *err)
{
	const char *path = local_path(rest);

	if (!path)
		return error_set(err, CLEAT_EINVAL,
				 "unix-stream:%.100s is no address: write "
				 "unix-stream:/path/of.sock",
				 rest);
	buf_printf(&t->text, "unix-stream:%s", path);
	buf_putc(&t->text, '\0');
	if (buf_status(&t->text))
		return error_set(err, buf_status(&t->text), "out of memory");
	t->url = buf_str(&t->text).p;
	return CLEAT_OK;
}

int reach_parse(struct reach *t, const char *address, const cleat_allocator *mem, cleat_error *err)
{
	const char *rest;

	*t = (struct reach){ 0 };
	buf_init(&t->text, mem, 2 * ADDRESS_MAX);
	if (!address || !*address)
		return error_set(err, CLEAT_EINVAL, "there is no address to connect to");
	if (strlen(address) > ADDRESS_MAX)
		return error_set(err, CLEAT_ELIMIT, "the address has more than %d characters",
				 ADDRESS_MAX);
	if ((rest = behind(address, "unix:")) != NULL)
		return unix_target(t, rest, err);
	if ((rest = behind(address, "unix-stream:")) != NULL)
		return stream_target(t, rest, err);
	t->url = address;
	t->http = behind(address, "http://") || behind(address, "https://");
	if (t->http || behind(address, "tcp://"))
		return CLEAT_OK;
	return error_set(
		err, CLEAT_EINVAL,
		"%.100s is not an address: one begins with http://, https://, unix:, tcp:// or "
		"unix-stream:",
		address);
}

void reach_done(struct reach *t)
{
	buf_done(&t->text);
}
