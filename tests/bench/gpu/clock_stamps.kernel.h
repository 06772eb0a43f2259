/* A short kernel whose warps stamp their begin and end. */
#ifndef CLOCK_STAMPS_KERNEL_H
#define CLOCK_STAMPS_KERNEL_H

#include <xs/kernel.h>

struct clock_stamps_args {
    uint64_t work_ns;
    uint32_t role, reserved0;
};

XS_KERNEL(clock_stamps, struct clock_stamps_args) {
    xs_writer w = xs_writer_begin(&xs, args.role);
    xs_work_ns(args.work_ns);
    xs_writer_end(&w);
}

#endif
