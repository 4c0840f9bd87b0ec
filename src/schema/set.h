/* schema/set.h - the set of known schemas, for whoever compiles. */
#ifndef SCHEMA_SET_H
#define SCHEMA_SET_H

#include "base/str.h"

#include <cleat/schema.h>

/* The schema under this URI (normal form, no fragment); NULL when there is none or no set. */
const cleat_json *schema_set_find(const cleat_schema_set *set, struct str uri);

#endif
