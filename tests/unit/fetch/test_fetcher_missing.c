/* test_fetcher_missing.c - transport/http_client when libcurl is not there, is too old, or fails.
 *
 * A second copy of fetch/curl.c finds what missing_rig.h lets it find, and other functions in the
 * place of libcurl's; fetch/fetcher.c is compiled in place of the library's, with it.
 */
#include "test.h"
#include "unit/base/missing_rig.h"

#undef CLEAT_LINK_CURL
#define libcurl_load copy_load
#include "fetch/curl.c" /* NOLINT(bugprone-suspicious-include): see above */
#undef calls
#include "fetch/fetcher.c" /* NOLINT(bugprone-suspicious-include): see above */
#include "support.h"

static unsigned version; /* that it claims to be; 0: the truth */
static bool no_tls;
static CURLcode init_code; /* of curl_global_init */
static CURLoption refused; /* an option that it does not know */
static CURLcode refused_code;
static bool no_easy, no_multi;
static int initialized, handles;

static void *genuine(const char *name)
{
	static void *handle; /* never closed, like the other one */
	void *p;

	if (!handle)
		handle = genuine_library("libcurl.so.4");
	p = genuine_function(handle, name);
	assert_non_null(p);
	return p;
}

static CURLcode fake_init(long flags)
{
	CURLcode (*real)(long);
	void *p = genuine("curl_global_init");

	memcpy(&real, &p, sizeof p);
	initialized += init_code == CURLE_OK;
	return init_code == CURLE_OK ? real(flags) : init_code;
}

static curl_version_info_data *fake_version(CURLversion which)
{
	static curl_version_info_data info;
	curl_version_info_data *(*real)(CURLversion);
	void *p = genuine("curl_version_info");

	memcpy(&real, &p, sizeof p);
	info = *real(which);
	if (version) {
		info.version = "7.x";
		info.version_num = version;
	}
	if (no_tls)
		info.features &= ~CURL_VERSION_SSL;
	return &info;
}

static CURL *fake_easy(void)
{
	CURL *(*real)(void);
	void *p = genuine("curl_easy_init");

	memcpy(&real, &p, sizeof p);
	handles += !no_easy;
	return no_easy ? NULL : real();
}

static void fake_cleanup(CURL *easy)
{
	void (*real)(CURL *);
	void *p = genuine("curl_easy_cleanup");

	memcpy(&real, &p, sizeof p);
	handles -= easy != NULL;
	real(easy);
}

static CURLM *fake_multi(void)
{
	CURLM *(*real)(void);
	void *p = genuine("curl_multi_init");

	memcpy(&real, &p, sizeof p);
	return no_multi ? NULL : real();
}

/* All values that are given here are pointers or longs, which are passed alike. */
static CURLcode fake_setopt(CURL *easy, CURLoption option, ...)
{
	CURLcode (*real)(CURL *, CURLoption, ...);
	void *p = genuine("curl_easy_setopt");
	va_list ap;
	void *value;

	memcpy(&real, &p, sizeof p);
	va_start(ap, option);
	value = va_arg(ap, void *);
	va_end(ap);
	return option == refused ? refused_code : real(easy, option, value);
}

/* See missing_rig.h. */
static void *ours(void *library, const char *name)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} fakes[] = {
		{ "curl_global_init", (void (*)(void))fake_init },
		{ "curl_version_info", (void (*)(void))fake_version },
		{ "curl_easy_init", (void (*)(void))fake_easy },
		{ "curl_easy_cleanup", (void (*)(void))fake_cleanup },
		{ "curl_easy_setopt", (void (*)(void))fake_setopt },
		{ "curl_multi_init", (void (*)(void))fake_multi },
	};
	void *p = NULL;

	(void)library;
	for (size_t i = 0; i < CLEAT_COUNT(fakes); i++)
		if (strcmp(name, fakes[i].name) == 0)
			memcpy(&p, &fakes[i].fn, sizeof p);
	return p;
}

static void assert_fails(int status, const char *words)
{
	struct fail_alloc fa;
	cleat_error e = { 0 };
	struct fetcher_options o = { 0 };

	fail_alloc_init(&fa, 0, false);
	o.loop = cleat_loop_new(NULL);
	assert_non_null(o.loop);
	o.mem = &fa.hook;
	assert_null(fetcher_new(&o, &e));
	assert_int_equal(e.status, status);
	if (!strstr(e.message, words))
		fail_msg("\"%s\" is not in \"%s\"", words, e.message);
	assert_null(fetcher_new(&o, NULL));
	cleat_loop_free(o.loop);
	assert_int_equal(fa.live, 0);
	assert_int_equal(handles, 0);
}

