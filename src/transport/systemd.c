/* transport/systemd.c - what a service manager hands over and wants to hear; see listen.h.
 *
 * Without libsystemd: both protocols are a few environment variables and one datagram
 * (sd_listen_fds(3), sd_notify(3)). Nothing here fails: where there is no service manager, there is
 * nothing to do.
 */
#define _POSIX_C_SOURCE 200809L

#include "transport/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_FD = 3, MAX_FDS = 1024 };

static bool number_of(const char *name, long *ret)
{
	const char *text = getenv(name);
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtol(text, &end, 10);
	return errno == 0 && *end == '\0';
}

int listen_fds(void)
{
	long pid, n;

	/* Variables that were meant for a parent are inherited too. */
	if (!number_of("LISTEN_PID", &pid) || pid != (long)getpid())
		return 0;
	if (!number_of("LISTEN_FDS", &n) || n > MAX_FDS)
		return 0;
	for (int fd = FIRST_FD; fd < FIRST_FD + (int)n; fd++)
		if (fcntl(fd, F_SETFD, FD_CLOEXEC))
			return fd - FIRST_FD;
	return (int)n;
}

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
