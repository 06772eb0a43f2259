/* Reading and writing whole records from the host. C compilers may split a 16-byte load into two (gcc does so with
 * _mm_load_si128) and would then see torn records of their own making, so the access is spelled out. */
#ifndef XS_RECORD_ACCESS_H
#define XS_RECORD_ACCESS_H

#include <xs/record.h>

#if defined(__SANITIZE_THREAD__)
#define XS_RECORD_BY_WORDS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define XS_RECORD_BY_WORDS 1
#endif
#endif
#if !defined(XS_RECORD_BY_WORDS) && !defined(__x86_64__)
#define XS_RECORD_BY_WORDS 1
#endif
#ifndef XS_RECORD_BY_WORDS
#define XS_RECORD_BY_WORDS 0
#endif

/* Copies one record (or 16-byte part of a status line) that another thread, process or device may be writing. Returns 1;
 * 0 where the copy may be half old and half new: try again later. Relaxed: orders nothing. */
XS_INLINE int xs_record_load(const xs_record *from, xs_record *to) {
#if XS_RECORD_BY_WORDS
    const uint64_t *words = (const uint64_t *)(const void *)from;
    uint64_t low = __atomic_load_n(&words[0], __ATOMIC_ACQUIRE);
    uint64_t high = __atomic_load_n(&words[1], __ATOMIC_ACQUIRE);
    uint64_t again = __atomic_load_n(&words[0], __ATOMIC_RELAXED);
    to->sequence = (uint32_t)low;
    to->code_object = (uint32_t)(low >> 32);
    to->value = (uint32_t)high;
    to->time = (uint32_t)(high >> 32);
    return low == again;
#else
    __asm__ volatile("movdqa %1, %%xmm0\n\tmovdqa %%xmm0, %0" : "=m"(*to) : "m"(*from) : "xmm0");
    return 1;
#endif
}

/* The store that belongs to it: one 16-byte store, or the words with the sequence last. Relaxed. */
XS_INLINE void xs_record_store(xs_record *to, const xs_record *record) {
#if XS_RECORD_BY_WORDS
    uint64_t *words = (uint64_t *)(void *)to;
    /* The stamp is taken away first and put back last, so that old payload never stands under a new stamp. */
    __atomic_store_n(&words[0], 0, __ATOMIC_RELAXED);
    __atomic_store_n(&words[1], (uint64_t)record->value | (uint64_t)record->time << 32, __ATOMIC_RELEASE);
    __atomic_store_n(&words[0], (uint64_t)record->sequence | (uint64_t)record->code_object << 32, __ATOMIC_RELEASE);
#else
    __asm__ volatile("movdqa %1, %%xmm0\n\tmovdqa %%xmm0, %0" : "=m"(*to) : "m"(*record) : "xmm0");
#endif
}

#endif
