/* script.h - a transcript as read from its file: a list of steps. README.md has the format.
 *
 * Reading knows nothing of JSON or of servers; what a step means is decided in session.c.
 */
#ifndef WIRE_SCRIPT_H
#define WIRE_SCRIPT_H

#include "text.h"

enum step_kind {
	STEP_SEND,   /* > a line */
	STEP_RAW,    /* >raw bytes with escapes, without a line end */
	STEP_REPEAT, /* >rep COUNT bytes */
	STEP_EXPECT, /* < a message */
	STEP_DO      /* ! a directive */
};

struct step {
	enum step_kind kind;
	int line;        /* in the file, from 1 */
	int conn;        /* from 0 */
	char *condition; /* of the revision; NULL: always */
	struct text text;
};

enum { SCRIPT_REVISIONS = 8 };

/* One case of a file. */
struct script {
	struct script *next;
	char *path, *name;
	struct step *steps;
	size_t n_steps;
	char *revisions[SCRIPT_REVISIONS]; /* by "! for REV in"; none: one run */
	size_t n_revisions;
};

/* The cases of a file: one, or one for each "== title", all of which begin with what comes before the first title;
 * and each as often as an "! each" in it has rows. NULL when the file cannot be read or is malformed; *problem says
 * why. */
struct script *script_read(const char *path, const char *name, struct text *problem);
void script_free(struct script *s); /* and those after it */
/* Is this its stage? NULL: any that it names. */
bool script_stage(const struct script *s, const char *name);
/* Is this one of its directives? */
bool script_does(const struct script *s, const char *directive);
/* Does the step belong to a run with this revision (NULL: none)? */
bool script_applies(const struct step *step, const char *revision);

#endif
