/* Reading and writing records from the host, in both of their forms (record.h): one word of 16 bytes, or two of 8
 * with a stamp each. C compilers may split a 16-byte load into two (gcc does so with _mm_load_si128) and would then
 * see torn records of their own making, so the access is spelled out. Nothing here orders anything. */
#ifndef XS_RECORD_ACCESS_H
#define XS_RECORD_ACCESS_H

#include <xs/record.h>

/* 1: 16 bytes are loaded and stored as one. Else by two 8-byte atomics, which ThreadSanitizer understands. */
#if defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
#define XS_WHOLE_ACCESS 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define XS_WHOLE_ACCESS 0
#endif
#endif
#ifndef XS_WHOLE_ACCESS
#define XS_WHOLE_ACCESS 1
#endif

/* The slot of the ring in which a sequence is stored; mask = ring_records - 1, sequence before it is cut to
 * XS_SEQUENCE_BITS. */
#define XS_RECORD_SLOT(sequence, mask) ((uint32_t)(sequence) & (uint32_t)(mask))

#define XS_HOST_FN static inline __attribute__((always_inline, unused))

typedef uint64_t __attribute__((may_alias)) xs_record_word;
typedef uint32_t xs_record_vector __attribute__((vector_size(16), may_alias));

/* Copies 16 bytes that another thread, process or device may be writing, whichever form they have; written by one
 * 16-byte store they are whole. 0: they changed between two loads; try again later. */
XS_HOST_FN int xs_record_load(const xs_record *from, xs_record *to) {
#if XS_WHOLE_ACCESS
    xs_record_vector whole;
    __asm__ volatile("movdqa %1, %0" : "=x"(whole) : "m"(*(const xs_record_vector *)(const void *)from));
    *(xs_record_vector *)(void *)to = whole;
    return 1;
#else
    const xs_record_word *words = (const xs_record_word *)(const void *)from;
    uint64_t low = __atomic_load_n(&words[0], __ATOMIC_ACQUIRE);
    uint64_t high = __atomic_load_n(&words[1], __ATOMIC_ACQUIRE);
    to->sequence = (uint32_t)low;
    to->code_object = (uint32_t)(low >> 32);
    to->value = (uint32_t)high;
    to->time = (uint32_t)(high >> 32);
    return low == __atomic_load_n(&words[0], __ATOMIC_RELAXED);
#endif
}

/* The store that belongs to it. */
XS_HOST_FN void xs_record_put(xs_record *to, uint32_t word0, uint32_t word1, uint32_t word2, uint32_t word3) {
#if XS_WHOLE_ACCESS
    xs_record_vector whole = {word0, word1, word2, word3}; /* in a register: a detour through memory costs a stall */
    __asm__ volatile("movdqa %1, %0" : "=m"(*(xs_record_vector *)(void *)to) : "x"(whole));
#else
    xs_record_word *words = (xs_record_word *)(void *)to;
    __atomic_store_n(&words[0], (uint64_t)word0 | (uint64_t)word1 << 32, __ATOMIC_RELAXED);
    __atomic_store_n(&words[1], (uint64_t)word2 | (uint64_t)word3 << 32, __ATOMIC_RELAXED);
#endif
}

XS_HOST_FN void xs_record_store(xs_record *to, const xs_record *record) {
    xs_record_put(to, record->sequence, record->code_object, record->value, record->time);
}

/* Two stamped words: 96 bits, of which a stands in word 0, b in word 1, and the halves of c beside the stamps. */
#define XS_STAMPED(stamp, half) ((uint32_t)(stamp) << 16 | ((uint32_t)(half) & 0xffffu))

XS_HOST_FN void xs_stamped_put(void *to, uint32_t stamp, uint32_t a, uint32_t b, uint32_t c) {
    xs_record_word *words = (xs_record_word *)to;
    __atomic_store_n(&words[0], a | (uint64_t)XS_STAMPED(stamp, c) << 32, __ATOMIC_RELAXED);
    __atomic_store_n(&words[1], b | (uint64_t)XS_STAMPED(stamp, c >> 16) << 32, __ATOMIC_RELAXED);
}

