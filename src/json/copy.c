/* json/copy.c - see copy.h. */
#include "json/copy.h"

#include "json/build.h"
#include "json/writer.h"

int json_copy(struct arena *ar, const cleat_json *v, const cleat_json **ret)
{
	struct build b;

	build_init(&b, ar);
	build_value(&b, v);
	return build_finish(&b, ret, NULL);
}

struct str json_text(struct arena *ar, const cleat_json *v)
{
	struct str text = { NULL, 0 };
	struct buf b;
	struct jw w;

	buf_init(&b, &ar->mem, ar->max);
	jw_init(&w, &b);
	jw_value(&w, v);
	if (buf_status(&b) == CLEAT_OK) {
		text.p = arena_strndup(ar, buf_str(&b).p, buf_size(&b));
		text.n = text.p ? buf_size(&b) : 0;
	}
	buf_done(&b);
	return text;
}
