/* test_tls.c - sessions of net/tls against OpenSSL's own client: handshakes, data in all
 * slicings, ends, and clients that are wrong or hostile. Memory and limits are in test_tls_memory.c,
 * files in test_tls_files.c, a missing or failing OpenSSL in test_tls_missing.c.
 */
#include "unit/net/test_tls.h"
#include "test.h"

#include <pthread.h>

/* ---- talking ----------------------------------------------------------------------------------- */

TEST(handshake_and_data_in_every_slicing)
{
	static const size_t steps[] = { 1, 2, 3, 4, 5, 6, 7, 11, 50, 517, 1000, 4096, ALL };
	struct pair p;

	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		for (size_t i = 0; i < CLEAT_COUNT(steps); i++) {
			pair_open(&p, context, v, steps[i]);
			pair_start(&p);
			assert_false(tls_session_is_ready(p.server));
			assert_int_equal(tls_session_send(p.server, STR_LIT("x"), &p.wire),
					 CLEAT_EMISUSE);
			pair_run(&p);
			assert_true(tls_session_is_ready(p.server));
			assert_int_equal(SSL_version(p.client), v);
			assert_talking(&p);
			assert_talking(&p);
			pair_close(&p);
		}
	}
}

TEST(megabyte_each_way)
{
	static const size_t steps[] = { 997, 16384, 65536, ALL };
	struct pair p;

	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		for (size_t i = 0; i < CLEAT_COUNT(steps); i++) {
			pair_connect(&p, context, v, steps[i]);
			client_says(&p, megabyte(1));
			pair_run(&p);
			assert_int_equal(p.rc, CLEAT_OK);
			assert_bytes(&p.plain, megabyte(1));
			assert_int_equal(tls_session_send(p.server, megabyte(2), &p.wire),
					 CLEAT_OK);
			/* The room that was made beforehand was enough. */
			assert_true(buf_size(&p.wire) <= (1 << 20) + 66 * 32);
			pair_run(&p);
			assert_bytes(&p.got, megabyte(2));
			pair_close(&p);
		}
	}
}

PAIR_TEST(nothing_is_sent_for_nothing)
{
	pair_connect(p, context, 0, ALL);
	assert_int_equal(tls_session_send(p->server, STR_LIT(""), &p->wire), CLEAT_OK);
	assert_int_equal(tls_session_receive(p->server, STR_LIT(""), &p->plain, &p->wire, NULL),
			 CLEAT_OK);
	assert_int_equal(buf_size(&p->wire), 0);
	assert_int_equal(buf_size(&p->plain), 0);
}

/* Only forward secrecy and authenticated encryption, whatever the client offers first. */
TEST(ciphers_of_1_2_are_modern)
{
	static const struct {
		const char *offered;
		bool taken;
	} table[] = {
		{ "ECDHE-ECDSA-AES128-GCM-SHA256", true },
		{ "ECDHE-ECDSA-AES256-GCM-SHA384", true },
		{ "ECDHE-ECDSA-CHACHA20-POLY1305", true },
		{ "ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES128-GCM-SHA256", true },
		{ "ECDHE-ECDSA-AES128-SHA", false },
		{ "ECDHE-ECDSA-AES256-SHA384", false },
		{ "ECDHE-ECDSA-AES128-CCM", false },
		{ "AES128-GCM-SHA256", false },
		{ "DHE-RSA-AES128-GCM-SHA256", false },
	};
	struct pair p;

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		pair_open(&p, context, TLS1_2_VERSION, ALL);
		assert_int_equal(SSL_CTX_set_cipher_list(p.context, table[i].offered), 1);
		pair_start(&p);
		pair_run(&p);
		assert_int_equal(p.rc, table[i].taken ? CLEAT_OK : CLEAT_EPROTO);
		if (table[i].taken)
			assert_true(SSL_CIPHER_is_aead(SSL_get_current_cipher(p.client)));
		else
			assert_string_equal(p.err.message, "TLS: no shared cipher");
		pair_close(&p);
	}
}

