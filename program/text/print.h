/* program/text/print.h - text and JSON for people, made safe. */
#ifndef PROGRAM_TEXT_PRINT_H
#define PROGRAM_TEXT_PRINT_H

#include <cleat/json.h>

#include <stdio.h>

#define COLOR_OFF    "\033[0m"
#define COLOR_BOLD   "\033[1m"
#define COLOR_DIM    "\033[2m"
#define COLOR_KEY    "\033[34m"
#define COLOR_STRING "\033[32m"
#define COLOR_NUMBER "\033[36m"
#define COLOR_WORD   "\033[35m"
#define COLOR_BAD    "\033[31m"

/* Untrusted text for a terminal: control characters made visible, except newline and tab. */
void print_safe(FILE *to, const char *text, size_t n);
/* The first line of a text, safe. */
void print_line(FILE *to, const char *text);
/* Text of a result: as it is, except that a terminal gets it safe. */
void print_content(FILE *to, const char *text, size_t n);
/* JSON text; a terminal gets it safe, and still as JSON. */
void print_json_text(FILE *to, const char *text, size_t n);
/* JSON in one line. False: out of memory. */
bool print_json_line(FILE *to, const cleat_json *v);
/* For people: JSON, indented. */
void print_pretty(FILE *to, const cleat_json *v, bool color);
/* Columns that a text takes on a terminal. */
size_t print_width(const char *text);
/* How many bytes of the first line there is room for, whole characters only. */
size_t print_fit(const char *text, size_t room);
/* The columns of the terminal that this goes to; SIZE_MAX: it goes to none. */
size_t print_room(FILE *to);
/* Its lines; SIZE_MAX: none. */
size_t print_rows(FILE *to);
/* How wide prose is: 79 columns, or less where the terminal has less. */
size_t print_prose(FILE *to);
/* Wraps a text as prose; newlines in it stay. Each line begins with `indent` spaces. */
void print_wrapped(FILE *to, const char *text, size_t indent);

#endif
