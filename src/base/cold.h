/* base/cold.h - marks functions that only run when something is wrong.
 *
 * The compiler keeps them, and the code that leads to them, away from the code of an ordinary
 * request: what is not run should not take room in the instruction cache.
 */
#ifndef BASE_COLD_H
#define BASE_COLD_H

#if defined(__GNUC__)
#define COLD __attribute__((cold))
#else
#define COLD
#endif

#endif