/* RFC 7301, 3.2. */
TEST(protocol_is_http_1_1_or_none)
{
	const struct {
		struct str offered;
		bool taken;
	} table[] = {
		{ STR_LIT("\x08http/1.1"), true },       { STR_LIT("\x02h2\x08http/1.1"), true },
		{ STR_LIT("\x08http/1.1\x02h2"), true }, { STR_LIT("\x02h2"), false },
		{ STR_LIT("\x08http/1.0"), false },      { STR_LIT("\x07http/1."), false },
		{ STR_LIT("\x09http/1.12"), false },     { STR_LIT("\x0A\x08http/1.1x"), false },
	};
	struct pair p;

	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
			const unsigned char *chosen = NULL;
			unsigned int n = 0;

			pair_open(&p, context, v, ALL);
			SSL_CTX_set_alpn_protos(p.context,
						(const unsigned char *)table[i].offered.p,
						(unsigned)table[i].offered.n);
			pair_start(&p);
			pair_run(&p);
			SSL_get0_alpn_selected(p.client, &chosen, &n);
			if (table[i].taken) {
				assert_int_equal(p.rc, CLEAT_OK);
				assert_int_equal(n, 8);
				assert_memory_equal(chosen, "http/1.1", 8);
				assert_talking(&p);
			} else {
				assert_int_equal(p.rc, CLEAT_EPROTO);
				assert_string_equal(p.err.message, "TLS: no application protocol");
				assert_int_equal(ERR_GET_REASON(ERR_peek_error()),
						 SSL_AD_REASON_OFFSET +
							 SSL_AD_NO_APPLICATION_PROTOCOL);
			}
			pair_close(&p);
		}
	}
}

TEST(client_resumes_with_a_ticket)
{
	struct pair p;

	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		SSL_SESSION *ticket;

		pair_connect(&p, context, v, ALL);
		assert_talking(&p);
		ticket = SSL_get1_session(p.client);
		assert_true(SSL_SESSION_is_resumable(ticket));
		SSL_shutdown(p.client);
		pair_close(&p);

		pair_open(&p, context, v, ALL);
		pair_start(&p);
		SSL_set_session(p.client, ticket);
		pair_run(&p);
		assert_true(SSL_session_reused(p.client));
		assert_talking(&p);
		pair_close(&p);
		SSL_SESSION_free(ticket);
	}
}

/* ---- ends -------------------------------------------------------------------------------------- */

/* RFC 8446, 6.1: close_notify ends one direction; the answer may still be sent. */
VERSIONS_TEST(goodbye_of_the_client)
{
	pair_connect(p, context, v, 3);
	client_says(p, STR_LIT("last words"));
	assert_int_equal(SSL_shutdown(p->client), 0);
	while (feed_server(p))
		;
	assert_int_equal(p->rc, CLEAT_ECLOSED);
	assert_int_equal(p->err.status, CLEAT_ECLOSED);
	assert_bytes(&p->plain, STR_LIT("last words"));
	/* What comes after it is not read. */
	assert_int_equal(
		tls_session_receive(p->server, STR_LIT("anything"), &p->plain, &p->wire, NULL),
		CLEAT_ECLOSED);
	assert_int_equal(tls_session_send(p->server, STR_LIT("the answer"), &p->wire), CLEAT_OK);
	tls_session_finish(p->server, &p->wire);
	while (feed_client(p))
		;
	assert_bytes(&p->got, STR_LIT("the answer"));
	assert_true(p->client_done);
}

VERSIONS_TEST(goodbye_of_the_server)
{
	size_t n;

	pair_connect(p, context, v, ALL);
	tls_session_finish(p->server, &p->wire);
	n = buf_size(&p->wire);
	assert_true(n > 0);
	tls_session_finish(p->server, &p->wire);
	assert_int_equal(buf_size(&p->wire), n);
	assert_int_equal(tls_session_send(p->server, STR_LIT("more"), &p->wire), CLEAT_ECLOSED);
	/* The client has not read it yet and goes on. */
	client_says(p, STR_LIT("wait"));
	pair_run(p);
	assert_bytes(&p->plain, STR_LIT("wait"));
	assert_true(p->client_done);
	assert_int_equal(p->rc, CLEAT_OK);
	assert_int_equal(SSL_shutdown(p->client), 1);
	pair_run(p);
	assert_int_equal(p->rc, CLEAT_ECLOSED);
}

