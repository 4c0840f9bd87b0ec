/* bare_http.c - the least that a decent program does to answer like examples/hello.c over HTTP: libuv
 * reads and writes, llhttp parses the request, yyjson the body, and the answer is a fixed text as long
 * as the real one. It knows no rules of MCP. The yardstick for scripts/bench; deliberately not a
 * server.
 *
 *	bare_http modern|legacy
 *
 * Listens on a free port of 127.0.0.1, says which on standard error, and runs until it is killed.
 */
#define _POSIX_C_SOURCE 200809L
#include <llhttp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>
#include <yyjson.h>

enum { CHUNK = 65536, MAX_BODY = 4096 };

#define HEAD                                                                                       \
	"HTTP/1.1 200 OK\r\nDate: Sun, 15 Nov 2026 23:28:38 GMT\r\nContent-Type: "                 \
	"application/json\r\n"

static const char modern[] =
	HEAD "Content-Length: 181\r\n\r\n"
	     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"complete\",\"content\":[{"
	     "\"type\":\"text\",\"text\":\"42\"}],\"_meta\":{\"io.modelcontextprotocol/"
	     "serverInfo\":{\"name\":\"adder\",\"version\":\"1.0.0\"}}}}";
static const char legacy[] =
	HEAD "Content-Length: 75\r\nMcp-Session-Id: 1a0c39cada3fdfe4a2de5d6fe3338b52\r\n\r\n"
	     "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
	     "\"42\"}]}}";
static const char refusal[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";

static const char *answer = modern;
static char chunk[CHUNK];

struct conn {
	uv_tcp_t tcp; /* first */
	llhttp_t parser;
	char url[64], body[MAX_BODY];
	size_t url_size, body_size;
};

static int on_begin(llhttp_t *p)
{
	struct conn *c = p->data;

	c->url_size = c->body_size = 0;
	return 0;
}

static int on_url(llhttp_t *p, const char *at, size_t n)
{
	struct conn *c = p->data;

	if (n > sizeof c->url - c->url_size)
		return HPE_USER;
	memcpy(c->url + c->url_size, at, n);
	c->url_size += n;
	return 0;
}

static int on_body(llhttp_t *p, const char *at, size_t n)
{
	struct conn *c = p->data;

	if (n > sizeof c->body - c->body_size)
		return HPE_USER;
	memcpy(c->body + c->body_size, at, n);
	c->body_size += n;
	return 0;
}

static void on_written(uv_write_t *req, int status)
{
	(void)status;
	free(req);
}

/* At once, and what the socket does not take later. */
static void send_text(struct conn *c, const char *text)
{
	uv_buf_t b = uv_buf_init((char *)text, (unsigned)strlen(text));
	int n = uv_try_write((uv_stream_t *)&c->tcp, &b, 1);
	uv_write_t *req;

	if (n == (int)b.len)
		return;
	n = n < 0 ? 0 : n;
	b.base += n;
	b.len -= (size_t)n;
	req = malloc(sizeof *req);
	if (req)
		uv_write(req, (uv_stream_t *)&c->tcp, &b, 1, on_written);
}

static int on_complete(llhttp_t *p)
{
	struct conn *c = p->data;
	yyjson_doc *doc = yyjson_read(c->body, c->body_size, 0);
	yyjson_val *root = yyjson_doc_get_root(doc);
	yyjson_val *method = yyjson_obj_get(root, "method"), *id = yyjson_obj_get(root, "id");
	bool right = p->method == HTTP_POST && c->url_size == 4 && memcmp(c->url, "/mcp", 4) == 0;

	if (right && id && yyjson_equals_str(method, "tools/call"))
		send_text(c, answer);
	else
		send_text(c, refusal);
	yyjson_doc_free(doc);
	return 0;
}

static const llhttp_settings_t settings = { .on_message_begin = on_begin,
					    .on_url = on_url,
					    .on_body = on_body,
					    .on_message_complete = on_complete };

static void on_alloc(uv_handle_t *h, size_t suggested, uv_buf_t *b)
{
	(void)h;
	(void)suggested;
	*b = uv_buf_init(chunk, sizeof chunk);
}

static void on_closed(uv_handle_t *h)
{
	free(h);
}

static void on_read(uv_stream_t *s, ssize_t n, const uv_buf_t *b)
{
	struct conn *c = (struct conn *)(void *)s;

	if (n < 0 || llhttp_execute(&c->parser, b->base, (size_t)n) != HPE_OK)
		uv_close((uv_handle_t *)s, on_closed);
}

static void on_connection(uv_stream_t *server, int status)
{
	struct conn *c = status ? NULL : calloc(1, sizeof *c);

	if (!c)
		return;
	uv_tcp_init(server->loop, &c->tcp);
	llhttp_init(&c->parser, HTTP_REQUEST, &settings);
	c->parser.data = c;
	if (uv_accept(server, (uv_stream_t *)&c->tcp) || uv_tcp_nodelay(&c->tcp, 1) ||
	    uv_read_start((uv_stream_t *)&c->tcp, on_alloc, on_read))
		uv_close((uv_handle_t *)&c->tcp, on_closed);
}

int main(int argc, char **argv)
{
	uv_loop_t *loop = uv_default_loop();
	struct sockaddr_in address;
	int size = sizeof address;
	uv_tcp_t server;

	if (argc > 1 && strcmp(argv[1], "legacy") == 0)
		answer = legacy;
	uv_ip4_addr("127.0.0.1", 0, &address);
	uv_tcp_init(loop, &server);
	if (uv_tcp_bind(&server, (const struct sockaddr *)&address, 0) ||
	    uv_listen((uv_stream_t *)&server, 1024, on_connection) ||
	    uv_tcp_getsockname(&server, (struct sockaddr *)&address, &size)) {
		fprintf(stderr, "bare_http: cannot listen\n");
		return 1;
	}
	fprintf(stderr, "bare: listening on http://127.0.0.1:%d/mcp\n", ntohs(address.sin_port));
	return uv_run(loop, UV_RUN_DEFAULT);
}
