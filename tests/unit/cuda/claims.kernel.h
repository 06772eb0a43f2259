/* Every block begins `writers` writers and ends the first `ended` of them; the others are left behind. */
#ifndef CLAIMS_KERNEL_H
#define CLAIMS_KERNEL_H

#include <xs/kernel.h>

struct claims_args {
    uint32_t writers, ended;
    const uint32_t *gate; /* not NULL: the writers stay until it is set */
};

XS_KERNEL(claims, struct claims_args) {
    xs_writer w[64];
    for (uint32_t i = 0; i < args.writers; i++)
        w[i] = xs_writer_begin(&xs, 0);
    while (args.gate && !__atomic_load_n(args.gate, __ATOMIC_ACQUIRE))
        xs_nanosleep(100000);
    for (uint32_t i = 0; i < args.ended; i++)
        xs_writer_end(&w[i]);
}

#endif
