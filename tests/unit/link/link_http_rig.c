/* link_http_rig.c - see link_http_rig.h. */
#include "unit/link/link_http_rig.h"

#include "support_files.h"

char rig_tags[64];

/* ---- what the link tells ------------------------------------------------------------------- */

static struct told *tell(struct rig_link *r, enum told_kind kind, void *tag, int status,
			 struct str text)
{
	struct told *t = &r->told[r->n_told++];

	assert_true(r->n_told <= TOLD_MAX);
	*t = (struct told){ .kind = kind, .tag = tag, .status = status, .size = text.n };
	t->text = malloc(text.n + 1);
	assert_non_null(t->text);
	if (text.n)
		memcpy(t->text, text.p, text.n);
	t->text[text.n] = '\0';
	return t;
}

static void told_done(struct rig_link *r, struct told *t)
{
	if (r->on_told)
		r->on_told(r, t);
}

static void on_message(void *ctx, struct str text, void *tag, int status)
{
	told_done(ctx, tell(ctx, TOLD_MESSAGE, tag, status, text));
}

static void on_accepted(void *ctx, void *tag)
{
	told_done(ctx, tell(ctx, TOLD_ACCEPTED, tag, 0, (struct str){ 0 }));
}

static void tell_why(struct rig_link *r, enum told_kind kind, void *tag,
		     const struct link_failure *why)
{
	struct told *t = tell(r, kind, tag, why ? why->http_status : 0,
			      why ? str_of(why->error.message) : (struct str){ 0 });

	if (why) {
		t->why = *why;
		assert_int_not_equal(why->error.status, CLEAT_OK);
		assert_true(why->error.message[0] != '\0');
	}
	told_done(r, t);
}

static void on_failed(void *ctx, void *tag, const struct link_failure *why)
{
	assert_non_null(tag);
	tell_why(ctx, TOLD_FAILED, tag, why);
}

static void on_down(void *ctx, const struct link_failure *why)
{
	tell_why(ctx, TOLD_DOWN, NULL, why);
}

static void on_up(void *ctx, const struct link_failure *why)
{
	tell_why(ctx, TOLD_UP, NULL, why);
}

static void on_gap(void *ctx)
{
	told_done(ctx, tell(ctx, TOLD_GAP, NULL, 0, (struct str){ 0 }));
}

static void on_oversize(void *ctx, void *tag, size_t limit)
{
	struct told *t = tell(ctx, TOLD_OVERSIZE, tag, 0, (struct str){ 0 });

	t->size = limit;
	told_done(ctx, t);
}

static void on_note(void *ctx, int level, const char *text)
{
	told_done(ctx, tell(ctx, TOLD_NOTE, NULL, level, str_of(text)));
}

static void on_err_line(void *ctx, const char *line)
{
	(void)ctx;
	(void)line;
	fail();
}

static void on_closed(void *ctx)
{
	told_done(ctx, tell(ctx, TOLD_CLOSED, NULL, 0, (struct str){ 0 }));
}

static uint32_t draw(void *ctx)
{
	struct rig_link *r = ctx;

	r->drawn++;
	return r->random;
}

struct link_base_options rig_base(struct rig_link *r)
{
	return (struct link_base_options){ .loop = r->l,
					   .mem = &r->fa.hook,
					   .max_message = 1 << 20,
					   .random = draw,
					   .random_ctx = r,
					   .events = { .message = on_message,
						       .accepted = on_accepted,
						       .failed = on_failed,
						       .down = on_down,
						       .up = on_up,
						       .gap = on_gap,
						       .oversize = on_oversize,
						       .note = on_note,
						       .err_line = on_err_line,
						       .closed = on_closed,
						       .ctx = r } };
}

/* ---- opening and closing --------------------------------------------------------------------- */

void rig_warm_up(void)
{
	static bool done;
	struct link_base_options base = { .max_message = 1 };
	struct link *k;

	if (done)
		return;
	done = true;
	base.loop = cleat_loop_new(NULL);
	assert_non_null(base.loop);
	k = link_http_new(&base, &(struct link_http_options){ .url = "http://localhost/" }, NULL);
	if (k)
		k->ops->free(k);
	cleat_loop_free(base.loop);
}

