/* httpd_relay_rig.h - connections on one loop, their service on another. Both loops run on one thread, so
 * that the test decides who comes first. See httpd_rig.h for service and clients.
 */
#ifndef HTTP_RELAY_RIG_H
#define HTTP_RELAY_RIG_H

#include "httpd/relay_impl.h"
#include "unit/httpd/httpd_rig.h"

/* ---- a relay ------------------------------------------------------------------------------ */

struct pair {
	struct rig rig; /* its loop is the front's; `h` is the relay's */
	struct http_relay *relay;
	cleat_loop *back; /* may be the same loop */
	size_t screened;
};

void pair_open_with(struct pair *p, bool two_loops, struct http_relay_options o);
void pair_open(struct pair *p, bool two_loops);
void pair_close(struct pair *p);
void front_turn(struct pair *p);
void back_turn(struct pair *p);
void both_turn(struct pair *p);

/* With two loops: back and forth until it is so. */
#define WAIT_BOTH(p, condition)                                                                    \
	do {                                                                                       \
		while (!(condition)) {                                                             \
			cleat_loop_step((p)->rig.l, 1);                                            \
			cleat_loop_step((p)->back, 0);                                             \
		}                                                                                  \
	} while (0)

void expect_both(struct pair *p, struct client *c, int status, const char *body);

/* A case on a pair, which it opens itself. */
#define PAIR_TEST(name) TEST_ON(name, struct pair, p, (void)0, pair_close)

#endif
