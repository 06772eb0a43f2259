/* Who is ready when: a binary heap by (ready, serial). Room is made when fibres start, so that pushing cannot fail. */
#ifndef XS_SIM_HEAP_H
#define XS_SIM_HEAP_H

#include <stdint.h>
#include <stdlib.h>
#include <xs/errors.h>

struct xs_sim_fibre;

typedef struct sim_heap_entry {
    uint64_t ready;
    uint64_t serial; /* breaks ties the same way in every run */
    struct xs_sim_fibre *fibre;
} sim_heap_entry;

typedef struct sim_heap {
    sim_heap_entry *at;
    uint32_t count, room;
} sim_heap;

static inline int sim_heap_reserve(sim_heap *h, uint32_t room) {
    if (room <= h->room)
        return 0;
    uint32_t wanted = room < 64 ? 64 : room + room / 2;
    sim_heap_entry *at = realloc(h->at, wanted * sizeof *at);
    if (!at)
        return XS_E_MEMORY;
    h->at = at;
    h->room = wanted;
    return 0;
}

static inline int sim_heap_before(const sim_heap_entry *a, const sim_heap_entry *b) {
    return a->ready < b->ready || (a->ready == b->ready && a->serial < b->serial);
}

static inline void sim_heap_up(sim_heap *h, uint32_t i, sim_heap_entry e) {
    while (i > 0) {
        uint32_t parent = (i - 1) / 2;
        if (!sim_heap_before(&e, &h->at[parent]))
            break;
        h->at[i] = h->at[parent];
        i = parent;
    }
    h->at[i] = e;
}

static inline void sim_heap_down(sim_heap *h, uint32_t i, sim_heap_entry e) {
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= h->count)
            break;
        if (child + 1 < h->count && sim_heap_before(&h->at[child + 1], &h->at[child]))
            child++;
        if (!sim_heap_before(&h->at[child], &e))
            break;
        h->at[i] = h->at[child];
        i = child;
    }
    h->at[i] = e;
}

static inline void sim_heap_push(sim_heap *h, sim_heap_entry e) { sim_heap_up(h, h->count++, e); }

static inline struct xs_sim_fibre *sim_heap_take(sim_heap *h, uint32_t i) {
    struct xs_sim_fibre *taken = h->at[i].fibre;
    sim_heap_entry last = h->at[--h->count];
    if (i < h->count) {
        if (i > 0 && sim_heap_before(&last, &h->at[(i - 1) / 2]))
            sim_heap_up(h, i, last);
        else
            sim_heap_down(h, i, last);
    }
    return taken;
}

/* Takes the earliest and puts e in: one walk instead of two. */
static inline struct xs_sim_fibre *sim_heap_swap(sim_heap *h, sim_heap_entry e) {
    struct xs_sim_fibre *taken = h->at[0].fibre;
    sim_heap_down(h, 0, e);
    return taken;
}

#endif
