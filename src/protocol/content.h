/* protocol/content.h - blocks of content, in the shape that a revision knows.
 *
 * What a revision has no block for is sent as the nearest thing it has: audio before 2025-03-26 as
 * an embedded resource, a resource link before 2025-06-18 as text. No state; the caller puts the
 * blocks into their places.
 */
#ifndef PROTOCOL_CONTENT_H
#define PROTOCOL_CONTENT_H

#include "protocol/revision.h"
#include "json/writer.h"

#include <cleat/request.h>

/* What may appear on any block; both may be absent. */
struct content_extras {
	const cleat_annotations *annotations;
	struct str meta; /* a JSON object */
};

enum content_kind { CONTENT_IMAGE, CONTENT_AUDIO, CONTENT_OTHER };

/* By the MIME type's first word. */
enum content_kind content_kind_of(const char *mime);

void content_text(struct jw *w, unsigned features, struct str text, const struct content_extras *x);
/* An image, audio, or for anything else an embedded resource. `uri` is used for the latter. */
void content_binary(struct jw *w, unsigned features, enum content_kind kind, const char *mime,
		    const char *uri, struct str bytes, const struct content_extras *x);
/* The resource's content alone, as resources/read has it; text or blob. */
void content_resource_text(struct jw *w, unsigned features, const char *uri, const char *mime,
			   struct str text, struct str meta);
void content_resource_blob(struct jw *w, unsigned features, const char *uri, const char *mime,
			   struct str bytes, struct str meta);
/* Opens {"type":"resource","resource": - the caller writes one of the above - and closes it. */
void content_embed(struct jw *w);
void content_embed_end(struct jw *w, unsigned features, const struct content_extras *x);
void content_link(struct jw *w, unsigned features, const char *uri, const char *name,
		  const char *mime, const char *description, const struct content_extras *x);
/* "annotations":{...}, nothing when NULL or empty. */
void content_annotations(struct jw *w, unsigned features, const cleat_annotations *a);

#endif
