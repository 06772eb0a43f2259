/* Barrier in a branch (flashinfer #2996, #3630): two of four warps reach a barrier of the whole block; the others are gone. Only noted,
 * since it would never end: the two warps note that they enter and stay. Twin: all four meet. */
#include "fault.h"

enum { WARPS = 4 };

XS_KERNEL(branch_sync, struct fault_args) {
    xs_writer w = xs_writer_begin(&xs, args.role_consume);
    for (uint64_t round = 1; round <= args.rounds; round++) {
        int last = args.fault && round == args.rounds;
        xs_writer_epoch(&w, round);
        xs_work_ns(fault_work_ns(&args, xs_warp(), round));
        if (last && xs_warp() >= WARPS / 2)
            break;
        if (xs_lane() == 0)
            xs_note_block_enter(&w, 1, WARPS * XS_WARP);
        xs_warp_join();
        if (last) {
            xs_work_ns(args.bound_ns);
            break;
        }
        xs_block_barrier(1, WARPS * XS_WARP);
        if (xs_lane() == 0)
            xs_note_block_leave(&w, 1, WARPS * XS_WARP);
        xs_warp_join();
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
FAULT(branch_sync, .story = "half of the block never reaches a barrier of the whole block", .finding = "named-barrier-clash",
      FAULT_CULPRIT(0, 0), .judges = FAULT_EVERYWHERE, .ranks = 1, .block_threads = WARPS * 32);
#endif
