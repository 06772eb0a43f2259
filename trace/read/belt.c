/* One lock for all: a batch is many events, so it is taken rarely. After a failure consumers only hand batches back,
 * those before it excepted, so that nobody waits for ever and the failure told does not depend on who was faster. */
#include "belt.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <xs/errors.h>

#define NEVER UINT64_MAX

typedef struct lane {
    rd_belt *belt;
    rd_consumer how;
    pthread_t thread;
    uint64_t next; /* number of the batch that it gets next */
} lane;

struct rd_belt {
    pthread_mutex_t lock;
    pthread_cond_t sent, freed;
    unsigned char *memory;
    size_t bytes;
    uint32_t batches;
    uint32_t *free, free_count; /* a stack of places in memory */
    uint32_t *queue;            /* batch number n lies in place queue[n % batches] */
    uint32_t *uses;             /* by place: consumers that are not through with it */
    uint64_t queued;            /* batches sent so far */
    uint32_t out;               /* of them, those that somebody is not through with */
    bool closing;
    _Atomic uint64_t failed_at; /* number of the earliest batch that a consumer failed at */
    const lane *failed;
    int result, result_errno;
    uint32_t count;
    lane lanes[];
};

static bool next_batch(lane *l, uint32_t *place) {
    rd_belt *b = l->belt;
    pthread_mutex_lock(&b->lock);
    while (l->next == b->queued && !b->closing)
        pthread_cond_wait(&b->sent, &b->lock);
    bool any = l->next < b->queued;
    if (any)
        *place = b->queue[l->next++ % b->batches];
    pthread_mutex_unlock(&b->lock);
    return any;
}

static void give_back(rd_belt *b, uint32_t place) {
    pthread_mutex_lock(&b->lock);
    if (--b->uses[place] == 0) {
        b->free[b->free_count++] = place;
        b->out--;
        pthread_cond_signal(&b->freed);
    }
    pthread_mutex_unlock(&b->lock);
}

static void note_failure(lane *l, int result, int number) {
    rd_belt *b = l->belt;
    uint64_t at = l->next - 1;
    pthread_mutex_lock(&b->lock);
    if (at < b->failed_at || (at == b->failed_at && l < b->failed)) {
        b->failed = l;
        b->result = result;
        b->result_errno = number;
        b->failed_at = at;
    }
    pthread_mutex_unlock(&b->lock);
}

static void *run(void *arg) {
    lane *l = arg;
    rd_belt *b = l->belt;
    bool failed = false;
    for (uint32_t place; next_batch(l, &place); give_back(b, place)) {
        if (failed || l->next - 1 > b->failed_at)
            continue;
        int result = l->how.use(l->how.user, b->memory + place * b->bytes);
        failed = result != 0;
        if (failed)
            note_failure(l, result, errno);
    }
    return NULL;
}

static int make_room(rd_belt *b) {
    b->memory = malloc(b->batches * b->bytes);
    b->free = calloc(b->batches, sizeof *b->free);
    b->queue = calloc(b->batches, sizeof *b->queue);
    b->uses = calloc(b->batches, sizeof *b->uses);
    if (!b->memory || !b->free || !b->queue || !b->uses)
        return XS_E_MEMORY;
    while (b->free_count < b->batches) {
        b->free[b->free_count] = b->free_count;
        b->free_count++;
    }
    return 0;
}

static int start_threads(rd_belt *b, const rd_consumer *consumers, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        b->lanes[i] = (lane){.belt = b, .how = consumers[i]};
        int number = pthread_create(&b->lanes[i].thread, NULL, run, &b->lanes[i]);
        if (number) {
            errno = number;
            return XS_E_SYSTEM;
        }
        b->count++;
    }
    return 0;
}

int rd_belt_start(rd_belt **belt, uint32_t batches, size_t bytes, const rd_consumer *consumers, uint32_t count) {
    rd_belt *b = calloc(1, sizeof *b + count * sizeof *b->lanes);
    if (!b)
        return XS_E_MEMORY;
    b->batches = batches;
    b->bytes = (bytes + 63) & ~(size_t)63;
    b->failed_at = NEVER;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->sent, NULL);
    pthread_cond_init(&b->freed, NULL);
    int rc = make_room(b);
    if (rc == 0)
        rc = start_threads(b, consumers, count);
    if (rc) {
        rd_belt_free(b);
        return rc;
    }
    *belt = b;
    return 0;
}

void *rd_belt_take(rd_belt *b) {
    pthread_mutex_lock(&b->lock);
    while (!b->free_count)
        pthread_cond_wait(&b->freed, &b->lock);
    uint32_t place = b->free[--b->free_count];
    pthread_mutex_unlock(&b->lock);
    return b->memory + place * b->bytes;
}

void rd_belt_send(rd_belt *b, void *batch) {
    uint32_t place = (uint32_t)((size_t)((unsigned char *)batch - b->memory) / b->bytes);
    pthread_mutex_lock(&b->lock);
    b->uses[place] = b->count;
    b->queue[b->queued++ % b->batches] = place;
    b->out++;
    pthread_cond_broadcast(&b->sent);
    pthread_mutex_unlock(&b->lock);
}

void rd_belt_drain(rd_belt *b) {
    pthread_mutex_lock(&b->lock);
    while (b->out)
        pthread_cond_wait(&b->freed, &b->lock);
    pthread_mutex_unlock(&b->lock);
}

bool rd_belt_failed(const rd_belt *b) { return atomic_load_explicit(&b->failed_at, memory_order_relaxed) != NEVER; }

int rd_belt_stop(rd_belt *b) {
    pthread_mutex_lock(&b->lock);
    b->closing = true;
    pthread_cond_broadcast(&b->sent);
    pthread_mutex_unlock(&b->lock);
    for (; b->count; b->count--)
        pthread_join(b->lanes[b->count - 1].thread, NULL);
    if (b->result)
        errno = b->result_errno;
    return b->result;
}

void rd_belt_free(rd_belt *b) {
    if (!b)
        return;
    rd_belt_stop(b);
    pthread_cond_destroy(&b->sent);
    pthread_cond_destroy(&b->freed);
    pthread_mutex_destroy(&b->lock);
    free(b->memory);
    free(b->free);
    free(b->queue);
    free(b->uses);
    free(b);
}
