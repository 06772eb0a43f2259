/* Loads, stores and adds whose order, scope and width are arguments: constants in every caller, so that one operation
 * remains. bits is 64 or 32. */
#ifndef XS_ORDERED_H
#define XS_ORDERED_H

#include <xs/atomics.h>

#define XS_PICK_SCOPE(operation, suffix, at, ...)                                \
    (scope == XS_SCOPE_CTA   ? operation##_cta##suffix(at __VA_ARGS__)           \
     : scope == XS_SCOPE_GPU ? operation##_gpu##suffix(at __VA_ARGS__)           \
                             : operation##_sys##suffix(at __VA_ARGS__))
#define XS_COMMA_VALUE64 , value
#define XS_COMMA_VALUE32 , (uint32_t)value

/* XS_ACQUIRE, else relaxed. */
XS_FN uint64_t xs_ordered_load(const void *at, uint32_t order, uint32_t scope, uint32_t bits) {
    if (bits == 32)
        return order == XS_ACQUIRE ? XS_PICK_SCOPE(xs_load_acquire, _u32, (const uint32_t *)at)
                                   : XS_PICK_SCOPE(xs_load_relaxed, _u32, (const uint32_t *)at);
    return order == XS_ACQUIRE ? XS_PICK_SCOPE(xs_load_acquire, , (const uint64_t *)at)
                               : XS_PICK_SCOPE(xs_load_relaxed, , (const uint64_t *)at);
}

/* A poll: on the host the scheduler hears of it through poll_failed and, when it succeeds, xs_acquired. */
XS_FN uint64_t xs_ordered_poll(const void *at, uint32_t order, uint32_t scope, uint32_t bits) {
#if XS_CUDA
    return xs_ordered_load(at, order, scope, bits);
#else
    (void)scope;
    if (order == XS_ACQUIRE)
        return bits == 32 ? __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE)
                          : __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE);
    return bits == 32 ? __atomic_load_n((const uint32_t *)at, __ATOMIC_RELAXED)
                      : __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
#endif
}

/* XS_RELEASE, else relaxed. */
XS_FN void xs_ordered_store(void *at, uint64_t value, uint32_t order, uint32_t scope, uint32_t bits) {
    if (bits == 32 && order == XS_RELEASE)
        XS_PICK_SCOPE(xs_store_release, _u32, (uint32_t *)at, XS_COMMA_VALUE32);
    else if (bits == 32)
        XS_PICK_SCOPE(xs_store_relaxed, _u32, (uint32_t *)at, XS_COMMA_VALUE32);
    else if (order == XS_RELEASE)
        XS_PICK_SCOPE(xs_store_release, , (uint64_t *)at, XS_COMMA_VALUE64);
    else
        XS_PICK_SCOPE(xs_store_relaxed, , (uint64_t *)at, XS_COMMA_VALUE64);
}

/* XS_ACQ_REL, XS_ACQUIRE, XS_RELEASE, else relaxed. Returns the value before. */
XS_FN uint64_t xs_ordered_add(void *at, uint64_t value, uint32_t order, uint32_t scope, uint32_t bits) {
    if (bits == 32 && order == XS_ACQ_REL)
        return XS_PICK_SCOPE(xs_add_acq_rel, _u32, (uint32_t *)at, XS_COMMA_VALUE32);
    if (bits == 32 && order == XS_ACQUIRE)
        return XS_PICK_SCOPE(xs_add_acquire, _u32, (uint32_t *)at, XS_COMMA_VALUE32);
    if (bits == 32)
        return order == XS_RELEASE ? XS_PICK_SCOPE(xs_add_release, _u32, (uint32_t *)at, XS_COMMA_VALUE32)
                                   : XS_PICK_SCOPE(xs_add_relaxed, _u32, (uint32_t *)at, XS_COMMA_VALUE32);
    if (order == XS_ACQ_REL)
        return XS_PICK_SCOPE(xs_add_acq_rel, , (uint64_t *)at, XS_COMMA_VALUE64);
    if (order == XS_ACQUIRE)
        return XS_PICK_SCOPE(xs_add_acquire, , (uint64_t *)at, XS_COMMA_VALUE64);
    return order == XS_RELEASE ? XS_PICK_SCOPE(xs_add_release, , (uint64_t *)at, XS_COMMA_VALUE64)
                               : XS_PICK_SCOPE(xs_add_relaxed, , (uint64_t *)at, XS_COMMA_VALUE64);
}

/* The same with nothing returned (PTX red). */
XS_FN void xs_ordered_red(void *at, uint64_t value, uint32_t order, uint32_t scope, uint32_t bits) {
    if (bits == 32 && order == XS_RELEASE)
        XS_PICK_SCOPE(xs_red_release, _u32, (uint32_t *)at, XS_COMMA_VALUE32);
    else if (bits == 32)
        XS_PICK_SCOPE(xs_red_relaxed, _u32, (uint32_t *)at, XS_COMMA_VALUE32);
    else if (order == XS_RELEASE)
        XS_PICK_SCOPE(xs_red_release, , (uint64_t *)at, XS_COMMA_VALUE64);
    else
        XS_PICK_SCOPE(xs_red_relaxed, , (uint64_t *)at, XS_COMMA_VALUE64);
}

/* XS_ACQUIRE, XS_RELEASE, XS_ACQ_REL or XS_SEQ_CST. */
XS_FN void xs_ordered_fence(uint32_t order, uint32_t scope) {
#define XS_PICK_FENCE(name)                                                                                    \
    (scope == XS_SCOPE_CTA ? xs_fence_##name##_cta() : scope == XS_SCOPE_GPU ? xs_fence_##name##_gpu() : xs_fence_##name##_sys())
    if (order == XS_ACQUIRE)
        XS_PICK_FENCE(acquire);
    else if (order == XS_RELEASE)
        XS_PICK_FENCE(release);
    else if (order == XS_SEQ_CST)
        XS_PICK_FENCE(sc);
    else
        XS_PICK_FENCE(acq_rel);
#undef XS_PICK_FENCE
}

/* The release fence of stores to slots that are named to the sanitizer one by one (xs_tsan_release of each). */
XS_FN void xs_ordered_fence_before_stores(uint32_t scope) {
#if XS_CUDA
    xs_ordered_fence(XS_RELEASE, scope);
#else
    xs_host_before(__ATOMIC_RELEASE, scope);
    xs_host_fence(__ATOMIC_RELEASE);
#endif
}

#endif
