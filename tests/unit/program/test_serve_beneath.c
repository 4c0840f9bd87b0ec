/* test_serve_beneath.c - nothing outside of a directory can be reached, whatever is said or swapped.
 *
 * Every case runs twice: with openat2 and, as on a kernel that has none, one component at a time.
 */
#include "serve/folder/beneath.h"
#include "test.h"

#include "base/buf.h"
#include "support.h"
#include "support_files.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

struct ground {
	char in[80];
	struct beneath b;
};

static void write_at(int dir, const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void ground_begin(struct ground *g)
{
	cleat_error err = { 0 };
	int dir;

	scratch_begin(NULL);
	snprintf(g->in, sizeof g->in, "%s/in", scratch_dir);
	assert_int_equal(mkdir(g->in, 0755), 0);
	if (beneath_init(&g->b, g->in, &err))
		fail_msg("%s", err.message);
	dir = open(scratch_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir >= 0);
	assert_int_equal(mkdirat(dir, "out", 0755), 0);
	assert_int_equal(mkdirat(dir, "in_evil", 0755), 0);
	write_at(dir, "out/secret", "SECRET");
	write_at(dir, "in_evil/secret", "SECRET");
	write_at(dir, "in/a.txt", "A");
	assert_int_equal(mkdirat(dir, "in/sub", 0755), 0);
	write_at(dir, "in/sub/b.txt", "B");
	write_at(dir, "in/.hidden", "H");
	assert_int_equal(mkdirat(dir, "in/.git", 0755), 0);
	write_at(dir, "in/.git/config", "H");
	close(dir);
}

static void ground_end(struct ground *g)
{
	beneath_done(&g->b);
	assert_int_equal(scratch_end(NULL), 0);
}

#define GROUND_TEST(name) TEST_ON(name, struct ground, g, ground_begin(g), ground_end)

/* The first bytes of a file, or the reason in brackets. */
static const char *content(struct ground *g, struct str path)
{
	static char text[400];
	struct stat st;
	cleat_error err = { 0 };
	int fd = beneath_open_file(&g->b, path, &st, &err);
	ssize_t n;

	if (fd < 0) {
		snprintf(text, sizeof text, "[%s]", err.message);
		assert_true(err.status < 0);
		return text;
	}
	n = read(fd, text, sizeof text - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	close(fd);
	return text;
}

static void expect(struct ground *g, const char *path, const char *words)
{
	const char *got = content(g, str_of(path));

	if (!strstr(got, words))
		fail_msg("%s: expected %s, got %s", path, words, got);
}

static void link_to(struct ground *g, const char *target, const char *name)
{
	assert_int_equal(symlinkat(target, g->b.fd, name), 0);
}

/* With openat2 where the system has it (a filter of a container or valgrind may not), and without. */
static void both_ways(struct ground *g, void (*fn)(struct ground *g))
{
	bool without = g->b.stepwise;

	fn(g);
	g->b.stepwise = true;
	if (!without)
		fn(g);
	g->b.stepwise = without;
}

static void check_paths(struct ground *g)
{
	static const struct {
		const char *path, *words;
	} cases[] = {
		{ "a.txt", "A" },
		{ "./a.txt", "A" },
		{ "sub//b.txt", "B" },
		{ "sub/./b.txt", "B" },
		{ "a.txt/", "A" },
		{ "none", "[none: no such file" },
		{ "sub", "[sub: is a directory]" },
		{ "", "[.: is a directory]" },
		{ ".", "[.: is a directory]" },
		{ "a.txt/x", "not a directory" },
		{ "..", "\"..\" is not allowed" },
		{ "../out/secret", "\"..\" is not allowed" },
		{ "sub/../a.txt", "\"..\" is not allowed" },
		{ "sub/../../out/secret", "\"..\" is not allowed" },
		{ "/etc/passwd", "absolute paths are not allowed" },
		{ "//etc/passwd", "absolute paths are not allowed" },
		{ "\\x2e\\x2e/out/secret", "no such file" },
		{ "..\\x2fout/secret", "hidden and excluded" },
		{ ".hidden", "hidden and excluded" },
		{ ".git/config", "hidden and excluded" },
		{ "sub/.x", "hidden and excluded" },
		{ "a.txt\n", "no such file" },
		{ "-a", "no such file" },
		{ "../in_evil/secret", "\"..\" is not allowed" }, /* CVE-2025-53110 */
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++)
		expect(g, cases[i].path, cases[i].words);
}

GROUND_TEST(paths_are_relative_and_stay_inside)
{
	both_ways(g, check_paths);
}

GROUND_TEST(odd_paths_are_refused_with_a_reason)
{
	char longer[5000];

	assert_non_null(strstr(content(g, (struct str){ "a.txt\0x", 7 }), "NUL"));
	memset(longer, 'x', sizeof longer);
	assert_non_null(strstr(content(g, (struct str){ longer, sizeof longer }), "too long"));
	assert_non_null(strstr(content(g, (struct str){ longer, 256 }), "at most 255"));
	for (size_t i = 1; i < sizeof longer; i += 2)
		longer[i] = '/';
	assert_non_null(strstr(content(g, (struct str){ longer, 4500 }), "too long"));
}

GROUND_TEST(links_that_lead_out_are_not_followed)
{
	char absolute[100];

	snprintf(absolute, sizeof absolute, "%s/out/secret", scratch_dir);
	link_to(g, "../out/secret", "up");
	link_to(g, absolute, "away");
	link_to(g, "../out", "dir");
	link_to(g, "/proc/self/root", "magic");
	link_to(g, "/dev/fd", "fds");
	link_to(g, "loop2", "loop1");
	link_to(g, "loop1", "loop2");
	if (!g->b.stepwise) {
		expect(g, "up", "leads outside");
		expect(g, "away", "leads outside");
		expect(g, "dir/secret", "leads outside");
		expect(g, "magic/etc/passwd", "leads outside");
		expect(g, "loop1", "symbolic link");
	}
	g->b.stepwise = true;
	expect(g, "up", "symbolic link, not a regular file");
	expect(g, "dir/secret", "not");
	expect(g, "magic/etc/passwd", "not");
	expect(g, "loop1", "symbolic link");
}

/* Links inside are the operator's business; but they are no way around the rules. */
GROUND_TEST(links_inside_are_followed_where_the_rules_allow)
{
	struct glob *glob;

	if (g->b.stepwise) {
		print_message("# no openat2 here, and without it no link is followed\n");
		skip();
	}
	glob = glob_new(NULL, STR_LIT("*.key"), NULL);
	assert_non_null(glob);
	link_to(g, "sub/b.txt", "inner");
	link_to(g, "sub", "subdir");
	link_to(g, ".hidden", "shown");
	link_to(g, ".git", "git");
	link_to(g, "sub/k.key", "key");
	write_at(g->b.fd, "sub/k.key", "K");
	expect(g, "inner", "B");
	expect(g, "subdir/b.txt", "B");
	expect(g, "shown", "no such file");
	expect(g, "git/config", "no such file");
	expect(g, "key", "K");
	g->b.exclude = &glob;
	g->b.n_exclude = 1;
	expect(g, "key", "no such file");
	expect(g, "sub/k.key", "hidden and excluded");
	g->b.hidden = true;
	expect(g, "shown", "H");
	expect(g, ".git/config", "H");
	glob_free(glob);
}

GROUND_TEST(excluded_directories_hide_what_is_in_them)
{
	struct glob *glob = glob_new(NULL, STR_LIT("sub"), NULL);

	assert_non_null(glob);
	g->b.exclude = &glob;
	g->b.n_exclude = 1;
	expect(g, "sub/b.txt", "hidden and excluded");
	expect(g, "a.txt", "A");
	glob_free(glob);
}

/* What a model is told of an error of the system: words that it can act on, never the machine's paths. */
TEST(errors_have_words)
{
	static const struct {
		int error, status;
		const char *words;
	} cases[] = {
		{ ENOENT, CLEAT_ENOENT, "no such file or directory" },
		{ EEXIST, CLEAT_EEXIST, "exists" },
		{ EACCES, CLEAT_EIO, "permission denied" },
		{ EPERM, CLEAT_EIO, "permission denied" },
		{ ENAMETOOLONG, CLEAT_EIO, "is too long" },
		{ EAGAIN, CLEAT_EIO, "try again" },
		{ ENOSPC, CLEAT_EIO, "no space left" },
		{ EDQUOT, CLEAT_EIO, "quota" },
		{ EROFS, CLEAT_EIO, "read-only" },
		{ EMFILE, CLEAT_EIO, "too many open files; try again" },
		{ ENFILE, CLEAT_EIO, "too many open files; try again" },
		{ EBUSY, CLEAT_EIO, "is in use" },
		{ EIO, CLEAT_EIO, "input or output failed" },
		{ EOWNERDEAD, CLEAT_EIO, "system error" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		cleat_error err = { 0 };

		assert_int_equal(beneath_fail(&err, STR_LIT("a/b"), cases[i].error), -1);
		assert_int_equal(err.status, cases[i].status);
		assert_int_equal(strncmp(err.message, "a/b: ", 5), 0);
		assert_non_null(strstr(err.message, cases[i].words));
	}
}

static void check_special_files(struct ground *g)
{
	expect(g, "fifo", "is a FIFO");
	expect(g, "socket", "is a socket");
}

/* Neither hangs nor is opened. */
GROUND_TEST(only_regular_files_are_opened)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(mkfifoat(g->b.fd, "fifo", 0644), 0);
	snprintf(sun.sun_path, sizeof sun.sun_path, "%s/socket", g->in);
	assert_int_equal(bind(s, (struct sockaddr *)&sun, sizeof sun), 0);
	both_ways(g, check_special_files);
	close(s);
	{
		struct beneath dev;
		struct stat st;
		cleat_error err = { 0 };

		assert_int_equal(beneath_init(&dev, "/dev", &err), CLEAT_OK);
		assert_int_equal(beneath_open_file(&dev, STR_LIT("zero"), &st, &err), -1);
		assert_non_null(strstr(err.message, "is a device"));
		beneath_done(&dev);
	}
}

static void check_parents(struct ground *g)
{
	char name[BENEATH_NAME_MAX + 1];
	cleat_error err = { 0 };
	int fd = beneath_open_parent(&g->b, STR_LIT("sub/new.txt"), false, name, &err);

	assert_true(fd >= 0);
	assert_string_equal(name, "new.txt");
	close(fd);
	fd = beneath_open_parent(&g->b, STR_LIT("top"), false, name, &err);
	assert_true(fd >= 0);
	assert_string_equal(name, "top");
	close(fd);
	assert_int_equal(beneath_open_parent(&g->b, STR_LIT(""), false, name, &err), -1);
	assert_int_equal(beneath_open_parent(&g->b, STR_LIT("sub/.x"), false, name, &err), -1);
	assert_int_equal(beneath_open_parent(&g->b, STR_LIT("../x"), true, name, &err), -1);
	assert_int_equal(beneath_open_parent(&g->b, STR_LIT("a.txt/x"), true, name, &err), -1);
	assert_int_equal(beneath_open_parent(&g->b, STR_LIT("none/x"), false, name, &err), -1);
	assert_int_equal(err.status, CLEAT_ENOENT);
	fd = beneath_open_parent(&g->b, STR_LIT("new/er/est/x"), true, name, &err);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(unlinkat(g->b.fd, "new/er/est", AT_REMOVEDIR), 0);
	assert_int_equal(beneath_open_parent(&g->b, STR_LIT("dir/x"), true, name, &err), -1);
	assert_int_equal(beneath_open_parent(&g->b, STR_LIT("dir/y/x"), true, name, &err), -1);
	assert_int_equal(faccessat(g->b.fd, "../out/y", F_OK, 0), -1);
}

GROUND_TEST(parents_are_found_and_made_only_inside)
{
	link_to(g, "../out", "dir");
	both_ways(g, check_parents);
}

/* ---- a link that is swapped during the call -------------------------------------------------- */

struct swapper {
	struct ground *g;
	atomic_bool stop;
	atomic_ulong swaps;
};

/* "x" is, in turn, a directory with a harmless file and a link to the one outside. */
static void *swap(void *arg)
{
	struct swapper *s = arg;

	while (!atomic_load(&s->stop)) {
		syscall(SYS_renameat2, s->g->b.fd, "x", s->g->b.fd, "y", 2 /* RENAME_EXCHANGE */);
		atomic_fetch_add(&s->swaps, 1);
	}
	return NULL;
}

static void race(struct ground *g, unsigned tries)
{
	struct swapper s = { .g = g };
	unsigned good = 0, refused = 0;
	pthread_t thread;

	atomic_init(&s.stop, false);
	atomic_init(&s.swaps, 0);
	assert_int_equal(pthread_create(&thread, NULL, swap, &s), 0);
	/* Until it has been tried often and both outcomes were seen. */
	for (unsigned i = 0; i < tries || ((!good || !refused) && i < 1000 * tries); i++) {
		const char *got = content(g, STR_LIT("x/secret"));
		char name[BENEATH_NAME_MAX + 1];
		int fd;

		if (strcmp(got, "fine") == 0)
			good++;
		else if (got[0] == '[')
			refused++;
		else
			break; /* and the counts are wrong */
		fd = beneath_open_parent(&g->b, STR_LIT("x/new"), false, name, NULL);
		if (fd >= 0) {
			int made =
				openat(fd, name, O_CREAT | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);

			close(made);
			close(fd);
		}
	}
	atomic_store(&s.stop, true);
	pthread_join(thread, NULL);
	assert_true(good > 0 && refused > 0);
	assert_true(good + refused >= tries);
	assert_true(atomic_load(&s.swaps) > 10);
	/* Nothing was made where the link leads to. */
	assert_int_equal(faccessat(g->b.fd, "../out/new", F_OK, 0), -1);
}

/* CVE-2025-53109: a check of the path and then a use of the path. */
GROUND_TEST(a_link_swapped_during_the_call_never_leads_out)
{
	if (getenv("CLEAT_VALGRIND")) {
		print_message("# under valgrind threads take turns: there is no race\n");
		skip();
	}
	assert_int_equal(mkdirat(g->b.fd, "x", 0755), 0);
	write_at(g->b.fd, "x/secret", "fine");
	link_to(g, "../out", "y");
	if (!g->b.stepwise)
		race(g, 3000);
	g->b.stepwise = true;
	race(g, 3000);
}

/* ---- names ---------------------------------------------------------------------------------- */

GROUND_TEST(names_that_are_no_text_are_shown_and_reached)
{
	static const struct {
		const char *name, *json, *line;
	} cases[] = {
		{ "plain", "plain", "plain" },
		{ "\xc3\xa4", "\xc3\xa4", "\xc3\xa4" },
		{ "a\nb", "a\nb", "a\\x0ab" },
		{ "bad\xff", "bad\\xff", "bad\\xff" },
		{ "\xc3\xa4\xff", "\\xc3\\xa4\\xff", "\\xc3\\xa4\\xff" },
		{ "x\\xff\xff", "x\\x5cxff\\xff", "x\\x5cxff\\xff" },
		{ "c\\d", "c\\d", "c\\d" },
	};

	for (size_t i = 0; i < CLEAT_COUNT(cases); i++) {
		struct buf shown;

		write_at(g->b.fd, cases[i].name, cases[i].json);
		for (int line = 0; line < 2; line++) {
			const char *expected = line ? cases[i].line : cases[i].json;
			char name[BENEATH_NAME_MAX + 1];
			int fd;

			buf_init(&shown, NULL, 1000);
			beneath_show(&shown, str_of(cases[i].name), line);
			assert_int_equal(buf_size(&shown), strlen(expected));
			assert_memory_equal(buf_str(&shown).p, expected, strlen(expected));
			buf_done(&shown);
			expect(g, expected, cases[i].json);
			fd = beneath_open_parent(&g->b, str_of(expected), false, name, NULL);
			assert_true(fd >= 0);
			assert_string_equal(name, cases[i].name);
			close(fd);
		}
	}
}

/* The directory is a descriptor: it may be renamed, and another put in its place. */
GROUND_TEST(the_folder_is_the_one_that_was_opened)
{
	char other[100];

	snprintf(other, sizeof other, "%s/moved", scratch_dir);
	assert_int_equal(rename(g->in, other), 0);
	expect(g, "a.txt", "A");
	link_to(g, "sub/b.txt", "inner");
	if (!g->b.stepwise)
		expect(g, "inner", "B");
	assert_int_equal(rename(other, g->in), 0);
}

TEST(a_folder_that_is_not_there_is_an_error)
{
	struct beneath b;
	cleat_error err = { 0 };

	assert_int_equal(beneath_init(&b, "/nonexistent/x", &err), CLEAT_ENOENT);
	assert_non_null(strstr(err.message, "no such file"));
	beneath_done(&b);
	assert_int_not_equal(beneath_init(&b, "/etc/passwd", &err), CLEAT_OK);
	beneath_done(&b);
}
