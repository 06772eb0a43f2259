/* A short kernel whose warps stamp their begin and end. */
#ifndef BRIEF_KERNEL_H
#define BRIEF_KERNEL_H

#include <xs/kernel.h>

struct brief_args {
    uint64_t work_ns;
    uint32_t role, reserved0;
};

XS_KERNEL(brief, struct brief_args) {
    xs_writer w = xs_writer_begin(&xs, args.role);
    xs_work_ns(args.work_ns);
    xs_writer_end(&w);
}

#endif
