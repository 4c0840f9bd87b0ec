/* program/check/doctor.h - the steps of `cleat doctor`. */
#ifndef PROGRAM_CHECK_DOCTOR_H
#define PROGRAM_CHECK_DOCTOR_H

#include "reach/target.h"

#include <time.h>

enum { DOCTOR_TAIL = 12 };
enum doctor_status { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_FAILED };

struct doctor {
	struct cli *cli;
	FILE *to;
	cleat_build *steps; /* an array */
	int code;           /* of the first that failed */
	double since;       /* when the step that runs has begun, cli_ms_since_start() */
	struct {
		double initialize_at; /* when it was sent, cli_ms_since_start(); 0: it was not */
		bool answered_probe;
		bool told;               /* the server is ready, or will not be */
		char *tail[DOCTOR_TAIL]; /* the last lines of the program's stderr */
		size_t lines;
		const char *challenge, *issuer; /* WWW-Authenticate; who signed the certificate */
		time_t expires;                 /* the certificate; 0: unknown */
		int status;                     /* of the last answer by HTTP */
	} heard;
};

/* One step is over. `fix` is what to do; NULL: nothing. The text may be a server's: it is made safe.
 * With DOCTOR_FAILED `code` becomes the exit code, unless there is one already. */
void doctor_step(struct doctor *d, enum doctor_status status, int code, const char *step,
		 const char *fix, const char *fmt, ...) CLEAT_PRINTF(6, 7);

/* Can it be got at, by looking without speaking to it: the program, or the name and the address. False:
 * it cannot, going on makes no sense. */
bool doctor_reach(struct doctor *d, const struct target *t, const cleat_client_options *o);

/* The proxy that requests to `host` go through, and what says so ("https_proxy"); `chosen` is --proxy, NULL:
 * it was not given. NULL: none. */
const char *doctor_proxy(const char *chosen, const char *host, bool https, const char **ret_from);
/* Is the host one of those of a no_proxy list? */
bool doctor_is_excepted(const char *host, const char *list);

/* Adds callbacks that hear what doctor_start() needs to know. */
void doctor_listen(struct doctor *d, cleat_client_options *want);
/* Waits until the server is ready. False: it is not, going on makes no sense. */
bool doctor_start(struct doctor *d, const struct target *t);
/* The last lines that the program wrote to stderr, each behind a newline and "| "; kept. */
const char *doctor_last_words(const struct doctor *d);

#endif
