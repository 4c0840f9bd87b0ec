/* test_child_cycles.c - a server that crashes and is started again, over and over: no zombie, no
 * orphan, no descriptor and no memory more than at the beginning.
 *
 * 1,000 times in the test suite, fewer under valgrind; `make load` does it 10,000 times (CLEAT_CYCLES).
 */
#include "test.h"
#include "unit/link/link_support.h"

static unsigned long cycles(void)
{
	const char *n = getenv("CLEAT_CYCLES");

	return n ? strtoul(n, NULL, 10) : getenv("CLEAT_VALGRIND") ? 100 : 1000;
}

/* kB that are resident; 0 where nobody knows. */
static long resident(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	long kb = 0;

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "VmRSS: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

/* Ways to end, in turn: by itself, with something left behind, killed, killed by us. */
static const char script[] = "read mode; case $mode in *0*) exit 1;; "
			     "*1*) sleep 1000 & exit 2;; *2*) kill -SEGV $$;; esac; read x";

static void cycle(struct link_rig *r, unsigned long i)
{
	static const char *const modes[] = { "[0]", "[1]", "[2]", "[3]" };
	unsigned downs = r->downs;

	rig_up_now(r);
	rig_say(r, modes[i % 4]);
	if (i % 4 == 3)
		kill(link_child_pid(r->link), SIGKILL);
	UNTIL(r->loop, r->downs > downs);
}

MEMORY_TEST(test_crash_and_restart_leaves_nothing)
{
	const char *argv[] = { "/bin/sh", "-c", script, NULL };
	unsigned long n = cycles(), i = 0;
	struct link_rig r;
	size_t fds, bytes;
	long kb;

	rig_init(&r);
	r.o.mem = &fa->hook;
	r.link = link_child_new(&r.o, argv, NULL, NULL, false, &r.err);
	assert_non_null(r.link);
	for (; i < 20; i++) /* everything that is kept is there now */
		cycle(&r, i);
	fds = open_fds();
	bytes = fa->bytes;
	kb = resident();
	for (; i < n; i++)
		cycle(&r, i);
	assert_int_equal(open_fds(), fds);
	assert_true(no_children());
	print_message("%lu cycles: %ld kB at first, %ld kB at last, %zu descriptors\n", n, kb,
		      resident(), fds);
	assert_int_equal(fa->bytes, bytes);
	/* What a sanitizer or valgrind keeps for itself is not ours. */
	if (getenv("CLEAT_CYCLES"))
		assert_true(resident() <= kb + 512);
	rig_done(&r);
}

TEST_GROUP(warm_up, NULL)
