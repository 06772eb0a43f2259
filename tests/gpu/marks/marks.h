/* Every warp is a writer: marks 1, 2, .., counted in memory of the kernel's own; then, as asked, a fault or a wait that nobody
 * ends. Compiled for both ring modes. */
#ifndef MARKS_H
#define MARKS_H

#include <xs/kernel.h>

enum marks_fault { MARKS_NO_FAULT, MARKS_TRAP, MARKS_ADDRESS, MARKS_MISALIGNED, MARKS_ASSERT };

typedef struct marks_count {
    uint64_t marks, has_ring; /* added to by several launches at once */
    uint64_t result;          /* of the wait */
    uint64_t written;         /* marks so far, if the host asks for progress */
} marks_count;

struct marks_args {
    xs_pad never;
    xs_buffer counts; /* marks_count, one a warp of the rank */
    uint64_t records, fault_at; /* fault_at: the last mark of the one that faults */
    uint32_t pace_ns, role, mark, fault;
    uint32_t waits, mark_words; /* waits: for what never comes */
    uint32_t *progress;         /* not NULL: how many marks each warp has written, in memory that the host reads meanwhile */
};

#if XS_CUDA
#undef NDEBUG
#include <assert.h>
XS_FN void marks_fault_now(const struct marks_args *a, char *memory) {
    if (a->fault == MARKS_TRAP)
        __trap();
    if (a->fault == MARKS_ADDRESS)
        *(volatile uint32_t *)(uintptr_t)64 = 1;
    if (a->fault == MARKS_MISALIGNED)
        *(volatile uint64_t *)(memory + 1) = 1;
    if (a->fault == MARKS_ASSERT)
        assert(a->fault != MARKS_ASSERT);
}
#else
XS_FN void marks_fault_now(const struct marks_args *a, char *memory) {
    (void)a, (void)memory;
    __builtin_trap();
}
#endif

XS_FN void marks_run(const struct marks_args *a, const xs_handle *xs) {
    xs_writer w = xs_writer_begin(xs, a->role);
    marks_count *count = XS_BUFFER_AT(a->counts, marks_count, xs_handle_rank(xs)) + xs_handle_block(xs) * xs_warps() + xs_warp();
    bool faults = a->fault != MARKS_NO_FAULT && xs_handle_rank(xs) == 0 && xs_handle_block(xs) == 0 && xs_warp() == 1;
    bool has_ring = xs_writer_has_ring(&w);
    for (uint64_t i = 1; i <= a->records; i++) {
        if (xs_lane() == 0)
            xs_mark(&w, a->mark, (uint32_t)i);
        if (a->progress && xs_lane() == 0)
            xs_store_relaxed_sys_u32(&a->progress[(xs_handle_rank(xs) * xs->blocks + xs_handle_block(xs)) * xs_warps() + xs_warp()], (uint32_t)i), xs_store_relaxed_sys(&count->written, i);
        if (faults && i == a->fault_at && xs_lane() == 0)
            marks_fault_now(a, (char *)count);
        if (a->pace_ns)
            xs_work_ns(a->pace_ns);
    }
    if (xs_lane() == 0) {
        xs_red_relaxed_gpu(&count->marks, a->records);
        xs_red_relaxed_gpu(&count->has_ring, has_ring);
        if (a->waits)
            count->result = (uint64_t)xs_wait_slot(&w, &a->never, 0, 0, 1);
    }
    xs_writer_end(&w);
}

#endif
