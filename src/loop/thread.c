/* loop/thread.c - see thread.h. */
#define _POSIX_C_SOURCE 200809L

#include "loop/thread.h"

#include <signal.h>

int thread_start(pthread_t *id, void *(*fn)(void *arg), void *arg)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited */
	error = pthread_create(id, NULL, fn, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}
