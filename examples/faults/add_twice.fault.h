/* Put and add: every rank puts a batch to every other and adds one to its word, which is waited for by the sum. Rank 2 adds twice to rank 3's,
 * once: from then on rank 3 goes on without the last to come. */
#include "fault.h"

#define PUTS 4u

XS_FN void put_and_add(xs_writer *w, const struct fault_args *a, uint32_t self, uint32_t dst, uint64_t round) {
    xs_slot sum = xs_slot_at(&a->ready, dst, 0, 0);
    fault_put(w, a, dst, ((uint32_t)round - 1) * PUTS + self, round);
    for (uint32_t i = 0; i < (a->fault && self == 2 && dst == 3 && round == 7 ? 2u : 1u); i++)
        xs_note_gate(w, sum, xs_ordered_add(sum.at, 1, XS_RELEASE, XS_SCOPE_SYS, 64), 1, XS_RELEASE, XS_SCOPE_SYS);
}
XS_FN int round_of(xs_writer *w, const struct fault_args *a, uint32_t self, uint64_t round) {
    fault_work(w, a, round);
    for (uint32_t i = 1; i < PUTS; i++)
        put_and_add(w, a, self, (self + i) % PUTS, round);
    int result = xs_wait_slot_bounded(w, &a->ready, 0, 0, round * (PUTS - 1), fault_bound(a));
    for (uint32_t i = 1; i < PUTS && result == XS_RESULT_OK; i++)
        fault_take(w, a, (self + i) % PUTS, ((uint32_t)round - 1) * PUTS + (self + i) % PUTS, round);
    return result;
}

XS_KERNEL(add_twice, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    FAULT_ROUNDS(round_of(&w, &args, rank, round));
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "sum", 1, 1, XS_PAD_SHARED);
    fault_buffers(run, run->args.rounds * PUTS);
}
FAULT(add_twice, .story = "of several who put and add, one adds twice", .finding = "count-mismatch", FAULT_SLOT("sum", 3, 0, 0), FAULT_CULPRIT(2, 0),
      .judges = FAULT_SIM, .race = FAULT_RACE, .ranks = PUTS, .words = 8, .setup = setup);
#endif
