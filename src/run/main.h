/* run/main.h - what the two halves of a program around a server share: the command line (main_parse.c)
 * and the run (main.c).
 */
#ifndef RUN_MAIN_H
#define RUN_MAIN_H

#include <cleat/main.h>

#include <stdio.h>

/* The options for --help, the program's own first; own may be NULL. */
void main_print_options(FILE *to, const cleat_main_option *own);
/* As many bytes as both sides know; `from` may be NULL. */
void main_options_copy(cleat_main_options *to, const cleat_main_options *from, size_t size);

#endif
