/* Launches under way. A part is ended once, by its stream or by a fault that the stream will not tell of; the
 * structure stays until the stream has let go of it. */
#include <stdlib.h>

#include "cuda_state.h"

/* world->lock held, as in all but xs_cuda_part_ended. */
xs_cuda_part *xs_cuda_part_make(xs_cuda_state *state, xs_launch_order *order, uint32_t device, uint32_t first,
                                uint32_t ranks) {
    xs_cuda_part *part = calloc(1, sizeof *part);
    if (!part) return NULL;
    part->order = order;
    part->device = device;
    part->first = first;
    part->ranks = ranks;
    pthread_mutex_lock(&state->parts_lock);
    part->next = state->parts;
    state->parts = part;
    pthread_mutex_unlock(&state->parts_lock);
    return part;
}

int xs_cuda_part_claim(xs_cuda_part *part) { return (int)__atomic_exchange_n(&part->claimed, 1, __ATOMIC_ACQ_REL); }

/* On a thread of the driver: no call into it. */
void xs_cuda_part_ended(void *user) {
    xs_cuda_part *part = user;
    if (!xs_cuda_part_claim(part)) xs_launch_ended(part->order);
    __atomic_store_n(&part->over, 1, __ATOMIC_RELEASE);
}

void xs_cuda_parts_reap(xs_cuda_state *state) {
    pthread_mutex_lock(&state->parts_lock);
    for (xs_cuda_part **link = &state->parts; *link;) {
        xs_cuda_part *part = *link;
        if (!__atomic_load_n(&part->over, __ATOMIC_ACQUIRE)) {
            link = &part->next;
            continue;
        }
        *link = part->next;
        free(part);
    }
    pthread_mutex_unlock(&state->parts_lock);
}

void xs_cuda_parts_free(xs_cuda_state *state) {
    for (xs_cuda_part *part = state->parts, *next; part; part = next) {
        next = part->next;
        free(part);
    }
    state->parts = NULL;
}

static int runs(const xs_cuda_part *p, uint32_t device) {
    return p->device == device && !__atomic_load_n(&p->claimed, __ATOMIC_ACQUIRE);
}

uint32_t xs_cuda_parts_streams(const xs_cuda_state *state, uint32_t device, uint32_t first) {
    uint32_t streams = 1;
    for (const xs_cuda_part *p = state->parts; p; p = p->next) {
        int fresh = runs(p, device) && p->first != first;
        for (const xs_cuda_part *q = p->next; q && fresh; q = q->next) fresh = !runs(q, device) || q->first != p->first;
        streams += (uint32_t)fresh;
    }
    return streams;
}