static void assert_unsupported(void)
{
	assert_fails(CLEAT_EUNSUPPORTED,
		     "libcurl.so.4 cannot be loaded (a reason): install libcurl4");
}

TEST(missing_library_is_unsupported_and_says_what_to_install)
{
	deny_library(assert_unsupported);
}

TEST(missing_function_is_unsupported)
{
	DENY_FUNCTIONS(assert_unsupported);
}

TEST(old_library_is_unsupported)
{
	version = LIBCURL_OLDEST - 1;
	assert_fails(CLEAT_EUNSUPPORTED, "too old");
	version = 0;
}

TEST(library_that_cannot_start_is_reported_and_tried_again)
{
	init_code = CURLE_OUT_OF_MEMORY;
	assert_fails(CLEAT_ENOMEM, "memory");
	init_code = CURLE_FAILED_INIT;
	assert_fails(CLEAT_EUNSUPPORTED, "cannot start");
	init_code = CURLE_OK;
	assert_int_equal(initialized, 0);
}

TEST(lack_of_memory_in_libcurl_is_reported)
{
	no_easy = true;
	assert_fails(CLEAT_ENOMEM, "memory");
	no_easy = false;
	no_multi = true;
	assert_fails(CLEAT_ENOMEM, "memory");
	no_multi = false;
	refused = CURLOPT_USERAGENT;
	refused_code = CURLE_OUT_OF_MEMORY;
	assert_fails(CLEAT_ENOMEM, "memory");
	refused = 0;
}

/* What keeps a client safe is never silently left out. */
TEST(option_that_libcurl_lacks_is_unsupported_if_it_matters)
{
	static const CURLoption must[] = { CURLOPT_PROTOCOLS_STR,  CURLOPT_NOSIGNAL,
					   CURLOPT_SSL_VERIFYPEER, CURLOPT_SSL_VERIFYHOST,
					   CURLOPT_PREREQFUNCTION, CURLOPT_HTTP09_ALLOWED,
					   CURLOPT_SSLVERSION };
	static const CURLoption may[] = { CURLOPT_HTTP_VERSION, CURLOPT_PIPEWAIT };
	struct fetcher_options o = { 0 };
	struct fetcher *h;

	refused_code = CURLE_UNKNOWN_OPTION;
	for (size_t i = 0; i < CLEAT_COUNT(must); i++) {
		refused = must[i];
		assert_fails(CLEAT_EUNSUPPORTED, "lacks");
	}
	o.loop = cleat_loop_new(NULL);
	assert_non_null(o.loop);
	for (size_t i = 0; i < CLEAT_COUNT(may); i++) {
		refused = may[i];
		h = fetcher_new(&o, NULL);
		assert_non_null(h);
		fetcher_free(h);
	}
	refused = 0;
	cleat_loop_free(o.loop);
}

TEST(library_without_tls_serves_http_alone)
{
	struct fetcher_options o = { 0 };
	struct fetcher *h;
	cleat_error e = { 0 };

	o.loop = cleat_loop_new(NULL);
	assert_non_null(o.loop);
	no_tls = true;
	h = fetcher_new(&o, NULL);
	no_tls = false;
	assert_non_null(h);
	assert_null(fetch_start(h, &(struct fetch_options){ .method = "GET", .url = "https://h/" },
				&e));
	assert_int_equal(e.status, CLEAT_EUNSUPPORTED);
	assert_non_null(
		fetch_start(h, &(struct fetch_options){ .method = "GET", .url = "http://h/" }, &e));
	fetcher_free(h);
	cleat_loop_free(o.loop);
}

/* After all of the above: it works as soon as it can, and is initialized once. */
TEST(library_that_appears_later_is_used_and_initialized_once)
{
	struct fetcher_options o = { 0 };

	o.loop = cleat_loop_new(NULL);
	assert_non_null(o.loop);
	for (int i = 0; i < 3; i++) {
		struct fetcher *h = fetcher_new(&o, NULL);

		assert_non_null(h);
		fetcher_free(h);
	}
	assert_int_equal(initialized, 1);
	assert_int_equal(handles, 0);
	assert_true(opened > 0);
	opened = 0;
	fetcher_free(fetcher_new(&o, NULL));
	assert_int_equal(opened, 0);
	cleat_loop_free(o.loop);
}

TEST_START(argc, argv)
{
	instead = ours;
	return TEST_GO_ON;
}
