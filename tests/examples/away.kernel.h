/* A barrier that ranks from `present` on do not enter. */
#include <xs/kernel.h>

struct away_args {
    xs_pad bar;
    uint32_t present;
    uint32_t reserved0;
};

XS_KERNEL(away, struct away_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_rank(xs) < args.present)
        (void)xs_barrier_all(&w, &args.bar, 1, xs_unbounded());
    xs_writer_end(&w);
}
