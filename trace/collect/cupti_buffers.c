#include "cupti_buffers.h"

#include <pthread.h>
#include <stdlib.h>

/* Small: a buffer comes back only when all records in it are complete, so one kernel that hangs keeps its buffer's
 * others. */
#define BUFFER_BYTES 16384u

typedef struct buffer {
    struct buffer *next;
    size_t valid;
    _Alignas(16) uint8_t bytes[BUFFER_BYTES];
} buffer;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static buffer *given, *full, **full_end = &full; /* CUPTI has it; it came back */
static uint64_t dropped;
static const xs_cupti_library *library;

static void CUPTIAPI requested(uint8_t **bytes, size_t *size, size_t *most_records) {
    buffer *b = malloc(sizeof *b);
    *most_records = 0;
    *bytes = b ? b->bytes : NULL;
    *size = b ? BUFFER_BYTES : 0;
    if (!b)
        return;
    pthread_mutex_lock(&lock);
    b->next = given;
    given = b;
    pthread_mutex_unlock(&lock);
}

/* Out of the list of given ones; NULL: another tool's, from before it was replaced. That is not ours to free. */
static buffer *take_back(const uint8_t *bytes) {
    for (buffer **link = &given; *link; link = &(*link)->next)
        if ((*link)->bytes == bytes) {
            buffer *found = *link;
            *link = found->next;
            return found;
        }
    return NULL;
}

static void CUPTIAPI completed(CUcontext context, uint32_t stream, uint8_t *bytes, size_t size, size_t valid) {
    size_t lost = 0;
    (void)size;
    if (library->dropped_records(context, stream, &lost) != CUPTI_SUCCESS)
        lost = 0;
    pthread_mutex_lock(&lock);
    dropped += lost;
    buffer *b = take_back(bytes);
    if (b) {
        b->valid = valid;
        b->next = NULL;
        *full_end = b;
        full_end = &b->next;
    }
    pthread_mutex_unlock(&lock);
}

CUptiResult xs_buffers_register(const xs_cupti_library *cupti) {
    library = cupti;
    return cupti->register_callbacks(requested, completed);
}

uint64_t xs_buffers_take(const xs_cupti_library *cupti, void (*record)(void *, const CUpti_Activity *), void *user) {
    pthread_mutex_lock(&lock);
    buffer *list = full;
    uint64_t lost = dropped;
    full = NULL;
    full_end = &full;
    dropped = 0;
    pthread_mutex_unlock(&lock);
    while (list) {
        buffer *b = list;
        CUpti_Activity *at = NULL;
        while (b->valid && cupti->next_record(b->bytes, b->valid, &at) == CUPTI_SUCCESS)
            record(user, at);
        list = b->next;
        free(b);
    }
    return lost;
}

void xs_buffers_forget(void) {
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    lock = fresh;
    given = full = NULL;
    full_end = &full;
    dropped = 0;
}
