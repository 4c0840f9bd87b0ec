/* link/line.h - the part that all links have in common which send one message per line:
 * over a child's pipes (child.c), a socket (socket.c), two descriptors (fds.c), or by the hands of somebody
 * who moves the bytes themselves (wire.c), without a loop.
 *
 * A line stream (net/linestream.h) reads, frames, queues and writes; a `line_way` knows how to get two descriptors, what
 * their end means, and how to let go of them. The struct of a way begins with its line_link.
 *
 *	idle      nothing is there; op open() -> opening
 *	opening   the way is at it; line_up() -> up, line_up_failed() -> idle
 *	up        messages go both ways; the end of one direction, or an error -> ending
 *	ending    the way finds out why; line_down() -> idle
 *	closing   op close() in any state; line_closed() -> closed
 *	closed    nothing is left but memory
 *
 * Every path from the loop lies between line_enter() and line_leave(): what the events in between
 * have asked to be sent is written at the end of it, and a link that was freed in one of them lives until then.
 */
#ifndef LINK_LINE_H
#define LINK_LINE_H

#include "link/links.h"
#include "net/linestream.h"

enum {
	LINE_WAITING = 4 * 1024 * 1024, /* bytes that may wait for a server that does not read */
	LINE_REST = 2 * 1024 * 1024,    /* most bytes that are read after the end of a child */
	LINE_GARBAGE = 100,             /* lines in a row that are no messages */
	LINE_SHOWN = 200,               /* bytes of one in a remark */
	LINE_NOTES = 20,                /* remarks about such lines, of one connection */
	LINE_MESSAGE = 16 * 1024 * 1024,
	LINE_CONNECT_MS = 30000
};

enum line_state { LINE_IDLE, LINE_OPENING, LINE_UP, LINE_ENDING, LINE_CLOSING, LINE_CLOSED };

struct line_link;

struct line_way {
	/* From the loop. line_attach() and line_up(), or line_up_failed(), now or later. */
	void (*open)(struct line_link *l);
	/* From the loop: `why` has been filled, line_down() now or later. Reading goes on unless it was
	 * that which ended. */
	void (*ended)(struct line_link *l);
	/* Nothing is read or written any more. True (NULL: always) when all is done; otherwise
	 * line_closed() later. */
	bool (*close)(struct line_link *l);
	/* Frees what the way has (NULL: nothing), but not the struct. Nothing may be called back after it. */
	void (*free)(struct line_link *l);
	/* Where there is no loop: line_run() is due soon, not from in here. */
	void (*later)(struct line_link *l);
};

struct line_link {
	struct link link;
	struct link_base_options o; /* defaults applied */
	cleat_allocator mem;
	const struct line_way *way;
	enum line_state state;
	struct linestream io;
	struct loop_call call; /* what an op has left for the loop */
	struct loop_turn turn;
	unsigned entered;
	bool attached;    /* to the loop */
	bool freed;       /* memory follows in line_leave() */
	bool wrote;       /* in this turn of the loop already */
	bool told;        /* way->ended() has been called */
	bool want_closed; /* the event is due */
	unsigned garbage, notes;
	cleat_error
		why; /* status CLEAT_EPROTO: what came is not MCP; else the stream broke or ended */
};

/* `size` bytes, zeroed, with a line_link at the front; NULL when out of memory. */
void *line_new(const struct link_base_options *o, const struct line_way *way, size_t size,
	       cleat_error *err);

void line_enter(struct line_link *l);
/* The link may be gone after it. */
void line_leave(struct line_link *l);

/* What an op has left to be done. */
void line_run(struct line_link *l);

/* A new stream. Takes the descriptors, which stay the way's; without a loop there are none. CLEAT_OK, or
 * why not. */
int line_attach(struct line_link *l, int in, int out, cleat_error *err);
/* From the loop: the events; what comes in is read from now on. */
void line_up(struct line_link *l);
void line_up_failed(struct line_link *l, const cleat_error *why, enum cleat_step step);
/* Reads what is there, without waiting. */
void line_read_rest(struct line_link *l);
/* Lets go of the descriptors; may be repeated. */
void line_detach(struct line_link *l);
/* line_detach(), then the event. */
void line_down(struct line_link *l, const cleat_error *why);
void line_closed(struct line_link *l);
void line_note(struct line_link *l, int level, const char *fmt, ...) CLEAT_PRINTF(3, 4);

/* Operations that only HTTP has, for this and for local.c: nothing, and CLEAT_EUNSUPPORTED. */
void line_no_stream(struct link *link);
int line_no_fall_back(struct link *link);

#endif
