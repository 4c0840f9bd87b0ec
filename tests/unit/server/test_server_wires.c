/* test_server_wires.c - several connections of one server at once: wires, descriptors, somebody
 * else's loop. What belongs to one never reaches another, and each is told when there is something
 * for it.
 */
#include "test.h"
#include "unit/server/server_rig.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

static cleat_request *held[8];
static size_t n_held;

static int hold(cleat_request *req)
{
	cleat_request_defer(req);
	held[n_held++] = req;
	return CLEAT_PENDING;
}

static int who(cleat_request *req)
{
	return cleat_reply_text(req, cleat_request_client_name(req));
}

static int add_another(cleat_request *req)
{
	assert_int_equal(cleat_server_add_tool(cleat_request_server(req),
					       &(cleat_tool){ .name = "another", .call = who }),
			 CLEAT_OK);
	cleat_server_resource_changed(cleat_request_server(req), "r:1");
	return cleat_reply_text(req, "added");
}

static const cleat_tool tools[] = { { .name = "hold", .call = hold },
				    { .name = "who", .call = who },
				    { .name = "add", .call = add_another } };

/* Two wires on one server. */
struct two {
	struct rig a, b;
};

static void two_open(struct two *on)
{
	struct rig *a = &on->a, *b = &on->b;

	rig_server(a, NULL);
	assert_int_equal(cleat_server_add_tools(a->s, tools, 3), CLEAT_OK);
	cleat_server_add_resource(a->s, &(cleat_resource){ .uri = "r:1", .text = "one" });
	*b = (struct rig){ .s = a->s };
	rig_wire(a);
	rig_wire(b);
	rig_open(a, "2025-11-25");
	rig_open(b, "2025-06-18");
}

static void two_stop(struct two *on)
{
	cleat_wire_free(on->b.w);
	free(on->b.out);
	rig_stop(&on->a);
}

#define TWO_TEST(name) TEST_ON(name, struct two, on, two_open(on), two_stop)

/* "wake: something is ready for cleat_wire_poll()", also when a call on another wire caused it. */
TWO_TEST(other_wire_is_woken)
{
	rig_ask(&on->b, REQUEST("1", "resources/subscribe", "\"uri\":\"r:1\""));
	rig_clear(&on->b);
	atomic_store(&on->b.wakes, 0);
	assert_has(rig_ask(&on->a, CALL("1", "add", "{}")), "added");
	assert_has(on->a.out, "notifications/tools/list_changed");
	assert_true(atomic_load(&on->b.wakes) > 0);
	assert_has(rig_poll(&on->b), "notifications/tools/list_changed");
	assert_has(on->b.out, "notifications/resources/updated");
}

/* A wire that is not read stops taking input at some point; the others do not notice. */
TWO_TEST(full_wire_does_not_stop_the_other)
{
	int rc = CLEAT_OK;

	for (int i = 0; i < 100000 && rc == CLEAT_OK; i++)
		rc = cleat_wire_feed(on->a.w, REQUEST("1", "tools/list", "") "\n",
				     strlen(REQUEST("1", "tools/list", "") "\n"));
	assert_int_equal(rc, CLEAT_ELIMIT);
	assert_has(rig_ask(&on->b, REQUEST("1", "ping", "")), "\"id\":1");
	rig_take(&on->a);
	assert_has(rig_ask(&on->a, REQUEST("2", "ping", "")), "\"id\":2");
}

/* ---- misuse of a wire --------------------------------------------------------------------------------- */

static cleat_wire *inner;

static int reenter(cleat_request *req)
{
	const void *p;

	assert_int_equal(cleat_wire_feed(inner, "x\n", 2), CLEAT_EMISUSE);
	assert_int_equal(cleat_wire_poll(inner), -1);
	cleat_wire_peek(inner, &p);
	return cleat_reply_text(req, "ok");
}

RIG_TEST(wire_refuses_to_be_fed_from_a_handler)
{
	rig_start(r, &(cleat_tool){ .name = "re", .call = reenter }, 1);
	inner = r->w;
	assert_has(rig_ask(r, CALL("1", "re", "{}")), "ok");
	assert_int_equal(cleat_wire_feed(r->w, NULL, 1), CLEAT_EINVAL);
	assert_int_equal(cleat_wire_feed(r->w, NULL, 0), CLEAT_OK);
	assert_int_equal(cleat_wire_peek(NULL, NULL), 0);
	cleat_wire_consume(r->w, 1000); /* more than there is */
	assert_has(rig_ask(r, REQUEST("2", "ping", "")), "\"id\":2");
}

/* ---- descriptors and loops ------------------------------------------------------------------------------ */

struct client {
	int fd;
	char in[65536];
	size_t n;
};

static void tell(struct client *c, const char *line)
{
	assert_int_equal(write(c->fd, line, strlen(line)), strlen(line));
	assert_int_equal(write(c->fd, "\n", 1), 1);
}

/* Somebody else's loop: polls our descriptor and the client's until `part` came. */
static void drive(cleat_loop *loop, struct client *c, const char *part)
{
	for (int turns = 0; !strstr(c->in, part); turns++) {
		struct pollfd p[2] = { { .fd = cleat_loop_fd(loop), .events = POLLIN },
				       { .fd = c->fd, .events = POLLIN } };
		int ms = cleat_loop_timeout(loop);

		assert_true(turns < 10000);
		poll(p, 2, ms < 0 || ms > 20000 ? 20000 : ms);
		cleat_loop_step(loop, 0);
		if (p[1].revents & POLLIN) {
			ssize_t n = read(c->fd, c->in + c->n, sizeof c->in - 1 - c->n);

			assert_true(n > 0);
			c->n += (size_t)n;
			c->in[c->n] = '\0';
		}
	}
}

