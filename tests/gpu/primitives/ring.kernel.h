/* Signals around a ring of ranks, in every form that has one writer and one waiter. */
#include "prims.h"

enum prim_how { PRIM_SLOT, PRIM_SLOT_GPU, PRIM_NARROW, PRIM_RELEASE, PRIM_RELEASE_GPU, PRIM_FLUSH };

XS_FN void prim_signal(enum prim_how how, xs_writer *w, const prim_self *s, const xs_pad *pad, uint32_t dst, uint32_t round) {
    s->kept->signals++;
    if (how == PRIM_SLOT || how == PRIM_FLUSH)
        xs_signal_slot(w, pad, dst, 0, s->rank, round);
    if (how == PRIM_SLOT_GPU)
        xs_signal_slot_gpu(w, pad, dst, 0, s->rank, round);
    if (how == PRIM_NARROW)
        xs_signal_slot_u32(w, pad, dst, 0, s->rank, (uint32_t)PRIM_NARROW_FIRST + round);
    if (how == PRIM_RELEASE)
        xs_pub_release(w, xs_slot_at(pad, dst, 0, s->rank), round);
    if (how == PRIM_RELEASE_GPU)
        xs_pub_release_gpu(w, xs_slot_at(pad, dst, 0, s->rank), round);
    if (how == PRIM_FLUSH && xs_bus_flush(w, xs_slot_at(pad, dst, 0, s->rank)) < round)
        *s->wrong += 1;
}

XS_FN int prim_wait(enum prim_how how, xs_writer *w, const prim_self *s, const xs_pad *pad, uint32_t from, uint32_t round) {
    int result = XS_RESULT_OK;
    s->kept->waits++;
    if (how == PRIM_SLOT || how == PRIM_FLUSH)
        result = xs_wait_slot(w, pad, 0, from, round);
    if (how == PRIM_SLOT_GPU)
        result = xs_wait_slot_gpu(w, pad, 0, from, round);
    if (how == PRIM_NARROW)
        result = xs_wait_slot_u32(w, pad, 0, from, (uint32_t)PRIM_NARROW_FIRST + round);
    if (how == PRIM_RELEASE) {
        result = xs_wait_ge_bounded(w, xs_own_slot(w, pad, 0, from), round, xs_unbounded());
        xs_acq_fence(w);
    }
    if (how == PRIM_RELEASE_GPU) {
        result = xs_wait_ge_bounded_gpu(w, xs_own_slot(w, pad, 0, from), round, xs_unbounded());
        xs_acq_fence_gpu(w);
    }
    return result;
}

XS_FN void prim_ring(enum prim_how how, xs_writer *w, const prim_self *s) {
    const xs_pad *data = how == PRIM_NARROW ? &s->a->narrow : &s->a->data, *ack = how == PRIM_NARROW ? &s->a->nack : &s->a->ack;
    bool leads = xs_thread() == 0;
    for (uint32_t round = 1; round <= s->a->rounds; round++) {
        xs_writer_epoch(w, round);
        if (prim_failed(s, leads && round > 1 ? prim_wait(how, w, s, ack, s->next, round - 1) : XS_RESULT_OK))
            return;
        prim_write(s, s->next, s->rank, round, 0, 1);
        xs_block_join();
        if (leads)
            prim_signal(how, w, s, data, s->next, round);
        if (prim_failed(s, leads ? prim_wait(how, w, s, data, s->before, round) : XS_RESULT_OK))
            return;
        prim_compare(s, s->rank, s->before, round, 0, 1);
        xs_block_join();
        if (leads)
            prim_signal(how, w, s, ack, s->before, round);
    }
}

#define PRIM_RING_KERNEL(name, how)                      \
    XS_KERNEL(name, struct prim_args) {                  \
        xs_writer w = xs_writer_begin(&xs, args.role);   \
        prim_self s = prim_begin(&args, &xs);            \
        prim_ring(how, &w, &s);                          \
        xs_writer_end(&w);                               \
    }

PRIM_RING_KERNEL(prim_slot, PRIM_SLOT)
PRIM_RING_KERNEL(prim_slot_gpu, PRIM_SLOT_GPU)
PRIM_RING_KERNEL(prim_narrow, PRIM_NARROW)
PRIM_RING_KERNEL(prim_release, PRIM_RELEASE)
PRIM_RING_KERNEL(prim_release_gpu, PRIM_RELEASE_GPU)
PRIM_RING_KERNEL(prim_flush, PRIM_FLUSH)
