/* Kernels of ranks.c. */
#ifndef RANKS_KERNEL_H
#define RANKS_KERNEL_H

#include <xs/kernel.h>

struct ranks_args {
    xs_pad pad;
    uint32_t role;
    uint32_t count;
};

/* Holds its place until the world aborts, or rank 1 has signalled. */
XS_KERNEL(ranks_hold, struct ranks_args) {
    if (xs_thread() != 0)
        return;
    xs_writer w = xs_writer_begin(&xs, args.role);
    xs_wait_slot(&w, &args.pad, 0, 0, 1);
    xs_writer_end(&w);
}

XS_KERNEL(ranks_release, struct ranks_args) {
    if (xs_thread() != 0)
        return;
    xs_writer w = xs_writer_begin(&xs, args.role);
    xs_signal_slot(&w, &args.pad, 0, 0, 0, 1);
    xs_writer_end(&w);
}

/* Adds to one word of rank 0's copy, whoever adds: sys scope, and still lost where the link has no atomics. Both sides begin
 * together. */
XS_KERNEL(ranks_add, struct ranks_args) {
    if (xs_thread() != 0)
        return;
    xs_writer w = xs_writer_begin(&xs, args.role);
    for (uint32_t r = 0; r < xs.ranks; r++)
        xs_signal_slot(&w, &args.pad, r, 0, 1 + xs_rank(xs), 1);
    for (uint32_t r = 0; r < xs.ranks; r++)
        xs_wait_slot(&w, &args.pad, 0, 1 + r, 1);
    xs_slot counter = xs_slot_at(&args.pad, 0, 0, 0);
    for (uint32_t i = 0; i < args.count; i++)
        xs_red_relaxed_sys((uint64_t *)counter.at, 1);
    xs_writer_end(&w);
}

/* Block 0 fails its check; the others wait for it. */
XS_KERNEL(ranks_check, struct ranks_args) {
    if (xs_thread() != 0)
        return;
    xs_writer w = xs_writer_begin(&xs, args.role);
    if (xs_block(xs) == 0)
        xs_assert(&w, args.count == 0);
    xs_wait_slot(&w, &args.pad, 0, 0, 1);
    xs_writer_end(&w);
}

#endif