PAIR_TEST(no_goodbye_before_the_handshake)
{
	pair_open(p, context, 0, ALL);
	pair_start(p);
	tls_session_finish(p->server, &p->wire);
	assert_int_equal(buf_size(&p->wire), 0);
	client_reads(p); /* a ClientHello */
	assert_true(feed_server(p));
	buf_reset(&p->wire, 0);
	tls_session_finish(p->server, &p->wire);
	assert_int_equal(buf_size(&p->wire), 0);
	tls_session_free(NULL);
}

TEST(client_goes_away_at_every_point_of_the_handshake)
{
	struct pair p;

	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		for (size_t stop = 0, done = 0; !done; stop += 37) {
			pair_open(&p, context, v, 1);
			pair_start(&p);
			client_reads(&p);
			for (size_t i = 0; i < stop && !done; i++)
				if (!feed_server(&p) && !feed_client(&p))
					done = 1;
			pair_close(&p);
		}
	}
}

/* A new certificate is a new context; sessions keep theirs. */
TEST(sessions_outlive_their_context)
{
	struct tls_context *c = context_of("cert.pem", "key.pem");
	struct pair old, new;
	X509 *x;
	char cn[32];

	pair_connect(&old, c, 0, ALL);
	tls_context_drop(c);
	c = context_of("cert2.pem", "key2.pem");
	assert_talking(&old);
	pair_connect(&new, c, 0, ALL);
	assert_talking(&new);
	assert_talking(&old);
	x = SSL_get1_peer_certificate(new.client);
	X509_NAME_get_text_by_NID(X509_get_subject_name(x), NID_commonName, cn, sizeof cn);
	assert_string_equal(cn, "other");
	X509_free(x);
	tls_context_drop(c);
	assert_talking(&new);
	pair_close(&old);
	pair_close(&new);
	tls_context_drop(NULL);
}

/* ---- clients that are wrong -------------------------------------------------------------------- */

/* Feeds `bytes` to a new session, `step` at a time, to the end. */
static int receive(struct str bytes, size_t step, cleat_error *e, struct buf *wire)
{
	struct tls_session *t = tls_session_new(context);
	struct buf plain;
	int rc = CLEAT_OK;

	assert_non_null(t);
	buf_init(&plain, NULL, 1 << 20);
	while (bytes.n > 0 && rc == CLEAT_OK) {
		size_t n = bytes.n < step ? bytes.n : step;

		rc = tls_session_receive(t, (struct str){ bytes.p, n }, &plain, wire, e);
		bytes.p += n;
		bytes.n -= n;
	}
	assert_false(tls_session_is_ready(t));
	assert_int_equal(buf_size(&plain), 0);
	if (rc != CLEAT_OK) { /* and stays so */
		assert_int_equal(tls_session_receive(t, STR_LIT("x"), &plain, wire, NULL), rc);
		assert_int_equal(tls_session_send(t, STR_LIT("x"), wire), rc);
		tls_session_finish(t, wire);
	}
	buf_done(&plain);
	tls_session_free(t);
	return rc;
}

