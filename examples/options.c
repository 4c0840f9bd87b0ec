/* options.c - options of your own beside the standard ones: notes in a file of the user's choice.
 *	./options --file notes.txt --read-only --http 8080
 */
#include <cleat/cleat.h>

#include <stdio.h>

static const char *file = "notes.txt", *read_only;

static int list(cleat_request *req)
{
	char text[4096];
	FILE *f = fopen(file, "r");
	size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = 0;
	return cleat_reply_text(req, n ? text : "There are no notes.");
}

static int add(cleat_request *req)
{
	FILE *f = fopen(file, "a");
	bool good = f && fprintf(f, "%s\n", cleat_arg_str(req, "note")) > 0;

	if (f)
		good = !fclose(f) && good;
	return good ? cleat_reply_text(req, "Noted.")
		    : cleat_reply_error(req, "%s cannot be written.", file);
}

int main(int argc, char **argv)
{
	const cleat_main_option own[] = {
		{ .name = "--file", .arg = "FILE", .help = "where the notes are", .value = &file },
		{ .name = "--read-only", .help = "nothing can be added", .value = &read_only },
		{ 0 },
	};
	cleat_main_options o = { .own = own };
	cleat_server *s;

	cleat_main_parse(&o, argc, argv);
	s = cleat_server_new("notes", "1.0.0", NULL);
	cleat_server_add_tool(s, &(cleat_tool){ .signature = "list()", .call = list });
	if (!read_only)
		cleat_server_add_tool(
			s, &(cleat_tool){ .signature = "add(note: string)", .call = add });
	return cleat_server_run_main(s, &o);
}
