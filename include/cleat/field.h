/* cleat/field.h - typed fields: one declaration gives JSON Schema, validation, decoding into a C
 * struct and encoding out of it.
 *
 *	struct forecast { const char *city; int days; const char *unit; };
 *	static const cleat_field forecast[] = {
 *		CLEAT_FIELD(struct forecast, city, "City name"),
 *		CLEAT_FIELD(struct forecast, days, "Days ahead", CLEAT_RANGE(1, 14), .fallback = "1"),
 *		CLEAT_FIELD(struct forecast, unit, "Scale", .optional = true,
 *		            .choices = "celsius|fahrenheit"),
 *		CLEAT_FIELD_END
 *	};
 *
 * The type comes from the member itself: bool, integers, float and double, const char *, char[N],
 * const cleat_json * (any JSON), and with the macros below enums, nested records and arrays.
 *
 * What a member cannot hold is refused, never cut. Integers of 8, 16 and 32 bits have their limits in the
 * schema. A char[N] takes texts of up to N - 1 bytes of UTF-8. Schemas count characters, of one to four
 * bytes: "maxLength" is N - 1, which a longer text cannot fit, and whether the bytes fit is checked as well.
 *
 * Absent values: a field with a `fallback` (JSON text) takes it; an `optional` one without is zero
 * (NULL for pointers), and CLEAT_PRESENT(T, has_member) names a bool that says whether it was
 * there; any other field is required. Strings and arrays that decoding yields live as long as the
 * request (or result) they came from.
 *
 * In C++, where these macros do not work, <cleat/cleat.hpp> has its own.
 */
#ifndef CLEAT_FIELD_H
#define CLEAT_FIELD_H

#include <cleat/base.h>
#include <cleat/json.h>