TEST(garbage_is_a_protocol_error)
{
	const struct str table[] = {
		STR_LIT("\0\0\0\0\0\0\0\0"),
		STR_LIT("\x16\x03\x01\xFF\xFF\x01\x00\x00"), /* a record that is too long */
		STR_LIT("\x16\x03\x01\x00\x05\x01\xFF\xFF\xFF\x03\x03"), /* a message that is */
		STR_LIT("\x17\x03\x03\x00\x05hello"),                    /* data first */
		STR_LIT("\x15\x03\x01\x00\x02\x02\x28"),                 /* an alert first */
		STR_LIT("\x14\x03\x01\x00\x01\x01\x14\x03\x01\x00\x01\x01"),
		STR_LIT("\x80\x2E\x01\x03\x01\x00\x15\x00\x00\x00\x10"
			"garbage garbage garbage garbage garbage"), /* SSLv2 */
		STR_LIT("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n"),
		STR_LIT("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"),
		STR_LIT("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
	};
	static const size_t steps[] = { 1, 4, 5, ALL };
	struct buf wire;

	buf_init(&wire, NULL, 1000);
	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		for (size_t j = 0; j < CLEAT_COUNT(steps); j++) {
			cleat_error e = { 0 };

			assert_int_equal(receive(table[i], steps[j], &e, &wire), CLEAT_EPROTO);
			assert_int_equal(e.status, CLEAT_EPROTO);
			assert_non_null(strstr(e.message, "TLS"));
			assert_null(strstr(e.message, "no reason"));
			assert_null(strstr(e.message, "HTTP"));
		}
	}
	buf_done(&wire);
}

TEST(plain_http_is_recognised)
{
	static const char *const table[] = { "GET /mcp HTTP/1.1\r\n",   "POST /mcp HTTP/1.1\r\n",
					     "HEAD / HTTP/1.1\r\n",     "PUT / HTTP/1.1\r\n",
					     "DELETE / HTTP/1.1\r\n",   "OPTIONS * HTTP/1.1\r\n",
					     "PATCH / HTTP/1.1\r\n",    "TRACE / HTTP/1.1\r\n",
					     "CONNECT a:1 HTTP/1.1\r\n" };
	static const size_t steps[] = { 1, 3, ALL };
	struct buf wire;

	buf_init(&wire, NULL, 1000);
	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		for (size_t j = 0; j < CLEAT_COUNT(steps); j++) {
			cleat_error e = { 0 };

			assert_int_equal(receive(str_of(table[i]), steps[j], &e, &wire),
					 CLEAT_EPROTO);
			assert_non_null(strstr(e.message, "the client speaks plain HTTP"));
		}
	}
	buf_done(&wire);
}

/* RFC 8996: TLS 1.0 and 1.1 must not be negotiated. */
TEST(old_versions_are_refused)
{
	static const int old[] = { TLS1_VERSION, TLS1_1_VERSION };
	struct pair p;

	for (size_t i = 0; i < CLEAT_COUNT(old); i++) {
		pair_open(&p, context, old[i], ALL);
		SSL_CTX_set_security_level(p.context, 0);
		SSL_CTX_set_cipher_list(p.context, "ALL:@SECLEVEL=0");
		pair_start(&p);
		pair_run(&p);
		assert_int_equal(p.rc, CLEAT_EPROTO);
		assert_string_equal(p.err.message, "TLS: unsupported protocol");
		assert_int_equal(ERR_GET_REASON(ERR_peek_error()),
				 SSL_AD_REASON_OFFSET + SSL_AD_PROTOCOL_VERSION);
		pair_close(&p);
	}
}

VERSIONS_TEST(record_that_was_tampered_with_shows_nothing)
{
	for (size_t at = 5;; at++) { /* after the header */
		char record[100];
		int n;

		pair_connect(p, context, v, ALL);
		client_says(p, STR_LIT("text"));
		n = BIO_read(p->out, record, sizeof record);
		assert_in_range(n, 5, sizeof record - 1);
		if (at >= (size_t)n)
			break;
		record[at] ^= 0x10;
		assert_int_equal(tls_session_receive(p->server, (struct str){ record, (size_t)n },
						     &p->plain, &p->wire, &p->err),
				 CLEAT_EPROTO);
		assert_string_equal(p->err.message, "TLS: decryption failed or bad record mac");
		assert_int_equal(buf_size(&p->plain), 0);
		assert_true(buf_size(&p->wire) > 0); /* an alert */
		assert_false(tls_session_is_ready(p->server));
		pair_close(p);
	}
}

