/* json/number.h - exact arithmetic on numbers as they were received.
 *
 * Everything here works on the decimal text: no rounding, no range. All values given must be
 * numbers. Not here: conversion to C types (<cleat/json.h>).
 */
#ifndef JSON_NUMBER_H
#define JSON_NUMBER_H

#include <cleat/json.h>

/* A plain integer of at most 15 characters, which is nearly every number: true and its value. False
 * says nothing about the number. */
bool json_small_int(const cleat_json *v, int64_t *ret);
/* The same for a plain decimal such as -12.50 with few digits before the point: the largest integer
 * that is not above it, and whether it is above that. */
bool json_small_floor(const cleat_json *v, int64_t *ret, bool *ret_above);
/* Less than, equal to or greater than zero, as a < b, a == b, a > b, exactly. */
int json_number_compare(const cleat_json *a, const cleat_json *b);
/* Is v an integer multiple of `by` (which is greater than 0), exactly? 1 or 0, or CLEAT_ELIMIT when
 * that would take more than *budget digit operations; then nothing was done. What was used is taken
 * from *budget: nothing for small integers, the digits of v if `by` has at most 18 of them, else
 * the digits of `by` for every digit of the quotient. Exponents cost nothing, of any size. A
 * divisor of more than 9,215 digits is CLEAT_ELIMIT unless it is clear that the answer is no. */
int json_number_multiple_of(const cleat_json *v, const cleat_json *by, uint64_t *budget);

#endif