#ifdef __cplusplus
extern "C" {
#endif

enum cleat_field_type {
	CLEAT_T_END = 0,
	CLEAT_T_BOOL,
	CLEAT_T_INT,
	CLEAT_T_UINT,
	CLEAT_T_REAL,
	CLEAT_T_STRING,
	CLEAT_T_JSON,
	CLEAT_T_RECORD, /* a struct, described by .fields; without a struct and .fields: any object */
	CLEAT_T_CHARS, /* a string in a char[N], terminated */
	CLEAT_T_ENUM   /* a string in JSON, in C an integer: .names says which */
};

/* What a value of a C enum is called in JSON; arrays of them end with CLEAT_ENUM_END. Never grows. */
typedef struct cleat_enum {
	const char *name;
	int64_t value;
} cleat_enum;

typedef struct cleat_field {
	const char *name;  /* the JSON key; also the member's name with CLEAT_FIELD */
	const char *doc;   /* the schema's description; may be NULL */
	const char *title; /* for forms; may be NULL */
	uint8_t type;      /* of the value, or of an array's elements */
	uint8_t bounds;    /* bit 0: min is set, bit 1: max is set */
	bool optional;
	bool array; /* a pointer to elements, with a size_t count beside it */
	bool has_present;
	uint32_t width;            /* bytes of one value */
	uint32_t offset;           /* of the member */
	uint32_t count_offset;     /* arrays: of the count */
	uint32_t present_offset;   /* of a bool; used when has_present is set */
	uint32_t record;           /* sizeof the struct that holds the member */
	uint32_t element;          /* bytes from one array element to the next */
	double min, max;           /* of numbers; lengths of strings; element counts of arrays */
	const char *choices;       /* strings: "celsius|fahrenheit" */
	const char *choice_titles; /* "Celsius|Fahrenheit", as many as choices; may be NULL */
	const char *format;   /* strings: "email", "uri", "date", "date-time", ...; may be NULL */
	const char *fallback; /* JSON text used when absent; may be NULL */
	const struct cleat_field *fields; /* records: their fields, ended by CLEAT_FIELD_END */
	const cleat_enum *names;          /* enums: their values, ended by CLEAT_ENUM_END */
	uintptr_t reserved[4];            /* zero */
} cleat_field;

/* clang-format off */
#define CLEAT_ENUM_END { NULL, 0 }
/* clang-format on */

#ifndef __cplusplus

#define CLEAT_TYPE_OF_(x)                                                                          \
	_Generic(&(x), char(*)[sizeof(x)]                                                          \
		 : CLEAT_T_CHARS, const char(*)[sizeof(x)]                                         \
		 : CLEAT_T_CHARS, default                                                          \
		 : CLEAT_SCALAR_(x))
#define CLEAT_SCALAR_(x)                                                                           \
	_Generic((x), bool: CLEAT_T_BOOL, signed char: CLEAT_T_INT, short: CLEAT_T_INT,            \
	        int: CLEAT_T_INT, long: CLEAT_T_INT, long long: CLEAT_T_INT,                       \
	        unsigned char: CLEAT_T_UINT, unsigned short: CLEAT_T_UINT, unsigned: CLEAT_T_UINT, \
	        unsigned long: CLEAT_T_UINT, unsigned long long: CLEAT_T_UINT,                     \
	        float: CLEAT_T_REAL, double: CLEAT_T_REAL, const char *: CLEAT_T_STRING,           \
	        char *: CLEAT_T_STRING, const cleat_json *: CLEAT_T_JSON, default: CLEAT_T_RECORD)

/* One member of struct type T that is a value by itself. After the description any other member of cleat_field may be
 * set: .optional = true, .fallback = "1", CLEAT_RANGE(1, 14), .choices = "a|b", ... */
#define CLEAT_FIELD(T, member, ...)                                                                \
	{                                                                                          \
		.name = #member, .type = CLEAT_TYPE_OF_(((T *)0)->member),                         \
		.width = sizeof(((T *)0)->member), .offset = offsetof(T, member),                  \
		.record = sizeof(T), .doc = __VA_ARGS__                                            \
	}
/* An enum, whose values the cleat_enum array `table` gives names:
 *	enum unit { CELSIUS, FAHRENHEIT };
 *	static const cleat_enum units[] = { { "celsius", CELSIUS }, { "fahrenheit", FAHRENHEIT },
 *	                                    CLEAT_ENUM_END };
 *	CLEAT_ENUM(struct forecast, unit, units, "Scale", .fallback = "\"celsius\"") */
#define CLEAT_ENUM(T, member, table, ...)                                                          \
	{                                                                                          \
		.name = #member, .type = CLEAT_T_ENUM, .names = (table),                           \
		.width = sizeof(((T *)0)->member), .offset = offsetof(T, member),                  \
		.record = sizeof(T), .doc = __VA_ARGS__                                            \
	}
/* A nested struct member, described by the table `table`. */
#define CLEAT_RECORD(T, member, table, ...)                                                        \
	{                                                                                          \
		.name = #member, .type = CLEAT_T_RECORD, .fields = (table),                        \
		.width = sizeof(((T *)0)->member), .offset = offsetof(T, member),                  \
		.record = sizeof(T), .doc = __VA_ARGS__                                            \
	}
/* An array: `member` is a const pointer to values, `count` a size_t beside it. */
#define CLEAT_ARRAY(T, member, count, ...)                                                         \
	{                                                                                          \
		.name = #member, .type = CLEAT_TYPE_OF_(*((T *)0)->member), .array = true,         \
		.width = sizeof(*((T *)0)->member), .element = sizeof(*((T *)0)->member),          \
		.offset = offsetof(T, member), .count_offset = offsetof(T, count),                 \
		.record = sizeof(T), .doc = __VA_ARGS__                                            \
	}
/* An array of enums, as CLEAT_ENUM. */
#define CLEAT_ENUM_ARRAY(T, member, count, table, ...)                                             \
	{                                                                                          \
		.name = #member, .type = CLEAT_T_ENUM, .array = true, .names = (table),            \
		.width = sizeof(*((T *)0)->member), .element = sizeof(*((T *)0)->member),          \
		.offset = offsetof(T, member), .count_offset = offsetof(T, count),                 \
		.record = sizeof(T), .doc = __VA_ARGS__                                            \
	}
/* An array of structs, described by the table `table`. */
#define CLEAT_RECORD_ARRAY(T, member, count, table, ...)                                           \
	{                                                                                          \
		.name = #member, .type = CLEAT_T_RECORD, .array = true, .fields = (table),         \
		.element = sizeof(*((T *)0)->member), .offset = offsetof(T, member),               \
		.count_offset = offsetof(T, count), .record = sizeof(T), .doc = __VA_ARGS__        \
	}
#define CLEAT_FIELD_END                                                                            \
	{                                                                                          \
		.type = CLEAT_T_END                                                                \
	}
#define CLEAT_RANGE(lo, hi)      .bounds = 3, .min = (lo), .max = (hi)
#define CLEAT_AT_LEAST(lo)       .bounds = 1, .min = (lo)
#define CLEAT_AT_MOST(hi)        .bounds = 2, .max = (hi)
#define CLEAT_PRESENT(T, member) .has_present = true, .present_offset = offsetof(T, member)

#endif

/* The JSON Schema (2020-12) of a field table as text, from malloc; free() it. NULL when the table
 * is wrong or memory is short; the reason is in *err (may be NULL). */
CLEAT_API char *cleat_fields_schema(const cleat_field *fields, cleat_error *err);

/* Checks a JSON object against the table and fills `record`. Strings and arrays point into `doc`,
 * which must outlive the record (it is changed only to hold decoded arrays). CLEAT_EINVAL with the
 * first problem in *err when a value does not fit ("days: expected integer between 1 and 14, got
 * \"tomorrow\""). */
CLEAT_API int cleat_fields_decode(const cleat_field *fields, cleat_doc *doc, void *record,
				  cleat_error *err);
/* The record as a new document. NULL when memory is short or the table is wrong. */
CLEAT_API cleat_doc *cleat_fields_encode(const cleat_field *fields, const void *record,
					 cleat_error *err);

/* ---- signatures --------------------------------------------------------------------------- */

/* A signature declares a tool in one line; docs/signatures.md has the grammar.
 *
 *	forecast(city: string "City name", days: integer 1..14 = 1 "Days ahead",
 *	         unit?: celsius|fahrenheit, tags: string[] = [])
 *
 * This reads one and gives the JSON Schema of its arguments, from malloc; free() it. `ret_name`
 * (may be NULL) receives the name, also from malloc. NULL when the text is not a signature; *err says
 * what was expected where. */
CLEAT_API char *cleat_signature_schema(const char *signature, char **ret_name, cleat_error *err);
/* The other way: a tool's name and inputSchema as a one-line signature, from malloc; free() it.
 * What the grammar cannot say is shown as its JSON type. `with_docs` adds descriptions. */
CLEAT_API char *cleat_signature_print(const char *name, const cleat_json *input_schema,
				      bool with_docs, cleat_error *err);

#ifdef __cplusplus
}
#endif
#endif
