/* Atomics and fences in PTX's orders and scopes, and the few special registers: all inline PTX of xs stands here.
 * On the host the same names are the compiler's __atomic builtins and tell the scheduler (host_thread.h): a step before
 * each operation, a release before it takes effect, an acquire after it succeeded.
 *
 *   xs_load_{relaxed,acquire}_{cta,gpu,sys}            xs_store_{relaxed,release}_{cta,gpu,sys}
 *   xs_add_{relaxed,acquire,release,acq_rel}_{cta,gpu,sys}  returns the value before
 *   xs_red_{relaxed,release}_{cta,gpu,sys}             the same with nothing returned (PTX red)
 *   xs_or_acquire_gpu, xs_and_release_gpu              returns the value before; 64 bits
 *   xs_cas_relaxed_gpu_u32                             (CUDA) returns the value before
 *   xs_fence_{acquire,release,acq_rel,sc}_{cta,gpu,sys}
 *   each also with suffix _u32 (fences have no width)
 *
 * Addresses are global memory. Fences that only acquire or only release are of sm_90 and CUDA 12.8; before, they are fence.acq_rel. */
#ifndef XS_ATOMICS_H
#define XS_ATOMICS_H

#include <xs/events.h>
#include <xs/host_thread.h>
#include <xs/record_access.h>
#include <xs/tsan.h>

/* XS_SAVE_REGISTERS=1, for kernels that are capped at 24 registers: single waits, and publish, fit into plain + 8 on
 * every architecture. On sm_80 and 90 they do without it, and there a traced signal takes 66 cycles more by it; on
 * sm_100 and later a wait that is satisfied at once takes 12 instructions more by it. */
#ifndef XS_SAVE_REGISTERS
#define XS_SAVE_REGISTERS 0
#endif
#ifndef XS_WAITS_SHORT /* the form of waits that ptxas does not get to by itself */
#define XS_WAITS_SHORT (XS_CUDA ? XS_ARCH < 800 || (XS_ARCH >= 1000 && XS_SAVE_REGISTERS) : XS_SAVE_REGISTERS)
#endif

#define XS_EACH_SCOPE(X, ...) X(cta, CTA, __VA_ARGS__) X(gpu, GPU, __VA_ARGS__) X(sys, SYS, __VA_ARGS__)

#if XS_CUDA

/* A relaxed operation orders nothing else, so only acquire and release forms hold the compiler back ("memory"). */
#define XS_PTX_LOAD(scope, SCOPE, order, type, bits, suffix, reg, ...)                                        \
    XS_FN type xs_load_##order##_##scope##suffix(const type *at) {                                            \
        type value;                                                                                           \
        asm volatile("ld." #order "." #scope ".global.u" #bits " %0, [%1];" : "=" reg(value) : "l"(at)__VA_ARGS__); \
        return value;                                                                                         \
    }
#define XS_PTX_STORE(scope, SCOPE, order, type, bits, suffix, reg, ...)                                        \
    XS_FN void xs_store_##order##_##scope##suffix(type *at, type value) {                                      \
        asm volatile("st." #order "." #scope ".global.u" #bits " [%0], %1;" ::"l"(at), reg(value)__VA_ARGS__); \
    }
#define XS_PTX_ADD(scope, SCOPE, order, type, bits, suffix, reg, ...)                              \
    XS_FN type xs_add_##order##_##scope##suffix(type *at, type value) {                            \
        type old;                                                                                  \
        asm volatile("atom." #order "." #scope ".global.add.u" #bits " %0, [%1], %2;"              \
                     : "=" reg(old)                                                                \
                     : "l"(at), reg(value)__VA_ARGS__);                                            \
        return old;                                                                                \
    }
#define XS_PTX_RED(scope, SCOPE, order, type, bits, suffix, reg, ...)                                               \
    XS_FN void xs_red_##order##_##scope##suffix(type *at, type value) {                                             \
        asm volatile("red." #order "." #scope ".global.add.u" #bits " [%0], %1;" ::"l"(at), reg(value)__VA_ARGS__); \
    }
