/* fixture.h - the server that the transcripts and the official conformance suite talk to.
 *
 * It has everything that the suite asks for by name, and beside that one tool, resource or prompt for
 * each thing a handler can do, right and wrong. Public headers only: it is written as a user of the
 * library would write it. Nothing in it sleeps or starts threads, so runs repeat exactly.
 */
#ifndef WIRE_FIXTURE_H
#define WIRE_FIXTURE_H

#include <cleat/cleat.h>

enum { FIXTURE_PARKED = 512 };

/* What handlers share. Pass one, zeroed, as the server's userdata; without it the tool "park"
 * refuses. */
struct fixture {
	cleat_request *parked[FIXTURE_PARKED]; /* deferred, oldest first */
	char keys[FIXTURE_PARKED][24];
	size_t n_parked;
	size_t destroyed; /* userdata that the server gave back */
	size_t roots_changed;
	size_t counted; /* by notifications */
};

/* Everything. */
void fixture_add_all(cleat_server *s);
/* ... but fixture_add_misuse(). */
void fixture_add_usual(cleat_server *s);

/* Its parts. The suite's own: */
void fixture_add_suite_tools(cleat_server *s);
void fixture_add_suite_asks(cleat_server *s);
void fixture_add_suite_resources(cleat_server *s);
void fixture_add_suite_prompts(cleat_server *s);
/* A tool, a resource, a template and a prompt with every member set: */
void fixture_add_shapes(cleat_server *s);
/* For single rules of the protocol: */
void fixture_add_calls(cleat_server *s);
void fixture_add_asks(cleat_server *s);
void fixture_add_contents(cleat_server *s);
void fixture_add_schemas(cleat_server *s);
void fixture_add_methods(cleat_server *s);
void fixture_add_misuse(cleat_server *s);

/* For a handler that defers: keeps it under `key`. False when there is no room. */
bool fixture_park(cleat_request *req, const char *key);
/* The deferred request that was parked under `key`; NULL when there is none. */
cleat_request *fixture_parked(const struct fixture *f, const char *key);
/* Finishes it; false when there is none. */
bool fixture_finish(struct fixture *f, const char *key, int status);
/* Finishes all of them, also those that were cancelled. */
void fixture_finish_all(struct fixture *f);

/* A picture and a sound, as bytes. */
extern const unsigned char fixture_png[70];
extern const unsigned char fixture_wav[44];

#endif
