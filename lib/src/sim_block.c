/* What the fibres of a block share: barriers and memory. */
#include "sim.h"

#include <string.h>

#define SHARED_HEADER 128u /* in front of the memory, which keeps its alignment */

/* Who waits is put back in the order in which they came; the seeded delay decides who is first. */
static void open_barrier(xs_sim_barrier *b, int result) {
    xs_sim_fibre *f = b->waiting;
    b->waiting = NULL;
    b->arrived = 0;
    while (f) {
        xs_sim_fibre *next = f->next;
        xs_sim *sim = f->sim;
        f->next = NULL;
        f->waiting = 0;
        f->barrier_result = result;
        sim->waiting--;
        xs_sim_ready(f, sim_cost(sim_random(&sim->random)));
        f = next;
    }
}

int xs_sim_barrier_join(xs_sim_fibre *f, uint32_t id, uint32_t count) {
    xs_sim *sim = f->sim;
    xs_sim_barrier *b = &f->block->barrier[id % SIM_BARRIERS];
    uint64_t bits = sim_random(&sim->random);
    uint32_t warps = count == 0 ? f->block->warps : count / 32 + (count % 32 != 0);
    if (__atomic_load_n(sim->world->abort_word, __ATOMIC_RELAXED))
        return XS_RESULT_ABORTED;
    xs_sim_watch_progress(sim);
    xs_sim_release(f, XS_SCOPE_CTA);
    if (b->arrived++ == 0)
        b->expected = warps;
    if (b->arrived >= b->expected) {
        open_barrier(b, 0);
        xs_sim_point(f, sim_cost(bits), bits);
        xs_sim_acquire(f, XS_SCOPE_CTA);
        return 0;
    }
    xs_sim_fibre **last = &b->waiting;
    while (*last)
        last = &(*last)->next;
    *last = f;
    f->next = NULL;
    f->waiting = 1;
    sim->waiting++;
    xs_sim_block_fibre(f);
    xs_sim_acquire(f, XS_SCOPE_CTA);
    return f->barrier_result;
}

void xs_sim_barriers_abort(xs_sim_block *block) {
    for (uint32_t i = 0; i < SIM_BARRIERS; i++)
        open_barrier(&block->barrier[i], XS_RESULT_ABORTED);
}

/* Out of memory inside a kernel: there is no answer that a kernel would check, so the fibre ends here and the world
 * is over. */
static void *zeroed(xs_sim_fibre *f, size_t bytes) {
    void *memory = NULL;
    bytes = bytes ? bytes : 1;
    if (posix_memalign(&memory, 128, bytes) != 0) {
        xs_sim_abort(f->sim, XS_E_MEMORY);
        xs_sim_leave(f);
    }
    return memset(memory, 0, bytes);
}

void *xs_sim_shared_get(xs_sim_fibre *f, const void *key, size_t bytes) {
    xs_sim_shared **link = &f->block->shared;
    for (; *link; link = &(*link)->next)
        if ((*link)->key == key)
            return (char *)*link + SHARED_HEADER;
    xs_sim_shared *shared = zeroed(f, SHARED_HEADER + bytes);
    shared->key = key;
    *link = shared;
    return (char *)shared + SHARED_HEADER;
}

void *xs_sim_shared_dynamic(xs_sim_fibre *f) {
    xs_sim_block *block = f->block;
    if (!block->dynamic)
        block->dynamic = zeroed(f, block->part->order->order->config.shared_bytes);
    return block->dynamic;
}

void xs_sim_shared_free(xs_sim_block *block) {
    for (xs_sim_shared *s = block->shared, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    free(block->dynamic);
}
