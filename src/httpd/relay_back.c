/* httpd/relay_back.c - exchanges of another thread's connections, as their service sees them;
 * see relay_impl.h.
 *
 * Everything here runs on the service's thread. The service has an exchange from head() on until it
 * completes the answer or is told that the client has gone: `over` is set at exactly one of the two,
 * and with it goes the back's hold.
 */
#include "httpd/relay_impl.h"

#include "base/mem.h"

/* What is left of a request for the log when its answer is streamed. */
enum { METHOD_SHOWN = 32, PATH_SHOWN = 224 };

static struct relay_exchange *of(const struct http_exchange *ex)
{
	return CONTAINER_OF(ex, struct relay_exchange, ex);
}

/* ---- the request -------------------------------------------------------------------------- */

static const struct http_request *get_request(const struct http_exchange *ex)
{
	return &of(ex)->request;
}

static const char *get_address(const struct http_exchange *ex)
{
	return of(ex)->conn->address;
}

static bool is_tls(const struct http_exchange *ex)
{
	return of(ex)->conn->tls;
}

static void relay_back_keep(struct http_exchange *ex, void *memory)
{
	mem_free(&of(ex)->relay->mem, ex->kept);
	ex->kept = memory;
}

static void set_connection_data(struct http_exchange *ex, void *data, void (*closed)(void *data))
{
	of(ex)->conn->data = data;
	of(ex)->conn->closed = closed;
}

static void *connection_data(const struct http_exchange *ex)
{
	return of(ex)->conn->data;
}

static void limit_body(struct http_exchange *ex, size_t max_body)
{
	if (ex->early)
		of(ex)->max_body = max_body;
}

/* A streamed answer may take days: its request is not kept for so long. */
static void forget_request(struct relay_exchange *x)
{
	struct str method = x->request.method_name, path = x->request.path;
	char *line, *at;

	method.n = method.n < METHOD_SHOWN ? method.n : METHOD_SHOWN;
	path.n = path.n < PATH_SHOWN ? path.n : PATH_SHOWN;
	line = at = mem_alloc(&x->relay->mem, method.n + path.n + 1);
	x->request = (struct http_request){ .method = x->request.method,
					    .method_name = STR_LIT(""),
					    .path = STR_LIT(""),
					    .body = STR_LIT(""),
					    .keep_alive = x->request.keep_alive,
					    .http_1_0 = x->request.http_1_0 };
	if (line) {
		x->request.method_name = relay_put(&at, method);
		x->request.path = relay_put(&at, path);
	}
	mem_free(&x->relay->mem, x->copy);
	x->copy = line;
}

void relay_back_staged(struct relay_command *c)
{
	if (c->verb == DO_BEGIN)
		forget_request(c->x);
}

/* ---- the answer --------------------------------------------------------------------------- */

static bool is_open(const struct http_exchange *ex)
{
	return ex->open && !ex->over;
}

static struct relay_command *command_new(struct relay_exchange *x, enum relay_verb verb, size_t n)
{
	struct relay_command *c = mem_alloc(&x->relay->mem, sizeof *c + n);

	if (c)
		*c = (struct relay_command){ .x = x, .verb = verb, .close = x->ex.close };
	return c;
}

/* With copies of everything; NULL when out of memory. */
static struct relay_command *answer_new(struct relay_exchange *x, enum relay_verb verb, int status,
					struct str type, const struct http_field *fields,
					size_t n_fields, struct str body)
{
	struct relay_command *c =
		command_new(x, verb, relay_fields_size(fields, n_fields) + type.n + body.n);
	struct http_field *copies;
	char *at;

	if (!c)
		return NULL;
	copies = (struct http_field *)(void *)(c + 1);
	at = (char *)(copies + n_fields);
	relay_put_fields(&at, copies, fields, n_fields);
	c->status = status;
	c->fields = copies;
	c->n_fields = n_fields;
	c->type = relay_put(&at, type);
	c->body = relay_put(&at, body);
	return c;
}

/* The service is done with it. */
static void relay_back_finish(struct relay_exchange *x, struct relay_command *c)
{
	x->ex.over = true;
	relay_command(c);
	relay_exchange_drop(x);
}

/* The one command that needs no memory. */
static void finish_with(struct relay_exchange *x, enum relay_verb verb)
{
	x->last = (struct relay_command){ .x = x, .verb = verb };
	relay_back_finish(x, &x->last);
}

static void abandon(struct http_exchange *ex)
{
	if (is_open(ex))
		finish_with(of(ex), DO_ABORT);
}