VERSIONS_TEST(incomplete_record_waits)
{
	char record[100];
	int n;

	pair_connect(p, context, v, ALL);
	client_says(p, STR_LIT("text"));
	n = BIO_read(p->out, record, sizeof record);
	for (int i = 0; i < n; i++) {
		assert_int_equal(buf_size(&p->plain), 0);
		assert_int_equal(tls_session_receive(p->server, (struct str){ record + i, 1 },
						     &p->plain, &p->wire, &p->err),
				 CLEAT_OK);
	}
	assert_bytes(&p->plain, STR_LIT("text"));
}

VERSIONS_TEST(client_that_does_not_trust_us_is_quoted)
{
	pair_open(p, context, v, ALL);
	SSL_CTX_set_verify(p->context, SSL_VERIFY_PEER, NULL);
	pair_start(p);
	pair_run(p);
	assert_int_equal(p->rc, CLEAT_EPROTO);
	assert_non_null(strstr(p->err.message, "the client gave TLS up: "));
	assert_non_null(strstr(p->err.message, "unknown ca"));
}

PAIR_TEST(renegotiation_is_refused)
{
	pair_connect(p, context, TLS1_2_VERSION, ALL);
	assert_talking(p);
	assert_int_equal(SSL_renegotiate(p->client), 1);
	SSL_do_handshake(p->client);
	assert_true(feed_server(p));
	assert_int_equal(p->rc, CLEAT_OK);
	assert_in_range(buf_size(&p->wire), 1, 64); /* no_renegotiation, no handshake */
	assert_true(tls_session_is_ready(p->server));
	assert_int_equal(tls_session_send(p->server, STR_LIT("still here"), &p->wire), CLEAT_OK);
}

/* Each may cost one record, of the same size, and no more: whoever stops reading while much waits to be
 * written is safe. */
PAIR_TEST(answers_to_key_updates_are_no_longer_than_the_requests)
{
	size_t sent = 0;

	pair_connect(p, context, TLS1_3_VERSION, ALL);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(SSL_key_update(p->client, SSL_KEY_UPDATE_REQUESTED), 1);
		SSL_do_handshake(p->client);
		sent += BIO_ctrl_pending(p->out);
		while (feed_server(p))
			;
		assert_int_equal(p->rc, CLEAT_OK);
	}
	assert_in_range(buf_size(&p->wire), 1, sent);
	assert_talking(p);
}

TEST(empty_records_are_not_taken_for_ever)
{
	static char records[5 * 1000];
	struct buf wire;
	cleat_error e;

	buf_init(&wire, NULL, 1000);
	for (size_t i = 0; i < sizeof records; i += 5)
		memcpy(records + i, "\x16\x03\x01\x00\x00", 5);
	assert_int_equal(receive((struct str){ records, sizeof records }, ALL, &e, &wire),
			 CLEAT_EPROTO);
	buf_done(&wire);
}

/* One message of the handshake in many records: OpenSSL's limit for a ClientHello, 128 KiB, holds. */
TEST(endless_hello_is_refused_at_once)
{
	struct buf wire;
	cleat_error e;

	buf_init(&wire, NULL, 1000);
	assert_int_equal(receive(STR_LIT("\x16\x03\x01\x00\x04\x01\x03\x00\x00"), 1, &e, &wire),
			 CLEAT_EPROTO);
	assert_string_equal(e.message, "TLS: excessive message size");
	buf_done(&wire);
}

/* RFC 6066, 4: a client may ask for tiny records; the text still arrives. */
VERSIONS_TEST(tiny_records)
{
	pair_open(p, context, v, ALL);
	SSL_CTX_set_tlsext_max_fragment_length(p->context, TLSEXT_max_fragment_length_512);
	pair_start(p);
	pair_run(p);
	assert_int_equal(p->rc, CLEAT_OK);
	assert_int_equal(tls_session_send(p->server, megabyte(3), &p->wire), CLEAT_OK);
	pair_run(p);
	assert_bytes(&p->got, megabyte(3));
}