#define XS_PTX_FENCE(scope, SCOPE, order, ptx) \
    XS_FN void xs_fence_##order##_##scope(void) { asm volatile("fence." #ptx "." #scope ";" ::: "memory"); }

#define XS_PTX_BOTH_WIDTHS(FORM, order, ...)                              \
    XS_EACH_SCOPE(FORM, order, uint64_t, 64, , "l" __VA_ARGS__)           \
    XS_EACH_SCOPE(FORM, order, uint32_t, 32, _u32, "r" __VA_ARGS__)

XS_PTX_BOTH_WIDTHS(XS_PTX_LOAD, relaxed)
XS_PTX_BOTH_WIDTHS(XS_PTX_LOAD, acquire, , : "memory")
XS_PTX_BOTH_WIDTHS(XS_PTX_STORE, relaxed)
XS_PTX_BOTH_WIDTHS(XS_PTX_STORE, release, , : "memory")
XS_PTX_BOTH_WIDTHS(XS_PTX_ADD, relaxed)
XS_PTX_BOTH_WIDTHS(XS_PTX_ADD, acquire, , : "memory")
XS_PTX_BOTH_WIDTHS(XS_PTX_ADD, release, , : "memory")
XS_PTX_BOTH_WIDTHS(XS_PTX_ADD, acq_rel, , : "memory")
XS_PTX_BOTH_WIDTHS(XS_PTX_RED, relaxed)
XS_PTX_BOTH_WIDTHS(XS_PTX_RED, release, , : "memory")
/* 1: there are fences of one direction: acquire waits for nothing that was stored, release invalidates no cache, and
 * before a relaxed store is the same instructions as a releasing store. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && \
    (__CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 8))
#define XS_FENCE_ONE_WAY 1
#else
#define XS_FENCE_ONE_WAY 0
#endif
#if XS_FENCE_ONE_WAY
XS_EACH_SCOPE(XS_PTX_FENCE, acquire, acquire)
XS_EACH_SCOPE(XS_PTX_FENCE, release, release)
#else
XS_EACH_SCOPE(XS_PTX_FENCE, acquire, acq_rel)
XS_EACH_SCOPE(XS_PTX_FENCE, release, acq_rel)
#endif
XS_EACH_SCOPE(XS_PTX_FENCE, acq_rel, acq_rel)
XS_EACH_SCOPE(XS_PTX_FENCE, sc, sc)

XS_FN uint64_t xs_or_acquire_gpu(uint64_t *at, uint64_t bits) {
    uint64_t old;
    asm volatile("atom.acquire.gpu.global.or.b64 %0, [%1], %2;" : "=l"(old) : "l"(at), "l"(bits) : "memory");
    return old;
}
XS_FN uint64_t xs_and_release_gpu(uint64_t *at, uint64_t bits) {
    uint64_t old;
    asm volatile("atom.release.gpu.global.and.b64 %0, [%1], %2;" : "=l"(old) : "l"(at), "l"(bits) : "memory");
    return old;
}

XS_FN uint32_t xs_cas_relaxed_gpu_u32(uint32_t *at, uint32_t expected, uint32_t desired) {
    uint32_t old;
    asm volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(at), "r"(expected), "r"(desired));
    return old;
}

/* Words at an offset that is part of the instruction: as a sum ptxas would make the address ahead of a loop and keep
 * it in two registers. Of an atomic it does so all the same, unless the address varies: zero is 0, of which the
 * compiler does not know it. */
