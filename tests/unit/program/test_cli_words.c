/* tests/unit/program/test_cli_words.c - the library's words in the mouth of the program: none of its names. */
#include "reach/reach.h"
#include "test.h"
#include "text/text.h"

#include <glob.h>
#include <string.h>

static const char *const internal[] = { "opts.", "_ms", "ca_file", "max_" };

/* The texts of a line of the sources that are words for people. */
static void look(const char *file, const char *line)
{
	const char *end = line;

	for (const char *at = strchr(line, '"'); at; at = strchr(end + 1, '"')) {
		const char *text, *said;

		for (end = at + 1; *end && *end != '"'; end++)
			end += *end == '\\';
		text = keepf("%.*s", (int)(end - at - 1), at + 1);
		said = strchr(text, ' ') ? cli_in_options(text) : "";
		for (size_t i = 0; i < CLEAT_COUNT(internal); i++)
			if (strstr(said, internal[i]))
				fail_msg("%s: cleat would say: %s", file, said);
		if (!*end)
			return;
	}
}

TEST(no_name_of_the_library_reaches_a_person)
{
	static const char *const rooms[] = { "client", "link", "fetch", "net", "child" };
	glob_t files = { 0 };

	for (size_t i = 0; i < CLEAT_COUNT(rooms); i++)
		glob(keepf(CLEAT_SOURCE_DIR "/src/%s/*.c", rooms[i]), i ? GLOB_APPEND : 0, NULL,
		     &files);
	assert_true(files.gl_pathc > 30);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		struct text t = { 0 };
		char *rest = NULL;

		assert_true(text_read(&t, files.gl_pathv[i], 1 << 20));
		text_str(&t);
		for (char *line = strtok_r(t.p, "\n", &rest); line;
		     line = strtok_r(NULL, "\n", &rest))
			look(files.gl_pathv[i], line);
		text_free(&t);
	}
	globfree(&files);
	keep_free_all();
}
