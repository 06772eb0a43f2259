/* Taking records of a ring four at a time: what a reader spends nearly all of its time with. Each record still is one
 * 16-byte load, checked by its own stamp, or by both; four are compared at once. */
#ifndef XS_RING_BULK_H
#define XS_RING_BULK_H

#include <xs/record_access.h>

#if XS_WHOLE_ACCESS
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
XS_HOST_FN uint32_t xs_ring_bulk_whole(const xs_record *from, xs_record *out, uint32_t count, uint64_t sequence) {
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

/* The same of two stamped words: slots that follow each other are of one lap. */
XS_HOST_FN uint32_t xs_ring_bulk_stamped(const xs_record *from, xs_record *out, uint32_t count, uint64_t sequence,
                                         uint32_t shift) {
    const __m128i none = _mm_setzero_si128(), four = _mm_set1_epi32(4), mask = _mm_set1_epi32((int)XS_SEQUENCE_MASK);
    const __m128i lap = _mm_set1_epi32((int)(xs_lap_stamp((uint32_t)sequence, shift) & 0xffffu)),
                  half = _mm_set1_epi32(0xffff);
    __m128i number = _mm_add_epi32(_mm_set1_epi32((int)(uint32_t)sequence), _mm_set_epi32(3, 2, 1, 0));
    uint32_t done = 0;
    for (; count - done >= 4; done += 4) {
        _mm_prefetch((const char *)(from + done + XS_BULK_AHEAD), _MM_HINT_T0);
        __m128i a = xs_bulk_load(from + done), b = xs_bulk_load(from + done + 1);
        __m128i c = xs_bulk_load(from + done + 2), d = xs_bulk_load(from + done + 3);
        __m128i ab = _mm_unpacklo_epi32(a, b), cd = _mm_unpacklo_epi32(c, d), ab2 = _mm_unpackhi_epi32(a, b),
                cd2 = _mm_unpackhi_epi32(c, d);
        __m128i codes = _mm_unpacklo_epi64(ab, cd), low = _mm_unpackhi_epi64(ab, cd);
        __m128i values = _mm_unpacklo_epi64(ab2, cd2), high = _mm_unpackhi_epi64(ab2, cd2);
        __m128i stamped = _mm_and_si128(_mm_cmpeq_epi32(_mm_srli_epi32(low, 16), lap),
                                        _mm_cmpeq_epi32(_mm_srli_epi32(high, 16), lap));
        if (_mm_movemask_epi8(_mm_andnot_si128(_mm_cmpeq_epi32(codes, none), stamped)) != 0xffff)
            break;
        __m128i numbers = _mm_and_si128(number, mask),
                times = _mm_or_si128(_mm_and_si128(low, half), _mm_slli_epi32(high, 16));
        __m128i heads = _mm_unpacklo_epi32(numbers, codes), tails = _mm_unpacklo_epi32(values, times);
        __m128i *to = (__m128i *)(void *)(out + done);
        _mm_store_si128(to, _mm_unpacklo_epi64(heads, tails));
        _mm_store_si128(to + 1, _mm_unpackhi_epi64(heads, tails));
        heads = _mm_unpackhi_epi32(numbers, codes), tails = _mm_unpackhi_epi32(values, times);
        _mm_store_si128(to + 2, _mm_unpacklo_epi64(heads, tails));
        _mm_store_si128(to + 3, _mm_unpackhi_epi64(heads, tails));
        number = _mm_add_epi32(number, four);
    }
    return done;
}

XS_HOST_FN uint32_t xs_ring_bulk(uint32_t words, const xs_record *from, xs_record *out, uint32_t count,
                                 uint64_t sequence, uint32_t shift) {
    return words == 2 ? xs_ring_bulk_stamped(from, out, count, sequence, shift)
                      : xs_ring_bulk_whole(from, out, count, sequence);
}

#else

XS_HOST_FN uint32_t xs_ring_bulk(uint32_t words, const xs_record *from, xs_record *out, uint32_t count,
                                 uint64_t sequence, uint32_t shift) {
    (void)words, (void)from, (void)out, (void)count, (void)sequence, (void)shift;
    return 0;
}

#endif
#endif
