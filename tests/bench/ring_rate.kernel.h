/* Every warp emits marks at a rate of its own clock, for a time, and counts them in memory of the kernel's own. */
#include <xs/kernel.h>

struct rate_args {
    xs_buffer counts; /* a 64-bit word a warp */
    uint64_t ns;      /* how long */
    uint64_t rate;    /* marks a nanosecond and warp, times 2^32; 0: as fast as it goes */
    uint32_t mark, most; /* most: marks in all of a warp; 0: no bound */
};

XS_KERNEL(rate, struct rate_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_lane() == 0) {
        uint64_t *count = XS_BUFFER_AT(args.counts, uint64_t, xs_rank(xs)) + xs_block(xs) * xs_warps() + xs_warp();
        uint64_t begin = xs_now(), emitted = 0, most = args.most ? args.most : ~0ull;
        for (uint64_t at = 0; at < args.ns && emitted < most; at = xs_now() - begin) {
            uint64_t due = args.rate ? at * args.rate >> 32 : emitted + 16;
            for (; emitted < due && emitted < most; emitted++)
                xs_mark(&w, args.mark, (uint32_t)emitted);
            if (args.rate)
                xs_work_ns(200);
        }
        *count = emitted;
    }
    xs_writer_end(&w);
}
