/* Ranks that meet round after round, traced. Thread-level calls alone: the fake's blocks share no memory. */
#ifndef MIXED_KERNEL_H
#define MIXED_KERNEL_H

#include <xs/kernel.h>

struct mixed_args {
    xs_pad bar;
    uint32_t rounds, role;
};

XS_KERNEL(mixed, struct mixed_args) {
    xs_writer w = xs_writer_begin(&xs, args.role);
    for (uint32_t round = 1; round <= args.rounds; round++) {
        xs_writer_epoch(&w, round);
        for (uint32_t r = 0; r < xs.ranks; r++)
            xs_signal_slot(&w, &args.bar, r, 0, xs_rank(xs), round);
        for (uint32_t r = 0; r < xs.ranks; r++)
            xs_wait_slot(&w, &args.bar, 0, r, round);
    }
    xs_writer_end(&w);
}

#endif
