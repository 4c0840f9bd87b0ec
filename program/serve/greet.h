/* program/serve/greet.h - what `cleat serve` tells the person in front of it when it begins. */
#ifndef PROGRAM_SERVE_GREET_H
#define PROGRAM_SERVE_GREET_H

#include "serve/serve.h"

struct serve_greeting {
	const char *const *files;   /* as they were given */
	const char *const *sources; /* as serve_options has them */
	const char *name;           /* --name; NULL: none */
	bool banner;                /* say all of it although nobody may be there */
	bool quiet;                 /* say nothing */
};

/* On stderr: where it is, what to try, what to write into a client's configuration. */
void serve_greet(const struct serve_greeting *g, struct serve *s);

#endif
