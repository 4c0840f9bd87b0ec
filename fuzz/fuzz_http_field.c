/* fuzz_http_field.c - any bytes as a header value, for everything that reads one.
 *
 * Invariants: a sentinel is decoded to what was encoded, what is decoded is UTF-8 and is encoded to a
 * value that decodes to it; hosts and origins that are accepted are put together from their parts
 * again, and nothing of them depends on case; qualities are in range and do not contradict the
 * preference.
 */
#include "http/field.h"
#include "require.h"

#include <stdlib.h>

static void check_encode(struct str value)
{
	bool is_text = utf8_valid_prefix(value) == value.n;
	struct buf sent, back;
	int rc;

	buf_init(&sent, NULL, 1 << 22);
	buf_init(&back, NULL, 1 << 22);
	http_sentinel_encode(value, &sent);
	require(buf_status(&sent) == CLEAT_OK && buf_size(&sent) > 0);
	rc = http_sentinel_decode(buf_str(&sent), &back);
	require(rc == (is_text ? CLEAT_OK : CLEAT_EPROTO));
	require(str_eq(buf_str(&back), is_text ? value : STR_LIT("")));
	buf_done(&sent);
	buf_done(&back);
}

static void check_decode(struct str value)
{
	struct buf out;
	int rc;

	buf_init(&out, NULL, 1 << 22);
	rc = http_sentinel_decode(value, &out);
	require(rc == CLEAT_OK || (rc == CLEAT_EPROTO && buf_size(&out) == 0));
	if (rc == CLEAT_OK) {
		require(utf8_valid_prefix(buf_str(&out)) == buf_size(&out));
		check_encode(buf_str(&out));
	}
	buf_done(&out);
}

/* The same with the other case. */
static void flip(struct buf *b)
{
	for (size_t i = 0; i < buf_size(b); i++) {
		char c = b->data[i];

		if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'))
			b->data[i] = (char)(c ^ 0x20);
	}
}

static void check_host(struct str value)
{
	struct str host, port, again = { 0 }, port_again = { 0 };
	struct buf b;

	if (!http_split_host(value, &host, &port))
		return;
	buf_init(&b, NULL, 1 << 20);
	buf_append(&b, host.p, host.n);
	require(host.n > 0 && http_split_host(buf_str(&b), &again, &port_again));
	require(str_eq(again, host) && !port_again.p);
	if (port.p) {
		buf_putc(&b, ':');
		buf_append(&b, port.p, port.n);
	}
	require(str_eq(buf_str(&b), value));
	flip(&b);
	require(http_split_host(buf_str(&b), &again, &port_again) && again.n == host.n);
	require(http_is_loopback_name(again) == http_is_loopback_name(host));
	buf_done(&b);
}

static void check_origin(struct str value)
{
	struct str scheme, host, port, authority;

	require(!http_is_loopback_name(value) || http_split_host(value, &host, &port));
	if (!http_split_origin(value, &scheme, &host, &port))
		return;
	require(scheme.n > 0 && scheme.p == value.p && host.p == scheme.p + scheme.n + 3);
	authority = (struct str){ host.p, value.n - scheme.n - 3 };
	require(http_split_host(authority, &host, &port));
	check_host(authority);
}

static void check_lists(struct str value)
{
	int json = http_accept_quality(value, "application/json");
	int sse = http_accept_quality(value, "text/event-stream");
	bool ab = http_accept_prefers(value, "application/json", "text/event-stream");
	bool ba = http_accept_prefers(value, "text/event-stream", "application/json");
	struct str token = http_bearer(value);

	require(json >= 0 && json <= 1000 && sse >= 0 && sse <= 1000);
	require(!(ab && ba) && (!ab || json >= sse) && (!ba || sse >= json));
	require(!token.p || (token.n > 0 && token.p + token.n == value.p + value.n));
	if (http_is_media_type(value, "application/json")) {
		const char *end = memchr(value.p, ';', value.n);
		struct str range = { value.p, end ? (size_t)(end - value.p) : value.n };

		require(http_accept_quality(range, "application/json") == 1000);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy =
		malloc(size ? size : 1); /* of its own size, so that a byte too far is noticed */
	struct str value = { copy, size };

	require(copy);
	if (size)
		memcpy(copy, data, size);
	check_decode(value);
	check_encode(value);
	check_host(value);
	check_origin(value);
	check_lists(value);
	free(copy);
	return 0;
}
