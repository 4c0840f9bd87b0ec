/* schema/metaschema.h - the meta-schemas of the two dialects, as text.
 *
 * A schema may refer to them ("$ref": "https://json-schema.org/draft/2020-12/schema") and nothing
 * is fetched, so they are here. They are compiled only when something refers to them.
 */
#ifndef SCHEMA_METASCHEMA_H
#define SCHEMA_METASCHEMA_H

#include "base/str.h"

/* The JSON text of the meta-schema with this URI (no fragment); an absent slice when there is none
 * of that name. Static. Known: https://json-schema.org/draft/2020-12/schema, its vocabularies
 * .../draft/2020-12/meta/{core,applicator,unevaluated,validation,meta-data,format-annotation,
 * format-assertion,content}, and http://json-schema.org/draft-07/schema. */
struct str metaschema_text(struct str uri);

#endif
