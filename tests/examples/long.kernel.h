/* Rank 1 is silent for a while and then signals rank 0, which waits all the time. */
#include <xs/kernel.h>

struct long_args {
    xs_pad flag;
    uint64_t ns;
    uint32_t mark, reserved0;
};

XS_KERNEL(long_wait, struct long_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_rank(xs) == 0) {
        (void)xs_wait_slot(&w, &args.flag, 0, 0, 1);
    } else {
        xs_mark(&w, args.mark, 1);
        xs_work_ns(args.ns);
        xs_mark(&w, args.mark, 2);
        xs_signal_slot(&w, &args.flag, 0, 0, 0, 1);
    }
    xs_writer_end(&w);
}
