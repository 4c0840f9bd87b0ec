/* program/bench/scan.c - see scan.h. */
#include "bench/scan.h"

#include "json/skim.h"

static void look_into_result(struct skim *s, struct scan *ret)
{
	struct str key, value;

	ret->kind = SCAN_RESULT;
	if (!skim_enter(s, '{')) {
		skim_value(s);
		return;
	}
	while (skim_member(s, &key)) {
		value = skim_value(s);
		if (skim_is(key, "isError") && str_eqz(value, "true"))
			ret->kind = SCAN_TOOL_ERROR;
		else if (skim_is(key, "resultType") && skim_is_text(value, "input_required"))
			ret->kind = SCAN_ASKS;
	}
}

static void look_into_error(struct skim *s, struct scan *ret)
{
	struct str key, value;

	ret->kind = SCAN_ERROR;
	if (!skim_enter(s, '{')) {
		skim_value(s);
		return;
	}
	while (skim_member(s, &key)) {
		value = skim_value(s);
		if (skim_is(key, "code"))
			skim_whole(value, &ret->code);
	}
}

static void look_at_id(struct str value, const char *text, struct scan *ret)
{
	int64_t id;

	ret->id_at = (size_t)(value.p - text);
	ret->id_n = value.n;
	if (skim_whole(value, &id) && id >= 0) {
		ret->has_id = true;
		ret->id = (uint64_t)id;
	}
}

static void look_at_other(struct skim *s, struct str key, const char *text, struct scan *ret)
{
	struct str value = skim_value(s);

	if (!value.p)
		return;
	if (skim_is(key, "id")) {
		look_at_id(value, text, ret);
	} else if (skim_is(key, "method") && value.p[0] == '"') {
		ret->method = value.p + 1;
		ret->method_n = value.n - 2;
	}
}

void scan_message(const char *text, size_t n, struct scan *ret)
{
	struct skim s = skim_text((struct str){ text, n });
	struct str key;

	*ret = (struct scan){ 0 };
	if (!skim_enter(&s, '{'))
		return;
	while (skim_member(&s, &key)) {
		if (skim_is(key, "result"))
			look_into_result(&s, ret);
		else if (skim_is(key, "error"))
			look_into_error(&s, ret);
		else
			look_at_other(&s, key, text, ret);
	}
	if (ret->method)
		ret->kind = ret->id_n ? SCAN_REQUEST : SCAN_NOTICE;
	if (!skim_is_over(&s))
		ret->kind = SCAN_GARBAGE;
}