static void handshake(cleat_loop *loop, struct client *c)
{
	tell(c, REQUEST("\"i\"", "initialize",
			"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
			"\"clientInfo\":{\"name\":\"fd\"}"));
	tell(c, NOTE("notifications/initialized", ""));
	drive(loop, c, "\"id\":\"i\"");
}

/* One wire and one pair of descriptors on one server, inside a foreign loop. */
TEST(wire_and_descriptors_together)
{
	static struct client c;
	cleat_loop *loop = cleat_loop_new(NULL);
	cleat_server_options o;
	struct rig r;
	int ends[2];

	memset(&c, 0, sizeof c);
	n_held = 0;
	assert_non_null(loop);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	c.fd = ends[0];
	o = rig_options(&r);
	o.loop = loop;
	rig_server(&r, &o);
	cleat_server_add_tools(r.s, tools, 3);
	assert_ptr_equal(cleat_server_loop(r.s), loop);
	rig_wire(&r);
	assert_int_equal(cleat_server_attach_fds(r.s, ends[1], ends[1]), CLEAT_OK);
	assert_int_equal(cleat_server_attach_fds(r.s, ends[1], ends[1]), CLEAT_EEXIST);
	rig_open(&r, "2025-11-25");
	handshake(loop, &c);
	tell(&c, CALL("0", "hold", "{}"));
	tell(&c, CALL("1", "who", "{}"));
	drive(loop, &c, "\"text\":\"fd\"");
	rig_ask(&r, CALL("0", "hold", "{}"));
	assert_int_equal(n_held, 2);
	cleat_reply_text(held[0], "by descriptor");
	cleat_request_finish(held[0], CLEAT_OK);
	cleat_reply_text(held[1], "by wire");
	cleat_request_finish(held[1], CLEAT_OK);
	rig_poll(&r); /* handles both events; the stream must notice that it has output */
	assert_has(r.out, "by wire");
	assert_lacks(r.out, "by descriptor");
	drive(loop, &c, "by descriptor");
	assert_lacks(c.in, "by wire");
	/* a change that a call on the wire makes reaches the descriptors, and the other way round */
	rig_ask(&r, CALL("1", "add", "{}"));
	drive(loop, &c, "notifications/tools/list_changed");
	rig_clear(&r);
	cleat_server_remove_tool(r.s, "another");
	c.n = 0;
	c.in[0] = '\0';
	atomic_store(&r.wakes, 0);
	tell(&c, CALL("2", "add", "{}"));
	drive(loop, &c, "notifications/tools/list_changed");
	assert_true(atomic_load(&r.wakes) > 0);
	assert_has(rig_poll(&r), "notifications/tools/list_changed");
	close(c.fd);
	while (cleat_loop_step(loop, 1000) != CLEAT_ECLOSED)
		;
	rig_stop(&r);
	assert_true(fcntl(ends[1], F_GETFD) >= 0); /* stayed ours */
	close(ends[1]);
	assert_int_equal(cleat_loop_step(loop, 0), CLEAT_ECLOSED); /* goes on without the server */
	cleat_loop_free(loop);
}

/* Two servers on one loop. */
TEST(two_servers_share_a_loop)
{
	static struct client c[2];
	cleat_loop *loop = cleat_loop_new(NULL);
	cleat_server *s[2];
	int ends[2][2];

	memset(c, 0, sizeof c);
	for (int i = 0; i < 2; i++) {
		s[i] = cleat_server_new(i ? "beta" : "alpha", "1",
					&(cleat_server_options){ .loop = loop });
		cleat_server_add_tools(s[i], tools, 3);
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[i]), 0);
		c[i].fd = ends[i][0];
		assert_int_equal(cleat_server_attach_fds(s[i], ends[i][1], ends[i][1]), CLEAT_OK);
	}
	handshake(loop, &c[0]);
	handshake(loop, &c[1]);
	assert_has(c[0].in, "alpha");
	assert_has(c[1].in, "beta");
	cleat_server_free(s[0]); /* with its connection */
	tell(&c[1], CALL("1", "who", "{}"));
	drive(loop, &c[1], "\"text\":\"fd\"");
	cleat_server_stop(s[1]);
	while (cleat_loop_step(loop, 1000) != CLEAT_ECLOSED)
		;
	cleat_server_free(s[1]);
	cleat_loop_free(loop);
	for (int i = 0; i < 2; i++) {
		close(ends[i][0]);
		close(ends[i][1]);
	}
}

RIG_TEST(bad_descriptors_are_refused)
{
	rig_start(r, tools, 3);
	assert_int_equal(cleat_server_attach_fds(r->s, -1, -1), CLEAT_EINVAL);
	assert_int_equal(cleat_server_attach_fds(r->s, 9999, 9999), CLEAT_EINVAL);
	assert_true(r->notes[0] != '\0');
	assert_string_equal(cleat_server_error(r->s)->message,
			    "descriptor 9999: Bad file descriptor");
	assert_has(rig_ask(r, REQUEST("2", "ping", "")), "\"id\":2");
}
