/* json/copy.c - see copy.h. */
#include "json/copy.h"

#include "json/parse.h"
#include "json/writer.h"

/* The deepest and largest value that was let in once is let in again. */
static const cleat_json_limits all = { .max_depth = 1024, .max_nodes = SIZE_MAX };

static int write(struct arena *ar, const cleat_json *v, struct buf *b)
{
	struct jw w;

	buf_init(b, &ar->mem, ar->max);
	jw_init(&w, b);
	jw_value(&w, v);
	return buf_status(b);
}

int json_copy(struct arena *ar, const cleat_json *v, const cleat_json **ret)
{
	struct buf b;
	int rc = write(ar, v, &b);

	if (rc == CLEAT_OK)
		rc = json_parse(ar, buf_str(&b), &all, ret, NULL);
	buf_done(&b);
	return rc;
}

struct str json_text(struct arena *ar, const cleat_json *v)
{
	struct str text = { NULL, 0 };
	struct buf b;

	if (write(ar, v, &b) == CLEAT_OK) {
		text.p = arena_strndup(ar, buf_str(&b).p, buf_size(&b));
		text.n = text.p ? buf_size(&b) : 0;
	}
	buf_done(&b);
	return text;
}
