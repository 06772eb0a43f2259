/* Taking records of a ring four at a time: what a reader spends nearly all of its time with. Each record still is one
 * 16-byte load, checked by its own stamp; four stamps are compared at once. */
#ifndef XS_RING_BULK_H
#define XS_RING_BULK_H

#include <xs/record_access.h>

#if !XS_RECORD_BY_WORDS
#include <emmintrin.h>

#define XS_BULK_AHEAD \
    16 /* records that are asked for before they are looked at: the ring is in another core's cache, or in none */

XS_HOST_FN __m128i xs_bulk_load(const xs_record *from) {
    __m128i whole; /* spelled out: see record_access.h */
    __asm__ volatile("movdqa %1, %0" : "=x"(whole) : "m"(*(const xs_record_vector *)(const void *)from));
    return whole;
}

/* Copies records with the stamps sequence, sequence + 1 .. from slots that follow each other; stops at the first four
 * that are not all there. Returns how many it took, a multiple of four, at most `count`. */
XS_HOST_FN uint32_t xs_ring_bulk(const xs_record *from, xs_record *out, uint32_t count, uint64_t sequence) {
    const __m128i none = _mm_setzero_si128(), four = _mm_set1_epi32(4), mask = _mm_set1_epi32((int)XS_SEQUENCE_MASK);
    __m128i stamp = _mm_add_epi32(_mm_set1_epi32((int)(uint32_t)sequence), _mm_set_epi32(3, 2, 1, 0));
    uint32_t done = 0;
    for (; count - done >= 4; done += 4) {
        _mm_prefetch((const char *)(from + done + XS_BULK_AHEAD), _MM_HINT_T0);
        __m128i a = xs_bulk_load(from + done), b = xs_bulk_load(from + done + 1);
        __m128i c = xs_bulk_load(from + done + 2), d = xs_bulk_load(from + done + 3);
        __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d);
        __m128i stamps = _mm_unpacklo_epi64(ab, cd), codes = _mm_unpackhi_epi64(ab, cd);
        __m128i right =
            _mm_andnot_si128(_mm_cmpeq_epi32(codes, none), _mm_cmpeq_epi32(stamps, _mm_and_si128(stamp, mask)));
        if (_mm_movemask_epi8(right) != 0xffff)
            break;
        __m128i *to = (__m128i *)(void *)(out + done);
        _mm_store_si128(to, a);
        _mm_store_si128(to + 1, b);
        _mm_store_si128(to + 2, c);
        _mm_store_si128(to + 3, d);
        stamp = _mm_add_epi32(stamp, four);
    }
    return done;
}

#else

XS_HOST_FN uint32_t xs_ring_bulk(const xs_record *from, xs_record *out, uint32_t count, uint64_t sequence) {
    (void)from, (void)out, (void)count, (void)sequence;
    return 0;
}

#endif
#endif
