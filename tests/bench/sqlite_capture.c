#include "sqlite_capture.h"

#include <capture_build.h>

#define RANKS 4u
#define CHUNKS 16u
#define FLUSH_EVERY 4096u

typedef struct made {
    cb *c;
    uint32_t done, count;
    uint64_t time;
    uint32_t old[RANKS][CHUNKS]; /* of each counter */
} made;

/* Rank r pushes chunk k of round n to rank d, which waits for it. Rings: r * 64 pushes, r * 64 + 1 consumes. */
static void hand_over(made *m, uint32_t i) {
    uint32_t r = i % RANKS, d = (i / RANKS + 1 + r) % RANKS, k = i / RANKS % CHUNKS;
    uint64_t value = i / (RANKS * CHUNKS) + 1, t = m->time += 700;
    uint32_t slot = cb_slot(m->c, m->done, d, r, k);
    if (i % 2)
        cb_wait_start(m->c, d * 64 + 1, t, slot, value, value - 1);
    cb_arrive_full(m->c, r * 64, t + 200, cb_slot(m->c, m->count, r, 0, k), m->old[r][k], 1, 1, m->old[r][k] + 1);
    m->old[r][k]++;
    cb_signal(m->c, r * 64, t + 250 + i * 7919ull % 300, slot, value);
    if (i % 2)
        cb_wait_end(m->c, d * 64 + 1, t + 600 + i * 104729ull % 90, slot, value, 0, 5);
    else
        cb_pass(m->c, d * 64 + 1, t + 620, slot, value, value);
}

int sqlite_capture(const char *path, uint32_t chunks) {
    made m = {.c = cb_begin(path), .time = 100000};
    if (!m.c)
        return XS_E_MEMORY;
    cb_process(m.c, 0, RANKS, RANKS);
    uint32_t push = cb_role(m.c, "push"), consume = cb_role(m.c, "consume");
    m.done = cb_pad(m.c, "done", "src", "chunk", RANKS, CHUNKS, 0);
    m.count = cb_pad(m.c, "count", "", "chunk", 1, CHUNKS, 0);
    cb_plan_writer(m.c, m.done, XS_PLAN_ROW);
    for (uint32_t r = 0; r < RANKS; r++) {
        cb_writer_begin_at(m.c, r * 64, 1000 + r, push, 0, 1, r, 0, 0, 1);
        cb_writer_begin_at(m.c, r * 64 + 1, 1000 + r, consume, 1, 1, r, 0, 0, 1);
    }
    for (uint32_t i = 0; i < chunks; i++) {
        hand_over(&m, i);
        if (i % FLUSH_EVERY == FLUSH_EVERY - 1)
            cb_flush(m.c);
    }
    return cb_end(m.c);
}
