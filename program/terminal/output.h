/* program/terminal/output.h - where a result goes, and in which form. */
#ifndef PROGRAM_TERMINAL_OUTPUT_H
#define PROGRAM_TERMINAL_OUTPUT_H

#include "cli/run.h"

/* Where the result goes: stdout or -o. NULL: it could not be opened (printed). Closed at the end of the
 * run; a failed write is EXIT_OTHER. A file has its new content only then. */
FILE *cli_out(struct cli *cli);
/* It will not be complete: a file keeps its old content. */
void cli_out_drop(struct cli *cli);
/* As cli_out(), for what is looked at while it grows. */
FILE *cli_out_live(struct cli *cli);
/* Ends the output of one command, or of the run. Gives `code`, or EXIT_OTHER when it was lost. */
int cli_close_output(struct cli *cli, int code);
/* With --json or --jq: prints the value that way and gives true. */
bool cli_print_json(struct cli *cli, const cleat_json *v, int *ret_code);
/* The same for a document that is made for this: it is freed. */
bool cli_print_doc(struct cli *cli, cleat_doc *doc, int *ret_code);
/* For people: JSON, indented, with colour where the terminal has it. */
void cli_pretty(struct cli *cli, FILE *to, const cleat_json *v);
/* Bytes that are text after all: of a type for text, and UTF-8. */
bool cli_is_text(const cleat_content *c);
/* The content of a result: text as it is, structured content, images (--save, inline), links. */
int cli_print_content(struct cli *cli, cleat_result *r);

#endif
