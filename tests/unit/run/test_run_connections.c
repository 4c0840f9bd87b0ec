/* test_run_connections.c - <cleat/connection.h>: what a program learns of its clients' coming and going over
 * descriptors, wires and in its own process, and whose the descriptors are. HTTP is in
 * tests/wire/transcripts/http/connections.txt.
 */
#include "test.h"
#include "unit/run/test_run.h"

struct seen {
	int opened, closed, destroyed;
	cleat_connection *last;
	void *data; /* of the last, when it was opened */
	enum cleat_transport transport;
	int close_too; /* a descriptor, in on_close; -1: none */
};

static void on_open(cleat_connection *c, void *userdata)
{
	struct seen *v = userdata;

	v->opened++;
	v->last = c;
	v->data = cleat_connection_userdata(c);
	v->transport = cleat_connection_transport(c);
	assert_ptr_equal(cleat_server_userdata(cleat_connection_server(c)), v);
	assert_null(cleat_connection_address(c));
	assert_null(cleat_connection_principal(c));
}

static void on_close(cleat_connection *c, void *userdata)
{
	struct seen *v = userdata;

	v->closed++;
	assert_ptr_equal(c, v->last);
	if (v->close_too >= 0)
		close(v->close_too);
}

static void count_destroyed(void *userdata)
{
	((struct seen *)userdata)->destroyed++;
}

static cleat_server *watched_server(struct seen *v)
{
	*v = (struct seen){ .close_too = -1 };
	return new_server(
		&(cleat_server_options){ .on_open = on_open, .on_close = on_close, .userdata = v });
}

/* A client comes, says hello and goes; the server is left with its end. */
static void visit(cleat_server *s, const cleat_attach_options *o, struct seen *v, bool one)
{
	cleat_loop *l = cleat_server_loop(s);
	int ends[2], back[2] = { -1, -1 }, closed = v->closed;
	char got[4096];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	if (!one)
		assert_int_equal(pipe(back), 0);
	if (v->close_too == 0)
		v->close_too = ends[0];
	assert_int_equal(cleat_server_attach(s, ends[0], one ? ends[0] : back[1], o), CLEAT_OK);
	put(ends[1], INITIALIZE);
	put(ends[1], call(1, "hello", "{\"name\":\"you\"}"));
	fcntl(one ? ends[1] : back[0], F_SETFL, O_NONBLOCK);
	collect(l, one ? ends[1] : back[0], 2, got, sizeof got);
	assert_non_null(strstr(got, "hello you"));
	assert_int_equal(v->closed, closed);
	close(ends[1]);
	while (v->closed == closed)
		cleat_loop_step(l, 100);
	if (!one)
		close(back[0]);
}

/* Five clients come and go: five ends are told, and no descriptor is left. */
TEST_WITH(clients_come_and_go, warm_up, NULL)
{
	struct seen v;
	cleat_server *s = watched_server(&v);
	const cleat_attach_options owned = { .own_fds = true,
					     .userdata = &v,
					     .destroy = count_destroyed };
	size_t before;

	cleat_server_loop(s);
	before = open_fds();
	for (int i = 1; i <= 5; i++) {
		visit(s, &owned, &v, i % 2);
		assert_int_equal(v.opened, i);
		assert_int_equal(v.closed, i);
		assert_int_equal(v.destroyed, i);
		assert_ptr_equal(v.data, &v);
		assert_int_equal(v.transport, CLEAT_TRANSPORT_FDS);
		assert_int_equal(open_fds(), before);
	}
	cleat_server_free(s);
	assert_int_equal(v.closed, 5);
}

/* Those that stay the program's are free in on_close. */
TEST_WITH(descriptors_are_free_when_the_end_is_told, warm_up, NULL)
{
	struct seen v;
	cleat_server *s = watched_server(&v);
	size_t before;

	cleat_server_loop(s);
	before = open_fds();
	for (int i = 1; i <= 3; i++) {
		v.close_too = 0; /* the one that will be attached */
		visit(s, NULL, &v, true);
		assert_int_equal(open_fds(), before);
		assert_null(v.data);
	}
	cleat_server_free(s);
}

