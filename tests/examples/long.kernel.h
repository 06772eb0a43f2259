/* Rank 1 is silent for a while and then signals rank 0, which waits all the time: rank 1 begins when rank 0's status line
 * says that it waits. Rank 0 comes late, as it may on a loaded machine. */
#include <xs/kernel.h>

#define LONG_LATE_NS 20000000u

struct long_args {
    xs_pad flag;
    uint64_t ns;
    uint32_t mark, reserved0;
};

/* Whether the launch's first rank waits. */
static inline bool long_waits(const xs_handle *xs) {
    for (uint32_t i = 0; i < xs->XS_RINGS * xs->lines_per_ring; i++) {
        uint32_t state = __atomic_load_n(&xs->status[i].p0.state_stage, __ATOMIC_RELAXED) & 0xff;
        if (state == XS_LINE_WAITING || state == XS_LINE_SLOW)
            return true;
    }
    return false;
}

XS_KERNEL(long_wait, struct long_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_rank(xs) == 0) {
        xs_work_ns(LONG_LATE_NS);
        (void)xs_wait_slot(&w, &args.flag, 0, 0, 1);
    } else {
        while (!long_waits(&xs))
            xs_work_ns(100000);
        xs_mark(&w, args.mark, 1);
        xs_work_ns(args.ns);
        xs_mark(&w, args.mark, 2);
        xs_signal_slot(&w, &args.flag, 0, 0, 0, 1);
    }
    xs_writer_end(&w);
}
