/* Readiness collapse (D25): the producer finishes its chunks one by one but signals them all at the end, so that the consumer's work stands
 * behind the whole transfer. Twin: each chunk when it is finished. */
#include "fault.h"

enum { CHUNKS = 16 };

XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    for (uint32_t i = 0; i < CHUNKS; i++) {
        xs_work_ns(fault_work_ns(a, 0, round * CHUNKS + i));
        if (!a->fault)
            xs_watermark_advance(w, &a->ready, 1, i, round, 64);
    }
    for (uint32_t i = 0; a->fault && i < CHUNKS; i++)
        xs_watermark_advance(w, &a->ready, 1, i, round, 64);
    return XS_RESULT_OK;
}
XS_FN int consume(xs_writer *w, const struct fault_args *a, uint64_t round) {
    int result = XS_RESULT_OK;
    for (uint32_t i = 0; i < CHUNKS && result == XS_RESULT_OK; i++) {
        result = xs_watermark_wait_bounded(w, &a->ready, 0, i, round, fault_bound(a));
        xs_work_ns(fault_work_ns(a, 1, round * CHUNKS + i) / 2);
    }
    return result;
}

XS_KERNEL(late_burst, struct fault_args) { FAULT_PAIR(produce, consume); }

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "done", 2, CHUNKS, 0);
    fault_writer(run, &run->args.ready, 1, 0, XS_PLAN_ANY, 0, run->args.role_produce);
}
FAULT(late_burst, .story = "all chunks are signalled at the end of the round, at once", .finding = "readiness-collapse",
      FAULT_SLOT("done", 1, 0, FAULT_ANY), FAULT_CULPRIT(0, 0), .judges = FAULT_TIMED, .rounds = 4, .setup = setup);
#endif