template <uint32_t offset> XS_FN uint32_t xs_load_relaxed_gpu_u32_at(const void *base) {
    uint32_t value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1+%2];" : "=r"(value) : "l"(base), "n"(offset));
    return value;
}
template <uint32_t offset> XS_FN void xs_store_relaxed_gpu_u32_at(void *base, uint32_t value) {
    asm volatile("st.relaxed.gpu.global.u32 [%0+%1], %2;" ::"l"(base), "n"(offset), "r"(value));
}
template <uint32_t offset>
XS_FN uint32_t xs_cas_relaxed_gpu_u32_at(void *base, uint32_t zero, uint32_t expected, uint32_t desired) {
    uint32_t old;
    asm volatile("{\n\t.reg .u64 at;\n\tmad.wide.u32 at, %1, 1, %2;\n\tatom.relaxed.gpu.global.cas.b32 %0, [at+%3], %4, %5;\n\t}"
                 : "=r"(old)
                 : "r"(zero), "l"(base), "n"(offset), "r"(expected), "r"(desired));
    return old;
}

/* Plain read-back: the load is really made, each time. */
XS_FN uint64_t xs_load_volatile(const uint64_t *at) {
    uint64_t value;
    asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}
XS_FN uint32_t xs_load_volatile_u32(const uint32_t *at) {
    uint32_t value;
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

XS_FN void xs_nanosleep(uint32_t ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }

XS_FN uint64_t xs_now(void) {
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}
XS_FN uint32_t xs_now_low(void) {
    uint32_t ns;
    asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(ns));
    return ns;
}
XS_FN uint32_t xs_lane(void) {
    uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
XS_FN uint32_t xs_sm(void) {
    uint32_t sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm)); /* may change under preemption */
    return sm;
}

/* Block in the grid and warp in the block, for the trace. Volatile: read where they are needed, not kept. Kernels
 * that xs did not write may have grids and blocks of more dimensions: XS_DIMENSIONS 3 counts through all of them,
 * for some more registers in every wait. */
#ifndef XS_DIMENSIONS
#define XS_DIMENSIONS 1
#endif
#define XS_PTX_REGISTER(name, ptx)                             \
    XS_FN uint32_t name(void) {                                \
        uint32_t value;                                        \
        asm volatile("mov.u32 %0, %%" #ptx ";" : "=r"(value)); \
        return value;                                          \
    }
XS_PTX_REGISTER(xs_ptx_ctaid_x, ctaid.x)
XS_PTX_REGISTER(xs_ptx_tid_x, tid.x)
XS_PTX_REGISTER(xs_writer_threads, ntid.x) /* a constant of the launch, which ptxas would keep in a register for the kernel's life */
#if XS_DIMENSIONS == 1
XS_FN uint32_t xs_writer_grid_block(void) { return xs_ptx_ctaid_x(); }
XS_FN uint32_t xs_writer_warp(void) { return xs_ptx_tid_x() / 32; }
#else
XS_PTX_REGISTER(xs_ptx_ctaid_y, ctaid.y)
XS_PTX_REGISTER(xs_ptx_ctaid_z, ctaid.z)
XS_PTX_REGISTER(xs_ptx_tid_y, tid.y)
XS_PTX_REGISTER(xs_ptx_tid_z, tid.z)
XS_FN uint32_t xs_writer_grid_block(void) {
    return xs_ptx_ctaid_x() + gridDim.x * (xs_ptx_ctaid_y() + gridDim.y * xs_ptx_ctaid_z());
}
XS_FN uint32_t xs_writer_warp(void) {
    return (xs_ptx_tid_x() + blockDim.x * (xs_ptx_tid_y() + blockDim.y * xs_ptx_tid_z())) / 32;
}
#endif

#define XS_NO_UNROLL _Pragma("unroll 1")

/* The same value, of which the compiler knows nothing: what is computed from it stays where it stands. Without this it
 * computes every address of the slow paths ahead of the loop and keeps them all in registers. */
XS_FN uint32_t xs_opaque(uint32_t value) {
    asm volatile("" : "+r"(value));
    return value;
}
XS_FN uint64_t xs_opaque_u64(uint64_t value) {
    asm volatile("" : "+l"(value));
    return value;
}

/* base + index * stride by one mad.wide. Spelled out: widened ahead of a loop, stride becomes a 64-bit multiply in
 * it. */
XS_FN char *xs_element(const void *base, uint32_t index, uint32_t stride) {
    uint64_t at;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(at) : "r"(index), "r"(stride), "l"(base));
    return (char *)at;
}

