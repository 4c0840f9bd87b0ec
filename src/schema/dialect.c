/* schema/dialect.c - see dialect.h. */
#include "schema/dialect.h"

#include "schema/set.h"
#include "uri/reference.h"
#include "json/parse.h"

enum { MOST_HOPS = 8 };

static const struct {
	const char *uri;
	unsigned speaks;
} dialects[] = {
	{ "https://json-schema.org/draft/2020-12/schema", SPEAKS_2020_12 },
	{ "http://json-schema.org/draft-07/schema", SPEAKS_DRAFT_07 },
	{ "https://json-schema.org/draft-07/schema", SPEAKS_DRAFT_07 }, /* a frequent slip */
};

/* The last part of https://json-schema.org/draft/2020-12/vocab/NAME. */
static const struct {
	const char *name;
	unsigned speaks;
} vocabularies[] = {
	{ "core", SPEAKS_CORE },
	{ "applicator", SPEAKS_APPLICATOR },
	{ "unevaluated", SPEAKS_UNEVALUATED },
	{ "validation", SPEAKS_VALIDATION },
	{ "format-annotation", 0 },
	{ "format-assertion", SPEAKS_FORMAT },
	{ "meta-data", 0 },
	{ "content", 0 },
};

static bool vocabulary_find(struct str uri, unsigned *ret)
{
	static const char prefix[] = "https://json-schema.org/draft/2020-12/vocab/";

	if (!str_starts(uri, prefix))
		return false;
	uri = (struct str){ uri.p + sizeof prefix - 1, uri.n - sizeof prefix + 1 };
	for (size_t i = 0; i < CLEAT_COUNT(vocabularies); i++)
		if (str_eqz(uri, vocabularies[i].name)) {
			*ret = vocabularies[i].speaks;
			return true;
		}
	return false;
}

static int take_vocabularies(struct compiler *c, node_id id, const cleat_json *list, unsigned *ret)
{
	cleat_json_iter it = cleat_json_each(list);

	*ret = SPEAKS_CORE;
	while (cleat_json_next(&it)) {
		unsigned speaks = 0;

		if (!vocabulary_find(json_str(it.key), &speaks) && cleat_json_bool(it.value, true))
			return compile_fail_at(c, CLEAT_EUNSUPPORTED, id, "$schema",
					       "requires the vocabulary %.100s, which is not known "
					       "here",
					       json_str(it.key).p);
		*ret |= speaks;
	}
	return CLEAT_OK;
}

static bool by_name(struct str uri, unsigned *ret)
{
	for (size_t i = 0; i < CLEAT_COUNT(dialects); i++)
		if (str_eqz(uri, dialects[i].uri)) {
			*ret = dialects[i].speaks;
			return true;
		}
	return false;
}

int dialect_find(struct compiler *c, node_id id, struct str uri, unsigned *ret)
{
	struct str name = uri;

	for (int hops = 0; hops < MOST_HOPS; hops++) {
		const cleat_json *meta, *list;

		name = uri_without_fragment(name);
		if (by_name(name, ret))
			return CLEAT_OK;
		meta = schema_set_find(c->opts.known, name);
		list = json_member(meta, "$vocabulary");
		if (json_is_object(list))
			return take_vocabularies(c, id, list, ret);
		name = json_str(json_member(meta, "$schema"));
	}
	return compile_fail_at(c, CLEAT_EUNSUPPORTED, id, "$schema",
			       "%.80s is not a known dialect; known are "
			       "https://json-schema.org/draft/2020-12/schema and "
			       "http://json-schema.org/draft-07/schema#",
			       uri.p);
}
