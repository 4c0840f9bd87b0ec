/* loop/thread.h - threads of the library. They block all signals, so that the program's handlers run on
 * its own threads.
 */
#ifndef LOOP_THREAD_H
#define LOOP_THREAD_H

#include <pthread.h>

/* 0, or an errno. To be joined. */
int thread_start(pthread_t *id, void *(*fn)(void *arg), void *arg);

#endif
