/* net/outbox.c - see outbox.h. */
#include "net/outbox.h"

/* Memory that an empty outbox keeps. */
enum { OUTBOX_KEEP = 256 * 1024 };

void outbox_init(struct outbox *o, const cleat_allocator *a, size_t max_message)
{
	if (max_message > SIZE_MAX / 4)
		max_message = SIZE_MAX / 4;
	buf_init(&o->buf, a, max_message + OUTBOX_SLACK);
	o->ready = 0;
	o->shut = false;
}

void outbox_done(struct outbox *o)
{
	buf_done(&o->buf);
	o->ready = 0;
	o->shut = true;
}

struct buf *outbox_begin(struct outbox *o)
{
	return o->shut ? NULL : &o->buf;
}

int outbox_end(struct outbox *o, bool ok)
{
	int status;

	if (o->shut)
		return CLEAT_ECLOSED;
	if (ok)
		buf_putc(&o->buf, '\n');
	status = buf_status(&o->buf);
	if (!ok || status) {
		buf_truncate(&o->buf, o->ready);
		return status;
	}
	o->ready = buf_size(&o->buf);
	return CLEAT_OK;
}

bool outbox_overrun(const struct outbox *o)
{
	return o->ready >= OUTBOX_SLACK;
}

struct str outbox_ready(const struct outbox *o)
{
	return (struct str){ buf_str(&o->buf).p, o->ready };
}

void outbox_sent(struct outbox *o, size_t n)
{
	buf_consume(&o->buf, n);
	o->ready -= n;
	/* Not while a message is being written behind them. */
	if (buf_size(&o->buf) == 0)
		buf_reset(&o->buf, OUTBOX_KEEP);
}
