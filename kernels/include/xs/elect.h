/* elect and elect_and_publish (article 000, section 3): many arrive at a counter of their own rank, the last one
 * signals. The article zeroes the counter each round and compares with this round's count; here the counter only
 * rises and target is cumulative, so that nothing races with a reset. Its extra __threadfence_system before a system
 * release is left out: the release is cumulative over what the elected thread acquired. Counters: a pad with
 * XS_PAD_SHARED. */
#ifndef XS_ELECT_H
#define XS_ELECT_H

#include <xs/slot.h>

/* atom.acq_rel.gpu.add of weight to the own copy. target: the counter's value when this epoch's `expected` arrivals
 * are complete (target - expected is its value when the epoch began). Returns 1 to the one whose arrival completes
 * it: it has acquired what all arrivals before it released. Caller: a thread. */
XS_FN int xs_elect(xs_writer *w, const xs_pad *counters, uint32_t row, uint32_t column, uint32_t weight,
                   uint64_t target, uint32_t expected) {
    uint64_t base = target - expected;
    return xs_core_add(w, xs_own_slot(w, counters, row, column), weight, base, expected, XS_ACQ_REL, XS_SCOPE_GPU) +
               weight ==
           target;
}

/* Every active lane of the warp is one arrival: one atomic, one record. 1 on one lane at most: the lowest active
 * one, which should be the writer. Caller: the active lanes together. */
XS_FN int xs_elect_warp(xs_writer *w, const xs_pad *counters, uint32_t row, uint32_t column, uint64_t target,
                        uint32_t expected) {
    uint32_t active = xs_warp_active();
    xs_warp_join_active(active); /* orders what the other lanes wrote before the lowest one's release */
    return xs_warp_leads(active) && xs_elect(w, counters, row, column, xs_warp_count(active), target, expected);
}

/* The elected one signals dst's copy (st.release.sys). Returns 1 if this call published. Where nothing is expected
 * nobody arrives and nobody publishes: 0; the plan's publisher (xs_publish_without_arrivals) or a skipped wait
 * (xs_wait_expected) stands in. Caller: a thread. */
XS_FN int xs_elect_and_publish(xs_writer *w, const xs_pad *counters, uint32_t crow, uint32_t ccolumn, uint32_t weight,
                               uint64_t target, uint32_t expected, const xs_pad *pad, uint32_t dst, uint32_t row,
                               uint32_t column, uint64_t seq) {
    if (expected == 0 || !xs_elect(w, counters, crow, ccolumn, weight, target, expected))
        return 0;
    xs_signal_slot(w, pad, dst, row, column, seq);
    return 1;
}

/* By the rank that the plan names (XS_PLAN_NO_ARRIVALS) in an epoch in which nothing is expected. */
XS_FN void xs_publish_without_arrivals(xs_writer *w, const xs_pad *pad, uint32_t dst, uint32_t row, uint32_t column,
                                       uint64_t seq) {
    xs_signal_slot(w, pad, dst, row, column, seq);
}

/* xs_wait_slot, left out and noted where nothing is expected: nobody owes that signal. */
XS_FN int xs_wait_expected_line(xs_writer *w, const xs_pad *pad, uint32_t row, uint32_t column, uint64_t seq,
                                uint32_t expected, uint64_t source) {
    xs_slot slot = xs_own_slot(w, pad, row, column);
#if XS_SAVE_REGISTERS /* in this order: what notes that it is left out stands behind the wait, and adds nothing to what is alive there */
    if (expected)
        return xs_core_wait_bits(w, slot, seq, XS_CMP_GE, XS_ACQUIRE, XS_SCOPE_SYS, xs_unbounded(), 64, source);
    xs_note_skip(w, slot, seq);
    return XS_RESULT_OK;
#else
    if (expected == 0) {
        xs_note_skip(w, slot, seq);
        return XS_RESULT_OK;
    }
    return xs_core_wait_bits(w, slot, seq, XS_CMP_GE, XS_ACQUIRE, XS_SCOPE_SYS, xs_unbounded(), 64, source);
#endif
}
#define xs_wait_expected(w, pad, row, column, seq, expected) \
    xs_wait_expected_line(w, pad, row, column, seq, expected, XS_HERE)

#endif
