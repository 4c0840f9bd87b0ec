/* schema/keyword.h - the keywords of JSON Schema, and which dialect has them.
 *
 * One table for both jobs that need it: finding the subschemas of a document, and compiling one.
 * What a keyword does is in schema/rules.c. Keywords without a row here (title, default, examples,
 * contentMediaType, whatever somebody invented) are remarks and have no effect.
 */
#ifndef SCHEMA_KEYWORD_H
#define SCHEMA_KEYWORD_H

#include "base/str.h"

/* What a resource's dialect has. 2020-12 is a set of vocabularies, which a meta-schema can leave
 * out; draft-07 is one piece. The core is always there. */
enum speaks {
	SPEAKS_DRAFT_07 = 1,
	SPEAKS_CORE = 2, /* of 2020-12 */
	SPEAKS_APPLICATOR = 4,
	SPEAKS_UNEVALUATED = 8,
	SPEAKS_VALIDATION = 16,
	SPEAKS_FORMAT = 32, /* format is an assertion */
	SPEAKS_2020_12 = SPEAKS_CORE | SPEAKS_APPLICATOR | SPEAKS_UNEVALUATED | SPEAKS_VALIDATION
};

/* Where there are subschemas in a keyword's value. */
enum holds {
	HOLDS_VALUE, /* none */
	HOLDS_SCHEMA,
	HOLDS_LIST,
	HOLDS_MAP,
	HOLDS_EITHER, /* a schema or a list: items of draft-07 */
	HOLDS_MIXED   /* a map whose values are schemas or arrays of names: dependencies */
};

/* X(NAME, "keyword", holds, who speaks it), sorted by keyword. */
#define KEYWORD_MAP(X)                                                                             \
	X(ANCHOR, "$anchor", VALUE, SPEAKS_CORE)                                                   \
	X(DEFS, "$defs", MAP, SPEAKS_CORE)                                                         \
	X(DYNAMIC_ANCHOR, "$dynamicAnchor", VALUE, SPEAKS_CORE)                                    \
	X(DYNAMIC_REF, "$dynamicRef", VALUE, SPEAKS_CORE)                                          \
	X(ID, "$id", VALUE, SPEAKS_CORE | SPEAKS_DRAFT_07)                                         \
	X(REF, "$ref", VALUE, SPEAKS_CORE | SPEAKS_DRAFT_07)                                       \
	X(ADDITIONAL_ITEMS, "additionalItems", SCHEMA, SPEAKS_DRAFT_07)                            \
	X(ADDITIONAL_PROPERTIES, "additionalProperties", SCHEMA,                                   \
	  SPEAKS_APPLICATOR | SPEAKS_DRAFT_07)                                                     \
	X(ALL_OF, "allOf", LIST, SPEAKS_APPLICATOR | SPEAKS_DRAFT_07)                              \
	X(ANY_OF, "anyOf", LIST, SPEAKS_APPLICATOR | SPEAKS_DRAFT_07)                              \
	X(CONST, "const", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)                              \
	X(CONTAINS, "contains", SCHEMA, SPEAKS_APPLICATOR | SPEAKS_DRAFT_07)                       \
	X(DEFINITIONS, "definitions", MAP, SPEAKS_CORE | SPEAKS_DRAFT_07)                          \
	X(DEPENDENCIES, "dependencies", MIXED, SPEAKS_APPLICATOR | SPEAKS_DRAFT_07)                \
	X(DEPENDENT_REQUIRED, "dependentRequired", VALUE, SPEAKS_VALIDATION)                       \
	X(DEPENDENT_SCHEMAS, "dependentSchemas", MAP, SPEAKS_APPLICATOR)                           \
	X(ELSE, "else", SCHEMA, SPEAKS_APPLICATOR | SPEAKS_DRAFT_07)                               \
	X(ENUM, "enum", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)                                \
	X(EXCLUSIVE_MAXIMUM, "exclusiveMaximum", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)       \
	X(EXCLUSIVE_MINIMUM, "exclusiveMinimum", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)       \
	X(FORMAT, "format", VALUE, SPEAKS_CORE | SPEAKS_DRAFT_07)                                  \
	X(IF, "if", SCHEMA, SPEAKS_APPLICATOR | SPEAKS_DRAFT_07)                                   \
	X(ITEMS, "items", EITHER, SPEAKS_APPLICATOR | SPEAKS_DRAFT_07)                             \
	X(MAX_CONTAINS, "maxContains", VALUE, SPEAKS_VALIDATION)                                   \
	X(MAX_ITEMS, "maxItems", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)                       \
	X(MAX_LENGTH, "maxLength", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)                     \
	X(MAX_PROPERTIES, "maxProperties", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)             \
	X(MAXIMUM, "maximum", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)                          \
	X(MIN_CONTAINS, "minContains", VALUE, SPEAKS_VALIDATION)                                   \
	X(MIN_ITEMS, "minItems", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)                       \
	X(MIN_LENGTH, "minLength", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)                     \
	X(MIN_PROPERTIES, "minProperties", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)             \
	X(MINIMUM, "minimum", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)                          \
	X(MULTIPLE_OF, "multipleOf", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)                   \
	X(NOT, "not", SCHEMA, SPEAKS_APPLICATOR | SPEAKS_DRAFT_07)                                 \
	X(ONE_OF, "oneOf", LIST, SPEAKS_APPLICATOR | SPEAKS_DRAFT_07)                              \
	X(PATTERN, "pattern", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)                          \
	X(PATTERN_PROPERTIES, "patternProperties", MAP, SPEAKS_APPLICATOR | SPEAKS_DRAFT_07)       \
	X(PREFIX_ITEMS, "prefixItems", LIST, SPEAKS_APPLICATOR)                                    \
	X(PROPERTIES, "properties", MAP, SPEAKS_APPLICATOR | SPEAKS_DRAFT_07)                      \
	X(PROPERTY_NAMES, "propertyNames", SCHEMA, SPEAKS_APPLICATOR | SPEAKS_DRAFT_07)            \
	X(REQUIRED, "required", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)                        \
	X(THEN, "then", SCHEMA, SPEAKS_APPLICATOR | SPEAKS_DRAFT_07)                               \
	X(TYPE, "type", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)                                \
	X(UNEVALUATED_ITEMS, "unevaluatedItems", SCHEMA, SPEAKS_UNEVALUATED)                       \
	X(UNEVALUATED_PROPERTIES, "unevaluatedProperties", SCHEMA, SPEAKS_UNEVALUATED)             \
	X(UNIQUE_ITEMS, "uniqueItems", VALUE, SPEAKS_VALIDATION | SPEAKS_DRAFT_07)

enum keyword_id {
#define KEYWORD_ENUM(NAME, text, holds, speaks) KW_##NAME,
	KEYWORD_MAP(KEYWORD_ENUM)
#undef KEYWORD_ENUM
		KEYWORDS
};

struct keyword {
	struct str name; /* terminated */
	uint8_t id;      /* enum keyword_id */
	uint8_t holds;
	uint8_t speaks;
};

extern const struct keyword keywords[KEYWORDS];

/* The keyword of that name in such a dialect; NULL when it is none there. */
const struct keyword *keyword_find(struct str name, unsigned speaks);

#endif
