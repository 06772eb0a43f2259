/* Gates (article 000, section 5): a counter inside the rank that opens at a target. The article resets it, seeds it
 * with the padding and waits for equality by relaxed polls, which an overshoot never releases and which acquire
 * nothing; here it is cumulative, waited for by >= and acquire. Padding that nobody writes is seeded by the host
 * (xs_slot_write) or counted into the target. gpu scope: both sides are on one device. Caller: a thread. Pads:
 * XS_PAD_SHARED. */
#ifndef XS_GATE_H
#define XS_GATE_H

#include <xs/slot.h>

/* red.release.gpu.add of n to the own copy; traced, atom. */
XS_FN void xs_gate_arrive(xs_writer *w, const xs_pad *pad, uint32_t row, uint32_t column, uint32_t n) {
    xs_core_gate(w, xs_own_slot(w, pad, row, column), n, XS_RELEASE, XS_SCOPE_GPU);
}

/* ld.acquire.gpu of the own copy until it is at least target. Returns xs_result. */
#define xs_gate_wait(w, pad, row, column, target) xs_gate_wait_bounded(w, pad, row, column, target, xs_unbounded())
#define xs_gate_wait_bounded(w, pad, row, column, target, bound) \
    xs_core_wait(w, xs_own_slot(w, pad, row, column), target, XS_CMP_GE, XS_ACQUIRE, XS_SCOPE_GPU, bound)

#endif
