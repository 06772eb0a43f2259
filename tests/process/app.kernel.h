/* Marks, paced; each is counted in other memory right after it was recorded. Then the end, or a wait that nobody ends. */
#include <xs/kernel.h>

struct app_args {
    xs_pad pad;
    uint64_t *counters; /* one a block of the whole world */
    uint64_t records;
    uint32_t pace_ns;
    uint32_t hang;
    uint64_t bound_ns; /* of the wait; 0: none */
    uint32_t role, mark;
    uint32_t fails, reserved0;
};

/* All blocks of the rank have made their marks: what the first wait to give up brings about finds them all. */
XS_FN bool app_marked(const xs_handle *xs, const struct app_args *args) {
    bool all = true;
    for (uint32_t i = 0; i < xs->blocks; i++)
        all &= __atomic_load_n(&args->counters[xs_rank(*xs) * xs->blocks + i], __ATOMIC_ACQUIRE) == args->records;
    return all;
}

XS_KERNEL(app, struct app_args) {
    xs_writer w = xs_writer_begin(&xs, args.role);
    uint64_t *counter = &args.counters[xs_rank(xs) * xs_blocks(xs) + xs_block(xs)];
    for (uint64_t i = 1; i <= args.records; i++) {
        xs_mark(&w, args.mark, (uint32_t)i);
        __atomic_store_n(counter, i, __ATOMIC_RELEASE);
        if (args.pace_ns)
            xs_work_ns(args.pace_ns);
    }
    while (args.hang && !app_marked(&xs, &args))
        xs_work_ns(100000);
    if (args.hang)
        xs_wait_slot_bounded(&w, &args.pad, 0, 0, 1, xs_bound_ns(args.bound_ns));
    if (args.fails)
        xs_kernel_abort(&w, XS_E_SYSTEM);
    xs_writer_end(&w);
}
