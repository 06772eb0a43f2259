/* A pair on 32-bit flags of its own that compares sequences by `reached`, which the fault's file has defined. */
#ifndef FAULT_SEQUENCE_H
#define FAULT_SEQUENCE_H

#include "fault.h"

XS_FN int wait_32(xs_writer *w, xs_slot slot, uint32_t need, uint64_t bound_ns) {
    uint64_t start = xs_now();
    uint32_t seen = (uint32_t)xs_ordered_load(slot.at, XS_ACQUIRE, XS_SCOPE_SYS, 32);
    if (reached(seen, need)) {
        xs_note_pass(w, slot, seen, need, XS_ACQUIRE, XS_SCOPE_SYS);
        return XS_RESULT_OK;
    }
    xs_wait_note n = xs_note_wait_begin(w, slot, need, seen, XS_ACQUIRE, XS_SCOPE_SYS, XS_CMP_GE);
    while (!reached(seen, need) && xs_now() - start < bound_ns) {
        n.last_fail = xs_now_low();
        n.polls++;
        xs_nanosleep(1000);
        seen = (uint32_t)xs_ordered_load(slot.at, XS_ACQUIRE, XS_SCOPE_SYS, 32);
    }
    int result = reached(seen, need) ? XS_RESULT_OK : XS_RESULT_TIMEOUT;
    xs_note_wait_end(w, &n, seen, (uint32_t)result);
    return result;
}
XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = round == 1 ? XS_RESULT_OK : wait_32(w, xs_slot_at(&a->extra, 0, 0, 1), (uint32_t)(a->base + round - 1), a->bound_ns);
    fault_work(w, a, round);
    fault_put(w, a, 1, (uint32_t)round - 1, round);
    xs_signal_slot_u32(w, &a->extra, 1, 0, 0, (uint32_t)(a->base + round));
    return result;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = wait_32(w, xs_slot_at(&a->extra, 1, 0, 0), (uint32_t)(a->base + round), a->bound_ns);
    fault_take(w, a, 0, (uint32_t)round - 1, round);
    xs_signal_slot_u32(w, &a->extra, 0, 0, 1, (uint32_t)(a->base + round));
    return result;
}

#if FAULT_HOST
/* `base`: the sequence before the first one. */
static void sequence_setup(fault_run *run, uint64_t base) {
    run->args.base = base;
    fault_buffers(run, run->args.rounds);
    fault_adopt_32(run, &run->args.extra, "flags", 2, base);
    fault_writer(run, &run->args.extra, 1, 0, 0, 0, run->args.role_produce);
    fault_writer(run, &run->args.extra, 0, 0, 1, 1, run->args.role_consume);
}
#endif

#endif