void rig_base_open(struct rig_link *r)
{
	memset(r, 0, sizeof *r);
	alarm(120); /* a test that waits for what never comes ends here */
	rig_warm_up();
	r->fds = open_fds();
	fail_alloc_init(&r->fa, 0, false);
	r->l = cleat_loop_new(&r->fa.hook);
	assert_non_null(r->l);
	origin_open(&r->o, NULL);
	snprintf(r->url, sizeof r->url, "http://127.0.0.1:%u/mcp", r->o.port);
}

bool rig_link_with(struct rig_link *r, struct link_base_options base, struct link_http_options o,
		   cleat_error *err)
{
	if (!o.url)
		o.url = r->url;
	r->link = link_http_new(&base, &o, err);
	return r->link != NULL;
}

void rig_open_link(struct rig_link *r)
{
	r->link->ops->open(r->link);
	assert_int_equal(r->n_told, r->taken); /* never from inside a call */
	expect_up(r);
}

void rig_start_with(struct rig_link *r, struct link_http_options o)
{
	rig_base_open(r);
	assert_true(rig_link_with(r, rig_base(r), o, NULL));
	rig_open_link(r);
}

void rig_start(struct rig_link *r)
{
	rig_start_with(r, (struct link_http_options){ 0 });
}

void rig_drop_told(struct rig_link *r)
{
	for (size_t i = 0; i < r->n_told; i++)
		free(r->told[i].text);
	r->n_told = r->taken = 0;
}

void rig_close_link(struct rig_link *r)
{
	if (r->link)
		r->link->ops->free(r->link);
	r->link = NULL;
}

void rig_done(struct rig_link *r)
{
	rig_close_link(r);
	rig_drop_told(r);
	origin_close(&r->o);
	cleat_loop_free(r->l);
	assert_int_equal(r->fa.live, 0);
	assert_int_equal(open_fds(), r->fds);
	alarm(0);
}

/* ---- the server's side ------------------------------------------------------------------------ */

void rig_step(struct rig_link *r)
{
	cleat_loop_step(r->l, 1);
}

void take_request(struct line *c, struct asked *q)
{
	size_t n = line_request(c), head = (size_t)(strstr(c->in, "\r\n\r\n") - c->in) + 4;

	assert_true(head < sizeof q->head);
	q->c = c;
	snprintf(q->head, sizeof q->head, "%.*s", (int)head, c->in);
	snprintf(q->body, sizeof q->body, "%.*s", (int)(n - head), c->in + head);
	line_drop(c, n);
}

struct asked *next_asked(struct rig_link *r)
{
	static struct asked ring[5];
	static unsigned at;
	struct asked *q = &ring[at++ % 5];
	struct line *c;

	while (!(c = origin_ready(&r->o)))
		rig_step(r);
	take_request(c, q);
	return q;
}

bool nobody_asks(struct rig_link *r)
{
	for (int i = 0; i < 10; i++) {
		if (origin_ready(&r->o))
			return false;
		rig_step(r);
	}
	return true;
}

void say_bytes(struct rig_link *r, struct line *c, const char *p, size_t n)
{
	while (n) {
		ssize_t done = send(c->fd, p, n, MSG_NOSIGNAL);

		if (done < 0 && errno == EAGAIN) {
			rig_step(r);
			continue;
		}
		if (done < 0)
			return; /* the client has gone */
		p += done;
		n -= (size_t)done;
	}
}

void say(struct rig_link *r, const struct asked *q, const char *text)
{
	say_bytes(r, q->c, text, strlen(text));
}

void reply(struct rig_link *r, const struct asked *q, const char *status, const char *fields,
	   const char *body)
{
	char head[4096];

	snprintf(head, sizeof head, "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n", status, fields,
		 strlen(body));
	say(r, q, head);
	say(r, q, body);
}

void reply_json(struct rig_link *r, const struct asked *q, const char *body)
{
	reply(r, q, "200 OK", JSON_TYPE, body);
}

void say_chunk(struct rig_link *r, const struct asked *q, const char *text)
{
	char size[32];

	snprintf(size, sizeof size, "%zx\r\n", strlen(text));
	say(r, q, size);
	say(r, q, text);
	say(r, q, "\r\n");
}

void say_end(struct rig_link *r, const struct asked *q)
{
	say(r, q, "0\r\n\r\n");
}

void hang_up_on(const struct asked *q)
{
	line_close(q->c, false);
}

