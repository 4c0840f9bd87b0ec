/* net/outbox.h - the messages that wait to be sent on one connection, framed as lines.
 *
 * What a peer_sink needs of memory: a message is written in place, taken back whole when it fails,
 * and never shown to the writer half. Three marks tell how full it is:
 *
 *   OUTBOX_CONGESTED  leave out what need not be said (progress, log)
 *   OUTBOX_HIGH       take no more input until half of it is gone
 *   OUTBOX_SLACK      and no more than that beside one answer of the greatest size: over it the
 *                     other side is taken for dead
 */
#ifndef NET_OUTBOX_H
#define NET_OUTBOX_H

#include "base/buf.h"

enum {
	OUTBOX_CONGESTED = 256 * 1024,
	OUTBOX_HIGH = 1024 * 1024,
	OUTBOX_LOW = OUTBOX_HIGH / 2,
	OUTBOX_SLACK = 16 * 1024 * 1024
};

struct outbox {
	struct buf buf;
	size_t ready; /* bytes of whole messages at the front of buf */
	bool shut;    /* nothing more is taken */
};

/* `max_message`: the most bytes of one message. Allocates nothing. */
void outbox_init(struct outbox *o, const cleat_allocator *a, size_t max_message);
void outbox_done(struct outbox *o);

/* See peer_sink. NULL when shut. */
struct buf *outbox_begin(struct outbox *o);
/* CLEAT_OK (also when it was taken back as asked), or why it was taken back. CLEAT_ELIMIT with outbox_overrun(): not because the
 * message is too large, but because too much waits in front of it. */
int outbox_end(struct outbox *o, bool ok);
bool outbox_overrun(const struct outbox *o);

/* Whole messages that wait, and that some of these bytes were sent. */
struct str outbox_ready(const struct outbox *o);
void outbox_sent(struct outbox *o, size_t n);

#endif
