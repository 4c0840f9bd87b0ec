/* replay.c - runs a fuzz target over its corpus without a fuzzer: the main() that libFuzzer would
 * bring otherwise. Linked with each fuzz_*.c in normal builds, so that every input that ever
 * mattered stays in the test suite, under every compiler and sanitizer.
 *
 * Usage: replay_NAME DIRECTORY...   Each directory is one TAP case. Every file is given to the
 * target whole; files of up to PREFIX_MAX bytes also in all their prefixes, which is where parsers
 * that read past the end are found. Each input is a fresh allocation of exactly its size, so that
 * AddressSanitizer and valgrind see a read past it.
 *
 * It is not a fuzzer: it makes up no inputs. A target that crashes takes the program with it; the
 * last "# replaying" line names the input.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PREFIX_MAX 512
#define FILE_MAX   (16 * 1024 * 1024)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int one(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		return -1;
	if (size)
		memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	return 0;
}

static int replay_bytes(const uint8_t *data, size_t size)
{
	if (size <= PREFIX_MAX) {
		for (size_t n = 0; n < size; n++) {
			if (one(data, n))
				return -1;
		}
	}
	return one(data, size);
}

/* 0, or -1 with a "# ..." line that says why. */
static int replay_file(const char *path, size_t size)
{
	uint8_t *data = NULL;
	FILE *f = fopen(path, "rb");
	int rc = -1;

	printf("# replaying %s (%zu bytes)\n", path, size);
	fflush(stdout);
	if (!f || size > FILE_MAX)
		goto out;
	data = malloc(size ? size : 1);
	if (data && fread(data, 1, size, f) == size)
		rc = replay_bytes(data, size);
out:
	if (rc)
		printf("# %s: cannot be read, or is over %d bytes\n", path, FILE_MAX);
	free(data);
	if (f)
		fclose(f);
	return rc;
}

static int visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

/* The number of files replayed, or -1. In the order of their names: a failure must be repeatable. */
static long replay_directory(const char *directory)
{
	struct dirent **entries;
	int n = scandir(directory, &entries, visible, alphasort);
	long files = 0;

	if (n < 0) {
		printf("# %s: %s\n", directory, strerror(errno));
		return -1;
	}
	for (int i = 0; i < n; i++) {
		char path[4096];
		struct stat st;
		int len = snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);

		free(entries[i]);
		if (files < 0 || len < 0 || (size_t)len >= sizeof path || stat(path, &st))
			files = -1;
		else if (S_ISREG(st.st_mode))
			files = replay_file(path, (size_t)st.st_size) ? -1 : files + 1;
	}
	free(entries);
	return files;
}

int main(int argc, char **argv)
{
	int failed = 0;

	printf("1..%d\n", argc - 1);
	for (int i = 1; i < argc; i++) {
		long files = replay_directory(argv[i]);

		/* An empty corpus proves nothing, so it is a failure. */
		if (files <= 0)
			failed = 1;
		printf("%s %d - %s: %ld files\n", files > 0 ? "ok" : "not ok", i, argv[i], files);
	}
	return failed;
}
