#include <xs/kernel.h>

struct hello_args {
    xs_pad flag;
    uint32_t role;
};

XS_KERNEL(hello, struct hello_args) {
    xs_writer w = xs_writer_begin(&xs, args.role);
    if (xs_thread() == 0) {
        xs_signal_slot(&w, &args.flag, (xs_rank(xs) + 1) % xs.ranks, 0, 0, 1);
        (void)xs_wait_slot(&w, &args.flag, 0, 0, 1);
    }
    xs_writer_end(&w);
}
