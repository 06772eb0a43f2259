/* Control word on the data's cache line (article 001, section 3.1; article 004, section 2.3): the sequence lies behind the last word of the
 * batch, on the line that the producer writes and the consumer polls. Twin: in the same memory, on a line of its own. */
#include "fault.h"

enum { LINE = 128 };

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = xs_wait_slot_bounded(w, &a->ack, 0, 0, round - 1, fault_bound(a));
    if (result != XS_RESULT_OK)
        return result;
    fault_work(w, a, round);
    fault_put(w, a, 1, 0, round);
    xs_signal_slot(w, &a->extra, 1, 0, 0, round);
    return result;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = xs_wait_slot_bounded(w, &a->extra, 0, 0, round, fault_bound(a));
    if (result != XS_RESULT_OK)
        return result;
    fault_take(w, a, 0, 0, round);
    xs_signal_slot(w, &a->ack, 0, 0, 0, round);
    return result;
}

XS_KERNEL(false_sharing, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
/* The batch's payload has the name of the buffer that it lies in, so that the trace knows where it is. */
static void setup(fault_run *run) {
    struct fault_args *a = &run->args;
    uint64_t end = a->words * 4ull, line = (end + LINE - 1) / LINE * LINE;
    fault_pair(run);
    if (run->error == 0)
        run->error = xs_buffer_create(run->world, "batch", line + LINE, &a->data);
    fault_adopt(run, &a->extra, "control", &a->data, a->fault ? end : line, 64, 1);
    fault_writer(run, &a->extra, 1, 0, 0, 0, a->role_produce);
}
FAULT(false_sharing, .story = "the control word lies on a cache line of the data", .finding = "poll-pressure",
      FAULT_SLOT("control", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_TIMED, .rounds = 24, .words = 62, .cuda.cpu_ranks = "0",
      .setup = setup);
#endif
