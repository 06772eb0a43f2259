/* All ranks exchange batches, each block with its like on every other rank: what the crowd_ faults do one thing wrong in, amid healthy
 * traffic. Slot done[dst][src][block]. */
#ifndef CROWD_H
#define CROWD_H

#include "fault.h"

enum crowd_fault { CROWD_SKIP, CROWD_NARROW, CROWD_EARLY, CROWD_CIRCLE, CROWD_SECOND, CROWD_BACK };
#define CROWD_RANKS 8
#define CROWD_BLOCKS 3
#define CROWD_ROUND 7u /* in which it happens */

XS_INLINE uint32_t crowd_batch(uint32_t src, uint32_t block, uint64_t round) {
    return ((uint32_t)round - 1) * CROWD_RANKS * CROWD_BLOCKS + src * CROWD_BLOCKS + block;
}
XS_FN void crowd_send(xs_writer *w, const struct fault_args *a, uint32_t wrong, uint32_t self, uint32_t block, uint32_t dst, uint64_t round) {
    uint32_t batch = crowd_batch(self, block, round);
    if (wrong == CROWD_SKIP && self == 5 && block == 1 && dst == 2 && round == a->rounds)
        return;
    if (wrong == CROWD_EARLY && self == 6 && block == 0 && dst == 1) {
        xs_signal_slot(w, &a->ready, dst, self, block, round);
        fault_put(w, a, dst, batch, round);
        return;
    }
    fault_put(w, a, dst, batch, round);
    if (wrong == CROWD_NARROW && self == 3 && block == 2)
        xs_signal_slot_gpu(w, &a->ready, dst, self, block, round);
    else
        xs_signal_slot(w, &a->ready, dst, self, block, wrong == CROWD_BACK && self == 2 && block == 1 && dst == 7 && round > CROWD_ROUND ? round - 4 : round);
    if (wrong == CROWD_SECOND && self == 0 && block == 0 && dst == 4 && round == CROWD_ROUND)
        xs_signal_slot(w, &a->ready, dst, 1, 1, round);
}
XS_FN int crowd_receive(xs_writer *w, const struct fault_args *a, uint32_t block, uint32_t src, uint64_t round) {
    int result = xs_wait_slot_bounded(w, &a->ready, src, block, round, fault_bound(a));
    if (result == XS_RESULT_OK)
        fault_take(w, a, src, crowd_batch(src, block, round), round);
    return result;
}
XS_FN int crowd_round(xs_writer *w, const struct fault_args *a, uint32_t wrong, uint32_t self, uint32_t block, uint64_t round) {
    int result = XS_RESULT_OK;
    uint32_t next = self == 2 ? 4 : self == 4 ? 7 : self == 7 ? 2 : CROWD_RANKS;
    if (wrong == CROWD_CIRCLE && block == 1 && next < CROWD_RANKS && round == CROWD_ROUND)
        result = crowd_receive(w, a, block, next, round);
    fault_work(w, a, round * 16 + block);
    for (uint32_t i = 1; i < CROWD_RANKS && result == XS_RESULT_OK; i++)
        crowd_send(w, a, wrong, self, block, (self + i) % CROWD_RANKS, round);
    for (uint32_t i = 1; i < CROWD_RANKS && result == XS_RESULT_OK; i++)
        result = crowd_receive(w, a, block, (self + i) % CROWD_RANKS, round);
    return result;
}

#define CROWD(name, what)                                                                                 \
    XS_KERNEL(name, struct fault_args) {                                                                  \
        FAULT_ONE_LANE();                                                                                 \
        uint32_t rank = xs_rank(xs), block = xs_block(xs), wrong = args.fault ? what : UINT32_MAX;        \
        xs_writer w = xs_writer_begin(&xs, args.role_produce);                                            \
        int result = XS_RESULT_OK;                                                                        \
        fault_meet(&w, &args);                                                                            \
        for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {               \
            xs_writer_epoch(&w, round);                                                                   \
            result = crowd_round(&w, &args, wrong, rank, block, round);                                   \
        }                                                                                                 \
        xs_writer_end(&w);                                                                                \
    }

#if FAULT_HOST
static void crowd_setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "done", CROWD_RANKS, CROWD_BLOCKS, 0);
    fault_buffers(run, run->args.rounds * CROWD_RANKS * CROWD_BLOCKS);
    fault_writer(run, &run->args.ready, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ROW, run->args.role_produce);
}
#define CROWD_FAULT .judges = FAULT_SIM, .ranks = CROWD_RANKS, .grid = CROWD_BLOCKS, .words = 8, .setup = crowd_setup
#endif
#endif