/* 16 bytes by one weak store, no branch: predicated. No "memory": it is ordered with nothing. */
XS_FN void xs_store16_if(uint32_t on, void *at, uint32_t word0, uint32_t word1, uint32_t word2, uint32_t word3) {
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %0, 0;\n\t@p st.global.v4.u32 [%1], {%2, %3, %4, %5};\n\t}" ::"r"(on),
                 "l"(at), "r"(word0), "r"(word1), "r"(word2), "r"(word3));
}

/* Two words of 8 bytes with a stamp each (record.h), which become visible in either order. Relaxed, so that each is
 * whole by PTX's own word: the fall-back leans on nothing else. */
XS_FN void xs_store_stamped_if(uint32_t on, void *at, uint32_t stamp, uint32_t a, uint32_t b, uint32_t c) {
    asm volatile("{\n\t.reg .pred p;\n\t.reg .b32 half;\n\t.reg .b64 word;\n\tsetp.ne.u32 p, %0, 0;\n\t"
                 "prmt.b32 half, %5, %2, 0x5410;\n\tmov.b64 word, {%3, half};\n\t@p st.relaxed.sys.global.b64 [%1], word;\n\t"
                 "prmt.b32 half, %5, %2, 0x5432;\n\tmov.b64 word, {%4, half};\n\t@p st.relaxed.sys.global.b64 [%1+8], word;\n\t}" ::"r"(on),
                 "l"(at), "r"(stamp), "r"(a), "r"(b), "r"(c));
}

/* (value & mask) | base, by one instruction. */
XS_FN uint32_t xs_masked_or(uint32_t value, uint32_t mask, uint32_t base) {
    uint32_t result;
    asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(result) : "r"(value), "r"(mask), "r"(base));
    return result;
}

/* value + on, by a predicate: as a sum ptxas keeps the summand in a register for the life of the kernel. */
XS_FN uint32_t xs_add_if(uint32_t on, uint32_t value) {
    asm("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %1, 0;\n\t@p add.u32 %0, %0, 1;\n\t}" : "+r"(value) : "r"(on));
    return value;
}

XS_FN void xs_store_weak(uint64_t *at, uint64_t value) { asm volatile("st.global.u64 [%0], %1;" ::"l"(at), "l"(value)); }

/* 16 bytes by one load, which the next need not wait for. */
XS_FN void xs_load16_relaxed_sys(const void *at, uint32_t word[4]) {
    asm volatile("ld.relaxed.sys.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "l"(at));
}

/* bar.sync: orders memory among the `count` threads, at cta scope. */
XS_FN int xs_block_barrier(uint32_t id, uint32_t count) {
    asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(count) : "memory");
    return 0;
}

/* Scheduler hooks of the host: nothing here. */
XS_FN void xs_step(void) {}
XS_FN void xs_releasing(uint32_t scope) { (void)scope; }
XS_FN void xs_acquired(uint32_t scope) { (void)scope; }

#else /* the host */

#define XS_FENCE_ONE_WAY 0

XS_FN void xs_step(void) { xs_host_step(); }
XS_FN void xs_releasing(uint32_t scope) { xs_host_release(scope); }
XS_FN void xs_acquired(uint32_t scope) { xs_host_acquire(scope); }

