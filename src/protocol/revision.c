/* protocol/revision.c - see revision.h. */
#include "protocol/revision.h"

enum { NAME_SIZE = 10 };

static const char names[REV_COUNT][NAME_SIZE + 1] = { "2024-11-05", "2025-03-26", "2025-06-18",
						      "2025-11-25", "2026-07-28" };

enum {
	SINCE_2025_03_26 =
		FEAT_TOOL_ANNOTATIONS | FEAT_AUDIO | FEAT_PROGRESS_MESSAGE | FEAT_COMPLETIONS,
	SINCE_2025_06_18 = SINCE_2025_03_26 | FEAT_TITLE | FEAT_META | FEAT_STRUCTURED |
			   FEAT_RESOURCE_LINK | FEAT_LAST_MODIFIED | FEAT_ELICITATION,
	SINCE_2025_11_25 = SINCE_2025_06_18 | FEAT_ICONS | FEAT_SERVER_DETAILS |
			   FEAT_ELICITATION_MODES | FEAT_SAMPLING_TOOLS | FEAT_ERROR_WITHOUT_ID |
			   FEAT_INPUT_TOOL_ERROR
};

static const unsigned features[REV_COUNT] = {
	[REV_2024_11_05] = 0,
	[REV_2025_03_26] = SINCE_2025_03_26 | FEAT_BATCH,
	[REV_2025_06_18] = SINCE_2025_06_18,
	[REV_2025_11_25] = SINCE_2025_11_25 | FEAT_ELICITATION_ID | FEAT_SSE_PRIMING,
	[REV_2026_07_28] = SINCE_2025_11_25 | FEAT_ANY_STRUCTURED | FEAT_CACHING,
};

const char *revision_name(enum revision rev)
{
	return names[rev];
}

enum revision revision_find(struct str name)
{
	if (name.n != NAME_SIZE)
		return REV_NONE;
	for (int r = 0; r < REV_COUNT; r++)
		if (memcmp(name.p, names[r], NAME_SIZE) == 0)
			return (enum revision)r;
	return REV_NONE;
}

unsigned revision_features(enum revision rev)
{
	return features[rev];
}

bool revision_is_modern(enum revision rev)
{
	return rev >= REV_MODERN;
}

bool revision_claims_modern(struct str name)
{
	enum revision rev = revision_find(name);

	return name.p && (rev == REV_NONE || revision_is_modern(rev));
}

enum revision revision_negotiate(struct str name)
{
	enum revision rev = revision_find(name);

	return rev == REV_NONE || revision_is_modern(rev) ? REV_LEGACY : rev;
}
