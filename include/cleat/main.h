/* cleat/main.h - a whole program around a server: its command line, signals, and what it says.
 *
 * cleat_server_main() does all of it. It is made of two functions, for a program that has options of
 * its own, or takes its settings from elsewhere:
 *
 *	const char *file = "notes.txt";
 *	const cleat_main_option own[] = {
 *		{ .name = "--file", .arg = "FILE", .help = "where the notes are", .value = &file }, { 0 } };
 *	cleat_main_options o = { .own = own };
 *
 *	cleat_main_parse(&o, argc, argv);
 *	s = cleat_server_new("notes", "1.0.0", NULL);
 *	...
 *	return cleat_server_run_main(s, &o);
 *
 * cleat_main_parse() only reads. --help, --version and what is wrong with the command line are kept in
 * the struct, and cleat_server_run_main() answers them instead of serving; so nothing has to be checked
 * in between.
 */
#ifndef CLEAT_MAIN_H
#define CLEAT_MAIN_H

#include <cleat/http.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An option of the program's own; arrays of them end with name == NULL. One with the name of a standard
 * option takes its place. */
typedef struct cleat_main_option {
	const char *name; /* "--file" */
	const char *arg;  /* what --help calls its value, "FILE"; NULL: it takes none */
	const char
		*help; /* for --help; each further line behind a newline; NULL: it is not listed */
	/* Where its value goes when it is given (the last one counts): a text of argv, or its name if it
	 * takes none. */
	const char **value;
	uintptr_t reserved[2]; /* zero */
} cleat_main_option;

enum cleat_main_action { CLEAT_MAIN_SERVE = 0, CLEAT_MAIN_HELP, CLEAT_MAIN_VERSION };

/* What a program is to do. All-zero serves standard input and output. Everything is borrowed until
 * cleat_server_run_main() returns. */
typedef struct cleat_main_options {
	const cleat_main_option *own;  /* for cleat_main_parse(), and for --help; NULL: none */
	enum cleat_main_action action; /* print something instead of serving? */
	/* HTTP addresses, as cleat_server_listen_http() takes them; ends with NULL. NULL or none: standard
	 * input and output, unless the server listens already. */
	const char *const *listen;
	const cleat_http_options *http; /* for all of them; NULL: all-zero */
	bool any_port; /* where a port is taken: one of the next ten or any other, and a warning */
	bool quiet;    /* do not say where it listens, or on a terminal what it waits for */
	const char *program; /* the command, for --help and messages; NULL: the server's name */
	/* What was wrong with the command line: it is printed instead of serving, and the exit status is 2. */
	cleat_error error;
	void *kept; /* memory of cleat_main_parse(); leave it alone */
} cleat_main_options;

CLEAT_API int cleat_main_parse_(cleat_main_options *o, int argc, char **argv, size_t size,
				size_t http_size);
/* Reads the words behind argv[0]: the standard options, as --help lists them, and o->own. What is in *o
 * before is the default, so set what people need not say: `listen` counts if neither --http nor --stdio
 * is given, and members of `http` where no option says otherwise (further --allow-host and
 * --allow-origin are added). Texts are those of argv; lists and o->http are new, and freed by
 * cleat_server_run_main() or cleat_main_done(). Prints nothing. CLEAT_OK; CLEAT_EINVAL (the reason is in
 * o->error), CLEAT_ENOMEM. Any thread. */
static inline int cleat_main_parse(cleat_main_options *o, int argc, char **argv)
{
	return cleat_main_parse_(o, argc, argv, sizeof *o, sizeof *o->http);
}
CLEAT_API int cleat_server_run_main_(cleat_server *s, cleat_main_options *o, size_t size,
				     size_t http_size);
/* The rest of main(): serves until standard input ends or SIGTERM or SIGINT arrives, frees the server
 * and what cleat_main_parse() made, and gives the exit status: 0, 1 if the server failed (said on
 * standard error, or to cleat_server_options.log), 2 for o->error. SIGHUP makes a server on HTTP read its
 * files again. Signals are as they were before when it returns. o NULL is all-zero. Once at a time in a
 * process. */
static inline int cleat_server_run_main(cleat_server *s, cleat_main_options *o)
{
	return cleat_server_run_main_(s, o, sizeof *o, sizeof *o->http);
}
/* Frees what cleat_main_parse() made, where cleat_server_run_main() is not called: o->listen and o->http
 * are NULL then. Accepts NULL, and may be called twice. */
CLEAT_API void cleat_main_done(cleat_main_options *o);

#ifdef __cplusplus
}
#endif
#endif
