/* A kernel's own check failed: it says where, and stops. A bare trap ends one warp; the others run on to their own
 * end, which may be never if they wait for it, and overwrite what their rings hold of the moment. So first the world
 * is aborted, which ends all waits softly, then recording is frozen, then this thread traps. Caller: a thread. */
#ifndef XS_TRAP_H
#define XS_TRAP_H

#include <xs/heartbeat.h>

#if XS_CUDA
XS_FN void xs_trap_now(void) { __trap(); }
#else
XS_FN void xs_trap_now(void) { __builtin_trap(); }
#endif

/* Records the abort with its line; the writer's ring keeps all up to it. fence.sc.sys before the trap: what was
 * stored is on its way to the host when the context dies. */
XS_FN void xs_trap_line(xs_writer *w, uint64_t source) {
    xs_kernel_abort_line(w, XS_E_TRAPPED, source);
    if (XS_TRACE) {
        xs_control_store_u32(&xs_writer_control(w)->freeze, 1);
        xs_lookout_freeze(w->xs);
    }
    xs_fence_sc_sys();
    xs_trap_now();
}
#define xs_trap(w) xs_trap_line(w, XS_HERE)
#define xs_assert(w, condition) ((condition) ? (void)0 : xs_trap_line(w, XS_HERE))

#endif
