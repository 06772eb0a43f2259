/* Reading and writing whole 16-byte records from the host. C compilers may split a 16-byte load into two (gcc does so
 * with _mm_load_si128) and would then see torn records of their own making, so the access is spelled out. */
#ifndef XS_RECORD_ACCESS_H
#define XS_RECORD_ACCESS_H

#include <xs/record.h>

/* 1: no whole 16-byte access here (or none that ThreadSanitizer understands): records are two 8-byte words. Reader and
 * writer of one region must agree. */
#if !defined(XS_RECORD_BY_WORDS)
#if defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
#define XS_RECORD_BY_WORDS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define XS_RECORD_BY_WORDS 1
#endif
#endif
#endif
#ifndef XS_RECORD_BY_WORDS
#define XS_RECORD_BY_WORDS 0
#endif

/* The slot of the ring in which a sequence is stored; mask = ring_records - 1, sequence before it is cut to
 * XS_SEQUENCE_BITS. */
#define XS_RECORD_SLOT(sequence, mask) ((uint32_t)(sequence) & (uint32_t)(mask))

#define XS_HOST_FN static inline __attribute__((always_inline, unused))

typedef uint64_t __attribute__((may_alias)) xs_record_word;
typedef uint32_t xs_record_vector __attribute__((vector_size(16), may_alias));

/* Copies one record (or 16-byte part of a status line) that another thread, process or device may be writing. Returns 1;
 * 0 where the copy may be half old and half new: try again later. A slot that is just being written may read as empty
 * (sequence and code 0). Orders nothing. */
XS_HOST_FN int xs_record_load(const xs_record *from, xs_record *to) {
#if XS_RECORD_BY_WORDS
    const xs_record_word *words = (const xs_record_word *)(const void *)from;
    uint64_t low = __atomic_load_n(&words[0], __ATOMIC_ACQUIRE);
    uint64_t high = __atomic_load_n(&words[1], __ATOMIC_ACQUIRE);
    uint64_t again = __atomic_load_n(&words[0], __ATOMIC_RELAXED);
    to->sequence = (uint32_t)low;
    to->code_object = (uint32_t)(low >> 32);
    to->value = (uint32_t)high;
    to->time = (uint32_t)(high >> 32);
    return low == again;
#else
    xs_record_vector whole;
    __asm__ volatile("movdqa %1, %0" : "=x"(whole) : "m"(*(const xs_record_vector *)(const void *)from));
    *(xs_record_vector *)(void *)to = whole;
    return 1;
#endif
}

/* The store that belongs to it. Orders nothing (on x86 all stores are seen in order). */
XS_HOST_FN void xs_record_put(xs_record *to, uint32_t word0, uint32_t word1, uint32_t word2, uint32_t word3) {
#if XS_RECORD_BY_WORDS
    xs_record_word *words = (xs_record_word *)(void *)to;
    /* The stamp is taken away first and put back last, so that old payload never stands under a new stamp. The release
     * makes a reader that sees the new payload see the stamp gone as well. */
    __atomic_store_n(&words[0], 0, __ATOMIC_RELAXED);
    __atomic_store_n(&words[1], (uint64_t)word2 | (uint64_t)word3 << 32, __ATOMIC_RELEASE);
    __atomic_store_n(&words[0], (uint64_t)word0 | (uint64_t)word1 << 32, __ATOMIC_RELEASE);
#else
    xs_record_vector whole = {word0, word1, word2, word3}; /* in a register: a detour through memory costs a stall */
    __asm__ volatile("movdqa %1, %0" : "=m"(*(xs_record_vector *)(void *)to) : "x"(whole));
#endif
}

XS_HOST_FN void xs_record_store(xs_record *to, const xs_record *record) {
    xs_record_put(to, record->sequence, record->code_object, record->value, record->time);
}

#endif
