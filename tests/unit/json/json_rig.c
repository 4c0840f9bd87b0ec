/* tests/unit/json/json_rig.c - see json_rig.h. */
#include "unit/json/json_rig.h"

cleat_doc *parse_str(struct str text)
{
	static const cleat_json_limits all = { .max_depth = 1024, .max_nodes = SIZE_MAX };
	cleat_error err = { 0 };
	cleat_doc *doc = cleat_doc_parse(text.p, text.n, &all, NULL, &err);

	if (!doc)
		fail_msg("%.*s: %s", (int)(text.n < 200 ? text.n : 200), text.p, err.message);
	return doc;
}

cleat_doc *parse(const char *text)
{
	return parse_str(str_of(text));
}

bool equal(const char *a, const char *b)
{
	cleat_doc *x = parse(a), *y = parse(b);
	bool is = cleat_json_equal(cleat_doc_root(x), cleat_doc_root(y));

	assert_int_equal(cleat_json_equal(cleat_doc_root(y), cleat_doc_root(x)), is);
	cleat_doc_free(x);
	cleat_doc_free(y);
	return is;
}

void make_object(struct making *m)
{
	buf_init(&m->b, NULL, SIZE_MAX / 2);
	jw_init(&m->w, &m->b);
	jw_obj(&m->w);
}

cleat_doc *made(struct making *m)
{
	cleat_doc *doc;

	jw_obj_end(&m->w);
	assert_int_equal(buf_status(&m->b), CLEAT_OK);
	doc = parse_str(buf_str(&m->b));
	buf_done(&m->b);
	return doc;
}
