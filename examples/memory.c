/* memory.c - a server that gets its memory from you: this one counts it, and has 8 MiB at most. A
 * request that needs more fails; the server goes on.
 *	examples/try memory used
 */
#include <cleat/cleat.h>

#include <stdatomic.h>
#include <stdlib.h>

/* Stands before every block. */
union head {
	size_t size;
	max_align_t align;
};
enum { MOST = 8 << 20 };
static atomic_size_t used; /* blocking handlers allocate too, on their threads */

static void *take(void *ctx, void *old, size_t old_size, size_t size)
{
	union head *h = old ? (union head *)old - 1 : NULL;

	(void)ctx;
	if (atomic_fetch_add(&used, size) + size - old_size > MOST ||
	    !(h = realloc(h, sizeof *h + size))) {
		atomic_fetch_sub(&used, size);
		return NULL;
	}
	atomic_fetch_sub(&used, old_size);
	h->size = size;
	return h + 1;
}

static void *take_new(void *ctx, size_t size)
{
	return take(ctx, NULL, 0, size);
}

static void give_back(void *ctx, void *p)
{
	union head *h = p ? (union head *)p - 1 : NULL;

	(void)ctx;
	atomic_fetch_sub(&used, h ? h->size : 0);
	free(h);
}

static int report(cleat_request *req)
{
	return cleat_reply_textf(req, "%zu of %d bytes", atomic_load(&used), MOST);
}

int main(int argc, char **argv)
{
	const cleat_allocator memory = { take_new, take, give_back, NULL };
	const cleat_server_options o = { .allocator = &memory };
	cleat_server *s = cleat_server_new("m", "1", &o);
	cleat_server_add_tool(s, &(cleat_tool){ .signature = "used()", .call = report });
	return cleat_server_main(s, argc, argv);
}
