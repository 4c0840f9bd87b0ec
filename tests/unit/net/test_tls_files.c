/* test_tls_files.c - net/tls: certificate and key from files, right and wrong ones. */
#include "test.h"
#include "unit/net/test_tls.h"

#include <sys/stat.h>

static void write_text(const char *name, const char *text)
{
	FILE *f = create(name);

	fputs(text, f);
	fclose(f);
}

/* Appends `from` to `to`. */
static void append(const char *to, const char *from)
{
	FILE *in = fopen(PATH(from), "r"), *out = fopen(PATH(to), "a");
	int c;

	assert_non_null(in);
	assert_non_null(out);
	while ((c = fgetc(in)) != EOF)
		fputc(c, out);
	fclose(in);
	fclose(out);
}

/* In the old way ("Proc-Type: 4,ENCRYPTED") or as PKCS #8. */
static void write_encrypted_key(const char *name, bool old)
{
	BIO *in = BIO_new_file(PATH("key.pem"), "r"), *out = BIO_new_file(PATH(name), "w");
	EVP_PKEY *key = PEM_read_bio_PrivateKey(in, NULL, NULL, NULL);
	const char *secret = "secret";
	int (*write)(BIO *, const EVP_PKEY *, const EVP_CIPHER *, const unsigned char *, int,
		     pem_password_cb *, void *) =
		old ? PEM_write_bio_PrivateKey_traditional : PEM_write_bio_PrivateKey;

	assert_non_null(key);
	assert_int_equal(
		write(out, key, EVP_aes_128_cbc(), (const unsigned char *)secret, 6, NULL, NULL),
		1);
	EVP_PKEY_free(key);
	BIO_free(in);
	BIO_free(out);
}

