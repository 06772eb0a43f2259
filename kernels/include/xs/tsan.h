/* Fences for ThreadSanitizer, which does not know them: correct fence-based code is reported as racy without this,
 * and code that lacks a fence looks just the same. A fence that stands before a store to a known slot releases to
 * that slot; a fence that stands after a relaxed poll acquires from the slots that its thread polled. Both happen
 * where the fence really is, so a fence left out is a race that is seen. Fences of which no slot is known meet at
 * one word: that can hide a missing fence, but never invents one. Scopes and other processes cannot be seen at all. */
#ifndef XS_TSAN_H
#define XS_TSAN_H

#include <xs/target.h>

#if defined(__SANITIZE_THREAD__)
#define XS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define XS_TSAN 1
#endif
#endif
#ifndef XS_TSAN
#define XS_TSAN 0
#endif

/* Slots of a writer's latest relaxed polls, for its next acquire fence. */
#define XS_TSAN_POLLS 8u
typedef struct xs_tsan_polls {
#if XS_TSAN
    const void *at[XS_TSAN_POLLS];
    uint32_t count;
#endif
    char nothing;
} xs_tsan_polls;

#if XS_TSAN && !XS_CUDA

XS_EXTERN_C_BEGIN
void __tsan_acquire(void *address);
void __tsan_release(void *address);
XS_EXTERN_C_END
__attribute__((weak)) char xs_tsan_any_fence; /* weak: one for all files of a program */

XS_FN void xs_tsan_release(const void *at) { __tsan_release(at ? (void *)(uintptr_t)at : &xs_tsan_any_fence); }
XS_FN void xs_tsan_acquire(const void *at) { __tsan_acquire(at ? (void *)(uintptr_t)at : &xs_tsan_any_fence); }

XS_FN void xs_tsan_polled(xs_tsan_polls *polls, const void *at) { polls->at[polls->count++ % XS_TSAN_POLLS] = at; }

XS_FN void xs_tsan_acquire_polled(const xs_tsan_polls *polls) {
    uint32_t held = polls->count < XS_TSAN_POLLS ? polls->count : XS_TSAN_POLLS;
    for (uint32_t i = 0; i < held; i++)
        xs_tsan_acquire(polls->at[i]);
}

#else

XS_FN void xs_tsan_release(const void *at) { (void)at; }
XS_FN void xs_tsan_acquire(const void *at) { (void)at; }
XS_FN void xs_tsan_polled(xs_tsan_polls *polls, const void *at) { (void)polls, (void)at; }
XS_FN void xs_tsan_acquire_polled(const xs_tsan_polls *polls) { (void)polls; }

#endif

#if !XS_CUDA
/* The processor's own fence; gcc warns that ThreadSanitizer does not see it, which is what this header is for. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#endif
#pragma GCC diagnostic ignored "-Wtsan"
XS_FN void xs_host_fence(int order) { __atomic_thread_fence(order); }
#pragma GCC diagnostic pop
#endif

#endif
