/* program/serve/folder/mime.h - what kind of content this is: a MIME type from the first bytes and the name.
 *
 * Bytes are asked first: what is not text is known by libmagic, which is opened on first use; where it is not
 * installed, the name has to do. Text has no marks of its own (libmagic calls Markdown, CSV and most sources
 * text/plain), so there the name says more, as long as the bytes are text.
 *
 * Any thread; libmagic is used by one at a time.
 */
#ifndef PROGRAM_SERVE_FOLDER_MIME_H
#define PROGRAM_SERVE_FOLDER_MIME_H

#include "base/str.h"

enum { MIME_MAX = 96, MIME_HEAD = 4096 };

/* Never fails: text/plain or application/octet-stream at least. `head`: up to MIME_HEAD bytes of the
 * beginning are looked at; `whole`: there are no more (a character cut at the end is an error then). */
void mime_guess(struct str name, struct str head, bool whole, char ret[MIME_MAX]);
/* Are these bytes the beginning of a text: UTF-8 (the last character may be cut unless `whole`)
 * without NUL? */
bool mime_is_text(struct str head, bool whole);
/* Text enough to be searched and read by lines: no NUL, whatever the encoding. */
bool mime_is_lines(struct str head);
/* By the name alone; NULL: not known. */
const char *mime_by_name(struct str name);
/* Tests: as if libmagic were not installed. */
void mime_forget_libmagic(bool forget);

#endif
