/* Threads that share the rings of one pass with the thread that asks for it. Each ring is drained by one of them a
 * pass; which one may differ from pass to pass. */
#ifndef XS_RING_WORKERS_H
#define XS_RING_WORKERS_H

#include <stdint.h>

typedef struct ring_workers ring_workers;

/* What each of them does, with its own lane from 0 (the caller) up, until it returns. */
typedef void ring_work(void *user, uint32_t lane);

/* `threads` in all, the caller included; NULL: no memory or no thread. */
ring_workers *ring_workers_create(uint32_t threads);
/* Runs work on all of them; returns when all have returned. */
void ring_workers_run(ring_workers *workers, ring_work *work, void *user);
/* In a forked child, where the threads are not, it only frees memory. */
void ring_workers_destroy(ring_workers *workers);

#endif
