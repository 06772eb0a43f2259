/* A bad address: in the middle of a round rank 0 stores through a pointer that leads nowhere. That warp stops there; others run on, and the
 * driver tells of it a second or so later: the wait for it has given up by then. On the host: the abort that the driver's error
 * would bring, and a writer that never ends. Twin: the right pointer. */
#include "fault.h"

/* Nobody has memory there, and the compiler does not know. Low, where no driver reserves addresses: at 1 TiB a store may well succeed. */
XS_FN void store_nowhere(xs_writer *w, const struct fault_args *a) {
#if XS_CUDA
    *(volatile uint32_t *)(uintptr_t)a->base = 1;
    (void)w;
#else
    uint32_t *word = (uint32_t *)(uintptr_t)w->xs->abort;
    (void)a;
    xs_store_release_sys_u32(word, (uint32_t)-XS_E_SYSTEM); /* as the host does when the driver tells of it */
#endif
}
XS_FN int produce(xs_writer *w, const struct fault_args *a, uint64_t round) {
    fault_work(w, a, round);
    fault_put_begin(w, a, 1, (uint32_t)round - 1, round);
    if (a->fault && round == a->rounds / 2) {
        store_nowhere(w, a);
        return XS_RESULT_ABORTED;
    }
    fault_store(a, 1, (uint32_t)round - 1, round, 0, a->words);
    xs_payload_end(w, a->name_batch, (uint32_t)round - 1);
    xs_signal_slot(w, &a->ready, 1, 0, 0, round);
    return XS_RESULT_OK;
}

XS_KERNEL(bad_address, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    xs_writer w = xs_writer_begin(&xs, rank == 0 ? args.role_produce : args.role_consume);
    int result = XS_RESULT_OK;
    fault_meet(&w, &args);
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        result = rank == 0 ? produce(&w, &args, round) : fault_consume(&w, &args, round);
        if (rank == 0 && result != XS_RESULT_OK)
            return;
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pair(run);
    run->args.base = 64;
}
FAULT(bad_address, .story = "a store to an address that leads nowhere ends the kernel", .finding = "dead-peer",
      FAULT_SLOT("ready", 1, 0, 0), FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .cuda.spoils = 1, .setup = setup);
#endif
