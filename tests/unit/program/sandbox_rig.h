/* tests/unit/program/sandbox_rig.h - a place with things that may and may not be touched, and a process that tries.
 *
 * An attempt is a function that gives 0 or an errno. It is made by a process that has entered a sandbox,
 * and, as a control, by one that has not: what fails there, too, proves nothing.
 */
#ifndef TESTS_SANDBOX_RIG_H
#define TESTS_SANDBOX_RIG_H

#include "serve/sandbox/landlock.h"
#include "serve/sandbox/sandbox.h"
#include "support_files.h"
#include "unit/child/child_support.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

/* In the scratch directory, which is the working directory: read: may be read; write: may be changed; secret: neither. */
extern struct place {
	int tcp4, tcp6, udp, path, abstract; /* listening; -1: this system has none */
	struct sockaddr_in to4, to_udp;
	struct sockaddr_in6 to6;
	struct sockaddr_un to_path, to_abstract;
	socklen_t abstract_len;
	pid_t outside; /* a process of ours that only waits */
	int made4;     /* a socket from before */
} place;

/* What attempts change is put back. */
void place_files(void);

/* A child that only waits. */
pid_t fork_waiting(void);
int place_init(void **state);
int place_done(void **state);

/* ---- attempts ----------------------------------------------------------------------------- */

/* Results that are not an errno. */
enum { KILLED = 1000, SUCCESS = 0, ANY_REFUSAL = 2000 };

/* What an attempt gives, of what a system call gave. */
int result(long rc);

/* What came of it in a process of its own: an errno, or KILLED + signal. `s` may be NULL: no sandbox. */
int result_of(const struct sandbox *s, int (*attempt)(void));

struct attempt {
	const char *what;
	int expected; /* SUCCESS, an errno, KILLED + signal, ANY_REFUSAL: EACCES, EPERM or EXDEV */
	/* The control may fail: not everybody may do it, or the system lacks it. */
	bool optional;
	int (*make)(void);
	const char *path, *to; /* what `make` finds in `now` */
	long arg, call[6];
};

/* The attempt at hand. */
extern const struct attempt *now;

/* Attempts that differ in what they are given. */
#define OPEN(name, flags)  .make = try_open, .path = name, .arg = flags
#define RENAME(from, name) .make = try_rename, .path = from, .to = name
#define CALL(...)          .make = try_call, .call = { __VA_ARGS__ }

int try_open(void);
int try_rename(void);
int try_call(void);

/* ---- sandboxes ---------------------------------------------------------------------------- */

struct sandbox *sandbox_of(struct sandbox_spec spec);

/* "read" and, if wanted, "write". */
struct sandbox *usual_sandbox(bool write);
void skip_without_landlock(void);

/* Makes the attempts of a table in `s`, which is gone then. */
#define TRY_IN(s, list) try_in(s, true, list, CLEAT_COUNT(list))
/* ... in the usual sandbox. */
#define TRY_USUAL(write, list) TRY_IN(usual_sandbox(write), list)
/* ... on what older kernels could do, too: `abis` are digits. The last one has the control. */
#define TRY_ON_KERNELS(abis, write, list) try_on_kernels(abis, write, list, CLEAT_COUNT(list))

void try_in(struct sandbox *s, bool controlled, const struct attempt *list, size_t n);
void try_on_kernels(const char *abis, bool write, const struct attempt *list, size_t n);

#endif
