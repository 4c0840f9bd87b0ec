/* program/serve/kit/filewatch.h - tells the subscribers of a resource when the file behind it changes.
 *
 * Only files that somebody has subscribed to are watched, so a folder of 100,000 files costs nothing. When nobody
 * is interested any more a watch ends with its next event, or when a new one is made. Loop thread.
 */
#ifndef PROGRAM_SERVE_KIT_FILEWATCH_H
#define PROGRAM_SERVE_KIT_FILEWATCH_H

#include "serve/kit/draft.h"

enum { FILEWATCH_MAX = 1024, FILEWATCH_PATH = 8192 };

struct filewatch;

struct filewatch_options {
	struct runtime *rt;
	/* The absolute path of the file behind a URI; false: the URI is not one of these, or there is no
	 * file. */
	bool (*find)(void *ctx, struct str uri, char path[FILEWATCH_PATH]);
	void *ctx;
	void (*done)(void *ctx); /* called once, also on failure; may be NULL */
};

/* Kept with the draft, as long as its configuration is in force. Without memory nothing is watched. */
void filewatch_add(struct draft *b, const struct filewatch_options *o);

#endif
