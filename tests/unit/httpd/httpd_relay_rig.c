/* httpd_relay_rig.c - see httpd_relay_rig.h. */
#include "httpd_relay_rig.h"

static void on_screen(void *ctx, struct http_exchange *ex)
{
	struct pair *p = ctx;

	p->screened++;
	if (path_is(ex, "/screened"))
		reply_text(ex, 403, STR_LIT("not here"));
	http_exchange_limit_body(ex, 1 << 20);
}

void pair_open_with(struct pair *p, bool two_loops, struct http_relay_options o)
{
	struct rig *r = &p->rig;

	memset(p, 0, sizeof *p);
	rig_ground(r);
	p->back = two_loops ? cleat_loop_new(&r->fa.hook) : r->l;
	assert_non_null(p->back);
	rig_fill(r, &o.http);
	o.back = p->back;
	o.screen = on_screen;
	o.screen_ctx = p;
	assert_int_equal(http_relay_new(&o, &p->relay), CLEAT_OK);
	r->h = p->relay->http;
	rig_hear(r, ":0");
	assert_int_equal(http_relay_add(p->relay, &r->ear, NULL), CLEAT_OK);
	loop_attach(p->back);
}

void pair_open(struct pair *p, bool two_loops)
{
	pair_open_with(p, two_loops, (struct http_relay_options){ 0 });
}

void pair_close(struct pair *p)
{
	struct rig *r = &p->rig;

	http_relay_free(p->relay);
	if (p->back != r->l)
		cleat_loop_free(p->back);
	rig_ground_done(r);
}

void front_turn(struct pair *p)
{
	rig_turn(&p->rig);
}

void back_turn(struct pair *p)
{
	for (int i = 0; i < 4; i++)
		cleat_loop_step(p->back, 0);
}

void both_turn(struct pair *p)
{
	for (int i = 0; i < 4; i++) {
		front_turn(p);
		back_turn(p);
	}
}

void expect_both(struct pair *p, struct client *c, int status, const char *body)
{
	look(c);
	WAIT_BOTH(p, (look(c), strstr(c->buf, "\r\n\r\n")));
	expect(c, status, body);
}
