/* Adders on both sides of a link without atomics (article 000, section 1): a CPU thread and a GPU add to one counter in host memory. The
 * GPU's add is a read, an add and a write there, and what the CPU adds in between is lost, for real. On the host backend both
 * play one such add a burst. Twin: a word for each side. */
#include "fault.h"

enum { BURST = 16, PACE_NS = 1500 };

XS_FN void note(xs_writer *w, xs_slot slot, uint64_t old) { xs_note_gate(w, slot, old, 1, XS_RELEASE, XS_SCOPE_SYS); }
/* Played: both sides have read before either writes, whatever the scheduler does. */
XS_FN void write_back(xs_writer *w, xs_slot slot, uint64_t old) {
    xs_ordered_store(slot.at, old + 1, XS_RELEASE, XS_SCOPE_SYS, 64);
    note(w, slot, old);
}
/* Both sides add at the same time: they meet before each burst. */
XS_FN int meet(xs_writer *w, const struct fault_args *a, uint32_t rank, uint64_t round) {
    int result = XS_RESULT_OK;
    for (uint32_t dst = 0; dst < a->extra.columns; dst++)
        xs_signal_slot(w, &a->extra, dst, 0, rank, round);
    for (uint32_t src = 0; src < a->extra.columns && result == XS_RESULT_OK; src++)
        result = xs_wait_slot_bounded(w, &a->extra, 0, src, round, fault_bound(a));
    return result;
}

XS_KERNEL(mixed_adders, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs), columns = args.fault ? 1 : xs.ranks, each = args.fault ? xs.ranks : 1;
    xs_slot counter = xs_slot_at(&args.count, 1, 0, args.fault ? 0 : rank);
    xs_writer w = xs_writer_begin(&xs, rank == 0 ? args.role_produce : args.role_consume);
    int result = XS_RESULT_OK;
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        uint64_t old = args.emulate ? xs_ordered_load(counter.at, XS_RELAXED, XS_SCOPE_SYS, 64) : 0;
        result = meet(&w, &args, rank, round);
        if (args.emulate && result == XS_RESULT_OK)
            write_back(&w, counter, old);
        for (uint32_t i = args.emulate; i < BURST && result == XS_RESULT_OK; i++) {
            note(&w, counter, xs_ordered_add(counter.at, 1, XS_RELEASE, XS_SCOPE_SYS, 64));
            xs_work_ns(PACE_NS);
        }
        for (uint32_t c = 0; rank == 1 && c < columns && result == XS_RESULT_OK; c++)
            result = xs_wait_slot_bounded(&w, &args.count, 0, c, round * BURST * each, fault_bound(&args));
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
/* A plan that names both as adders is refused where counts would be lost. Where it is not, the fault cannot be made. */
static int link_has_atomics(fault_run *run) {
    xs_pad asked;
    xs_plan_entry both[2] = {{.kind = XS_PLAN_WRITER, .epoch = UINT64_MAX, .a = 0}, {.kind = XS_PLAN_WRITER, .epoch = UINT64_MAX, .a = 1}};
    fault_pad(run, &asked, "asked", 1, 1, XS_PAD_SHARED);
    both[0].pad_first = both[1].pad_first = asked.first;
    return run->error == 0 && xs_plan_add(run->world, both, 2) == 0;
}
static void setup(fault_run *run) {
    uint32_t columns = run->args.fault ? 1 : run->fault->ranks;
    if (run->cuda && run->args.fault && link_has_atomics(run))
        run->error = XS_E_UNSUPPORTED;
    fault_pad(run, &run->args.extra, "meet", 1, run->fault->ranks, 0);
    fault_writer(run, &run->args.extra, XS_PLAN_ANY, 0, XS_PLAN_ANY, XS_PLAN_COLUMN, 0);
    fault_pad(run, &run->args.count, "count", 1, columns, XS_PAD_SHARED | XS_PAD_UNSAFE_COUNTER);
    for (uint32_t c = 0; c < columns; c++)
        fault_plan(run, XS_PLAN_ARRIVALS, &run->args.count, 1, 0, c, BURST * run->fault->ranks / columns, 0);
}
FAULT(mixed_adders, .story = "a GPU and a CPU add to one counter over a link without atomics", .finding = "vanished-signal",
      FAULT_SLOT("count", 1, 0, 0), FAULT_CULPRIT(0, FAULT_ANY), .judges = FAULT_EVERYWHERE, .cuda.cpu_ranks = "0", .setup = setup);
#endif
