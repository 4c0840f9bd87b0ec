/* child_rig.h - a child and what came of it: what it said, how it ended. A test with it is its own child, too
 * (child_support.h), and warms up.
 */
#ifndef TESTS_CHILD_RIG_H
#define TESTS_CHILD_RIG_H

#include "child/child.h"
#include "unit/child/child_support.h"

struct rig {
	cleat_loop *loop;
	struct child *child;
	struct child_options o;
	cleat_error err;
	unsigned exits, lines;
	int status;
	bool free_on_line, free_on_exit;
	char said[4096]; /* stderr: "line|line|" */
	char out[65536]; /* stdout */
	size_t n;
};

void rig_init(struct rig *r);
void rig_done(struct rig *r);
int spawn(struct rig *r, const char *const *argv);
void spawn_sh(struct rig *r, const char *script);

/* Reads what is there of stdout, or waits a little. False at its end. */
bool read_more(struct rig *r);

/* Reads stdout until `text` was there, or to the end when it is NULL. */
void read_until(struct rig *r, const char *text);
void until_exit(struct rig *r);
void say(struct rig *r, const char *text);

#define RIG_TEST(name) TEST_ON(name, struct rig, r, rig_init(r), rig_done)

#endif
