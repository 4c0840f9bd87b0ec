/* program/serve/folder/listing.h - the files of a folder as resources that are listed, kept up to date.
 *
 * The first files of a walk, up to a limit; more can be read through the template and found with the tools.
 * Their directories are watched: files that come and go change the list, and clients are told. What a look at
 * the files costs decides how often there is one. Loop thread.
 */
#ifndef PROGRAM_SERVE_FOLDER_LISTING_H
#define PROGRAM_SERVE_FOLDER_LISTING_H

#include "serve/folder/folder.h"

enum {
	LISTING_DIRECTORIES_MAX = 256,
	LISTING_PATIENCE_MS = 300, /* for one look; what was not seen by then is not listed */
	LISTING_REST_MS = 200,     /* between two, or 20 times as long as the last one took */
	LISTING_FACTS_MS = 10000   /* until a new size or time alone is a new list */
};

/* Begins when the configuration is in force, and lives as long; longer where the next one has a folder of the
 * same recipe: then clients hear only of what is different in the list. */
void listing_add(struct draft *b, const char *recipe, struct folder *f, size_t limit);

#endif