void expect_hung_up(struct rig_link *r, const struct asked *q)
{
	while (!q->c->eof) {
		line_read(q->c);
		rig_step(r);
	}
	line_close(q->c, false);
}

void expect_field(const struct asked *q, const char *name, const char *value)
{
	char pattern[80], got[2048];
	const char *at;

	snprintf(pattern, sizeof pattern, "\r\n%s:", name);
	at = strstr(q->head, pattern);
	if (at) {
		at += strlen(pattern);
		at += *at == ' ';
		snprintf(got, sizeof got, "%.*s", (int)strcspn(at, "\r"), at);
	}
	if (!value != !at || (value && strcmp(value, got) != 0)) {
		print_error("%s: wanted %s, got %s, in\n%s", name, value ? value : "none",
			    at ? got : "none", q->head);
		fail();
	}
}

void expect_line(const struct asked *q, const char *start)
{
	if (strncmp(q->head, start, strlen(start)) != 0) {
		print_error("wanted %s, got %.100s\n", start, q->head);
		fail();
	}
}

/* ---- the role's side -------------------------------------------------------------------------- */

struct told *expect_told_(struct rig_link *r, enum told_kind kind, const char *file, int line)
{
	struct told *t;

	while (r->taken == r->n_told) {
		origin_accept(&r->o);
		rig_step(r);
	}
	t = &r->told[r->taken++];
	if (t->kind != kind) {
		print_error("wanted %d, got %d: %s\n", (int)kind, (int)t->kind, t->text);
		_fail(file, line);
	}
	return t;
}

void expect_message_(struct rig_link *r, void *tag, int status, const char *text, const char *file,
		     int line)
{
	struct told *t = expect_told_(r, TOLD_MESSAGE, file, line);

	if (t->tag != tag || t->status != status || strcmp(t->text, text) != 0) {
		print_error("wanted %d %s, got %d %.500s\n", status, text, t->status, t->text);
		_fail(file, line);
	}
}

struct told *expect_failed_(struct rig_link *r, void *tag, enum cleat_step step, const char *file,
			    int line)
{
	struct told *t = expect_told_(r, TOLD_FAILED, file, line);

	if (t->tag != tag || t->why.step != step) {
		print_error("wanted a failure in step %d, got %d: %s\n", (int)step,
			    (int)t->why.step, t->text);
		_fail(file, line);
	}
	return t;
}

void expect_nothing_told(struct rig_link *r)
{
	for (int i = 0; i < 10; i++)
		rig_step(r);
	if (r->taken != r->n_told)
		print_error("told: %d %s\n", (int)r->told[r->taken].kind, r->told[r->taken].text);
	assert_int_equal(r->taken, r->n_told);
}

void expect_text(const struct told *t, const char *part)
{
	if (!strstr(t->text, part)) {
		print_error("wanted \"%s\" in: %s\n", part, t->text);
		fail();
	}
}

void expect_up(struct rig_link *r)
{
	assert_int_equal(expect_told(r, TOLD_UP)->why.error.status, CLEAT_OK);
}

int rig_send(struct rig_link *r, struct link_message m, const char *text)
{
	size_t n = r->n_told;
	int rc;

	m.text = str_of(text);
	rc = r->link->ops->send(r->link, &m);
	assert_int_equal(r->n_told, n);
	return rc;
}

struct asked *rig_ask(struct rig_link *r, struct link_message m)
{
	char text[64];

	snprintf(text, sizeof text, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}",
		 (int)((char *)m.tag - rig_tags));
	assert_int_equal(rig_send(r, m, text), CLEAT_OK);
	return next_asked(r);
}

void rig_session(struct rig_link *r, const char *id)
{
	struct link_message m = { .kind = LINK_REQUEST,
				  .tag = TAG(0),
				  .rev = REV_2025_11_25,
				  .initialize = true,
				  .method = STR_LIT("initialize") };
	struct asked *q = rig_ask(r, m);
	char fields[1200];

	expect_field(q, "Mcp-Session-Id", NULL);
	expect_field(q, "MCP-Protocol-Version", NULL);
	snprintf(fields, sizeof fields, JSON_TYPE "Mcp-Session-Id: %s\r\n", id);
	reply(r, q, "200 OK", fields, A(0));
	expect_message(r, TAG(0), 200, A(0));
}
