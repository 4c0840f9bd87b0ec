/* load_folder.c - what a folder of very many files costs `cleat serve`, for scripts/load:
 *
 *	load_folder CLEAT DIRECTORY N flat|nested
 *
 * Makes N files in the directory, which must be empty: all in one, or 100 in each of a tree. Then a server of
 * its own lists pages from beginning to end, and searches for a line that every thousandth file has. Prints
 * figures, one "NAME VALUE" a line, each with flat_ or nested_ before it; what they may be is the script's
 * business. An answer other than the expected one ends it with status 2.
 */
#define _GNU_SOURCE
#define LOAD_NAME "load_folder"
#include "load.h"

#include <cleat/client.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 200, SEARCHES = 5, NEEDLE_EVERY = 1000 };

/* ---- files ------------------------------------------------------------------------------------ */

static void make_file(int dir, const char *path, int i)
{
	int fd = openat(dir, path, O_WRONLY | O_CREAT | O_EXCL, 0644);
	char text[300];
	int n = snprintf(text, sizeof text, "file number %d\n%s%s", i,
			 "a line of text\na line of text\na line of text\na line of text\n",
			 i % NEEDLE_EVERY == NEEDLE_EVERY / 2 ? "NEEDLE\n" : "");

	if (fd < 0 || write(fd, text, (size_t)n) != n)
		fail("cannot make %s", path);
	close(fd);
}

static void make_files(const char *directory, int n, int nested)
{
	int dir = open(directory, O_RDONLY | O_DIRECTORY);

	for (int i = 0; dir >= 0 && i < n; i++) {
		char path[80];

		if (nested && i % 10000 == 0) {
			snprintf(path, sizeof path, "d%02d", i / 10000);
			mkdirat(dir, path, 0755);
		}
		if (nested && i % 100 == 0) {
			snprintf(path, sizeof path, "d%02d/e%02d", i / 10000, i / 100 % 100);
			mkdirat(dir, path, 0755);
		}
		if (nested)
			snprintf(path, sizeof path, "d%02d/e%02d/file-%06d.txt", i / 10000,
				 i / 100 % 100, i);
		else
			snprintf(path, sizeof path, "file-%06d.txt", i);
		make_file(dir, path, i);
	}
	if (dir < 0)
		fail("cannot open %s", directory);
	close(dir);
}

/* ---- measuring -------------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static cleat_result *good(cleat_result *r, const char *what)
{
	if (cleat_result_status(r))
		fail("%s: %s", what, cleat_result_error(r)->message);
	return r;
}

/* All pages; the median and the longest. */
static void list_pages(cleat_client *c, int n, const char *kind)
{
	double *ms = calloc((size_t)n / PAGE * 2 + 100, sizeof *ms);
	char cursor[8192] = "";
	size_t pages = 0;
	int files = 0;

	do {
		double start = now_ms();
		cleat_result *r =
			cursor[0] ? cleat_client_callf(c, "list_files",
						       "{recursive: true, limit: %d, cursor: %s}",
						       PAGE, cursor)
				  : cleat_client_callf(c, "list_files",
						       "{recursive: true, limit: %d}", PAGE);
		const cleat_json *page = cleat_result_json(good(r, "list_files"));
		cleat_json_iter it = cleat_json_each(cleat_json_get(page, "entries"));

		ms[pages++] = now_ms() - start;
		while (cleat_json_next(&it))
			files += strcmp(cleat_json_str(cleat_json_get(it.value, "type"), ""),
					"file") == 0;
		snprintf(cursor, sizeof cursor, "%s",
			 cleat_json_str(cleat_json_get(page, "next_cursor"), ""));
		cleat_result_free(r);
	} while (cursor[0]);
	if (files != n)
		fail("%d files were listed, not %d", files, n);
	qsort(ms, pages, sizeof *ms, by_size);
	printf("%s_page_ms %.1f\n%s_page_max_ms %.1f\n", kind, ms[pages / 2], kind, ms[pages - 1]);
	free(ms);
}

struct waiting {
	double first;
};

static void on_progress(cleat_call *call, double done, double total, const char *message)
{
	struct waiting *w = cleat_call_userdata(call);

	(void)done;
	(void)total;
	if (w->first == 0 && strstr(message, "NEEDLE"))
		w->first = now_ms();
}

/* The slowest of a few: until the first match is told, and to the end. */
static void search(cleat_client *c, int n, const char *kind)
{
	double first = 0, whole = 0;

	for (int i = 0; i < SEARCHES; i++) {
		struct waiting w = { 0 };
		const cleat_call_options o = { .on_progress = on_progress, .userdata = &w };
		double start = now_ms();
		cleat_result *r =
			good(cleat_client_call_withf(c, &o, "search_files",
						     "{pattern: %s, limit: 10000}", "NEED[L]E"),
			     "search_files");
		size_t found = cleat_json_size(cleat_json_get(cleat_result_json(r), "matches"));

		if (w.first == 0 || found != (size_t)(n / NEEDLE_EVERY))
			fail("%zu matches were found, or none was told", found);
		first = w.first - start > first ? w.first - start : first;
		whole = now_ms() - start > whole ? now_ms() - start : whole;
		cleat_result_free(r);
	}
	printf("%s_first_ms %.1f\n%s_search_ms %.0f\n", kind, first, kind, whole);
}

static void memory(int pid, const char *kind)
{
	char path[40], line[200];
	FILE *f;
	long kb = 0;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, "VmHWM:", 6) == 0)
			kb = strtol(line + 6, NULL, 10);
	if (!kb)
		fail("cannot see the memory of process %d", pid);
	fclose(f);
	printf("%s_rss_kb %ld\n", kind, kb);
}

int main(int argc, char **argv)
{
	const char *server[] = { argc == 5 ? argv[1] : "", "serve", "--dir",
				 argc == 5 ? argv[2] : "", NULL };
	int n = argc == 5 ? atoi(argv[3]) : 0;
	cleat_client *c;

	if (n < NEEDLE_EVERY) {
		fputs("usage: load_folder CLEAT DIRECTORY N flat|nested\n", stderr);
		return 1;
	}
	make_files(argv[2], n, strcmp(argv[4], "nested") == 0);
	c = cleat_client_spawn(server, NULL);
	good(cleat_client_ping(c), "starting");
	list_pages(c, n, argv[4]);
	search(c, n, argv[4]);
	memory(cleat_client_pid(c), argv[4]);
	cleat_client_free(c);
	return 0;
}
