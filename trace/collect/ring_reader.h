/* Draining one ring. A reader keeps a 64-bit position of its own; the ring's stamps are narrower and are compared by
 * distance modulo what of them is known: 2^XS_SEQUENCE_BITS, or, where records are two stamped words (record.h), at most 2^16 laps.
 * Records are given out in one form, whichever they have in the ring.
 *
 *   stamp = expected   the record is there: taken. It was copied whole (or its two stamps agree), and the copy carries its stamp: a
 *                      record that was overwritten meanwhile shows another one
 *   stamp older        not here yet. If newer records are, this is a hole: pending, until it fills, the ring laps it, the
 *                      ring is quiet, or the grace time is over; then lost (NEVER_ARRIVED, or DISCARDED where the overflow
 *                      slot says that the writer found the ring full)
 *   stamp newer        lapped: all up to the new position is lost, exactly. The new position leaves a quarter of the
 *                      ring to the writer, so that the reader is not lapped again at once
 *
 * taken + lost = position - 1, at every moment. After a stall in which the writer may have gone beyond half of the
 * sequence range, stamps alone do not say how often: the gap is then "at least", until the 64-bit count in the ring's
 * header is exact again (when the writer gives the ring back), which corrects the position.
 *
 * The same source is compiled with 8-bit and 3-bit sequences by tests, and run step by step by tests/model, which
 * redefines the shared-memory accesses XS_READER_*. */
#ifndef XS_RING_READER_H
#define XS_RING_READER_H

#include <xs/capture.h>
#include <xs/record_access.h>

typedef struct xs_ring_reader {
    const xs_record *records; /* capacity of them */
    xs_ring_header *header;
    uint32_t capacity;
    uint32_t words;      /* the region's record_words */
    uint32_t shift;      /* log2(capacity) */
    uint32_t known;      /* mask of the bits of a sequence that stamps tell */
    uint32_t unsure;     /* a look after a stall moved `newest`: the next gap is "at least" */
    uint32_t bold;       /* leave no margin at the next lap: the ring is likely to stand still (a dump) */
    uint32_t ordered;    /* 1: stores of one writer become visible in their order (threads of an x86 host) */
    uint64_t next;       /* 64-bit sequence of the next record to take */
    uint64_t given;      /* in discard mode: what the writer was told is free again, up to here */
    uint64_t newest;     /* of the newest record known to have been written; at least next - 1 */
    uint64_t looked;     /* time of the last look; 0: never */
    uint64_t hole_since; /* when a hole at `next` was first seen; 0: none */
    uint64_t hole_to;    /* what is lost, if the hole at `next` does not fill, ends before this */
    uint64_t dead_end;   /* one behind what the slots hold, where the writer died; 0: not looked for yet */
    uint64_t stall_ns;   /* in so long no writer gets through half of the sequence range */
    uint64_t grace_ns;   /* a hole is lost when it is this old */
    uint64_t drop_grace_ns; /* one that the writer says it dropped: it gets no room before, so that this is shorter */
    xs_record overflow;  /* the drop told last */
    xs_record last;      /* what stood before `next` when it was last looked at: shows unseen laps */
} xs_ring_reader;

typedef struct xs_ring_gap {
    uint64_t first, last;
    uint32_t cause; /* xs_loss_cause */
    uint32_t at_least;
} xs_ring_gap;

enum xs_drain_result {
    XS_DRAIN_EMPTY,   /* nothing more is here */
    XS_DRAIN_FULL,    /* `out` is full: call again */
    XS_DRAIN_GAP,     /* *gap follows what was taken: call again */
    XS_DRAIN_PENDING, /* a hole: newer records are here */
};

/* A ring that nobody writes: its holes will not fill. end: 64-bit sequence after its last record, as its header
 * says; 0: unknown (the writer died): what its slots hold decides. */
typedef struct xs_ring_quiet {
    int32_t quiet;
    uint64_t end;
} xs_ring_quiet;

/* words: the region's record_words. */
void xs_ring_reader_init(xs_ring_reader *reader, const xs_record *records, xs_ring_header *header, uint32_t capacity,
                         uint32_t words, int ordered);
/* Takes up to `capacity` records in order into out and counts them in *taken (also before a gap). now: ns. One
 * thread. */
int xs_ring_drain(xs_ring_reader *reader, xs_record *out, uint32_t capacity, uint32_t *taken, xs_ring_gap *gap,
                  xs_ring_quiet quiet, uint64_t now);
/* Tells the writer (discard mode) what was taken. */
void xs_ring_give_space(xs_ring_reader *reader);
/* Only looks for the newest record, takes nothing: a ring that is left to itself is looked at once a second, so that
 * its position stays known in 64 bits. Copies the record found; returns 0 if there is none. */
int xs_ring_look(xs_ring_reader *reader, xs_record *newest, uint64_t now);

#endif