/* What was copied, apart: sequence = stamp, code_object = a, value = b, time = c. 0: the words are not of one store. */
XS_HOST_FN int xs_stamped_open(const xs_record *raw, xs_record *to) {
    xs_record out = {raw->code_object >> 16, raw->sequence, raw->value, (raw->code_object & 0xffffu) | raw->time << 16};
    *to = out;
    return out.sequence == raw->time >> 16;
}

/* Of the sequence these bits are known to whoever reads a ring of 1 << shift records. words: region.h. */
XS_HOST_FN uint32_t xs_sequence_known(uint32_t words, uint32_t shift) {
    return words == 2 && 16 + shift < XS_SEQUENCE_BITS ? 0xffffffffu >> (16 - shift) : XS_SEQUENCE_MASK;
}

XS_HOST_FN uint32_t xs_lap_stamp(uint32_t sequence, uint32_t shift) {
    return ((sequence & XS_SEQUENCE_MASK) >> shift) + 1;
}

/* A record into the slot `at` of a ring of 1 << shift records. */
XS_HOST_FN void xs_slot_put(uint32_t words, xs_record *at, uint32_t shift, uint32_t sequence, uint32_t code_object,
                            uint32_t value, uint32_t time) {
    if (words == 2)
        xs_stamped_put(at, xs_lap_stamp(sequence, shift), code_object, value, time);
    else
        xs_record_put(at, sequence & XS_SEQUENCE_MASK, code_object, value, time);
}

/* A DROP into the overflow slot. */
XS_HOST_FN void xs_overflow_put(uint32_t words, xs_record *at, uint32_t sequence, uint32_t time) {
    if (words == 2)
        xs_stamped_put(at, (sequence & XS_SEQUENCE_MASK) + 1, XS_HEAD(XS_CODE_DROP, 0), sequence & XS_SEQUENCE_MASK,
                       time);
    else
        xs_record_put(at, sequence & XS_SEQUENCE_MASK, XS_HEAD(XS_CODE_DROP, 0), 0, time);
}

/* What stands in the slot of sequence `near`, or is just being written there (0: try again later); where nothing was
 * ever written its code is 0. to->sequence is the one nearest to `near` of those that the stamp leaves
 * (xs_sequence_known). */
XS_HOST_FN int xs_slot_load(uint32_t words, const xs_record *at, uint32_t shift, uint32_t near, xs_record *to) {
    xs_record raw;
    if (words != 2)
        return xs_record_load(at, to);
    if (!xs_record_load(at, &raw) || !xs_stamped_open(&raw, to))
        return 0;
    if (to->code_object) {
        uint32_t known = xs_sequence_known(words, shift),
                 off = ((to->sequence - xs_lap_stamp(near, shift)) << shift) & known;
        if (off > known >> 1)
            off |= ~known;
        to->sequence = (near + off) & XS_SEQUENCE_MASK;
    }
    return 1;
}

/* The same of the overflow slot, all of whose sequence is known. */
XS_HOST_FN int xs_overflow_load(uint32_t words, const xs_record *at, xs_record *to) {
    xs_record raw;
    if (words != 2)
        return xs_record_load(at, to);
    if (!xs_record_load(at, &raw) || !xs_stamped_open(&raw, to))
        return 0;
    uint32_t stamp = to->sequence;
    to->sequence = to->value;
    to->value = 0;
    return !to->code_object || stamp == ((to->sequence + 1) & 0xffffu);
}

/* Part of a status line, with its generation in to->sequence, in form 2 what its stamps have of it (XS_LINE_STAMP in
 * region.h). */
XS_HOST_FN int xs_part_load(uint32_t words, const xs_record *at, xs_record *to) {
    xs_record raw;
    if (words != 2)
        return xs_record_load(at, to);
    return xs_record_load(at, &raw) && xs_stamped_open(&raw, to);
}

#endif
