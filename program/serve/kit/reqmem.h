/* program/serve/kit/reqmem.h - the memory of a request as an allocator: what is made with it is gone with the request. */
#ifndef PROGRAM_SERVE_KIT_REQMEM_H
#define PROGRAM_SERVE_KIT_REQMEM_H

#include <cleat/request.h>

/* Freeing does nothing. Good for one thread, as the request is. */
cleat_allocator reqmem(cleat_request *req);

#endif
