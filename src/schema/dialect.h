/* schema/dialect.h - what "$schema" means.
 *
 * Two dialects are known by name. Any other name can only be that of a known schema which says by
 * "$vocabulary" which parts of 2020-12 it is made of; a part that it requires and that is not known
 * here is an error, as everything is that could not be honoured.
 */
#ifndef SCHEMA_DIALECT_H
#define SCHEMA_DIALECT_H

#include "schema/compiler.h"

/* What a schema that names this dialect speaks; node `id` does. */
int dialect_find(struct compiler *c, node_id id, struct str uri, unsigned *ret);

#endif