#define XS_HOST_relaxed __ATOMIC_RELAXED
#define XS_HOST_acquire __ATOMIC_ACQUIRE
#define XS_HOST_release __ATOMIC_RELEASE
#define XS_HOST_acq_rel __ATOMIC_ACQ_REL
#define XS_HOST_sc __ATOMIC_SEQ_CST
#define XS_ACQUIRES(order) ((order) == __ATOMIC_ACQUIRE || (order) == __ATOMIC_ACQ_REL || (order) == __ATOMIC_SEQ_CST)
#define XS_RELEASES(order) ((order) == __ATOMIC_RELEASE || (order) == __ATOMIC_ACQ_REL || (order) == __ATOMIC_SEQ_CST)

XS_FN void xs_host_before(int order, uint32_t scope) {
    xs_step();
    if (XS_RELEASES(order))
        xs_releasing(scope);
}
XS_FN void xs_host_after(int order, uint32_t scope) {
    if (XS_ACQUIRES(order))
        xs_acquired(scope);
}

#define XS_HOST_LOAD(scope, SCOPE, order, type, suffix)                    \
    XS_FN type xs_load_##order##_##scope##suffix(const type *at) {         \
        xs_host_before(XS_HOST_##order, XS_SCOPE_##SCOPE);                 \
        type value = __atomic_load_n(at, XS_HOST_##order);                 \
        xs_host_after(XS_HOST_##order, XS_SCOPE_##SCOPE);                  \
        return value;                                                      \
    }
#define XS_HOST_STORE(scope, SCOPE, order, type, suffix)                   \
    XS_FN void xs_store_##order##_##scope##suffix(type *at, type value) {  \
        xs_host_before(XS_HOST_##order, XS_SCOPE_##SCOPE);                 \
        __atomic_store_n(at, value, XS_HOST_##order);                      \
    }
#define XS_HOST_ADD(scope, SCOPE, order, type, suffix)                     \
    XS_FN type xs_add_##order##_##scope##suffix(type *at, type value) {    \
        xs_host_before(XS_HOST_##order, XS_SCOPE_##SCOPE);                 \
        type old = __atomic_fetch_add(at, value, XS_HOST_##order);         \
        xs_host_after(XS_HOST_##order, XS_SCOPE_##SCOPE);                  \
        return old;                                                        \
    }
#define XS_HOST_RED(scope, SCOPE, order, type, suffix)                     \
    XS_FN void xs_red_##order##_##scope##suffix(type *at, type value) {    \
        (void)xs_add_##order##_##scope##suffix(at, value);                 \
    }
#define XS_HOST_FENCE(scope, SCOPE, order)                                 \
    XS_FN void xs_fence_##order##_##scope(void) {                          \
        xs_host_before(XS_HOST_##order, XS_SCOPE_##SCOPE);                 \
        if (XS_RELEASES(XS_HOST_##order))                                  \
            xs_tsan_release(NULL);                                         \
        xs_host_fence(XS_HOST_##order);                                    \
        if (XS_ACQUIRES(XS_HOST_##order))                                  \
            xs_tsan_acquire(NULL);                                         \
        xs_host_after(XS_HOST_##order, XS_SCOPE_##SCOPE);                  \
    }

#define XS_HOST_BOTH_WIDTHS(FORM, order)                                   \
    XS_EACH_SCOPE(FORM, order, uint64_t, )                                 \
    XS_EACH_SCOPE(FORM, order, uint32_t, _u32)

XS_HOST_BOTH_WIDTHS(XS_HOST_LOAD, relaxed)
XS_HOST_BOTH_WIDTHS(XS_HOST_LOAD, acquire)
XS_HOST_BOTH_WIDTHS(XS_HOST_STORE, relaxed)
XS_HOST_BOTH_WIDTHS(XS_HOST_STORE, release)
XS_HOST_BOTH_WIDTHS(XS_HOST_ADD, relaxed)
XS_HOST_BOTH_WIDTHS(XS_HOST_ADD, acquire)
XS_HOST_BOTH_WIDTHS(XS_HOST_ADD, release)
XS_HOST_BOTH_WIDTHS(XS_HOST_ADD, acq_rel)
XS_HOST_BOTH_WIDTHS(XS_HOST_RED, relaxed)
XS_HOST_BOTH_WIDTHS(XS_HOST_RED, release)
XS_EACH_SCOPE(XS_HOST_FENCE, acquire)
XS_EACH_SCOPE(XS_HOST_FENCE, release)
XS_EACH_SCOPE(XS_HOST_FENCE, acq_rel)
XS_EACH_SCOPE(XS_HOST_FENCE, sc)

/* Ring bookkeeping: no step of the protocol, so the scheduler is not told. */
XS_FN uint64_t xs_or_acquire_gpu(uint64_t *at, uint64_t bits) { return __atomic_fetch_or(at, bits, __ATOMIC_ACQUIRE); }
XS_FN uint64_t xs_and_release_gpu(uint64_t *at, uint64_t bits) {
    return __atomic_fetch_and(at, bits, __ATOMIC_RELEASE);
}

XS_FN uint64_t xs_load_volatile(const uint64_t *at) { return xs_load_relaxed_sys(at); }
XS_FN uint32_t xs_load_volatile_u32(const uint32_t *at) { return xs_load_relaxed_sys_u32(at); }

XS_FN void xs_nanosleep(uint32_t ns) { xs_host_work(ns); }
XS_FN uint64_t xs_now(void) { return xs_host_now(); }
XS_FN uint32_t xs_now_low(void) { return (uint32_t)xs_host_now(); }
XS_FN uint32_t xs_lane(void) { return 0; }
XS_FN uint32_t xs_sm(void) { return 0; }
XS_FN uint32_t xs_writer_grid_block(void) { return xs_host_self()->block; }
XS_FN uint32_t xs_writer_warp(void) { return xs_host_self()->warp; }
#define XS_NO_UNROLL
XS_FN char *xs_element(const void *base, uint32_t index, uint32_t stride) {
    return (char *)(uintptr_t)base + (uint64_t)index * stride;
}
XS_FN uint32_t xs_opaque(uint32_t value) { return value; }
XS_FN uint64_t xs_opaque_u64(uint64_t value) { return value; }

XS_FN void xs_store16_if(uint32_t on, void *at, uint32_t word0, uint32_t word1, uint32_t word2, uint32_t word3) {
    if (on)
        xs_record_put((xs_record *)at, word0, word1, word2, word3);
}

XS_FN void xs_store_stamped_if(uint32_t on, void *at, uint32_t stamp, uint32_t a, uint32_t b, uint32_t c) {
    if (on)
        xs_stamped_put(at, stamp, a, b, c);
}

XS_FN uint32_t xs_masked_or(uint32_t value, uint32_t mask, uint32_t base) { return (value & mask) | base; }
XS_FN uint32_t xs_add_if(uint32_t on, uint32_t value) { return value + on; }

/* Bookkeeping of xs, like the two above: two halves, each whole. */
XS_FN void xs_load16_relaxed_sys(const void *at, uint32_t word[4]) {
    const xs_record_word *half = (const xs_record_word *)at;
    uint64_t low = __atomic_load_n(&half[0], __ATOMIC_RELAXED), high = __atomic_load_n(&half[1], __ATOMIC_RELAXED);
    word[0] = (uint32_t)low, word[1] = (uint32_t)(low >> 32), word[2] = (uint32_t)high,
    word[3] = (uint32_t)(high >> 32);
}

XS_FN int xs_block_barrier(uint32_t id, uint32_t count) { return xs_host_block_barrier(id, count); }

#endif /* the host */

/* The same value. What a traced kernel computes from it is computed where it stands, not ahead of loops and kept in
 * registers meanwhile: for kernels that wait and are short of registers, outside of their innermost loops. A plain
 * kernel is not touched. */
XS_FN uint32_t xs_anew(uint32_t value) { return XS_TRACE ? xs_opaque(value) : value; }

#endif
