/* A traced kernel that keeps within the registers that it names, without a stack frame. */
#include <xs/kernel.h>

struct capped_args {
    xs_pad pad;
    uint64_t rounds;
};

XS_KERNEL_CAPPED(capped, struct capped_args, 24) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_lane() == 0)
        XS_NO_UNROLL
        for (uint64_t seq = 1; seq <= args.rounds; seq++)
            xs_signal_slot(&w, &args.pad, 0, 0, 0, seq);
    xs_writer_end(&w);
}