static void reply(struct http_exchange *ex, int status, struct str type,
		  const struct http_field *fields, size_t n_fields, struct str body)
{
	struct relay_exchange *x = of(ex);
	struct relay_command *c = NULL;

	if (!is_open(ex))
		return;
	if (!ex->streaming)
		c = answer_new(x, DO_REPLY, status, type, fields, n_fields, body);
	if (c)
		relay_back_finish(x, c);
	else
		abandon(ex);
}

static int relay_back_begin(struct http_exchange *ex, int status, struct str type,
			    const struct http_field *fields, size_t n_fields)
{
	struct relay_command *c;

	if (!is_open(ex))
		return CLEAT_ECLOSED;
	if (ex->streaming)
		return CLEAT_EMISUSE;
	c = answer_new(of(ex), DO_BEGIN, status, type, fields, n_fields, STR_LIT(""));
	if (!c)
		return CLEAT_ENOMEM;
	ex->status = status;
	ex->streaming = true;
	relay_command(c);
	return CLEAT_OK;
}

static size_t queued(const struct http_exchange *ex)
{
	const struct relay_exchange *x = of(ex);

	return x->added - atomic_load_explicit(&x->written, memory_order_acquire);
}

static int write_bytes(struct http_exchange *ex, struct str bytes, bool must)
{
	struct relay_exchange *x = of(ex);
	size_t waiting = queued(ex), max = x->relay->o.http.max_stream_queue;
	struct relay_command *c;
	char *at;

	if (!is_open(ex))
		return CLEAT_ECLOSED;
	if (!ex->streaming)
		return CLEAT_EMISUSE;
	if (bytes.n == 0 || !http_exchange_has_body(ex, ex->status))
		return CLEAT_OK;
	if (waiting > max || (!must && bytes.n > max - waiting))
		return CLEAT_ELIMIT;
	c = command_new(x, DO_WRITE, bytes.n);
	if (!c)
		return CLEAT_ENOMEM;
	at = (char *)(c + 1);
	c->body = relay_put(&at, bytes);
	x->added += bytes.n;
	relay_command(c);
	return CLEAT_OK;
}

static void end(struct http_exchange *ex)
{
	if (is_open(ex))
		finish_with(of(ex), ex->streaming ? DO_END : DO_ABORT);
}

const struct http_exchange_ops relay_back_ops = {
	.request = get_request,
	.address = get_address,
	.is_tls = is_tls,
	.keep = relay_back_keep,
	.set_connection_data = set_connection_data,
	.connection_data = connection_data,
	.limit_body = limit_body,
	.reply = reply,
	.begin = relay_back_begin,
	.write = write_bytes,
	.queued = queued,
	.end = end,
	.abort = abandon,
};

/* ---- mail --------------------------------------------------------------------------------- */

/* The service looks at the header first, as it would if the connection were its own. */
static void relay_back_serve(struct relay_exchange *x)
{
	const struct http_service *s = &x->relay->service;
	struct http_exchange *ex = &x->ex;

	ex->open = ex->seen = true;
	x->max_body = SIZE_MAX;
	if (s->head) {
		ex->early = true;
		s->head(s->ctx, ex);
		ex->early = false;
	}
	if (ex->over || ex->streaming)
		return;
	if (x->request.body.n > x->max_body) {
		ex->close = true;
		reply(ex, 413, STR_LIT("text/plain"), NULL, 0, STR_LIT("the body is too large\n"));
	} else {
		s->request(s->ctx, ex);
	}
}

static void lose(struct relay_exchange *x)
{
	const struct http_service *s = &x->relay->service;

	if (x->ex.over)
		return;
	x->ex.over = true;
	if (x->ex.seen)
		s->gone(s->ctx, &x->ex);
	x->ex.data = NULL;
	relay_exchange_drop(x);
}

void relay_back_deliver(struct relay_mail *m, unsigned what)
{
	struct relay_exchange *x = CONTAINER_OF(m, struct relay_exchange, mail);
	const struct http_service *s = &x->relay->service;

	if ((what & MAIL_REQUEST) && x->relay->closing)
		lose(x);
	else if (what & MAIL_REQUEST)
		relay_back_serve(x);
	/* While more is on its way, another one will come. */
	if ((what & (MAIL_DRAINED | MAIL_GONE)) == MAIL_DRAINED && s->drained && is_open(&x->ex) &&
	    queued(&x->ex) == 0)
		s->drained(s->ctx, &x->ex);
	if (what & MAIL_GONE)
		lose(x);
	if (what & MAIL_LOGGED)
		s->logged(s->ctx, &x->ex, x->status, x->bytes, x->micros);
	relay_exchange_drop(x);
}