/* Handed over is handed over, also when it fails; what another connection has stays its own. */
TEST_WITH(descriptors_that_cannot_be_served, warm_up, NULL)
{
	struct seen v;
	cleat_server *s = watched_server(&v);
	const cleat_attach_options owned = { .own_fds = true,
					     .userdata = &v,
					     .destroy = count_destroyed };
	size_t before = open_fds();
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(cleat_server_attach(NULL, ends[0], ends[1], &owned), CLEAT_ENOMEM);
	assert_int_equal(open_fds(), before);
	assert_int_equal(cleat_server_attach(s, -1, 9999, &owned), CLEAT_EINVAL);
	assert_int_equal(v.destroyed, 2);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	assert_int_equal(cleat_server_attach(s, ends[0], ends[0], &owned), CLEAT_OK);
	assert_int_equal(cleat_server_attach(s, ends[0], ends[0], &owned), CLEAT_EEXIST);
	assert_true(fcntl(ends[0], F_GETFD) >= 0);
	assert_int_equal(v.opened, 1);
	assert_int_equal(v.destroyed, 3);
	cleat_server_free(s); /* tells the end of what is open */
	assert_int_equal(v.closed, 1);
	assert_int_equal(v.destroyed, 4);
	assert_true(fcntl(ends[0], F_GETFD) < 0);
	close(ends[1]);
}

/* A request that outlives its connection: the connection stays, and what the program keeps for it. */
TEST(a_connection_lives_as_long_as_its_requests)
{
	struct seen v;
	cleat_server *s = watched_server(&v);
	cleat_wire *w = cleat_wire_server(s, &(cleat_wire_options){ .userdata = &v });
	cleat_request *req;

	assert_int_equal(v.transport, CLEAT_TRANSPORT_WIRE);
	assert_ptr_equal(v.data, &v); /* the wire's */
	cleat_connection_set_userdata(v.last, &v, count_destroyed);
	cleat_connection_set_userdata(v.last, &v, count_destroyed);
	assert_int_equal(v.destroyed, 1); /* the one before */
	cleat_wire_feed(w, INITIALIZE, strlen(INITIALIZE));
	cleat_wire_feed(w, call(1, "later", "{}"), strlen(call(1, "later", "{}")));
	req = deferred[0];
	assert_ptr_equal(cleat_request_connection(req), v.last);
	cleat_wire_free(w);
	assert_int_equal(v.closed, 1);
	assert_true(cleat_request_cancelled(req));
	assert_ptr_equal(cleat_request_connection(req), v.last);
	assert_ptr_equal(cleat_connection_userdata(cleat_request_connection(req)), &v);
	assert_int_equal(v.destroyed, 1);
	cleat_request_finish(req, CLEAT_OK);
	w = cleat_wire_server(s, NULL);
	cleat_wire_poll(w); /* takes the end of the request */
	assert_int_equal(v.destroyed, 2);
	cleat_wire_free(w);
	cleat_server_free(s);
	assert_int_equal(v.closed, 2);
}

TEST(a_client_in_the_same_process_is_a_connection)
{
	struct seen v;
	cleat_server *s = watched_server(&v);
	cleat_client *c = cleat_client_inproc(s, NULL);
	cleat_result *r = cleat_client_callf(c, "hello", "{name: %s}", "you");

	assert_string_equal(cleat_result_text(r), "hello you");
	assert_int_equal(v.transport, CLEAT_TRANSPORT_INPROC);
	cleat_result_free(r);
	cleat_client_free(c);
	assert_int_equal(v.opened, v.closed);
	assert_true(v.opened > 0);
	cleat_server_free(s);
}
