/* fetch/curl.h - libcurl's functions, in a table that the dynamic loader fills on first use
 * (base/lazy.h) or, with CLEAT_LINK_CURL, the linker.
 *
 * Its types, options and codes are those of its own headers. Not here: anything that is done with it
 * (fetcher.c, fetch.c).
 */
#ifndef FETCH_CURL_H
#define FETCH_CURL_H

#include <cleat/base.h>

/* The checks are macros in the place of the functions, and could not be called through a pointer. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

/* The functions in use, named as in libcurl. */
struct libcurl {
	CURLcode (*curl_global_init)(long);
	curl_version_info_data *(*curl_version_info)(CURLversion);
	CURL *(*curl_easy_init)(void);
	void (*curl_easy_cleanup)(CURL *);
	CURLcode (*curl_easy_setopt)(CURL *, CURLoption, ...);
	CURLcode (*curl_easy_getinfo)(CURL *, CURLINFO, ...);
	CURLcode (*curl_easy_pause)(CURL *, int);
	const char *(*curl_easy_strerror)(CURLcode);
	CURLM *(*curl_multi_init)(void);
	CURLMcode (*curl_multi_cleanup)(CURLM *);
	CURLMcode (*curl_multi_setopt)(CURLM *, CURLMoption, ...);
	CURLMcode (*curl_multi_add_handle)(CURLM *, CURL *);
	CURLMcode (*curl_multi_remove_handle)(CURLM *, CURL *);
	CURLMcode (*curl_multi_socket_action)(CURLM *, curl_socket_t, int, int *);
	CURLMsg *(*curl_multi_info_read)(CURLM *, int *);
	CURLMcode (*curl_multi_assign)(CURLM *, curl_socket_t, void *);
};

/* Fills *ret and, once in a process, initializes the library; that is never undone. CLEAT_OK;
 * CLEAT_EUNSUPPORTED (it is not there, or older than LIBCURL_OLDEST); CLEAT_ENOMEM. Any thread. */
int libcurl_load(struct libcurl *ret, cleat_error *err);

/* 7.88.0. 7.87.0 is the first that writes to TLS connections without SIGPIPE, and that does not wait for a
 * name that is being resolved when the request is given up (CURLOPT_QUICK_EXIT); but it waits for ever
 * when a proxy refuses a tunnel. */
#define LIBCURL_OLDEST 0x075800u

#endif
