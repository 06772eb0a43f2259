/* The record: 16 bytes, four whole 32-bit words, written by one 16-byte store.
 *
 *   word 0  sequence   position in the ring's stream, low bits; starts at 1, so zeroed memory is empty
 *   word 1  code 8 | object 24      (code in the high byte: no shift at run time)
 *   word 2  value      low 32 bits
 *   word 3  time       low 32 bits of nanoseconds (%globaltimer_lo on CUDA, CLOCK_BOOTTIME on the host)
 *
 * An event is one record, or a head with code FULL followed by 1 to 3 MORE records with the next sequences:
 *
 *   detail     word 1 = MORE | detail 24 (kind 8 | order 3 | scope 2 | fence 3 | cmp 3 | result 3 | further 2)
 *              word 2 = the event's detail word      word 3 = high 32 bits of the time
 *   further 1  word 1 = MORE | a 24,  word 2 = b,  word 3 = c      as listed below
 *   further 2  the same
 *
 *   event                    further 1 (a, b, c)                                    further 2 (a, b, c)
 *   SIGNAL, WATERMARK, RESET 0, value_hi, 0                                          -
 *   WAIT_START               file, need_hi, observed_hi         (wide pads, loops    -
 *                                                               that xs did not write)
 *   WAIT_END                 line 16 | stage 7 | named 1, slept_lo, last_fail        slept_hi 16 | polls_hi 8, observed_hi, need_hi
 *                                                                                    (left out where all are 0)
 *   PASS                     0, observed_hi, need_hi            (wide pads only)     -
 *   ARRIVE                   weight, old_hi, target_lo          (value = old_lo)     -
 *   GATE_ARRIVE              0, old_hi, 0                                            -
 *   PUBLISH, CONSUME         depth, sequence_hi, 0                                   -
 *   WRITER_BEGIN             rank, warp 16 | SM 16 (SM high), epoch_lo               -
 *   READ/WRITE/WORK_BEGIN    peer (0xffffff: none), rows, bytes                      -
 *
 * last_fail and slept are nanoseconds; a field that would overflow holds its largest value, read as "at least". A slept of
 * all ones is none: it follows from polls (backoff.h), and its high half alone does not ask for the second further record.
 * A WAIT_END that is named holds the number of the source file (file_id.h) in the place of such a slept_lo. FENCE and ABORT
 * hold it in their object; it is 0 where it is not known.
 * The one-record form of ARRIVE packs value = old 12 | weight 8 (<< 12) | expected 12 (<< 20), where old counts from
 * the epoch's base; where one does not fit, FULL is used, with old absolute.
 * A design note asks for at most two records an event; a wait's end needs three, since "two" would cut either the time
 * or the slept nanoseconds. Waits that had to wait have the time.
 *
 * A 16-byte store to a 16-byte aligned address is whole on every path measured (docs/limits.md), if it is read by one
 * 16-byte load. Where it is not (`xs doctor` tests it), XS_RECORD_WORDS=2 writes a record as two 8-byte words, which may become
 * visible in either order, since each carries a stamp of its own:
 *
 *   word 0  code 8 | object 24 (low half)     stamp 16 (high) | time, bits 0..15
 *   word 1  value              (low half)     stamp 16 (high) | time, bits 16..31
 *
 * The stamp is 1 + the lap, sequence / ring size, in 16 bits; the slot's index supplies the bits below. A record whose stamps
 * differ is under way; word 0 of zeroed memory is no record, since every code is above 0, and in the first lap no stamp is 0. Nothing
 * of a record is narrower for it: code, object, value and time keep their bits, and of the sequence 16 + log2(ring size) are left.
 * The overflow slot of a ring, whose index says nothing, holds the whole sequence as its value, and 1 + its low 16 bits as its stamp. */
#ifndef XS_RECORD_H
#define XS_RECORD_H

#include <xs/events.h>

typedef struct xs_record {
    uint32_t sequence;
    uint32_t code_object;
    uint32_t value;
    uint32_t time;
} __attribute__((aligned(16))) xs_record;

XS_STATIC_ASSERT(sizeof(xs_record) == 16, "a record is 16 bytes");

/* Width of the sequence number. 32 in every real build; tests build 8 and 3 to reach the wrap. */
#ifndef XS_SEQUENCE_BITS
#define XS_SEQUENCE_BITS 32
#endif
#define XS_SEQUENCE_MASK ((uint32_t)(0xffffffffu >> (32 - XS_SEQUENCE_BITS)))

/* How kernels write records: 1: one store of 16 bytes, 2: two of 8. One for all that writes into a region: picked
 * for the whole build (CMake: XS_RECORD_WORDS), or where only kernels are built, by the same define for their files
 * and in xs_config for the world. 2 where the host has no whole 16-byte load, or none that ThreadSanitizer
 * understands. */
#ifndef XS_RECORD_WORDS
#if defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
#define XS_RECORD_WORDS 2
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define XS_RECORD_WORDS 2
#endif
#endif
#endif
#ifndef XS_RECORD_WORDS
#define XS_RECORD_WORDS 1
#endif

#define XS_OBJECT_MASK 0xffffffu
#define XS_NO_PEER 0xffffffu

#define XS_HEAD(code, object) (((uint32_t)(code) << 24) + (uint32_t)(object))

#define XS_DETAIL(kind, order, scope, fence, cmp, result, further)                                          \
    (((uint32_t)XS_CODE_MORE << 24) | (uint32_t)(kind) | ((uint32_t)(order) << 8) |                        \
     ((uint32_t)(scope) << 11) | ((uint32_t)(fence) << 13) | ((uint32_t)(cmp) << 16) |                      \
     ((uint32_t)(result) << 19) | ((uint32_t)(further) << 22))

#define XS_DETAIL_KIND(w) ((w) & 0xffu)
#define XS_DETAIL_ORDER(w) (((w) >> 8) & 7u)
#define XS_DETAIL_SCOPE(w) (((w) >> 11) & 3u)
#define XS_DETAIL_FENCE(w) (((w) >> 13) & 7u)
#define XS_DETAIL_CMP(w) (((w) >> 16) & 7u)
#define XS_DETAIL_RESULT(w) (((w) >> 19) & 7u)
#define XS_DETAIL_FURTHER(w) (((w) >> 22) & 3u)

/* Word 1 of a WAIT_END's first further record. */
#define XS_STAGE_MOST 0x7fu
#define XS_END_NAMED 0x800000u

/* The longest sleep that a WAIT_END holds, ns. */
#define XS_SLEPT_MOST 0xfffffffffffeull

#define XS_MORE(a) (((uint32_t)XS_CODE_MORE << 24) | ((uint32_t)(a) & XS_OBJECT_MASK))

/* One-record ARRIVE. */
#define XS_ARRIVE_FITS(old, weight, expected) ((old) < 4096u && (weight) < 256u && (expected) < 4096u)
#define XS_ARRIVE_PACK(old, weight, expected) ((old) | ((weight) << 12) | ((expected) << 20))

#endif
