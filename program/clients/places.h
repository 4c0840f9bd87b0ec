/* program/clients/places.h - where the programs that have MCP servers keep their list of them. */
#ifndef PROGRAM_CLIENTS_PLACES_H
#define PROGRAM_CLIENTS_PLACES_H

#include <cleat/base.h>

struct place {
	const char *client;  /* what it is called on a command line: "cursor" */
	const char *program; /* and by people: "Cursor" */
	bool project;        /* this directory's, not the user's */
	const char *top;     /* the member that holds the servers */
	const char *path;
	const char *shown; /* with "~" */
	bool no_url;       /* takes commands only */
};

enum { PLACES_MAX = 8 };

/* All of them; the number. Texts are kept until the end of the run. */
size_t places_all(struct place ret[PLACES_MAX]);
/* One program's. False: there is no such program, or it has no file of this kind. */
bool places_find(const char *client, bool project, struct place *ret);

#endif
