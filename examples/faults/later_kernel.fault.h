/* Four kernels one after the other on the same pads, whose sequences count on. The last one leaves out its last signal. */
#include "fault.h"

#define KERNELS 4u

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    uint64_t sequence = a->base + round;
    fault_work(w, a, round);
    fault_put(w, a, 1, (uint32_t)sequence - 1, sequence);
    if (!(a->fault && sequence == (uint64_t)KERNELS * a->rounds))
        xs_signal_slot(w, &a->ready, 1, 0, 0, sequence);
    return XS_RESULT_OK;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    uint64_t sequence = a->base + round;
    int result = xs_wait_slot_bounded(w, &a->ready, 0, 0, sequence, fault_bound(a));
    if (result == XS_RESULT_OK)
        fault_take(w, a, 0, (uint32_t)sequence - 1, sequence);
    return result;
}

XS_KERNEL(later_kernel, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
static void setup(fault_run *run) {
    struct fault_args *a = &run->args;
    fault_pad(run, &a->ready, "ready", 1, 1, 0);
    fault_buffers(run, KERNELS * a->rounds);
    fault_writer(run, &a->ready, 1, 0, 0, 0, a->role_produce);
}
static void launch(fault_run *run) {
    for (uint32_t i = 0; i < KERNELS; i++) {
        run->args.stream = i;
        run->args.base = (uint64_t)i * run->args.rounds;
        fault_launch(run, 0, 0, 0);
    }
}
FAULT(later_kernel, .story = "the last of four kernels on the same pads leaves out its last signal", .finding = "lost-supplier",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_SIM, .setup = setup, .launch = launch);
#endif
