/* Sums by class of waits: (pad, waiting rank, supplying rank). For detectors of time. */
#ifndef XS_ANALYSIS_CLASS_H
#define XS_ANALYSIS_CLASS_H

#include "analysis.h"

typedef struct an_classes { rd_map of; uint32_t count; uint32_t (*keys)[3]; uint32_t room; } an_classes;

/* Index of the class of (x, y, z); XSR_NONE: out of memory. */
static inline uint32_t an_class(an_classes *c, uint32_t x, uint32_t y, uint32_t z) {
    uint64_t key = an_key(0, x, y, z);
    uint32_t at = rd_map_get(&c->of, key);
    if (at != XSR_NONE)
        return at;
    at = c->count;
    if (RD_ROOM(c->keys, c->room, at + 1) < 0 || rd_map_put(&c->of, key, at) < 0)
        return XSR_NONE;
    c->keys[at][0] = x, c->keys[at][1] = y, c->keys[at][2] = z;
    c->count++;
    return at;
}
static inline void an_classes_free(an_classes *c) {
    rd_map_free(&c->of);
    free(c->keys);
}
/* How far the stamps of two ranks may be apart. */
static inline int64_t an_clock_bound(const an *a, uint32_t x, uint32_t y) {
    int64_t bound = 0;
    if (x == XSR_NONE || y == XSR_NONE || a->ranks[x].device_key == a->ranks[y].device_key)
        return 0;
    const uint32_t both[2] = {x, y};
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t c = 0; c < a->model->clock_count; c++) {
            const xsr_clock *k = &a->model->clocks[c];
            if (k->process == a->model->ranks[both[i]].process && k->device == a->model->ranks[both[i]].device)
                bound += k->bound_ns < 0 ? 1000000 : k->bound_ns;
        }
    return bound;
}

#endif
