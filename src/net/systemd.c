/* net/systemd.c - what a service manager wants to hear; see listen.h.
 *
 * Without libsystemd: the protocol is an environment variable and one datagram (sd_notify(3)). Nothing here
 * fails: where there is no service manager, there is nothing to do. Not here: the sockets that it hands over,
 * which are addresses (fd:3).
 */
#define _POSIX_C_SOURCE 200809L

#include "net/listen.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* A path, or '@' for a name in the abstract namespace, which has no terminator. */
static socklen_t socket_name(struct sockaddr_un *un, const char *path)
{
	size_t n = strlen(path);

	if ((path[0] != '/' && path[0] != '@') || n < 2 || n >= sizeof un->sun_path)
		return 0;
	memcpy(un->sun_path, path, n);
	if (path[0] == '@')
		un->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
}

void listen_notify(const char *state)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	socklen_t n = path ? socket_name(&un, path) : 0;
	char text[128];
	int fd;

	if (!n)
		return;
	snprintf(text, sizeof text, "%s", state);
	if (strcmp(state, "RELOADING=1") == 0) {
		/* Type=notify-reload tells by this which reload is meant. */
		struct timespec ts;

		clock_gettime(CLOCK_MONOTONIC, &ts);
		snprintf(text, sizeof text, "%s\nMONOTONIC_USEC=%lld", state,
			 (long long)ts.tv_sec * 1000000 + ts.tv_nsec / 1000);
	}
	fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	if (fd < 0)
		return;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	sendto(fd, text, strlen(text), MSG_NOSIGNAL, (const struct sockaddr *)&un, n);
	close(fd);
}
