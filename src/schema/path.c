/* schema/path.c - see path.h. Chains are as deep as a check or a schema may be, and are written
 * from the outside in by way of a bounded array.
 */
#include "schema/path.h"

#include "wording/show.h"
#include "json/node.h"

/* As deep as a check goes, and one for a member that is missing there. */
enum { PATH_MAX_PARTS = DEPTH_MOST + 2, PLAIN_MAX_PARTS = 20 };

static size_t unroll(const struct at *at, const struct at *chain[PATH_MAX_PARTS])
{
	size_t n = 0;

	for (; at && n < PATH_MAX_PARTS; at = at->up)
		chain[n++] = at;
	return n;
}

/* As it is between dots: a name that has one itself is quoted, and a long one cut. */
static void write_name(struct buf *b, struct str name)
{
	if (name.n > SHOW_CHARS || (name.n && memchr(name.p, '.', name.n)))
		show_quoted(b, name, SHOW_CHARS);
	else
		show_name(b, name);
}

void path_write_plain(struct buf *b, const struct at *at)
{
	const struct at *chain[PATH_MAX_PARTS];
	size_t all = unroll(at, chain), n = all < PLAIN_MAX_PARTS ? all : PLAIN_MAX_PARTS;

	if (n < all)
		buf_appendz(b, "…");
	for (size_t i = n; i-- > 0;) {
		if (!chain[i]->key) {
			buf_printf(b, "[%u]", chain[i]->index);
			continue;
		}
		if (i + 1 < all)
			buf_putc(b, '.');
		write_name(b, node_text(chain[i]->key));
	}
}

/* One reference token of RFC 6901, escaped. */
static void write_token(struct buf *b, struct str token)
{
	size_t from = 0;

	buf_putc(b, '/');
	for (size_t i = 0; i < token.n; i++) {
		if (token.p[i] != '~' && token.p[i] != '/')
			continue;
		buf_append(b, token.p + from, i - from);
		buf_appendz(b, token.p[i] == '~' ? "~0" : "~1");
		from = i + 1;
	}
	buf_append(b, token.p + from, token.n - from);
}

void path_write_pointer(struct buf *b, const struct at *at)
{
	const struct at *chain[PATH_MAX_PARTS];

	for (size_t i = unroll(at, chain); i-- > 0;) {
		if (chain[i]->key)
			write_token(b, node_text(chain[i]->key));
		else
			buf_printf(b, "/%u", chain[i]->index);
	}
}

void path_write_node(struct buf *b, const struct node *nodes, node_id id)
{
	node_id chain[PATH_MAX_PARTS];
	size_t n = 0;

	for (; nodes[id].parent && nodes[nodes[id].parent].resource == nodes[id].resource &&
	       n < PATH_MAX_PARTS;
	     id = nodes[id].parent)
		chain[n++] = id;
	while (n-- > 0) {
		const struct node *node = &nodes[chain[n]];

		buf_printf(b, "/%s", node->keyword);
		if (node->key)
			write_token(b, node_text(node->key));
		else if (node->index != NO_INDEX)
			buf_printf(b, "/%u", node->index);
	}
}