/* ---- the rest of the program ------------------------------------------------------------------- */

/* The program's errors, before and after. */
static void raise_errors(int n)
{
	for (int i = 0; i < n; i++) {
		ERR_new();
		ERR_set_debug("program.c", 100 + i, "function");
		if (i % 3 == 2)
			ERR_set_error(ERR_LIB_SYS, ENOENT, NULL);
		else
			ERR_set_error(ERR_LIB_USER, 1 + i, i % 3 ? "more about %d" : NULL, i);
	}
}

static void assert_errors(int n)
{
	for (int i = 0; i < n; i++) {
		const char *file, *func, *data;
		char want[32];
		int line, flags;
		unsigned long code = ERR_get_error_all(&file, &line, &func, &data, &flags);

		snprintf(want, sizeof want, "more about %d", i);
		assert_int_equal(ERR_GET_LIB(code), i % 3 == 2 ? ERR_LIB_SYS : ERR_LIB_USER);
		assert_int_equal(ERR_GET_REASON(code), i % 3 == 2 ? ENOENT : 1 + i);
		assert_string_equal(file, "program.c");
		assert_int_equal(line, 100 + i);
		assert_string_equal(func, "function");
		assert_string_equal(data, i % 3 == 1 ? want : "");
	}
	assert_int_equal(ERR_peek_error(), 0);
}

/* And they change nothing: SSL_get_error() would take them for those of the session. */
TEST(errors_of_the_program_are_left_alone)
{
	static const int counts[] = { 0, 1, 4, ERR_NUM_ERRORS - 1 };
	struct buf wire;

	buf_init(&wire, NULL, 1000);
	for (size_t i = 0; i < CLEAT_COUNT(counts); i++) {
		struct tls_context *c = NULL;
		struct pair p;
		char hello[2000];
		int n;

		/* a session, at every one of its calls */
		pair_open(&p, context, 0, ALL);
		pair_start(&p);
		client_reads(&p);
		n = BIO_read(p.out, hello, sizeof hello);
		ERR_clear_error();
		raise_errors(counts[i]);
		p.rc = tls_session_receive(p.server, (struct str){ hello, (size_t)n }, &p.plain,
					   &p.wire, NULL);
		assert_errors(counts[i]);
		assert_int_equal(p.rc, CLEAT_OK);
		while (feed_client(&p))
			;
		n = BIO_read(p.out, hello, sizeof hello);
		ERR_clear_error();
		raise_errors(counts[i]);
		p.rc = tls_session_receive(p.server, (struct str){ hello, (size_t)n }, &p.plain,
					   &p.wire, NULL);
		assert_int_equal(p.rc, CLEAT_OK);
		assert_true(tls_session_is_ready(p.server));
		assert_int_equal(tls_session_send(p.server, STR_LIT("x"), &p.wire), CLEAT_OK);
		tls_session_finish(p.server, &p.wire);
		assert_errors(counts[i]);
		pair_close(&p);

		/* failures */
		raise_errors(counts[i]);
		assert_int_equal(receive(STR_LIT("garbage"), ALL, NULL, &wire), CLEAT_EPROTO);
		assert_int_equal(tls_context_new(NULL, PATH("none"), PATH("key.pem"), &c, NULL),
				 CLEAT_EINVAL);
		assert_errors(counts[i]);
	}
	buf_done(&wire);
}

static void *talk(void *arg)
{
	struct tls_context *c = arg;
	struct pair p;

	for (int i = 0; i < 20; i++) {
		pair_connect(&p, c, 0, ALL);
		assert_talking(&p);
		pair_close(&p);
	}
	tls_context_drop(c);
	return NULL;
}

/* And whoever is last frees it. */
TEST(loops_share_a_context)
{
	enum { THREADS = 4 };
	struct tls_context *c = context_of("cert.pem", "key.pem");
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, talk, tls_context_hold(c)), 0);
	tls_context_drop(c);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(thread[i], NULL), 0);
}

TEST_GROUP(set_up, tear_down)
