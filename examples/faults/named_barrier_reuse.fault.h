/* Named barrier reused by a changed role (article 000, section 6.4): eight warps meet at barrier 1 while the ninth, which has changed
 * its role, already meets the whole block there. That is undefined, so it is only noted: the warps really meet at barriers
 * 3 and 4. Twin: barrier 2 for the whole block. */
#include "fault.h"

enum { GROUP = 8, WARPS = 9 };

XS_FN void meet(xs_writer *w, uint32_t noted, uint32_t real, uint32_t warps) {
    if (xs_lane() == 0)
        xs_note_block_enter(w, noted, warps * XS_WARP);
    xs_warp_join(); /* a warp comes to a barrier whole: its other lanes may have run on */
    xs_block_barrier(real, warps * XS_WARP);
    if (xs_lane() == 0)
        xs_note_block_leave(w, noted, warps * XS_WARP);
    xs_warp_join();
}

XS_KERNEL(named_barrier_reuse, struct fault_args) {
    xs_writer w = xs_writer_begin(&xs, xs_warp() < GROUP ? args.role_consume : args.role_produce);
    for (uint64_t round = 1; round <= args.rounds; round++) {
        xs_writer_epoch(&w, round);
        if (xs_warp() < GROUP) {
            xs_work_ns(fault_work_ns(&args, xs_warp() + 1, round));
            meet(&w, 1, 3, GROUP);
        }
        if (round == args.rounds / 2 && xs_lane() == 0)
            xs_writer_role(&w, args.role_produce);
        meet(&w, args.fault && round >= args.rounds / 2 ? 1 : 2, 4, WARPS);
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
FAULT(named_barrier_reuse, .story = "a named barrier has two uses at once, with different counts", .finding = "named-barrier-clash",
      FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .ranks = 1, .block_threads = WARPS * 32);
#endif
