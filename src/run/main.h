/* run/main.h - what the two halves of a program around a server share: the command line (main_parse.c)
 * and the run (main.c).
 */
#ifndef RUN_MAIN_H
#define RUN_MAIN_H

#include <cleat/main.h>

#include <stdio.h>

/* The options for --help, the program's own first; own may be NULL. */
void main_print_options(FILE *to, const cleat_main_option *own);
/* What the program gave (NULL: all-zero), and what its o->http points to; to->error says if there is
 * something in them that is not known here. */
void main_options_take(cleat_main_options *to, cleat_http_options *http,
		       const cleat_main_options *from, size_t size, size_t http_size);

#endif