static int make_files(void **state)
{
	if (set_up(state))
		return -1;
	write_pair("rsa.pem", "rsa-key.pem", EVP_RSA_gen(2048), "localhost", -60, 3600);
	write_pair("weak.pem", "weak-key.pem", EVP_RSA_gen(1024), "localhost", -60, 3600);
	write_pair("expired.pem", "expired-key.pem", EVP_EC_gen("P-256"), "localhost", -7200,
		   -3600);
	write_pair("p384.pem", "p384-key.pem", EVP_EC_gen("P-384"), "localhost", -60, 3600);
	write_encrypted_key("encrypted1.pem", true);
	write_encrypted_key("encrypted8.pem", false);
	write_text("empty.pem", "");
	write_text("garbage.pem", "This is not PEM.\n");
	write_text("cut.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n");
	write_text("wrong.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
	write_text("cut-key.pem", "-----BEGIN PRIVATE KEY-----\nMIIB\n");
	append("chain.pem", "cert.pem");
	append("chain.pem", "cert2.pem");
	append("both.pem", "key.pem");
	append("both.pem", "cert.pem");
	write_text("secret.pem", "");
	return mkdir(PATH("directory"), 0700);
}

static void assert_serves(const char *cert, const char *key, int chain)
{
	struct tls_context *c = context_of(cert, key);
	struct pair p;

	for (int v = TLS1_2_VERSION; v <= TLS1_3_VERSION; v++) {
		pair_connect(&p, c, v, ALL);
		assert_talking(&p);
		assert_int_equal(sk_X509_num(SSL_get_peer_cert_chain(p.client)), chain);
		pair_close(&p);
	}
	tls_context_drop(c);
}

TEST(good_files_serve)
{
	assert_serves("cert.pem", "key.pem", 1);
	assert_serves("rsa.pem", "rsa-key.pem", 1);
	assert_serves("p384.pem", "p384-key.pem", 1);
	assert_serves("chain.pem", "key.pem", 2);
	assert_serves("both.pem", "both.pem", 1); /* as some tools write them */
}

/* That is between the client and its user. */
TEST(expired_certificate_is_taken)
{
	assert_serves("expired.pem", "expired-key.pem", 1);
}

TEST(wrong_files_are_named_and_explained)
{
	static const struct {
		const char *cert, *key;
		const char *named, *words[2];
	} table[] = {
		{ "none.pem",
		  "key.pem",
		  "certificate",
		  { "none.pem: No such file or directory", "openssl req -x509" } },
		{ "cert.pem",
		  "none.pem",
		  "key",
		  { "none.pem: No such file or directory", "-out cert.pem" } },
		{ "directory", "key.pem", "certificate", { "has to be PEM", "" } },
		{ "cert.pem", "directory", "key", { "has to be PEM", "" } },
		{ "empty.pem", "key.pem", "certificate", { "no start line", "has to be PEM" } },
		{ "garbage.pem", "key.pem", "certificate", { "no start line", "has to be PEM" } },
		{ "cut.pem", "key.pem", "certificate", { "bad end line", "has to be PEM" } },
		{ "wrong.pem", "key.pem", "certificate", { "has to be PEM", "" } },
		{ "key.pem", "key.pem", "certificate", { "no start line", "has to be PEM" } },
		{ "cert.pem", "empty.pem", "key", { "has to be PEM", "" } },
		{ "cert.pem", "garbage.pem", "key", { "has to be PEM", "" } },
		{ "cert.pem", "cert.pem", "key", { "has to be PEM", "" } },
		{ "cert.pem", "cut-key.pem", "key", { "has to be PEM", "" } },
		{ "cert.pem", "encrypted1.pem", "key", { "is encrypted", "openssl pkey -in" } },
		{ "cert.pem", "encrypted8.pem", "key", { "is encrypted", "openssl pkey -in" } },
		{ "cert.pem", "key2.pem", "key", { "does not belong to", "/cert.pem" } },
		{ "cert.pem", "rsa-key.pem", "key", { "does not belong to", "/cert.pem" } },
		{ "rsa.pem", "key.pem", "key", { "does not belong to", "/rsa.pem" } },
		{ "weak.pem", "weak-key.pem", "certificate", { "ee key too small", "stronger" } },
	};

	for (size_t i = 0; i < CLEAT_COUNT(table); i++) {
		struct tls_context *c = NULL;
		cleat_error e = { 0 };
		char begin[200];

		assert_int_equal(
			tls_context_new(NULL, PATH(table[i].cert), PATH(table[i].key), &c, &e),
			CLEAT_EINVAL);
		assert_null(c);

		assert_int_equal(e.status, CLEAT_EINVAL);
		snprintf(begin, sizeof begin, "TLS %s %s", table[i].named,
			 PATH(strcmp(table[i].named, "key") == 0 ? table[i].key : table[i].cert));
		assert_memory_equal(e.message, begin, strlen(begin));
		for (size_t j = 0; j < 2; j++)
			if (!strstr(e.message, table[i].words[j]))
				fail_msg("'%s' lacks '%s'", e.message, table[i].words[j]);
		assert_int_equal(e.os_errno, strstr(e.message, "No such file") ? ENOENT : 0);
		/* Nobody is interested in the words. */
		assert_int_equal(
			tls_context_new(NULL, PATH(table[i].cert), PATH(table[i].key), &c, NULL),
			CLEAT_EINVAL);
	}
}

TEST(unreadable_file_is_said)
{
	enum { SOMEBODY = 65534 };
	struct tls_context *c = NULL;
	cleat_error e = { 0 };
	bool root = geteuid() == 0; /* who reads everything */
	int rc;

	assert_int_equal(chmod(PATH("secret.pem"), 0), 0);
	assert_int_equal(chmod(dir, 0711), 0);
	if (root)
		assert_int_equal(seteuid(SOMEBODY), 0);
	rc = tls_context_new(NULL, PATH("cert.pem"), PATH("secret.pem"), &c, &e);
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(rc, CLEAT_EINVAL);
	assert_int_equal(e.os_errno, EACCES);
	assert_non_null(strstr(e.message, "secret.pem: Permission denied"));
	assert_null(strstr(e.message, "openssl"));
}

TEST(both_files_are_wanted)
{
	struct tls_context *c = NULL;
	cleat_error e = { 0 };

	assert_int_equal(tls_context_new(NULL, NULL, PATH("key.pem"), &c, &e), CLEAT_EINVAL);
	assert_non_null(strstr(e.message, "two files"));
	assert_int_equal(tls_context_new(NULL, PATH("cert.pem"), NULL, &c, &e), CLEAT_EINVAL);
	assert_non_null(strstr(e.message, "openssl req -x509"));
	assert_null(c);
}

/* The command that the messages give makes a pair that works. */
TEST(command_in_the_message_works)
{
	struct tls_context *c = NULL;
	char command[600], *at;
	cleat_error e = { 0 };

	if (system("openssl version >/dev/null 2>&1") != 0) /* NOLINT(cert-env33-c) */
		skip();
	assert_int_equal(tls_context_new(NULL, NULL, NULL, &c, &e), CLEAT_EINVAL);
	at = strstr(e.message, "openssl req");
	assert_non_null(at);
	assert_int_equal(mkdir(PATH("made"), 0700), 0);
	snprintf(command, sizeof command, "cd '%s' && %s >/dev/null 2>&1", PATH("made"), at);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c) */
	assert_serves("made/cert.pem", "made/key.pem", 1);
}

TEST_GROUP(make_files, tear_down)
