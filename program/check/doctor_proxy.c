/* program/check/doctor_proxy.c - which proxy requests to an address go through, and which of the environment's
 * variables says so.
 *
 * The rules are libcurl's, which makes the requests (CURLOPT_PROXY(3), CURLOPT_NOPROXY(3)), and the
 * library's own: what the environment names is not for this machine itself. Nothing is looked up.
 */
#include "check/doctor.h"

#include "http/field.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* An address, or a network: 10.0.0.0/8, fd00::/8. */
static bool same_network(int family, const char *host, const char *pattern)
{
	unsigned char a[sizeof(struct in6_addr)], b[sizeof a];
	unsigned size = family == AF_INET ? 4 : 16, bits = size * 8;
	const char *slash = strchr(pattern, '/');
	const char *net = keepf("%.*s", (int)strcspn(pattern, "/"), pattern);

	if (slash && slash[1] >= '0' && slash[1] <= '9')
		bits = (unsigned)strtoul(slash + 1, NULL, 10);
	if (bits > size * 8 || inet_pton(family, host, a) != 1 || inet_pton(family, net, b) != 1)
		return false;
	if (memcmp(a, b, bits / 8) != 0)
		return false;
	return bits % 8 == 0 || ((a[bits / 8] ^ b[bits / 8]) >> (8 - bits % 8)) == 0;
}

/* "example.com" and ".example.com" are for the name itself and for all below it. */
static bool below_domain(const char *host, const char *domain)
{
	size_t n = strlen(host), tail;

	domain += *domain == '.';
	tail = strlen(domain);
	if (tail && domain[tail - 1] == '.')
		tail--;
	if (n && host[n - 1] == '.')
		n--;
	return tail && n >= tail && strncasecmp(host + n - tail, domain, tail) == 0 &&
	       (n == tail || host[n - tail - 1] == '.');
}

bool doctor_is_excepted(const char *host, const char *list)
{
	if (strcmp(list, "*") == 0)
		return true;
	for (;;) {
		size_t n;
		const char *one;

		list += strspn(list, " ,");
		if (!*list)
			return false;
		n = strcspn(list, " ,");
		one = *list == '[' && list[n - 1] == ']' && n > 2
			      ? keepf("%.*s", (int)n - 2, list + 1)
			      : keepf("%.*s", (int)n, list);
		if (same_network(AF_INET, host, one) || same_network(AF_INET6, host, one) ||
		    below_domain(host, one))
			return true;
		list += n;
	}
}

static const char *first_set(const char *const *names, const char **ret_name)
{
	for (; *names; names++) {
		const char *value = getenv(*names);

		if (value && *value) {
			*ret_name = *names;
			return value;
		}
	}
	return NULL;
}

const char *doctor_proxy(const char *chosen, const char *host, bool https, const char **ret_from)
{
	/* HTTP_PROXY is not looked at: a CGI program gets it from whoever sends a header "Proxy". */
	static const char *const plain[] = { "http_proxy", "all_proxy", "ALL_PROXY", NULL },
				 *const tls[] = { "https_proxy", "HTTPS_PROXY", "all_proxy",
						  "ALL_PROXY", NULL },
				 *const not_for[] = { "no_proxy", "NO_PROXY", NULL };
	const char *proxy, *excepted, *by;

	*ret_from = "--proxy";
	if (chosen)
		return *chosen ? chosen : NULL;
	if (strcmp(host, "::1") == 0 || http_is_loopback_name(str_of(host)))
		return NULL;
	proxy = first_set(https ? tls : plain, ret_from);
	excepted = first_set(not_for, &by);
	return proxy && !(excepted && doctor_is_excepted(host, excepted)) ? proxy : NULL;
}
