/* net/listen.h - addresses as people write them, and sockets that listen on them.
 *
 *	8080  :8080  127.0.0.1:8080  [::1]:8080  localhost:8080  host.example:8080
 *	http://127.0.0.1:8080/mcp  https://...  unix:/run/cleat.sock  fd:3 (of systemd)
 *
 * Without a host it is the loopback address. Not here: connections (httpd/server.h).
 */
#ifndef NET_LISTEN_H
#define NET_LISTEN_H

#include "base/str.h"

#include <cleat/base.h>

struct address {
	char host[256]; /* name or number without brackets; "" for unix and fd */
	unsigned port;  /* 0: any */
	char path[512]; /* of the URL, beginning with '/'; "" when there was none */
	char file[108]; /* unix: of the socket */
	int fd;         /* fd: its number, else -1 */
	bool tls;       /* https */
	bool loopback;  /* only this machine can reach it: loopback addresses and unix sockets */
};

/* CLEAT_OK, or CLEAT_EINVAL with what is wrong and what would be right. `loopback` is known only after
 * listener_open() where the host is a name. */
int address_parse(const char *text, struct address *ret, cleat_error *err);

struct listener {
	int fd;
	struct address address; /* with the port that it got */
	char text[300];         /* "http://127.0.0.1:8080" or "unix:/path", for people */
	bool unlink;            /* unix: the file is ours, */
	uint64_t dev, ino;      /* as long as it is still this one */
};

struct listen_options {
	int backlog;     /* 0: 511 */
	bool reuse_port; /* SO_REUSEPORT, for listener_again() */
	unsigned mode;   /* of a unix socket; 0: 0600 */
};

/* `o` may be NULL. Opens a listening, non-blocking, close-on-exec socket. A name that stands for several addresses is
 * tried in order until one can be had. A unix socket whose file is left over from a dead server is
 * replaced; one that answers is CLEAT_EEXIST. CLEAT_EIO with errno and words ("address already in
 * use: another program listens on port 8080"). */
int listener_open(const struct address *a, const struct listen_options *o, struct listener *ret,
		  cleat_error *err);
/* One more socket for the same address, for another loop; the system shares connections out. Where the
 * first was opened with reuse_port it is a socket with a queue of its own. Unix sockets, and those that
 * were handed over, are shared: both loops wait for the same queue, and whoever comes first takes a
 * connection. The file of a unix socket stays the first one's. CLEAT_OK, or CLEAT_EIO with errno. */
int listener_again(const struct listener *first, struct listener *ret, cleat_error *err);
/* Closes, and removes the file of a unix socket. Does nothing for one that is not open. */
void listener_close(struct listener *l);

/* sd_notify without libsystemd: "READY=1", "STOPPING=1", "RELOADING=1". Does nothing when
 * NOTIFY_SOCKET is not set. */
void listen_notify(const char *state);

#endif
