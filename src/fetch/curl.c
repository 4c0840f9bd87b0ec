/* fetch/curl.c - see curl.h.
 *
 * curl_global_init() may be called by several threads at once only in some builds of libcurl, so our
 * own calls of it are made one at a time. It counts, and is never taken back: others in the process
 * may use libcurl too.
 */
#define _POSIX_C_SOURCE 200809L

#include "fetch/curl.h"

#include "base/error.h"
#include "base/lazy.h"

#include <pthread.h>

#define CALLS(X)                                                                                   \
	X(curl_global_init)                                                                        \
	X(curl_version_info)                                                                       \
	X(curl_easy_init)                                                                          \
	X(curl_easy_cleanup)                                                                       \
	X(curl_easy_setopt)                                                                        \
	X(curl_easy_getinfo)                                                                       \
	X(curl_easy_pause)                                                                         \
	X(curl_easy_strerror)                                                                      \
	X(curl_multi_init)                                                                         \
	X(curl_multi_cleanup)                                                                      \
	X(curl_multi_setopt)                                                                       \
	X(curl_multi_add_handle)                                                                   \
	X(curl_multi_remove_handle)                                                                \
	X(curl_multi_socket_action)                                                                \
	X(curl_multi_info_read)                                                                    \
	X(curl_multi_assign)

#define calls libcurl /* the name that base/lazy.h wants */
#ifdef CLEAT_LINK_CURL
LAZY_LINKED(CALLS)
#else
LAZY_LOADED(CALLS, "libcurl.so.4", "libcurl4")
#endif

static int initialize(const struct libcurl *k, cleat_error *err)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool done;
	CURLcode rc = CURLE_OK;

	pthread_mutex_lock(&lock);
	if (!done)
		rc = k->curl_global_init(CURL_GLOBAL_DEFAULT);
	done |= rc == CURLE_OK;
	pthread_mutex_unlock(&lock);
	if (rc == CURLE_OUT_OF_MEMORY)
		return error_set(err, CLEAT_ENOMEM, "libcurl: out of memory");
	if (rc != CURLE_OK)
		return error_set(err, CLEAT_EUNSUPPORTED, "libcurl cannot start: %s",
				 k->curl_easy_strerror(rc));
	return CLEAT_OK;
}

int libcurl_load(struct libcurl *ret, cleat_error *err)
{
	struct libcurl own;
	const struct libcurl *k = calls_get(&own, err);
	const curl_version_info_data *v;

	if (!k)
		return CLEAT_EUNSUPPORTED;
	v = k->curl_version_info(CURLVERSION_NOW);
	if (v->version_num < LIBCURL_OLDEST)
		return error_set(err, CLEAT_EUNSUPPORTED,
				 "libcurl %s is too old: 7.88.0 or later is needed", v->version);
	*ret = *k;
	return initialize(k, err);
}
