/* program/record/tap/field.c - header fields: as the library has them, and as tap.h has them.
 *
 * Values of fields may hold anything but line ends and zeros (http/head.c, fetch/answer.c).
 */
#include "record/tap/impl.h"

#include "http/field.h"

const struct tap_field *field_list(struct arena *ar, const struct http_field *fields, size_t n)
{
	struct tap_field *list = arena_zalloc(ar, (n + 1) * sizeof *list);

	for (size_t i = 0; list && i < n; i++)
		list[i] = (struct tap_field){
			arena_strndup(ar, fields[i].name.p, fields[i].name.n),
			arena_strndup(ar, fields[i].value.p, fields[i].value.n),
		};
	return list;
}

const char *tap_field(const struct tap_field *fields, const char *name)
{
	for (; fields && fields->name; fields++)
		if (str_samez(str_of(fields->name), name))
			return fields->value;
	return NULL;
}
