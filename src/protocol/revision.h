/* protocol/revision.h - the five protocol revisions, and what each of them knows.
 *
 * This is the only place that compares revisions: everything above asks for a feature. The names
 * of features are those of the thing that a revision added.
 */
#ifndef PROTOCOL_REVISION_H
#define PROTOCOL_REVISION_H

#include "base/str.h"

enum revision {
	REV_2024_11_05,
	REV_2025_03_26,
	REV_2025_06_18,
	REV_2025_11_25,
	REV_2026_07_28,
	REV_COUNT,
	REV_NONE = -1,
	/* what to try first in each era */
	REV_LEGACY = REV_2025_11_25,
	REV_MODERN = REV_2026_07_28
};

enum feature {
	/* 2025-03-26 */
	FEAT_BATCH = 1 << 0, /* and only there */
	FEAT_TOOL_ANNOTATIONS = 1 << 1,
	FEAT_AUDIO = 1 << 2,
	FEAT_PROGRESS_MESSAGE = 1 << 3,
	FEAT_COMPLETIONS = 1 << 4, /* the capability has a name */
	/* 2025-06-18 */
	FEAT_TITLE = 1 << 5,
	FEAT_META = 1 << 6, /* _meta on definitions and content */
	FEAT_STRUCTURED = 1 << 7,
	FEAT_RESOURCE_LINK = 1 << 8,
	FEAT_LAST_MODIFIED = 1 << 9,
	FEAT_ELICITATION = 1 << 10,
	/* 2025-11-25 */
	FEAT_ICONS = 1 << 11,
	FEAT_SERVER_DETAILS = 1 << 12,    /* description and websiteUrl of an implementation */
	FEAT_ELICITATION_MODES = 1 << 13, /* form and url, titled choices, defaults */
	FEAT_ELICITATION_ID = 1 << 14,    /* and only there: elicitationId and its notification */
	FEAT_SAMPLING_TOOLS = 1 << 15,
	FEAT_ERROR_WITHOUT_ID = 1 << 16, /* an error response may leave its id out */
	FEAT_INPUT_TOOL_ERROR = 1 << 17, /* arguments that do not fit are a tool error */
	/* 2026-07-28 */
	FEAT_ANY_STRUCTURED = 1 << 18, /* structuredContent need not be an object */
	FEAT_CACHING = 1 << 19,
	FEAT_SSE_PRIMING = 1 << 20 /* 2025-11-25 only: streams of events begin with an empty one */
};

/* "2025-11-25"; static. */
const char *revision_name(enum revision rev);
/* REV_NONE for a text that names none. */
enum revision revision_find(struct str name);
unsigned revision_features(enum revision rev);
/* Does every message stand alone, without a session? False for REV_NONE. */
bool revision_is_modern(enum revision rev);
/* Does this text, which an HTTP header brought, claim the modern era? Also what names no revision: later ones
 * than we know are modern, too, and are told so. Absent: no. */
bool revision_claims_modern(struct str name);
/* What to answer to an initialize that asks for `name`: the same if it is a legacy revision that we
 * speak, otherwise the newest legacy one (2025-11-25 basic/lifecycle: version negotiation). */
enum revision revision_negotiate(struct str name);

#endif
