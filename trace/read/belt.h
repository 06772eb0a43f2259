/* Batches of bytes from one producer to consumers, each in a thread of its own. Every consumer gets every batch, in the
 * order in which they were sent; nothing is copied for it. A batch goes: free -> filled by the producer -> sent -> used
 * by each consumer -> free, once the last one is through with it. The number of batches bounds memory: a producer that
 * is ahead waits for a free one. */
#ifndef XS_READ_BELT_H
#define XS_READ_BELT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rd_belt rd_belt;
typedef struct rd_consumer {
    int (*use)(void *user, const void *batch); /* not 0: it failed; it gets no more */
    void *user;
} rd_consumer;

/* 0, XS_E_MEMORY, or XS_E_SYSTEM where there is no thread to be had. The producer may hold several batches at once:
 * fewer than `batches`. */
int rd_belt_start(rd_belt **belt, uint32_t batches, size_t bytes, const rd_consumer *consumers, uint32_t count);
void *rd_belt_take(rd_belt *belt);             /* a free batch, as it was left; waits for one */
void rd_belt_send(rd_belt *belt, void *batch); /* one that was taken */
void rd_belt_drain(
    rd_belt *belt); /* waits until consumers are through with all that was sent; they stand still until more is */
bool rd_belt_failed(const rd_belt *belt); /* some consumer has */
/* Ends the threads when they are through with all that was sent. 0, or what a consumer returned, with its errno: of
 * several that failed the one at the earliest batch, then the first of the list. May be called again. */
int rd_belt_stop(rd_belt *belt);
void rd_belt_free(rd_belt *belt); /* stops it; NULL: nothing to do */

#endif
