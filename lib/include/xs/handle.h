/* What a kernel gets: the handle (last parameter, by value), pads and buffers. One layout with and without tracing, so
 * that traced and untraced files link into one binary. Plain structs of device-readable pointers. */
#ifndef XS_HANDLE_H
#define XS_HANDLE_H

#include <xs/region.h>

typedef struct xs_handle {
    xs_control *control;
    /* ring bitmap of the launch's first rank; groups_per_rank words a rank; bit 1 = taken. Of a GPU: in its memory */
    uint64_t *groups;
    xs_ring_header *rings;  /* ring headers of the launch's first rank; rings_per_rank a rank */
    xs_status_line *status; /* status lines of the launch's first rank; rings_per_rank * lines_per_ring a rank */
    char *records;          /* records of the launch's first rank; ring_mask + 1 a ring */
    const uint32_t *abort;  /* not 0: the world is aborted, with this reason (xs_error, positive) */
    xs_lookout *lookout;    /* two, of the launch's first rank, in its GPU's memory; NULL on the host */
    uint64_t *waits;        /* when the wait of each status line began; likewise, lines in the order of `status` */
    uint32_t ring_shift;    /* log2 of ring_records */
    uint32_t ring_mask;     /* ring_records - 1 */
    uint32_t rings_per_rank; /* 0 where records are two words, see rings_by_words */
    uint32_t lines_per_ring;
    uint32_t rank;          /* first rank of the launch: block b of the grid is rank + b / blocks */
    uint32_t ranks;         /* of the world */
    uint32_t blocks;        /* blocks a rank */
    uint32_t launch;        /* launch id, from 1, over all ranks of the process */
    /* rings_per_rank where records are two words, else 0: kernels of the other form find no ring */
    uint32_t rings_by_words;
    uint32_t blocks_inverse; /* xs_blocks_inverse(blocks) */
} xs_handle;
XS_STATIC_ASSERT(sizeof(xs_handle) == 104, "the handle has one layout everywhere");

/* block / blocks without a division, for traced kernels on a GPU, whose waits have no registers for one: by 2^32 /
 * blocks rounded down (blocks of 1: 2^32 - 1). The product's high half is the quotient or one less, since it lacks
 * block * (2^32 / blocks - inverse) / 2^32, which is less than 1. */
XS_INLINE uint32_t xs_blocks_inverse(uint32_t blocks) {
    return blocks > 1 ? (uint32_t)((1ull << 32) / blocks) : UINT32_MAX;
}
XS_INLINE uint32_t xs_blocks_quotient(uint32_t block, uint32_t blocks, uint32_t inverse) {
    /* not by __umulhi: of this ptxas makes uniform instructions */
    uint32_t quotient = (uint32_t)((uint64_t)block * inverse >> 32);
    return quotient + (block - quotient * blocks >= blocks);
}

/* The form of what kernels and libxs share, which are compiled apart: libxs refuses kernels of another one, since
 * each would take the other's memory for what it is not. XS_FORM counts changes that sizes do not show. */
#define XS_FORM 1u
#define XS_LAUNCH_FORM                                                                                                            \
    (XS_FORM << 26 | (uint32_t)XS_SEQUENCE_BITS << 20 | (uint32_t)XS_EV_COUNT << 13 |                                          \
     (uint32_t)((sizeof(xs_handle) + sizeof(xs_control) + sizeof(xs_ring_header) + sizeof(xs_status_line) + sizeof(xs_lookout)) / 8 & 0x1fffu))

/* The member that kernels of this form go by. */
#if XS_RECORD_WORDS == 2
#define XS_RINGS rings_by_words
#else
#define XS_RINGS rings_per_rank
#endif

/* A pad: slots of every rank. Slot address = base[owner] + row * row_stride + column * column_stride. */
typedef struct xs_pad {
    void *const *base;      /* base[rank]: that rank's copy, in this address space */
    uint32_t first;         /* object id of (owner 0, row 0, column 0) */
    uint32_t rows, columns;
    uint32_t row_stride, column_stride; /* bytes */
    uint32_t flags;         /* xs_pad_flags */
} xs_pad;
XS_STATIC_ASSERT(sizeof(xs_pad) == 32, "the pad has one layout everywhere");

enum xs_pad_flags {
    XS_PAD_32 = 1,       /* slots are 32 bits wide (adopted pads) */
    XS_PAD_WIDE = 2,     /* high bits carry data (producer id): every record holds all 64 bits */
    XS_PAD_SHARED = 4,   /* several writers are intended: counters of gates and elections */
    XS_PAD_ADOPTED = 8,  /* memory of the user's */
    XS_PAD_NO_DATA = 16, /* guards no payload: relaxed order is intended */
    /* added to across links without atomics, knowing that counts get lost (tests of that very fault) */
    XS_PAD_UNSAFE_COUNTER = 32
};

/* A buffer: payload memory of which every rank owns a copy, visible to all. */
typedef struct xs_buffer {
    void *const *base; /* base[rank], in this address space */
    uint64_t bytes;    /* per rank */
} xs_buffer;

#define XS_BUFFER_AT(buffer, type, rank) ((type *)(buffer).base[rank])

/* A channel: one producer rank, several consumer ranks, a ring of `depth` batches. Host-built from three pads. */
typedef struct xs_channel {
    /* [consumer][channel 0][slot]: 64-bit sequence of the batch in that slot, at each consumer's copy */
    xs_pad sequence;
    xs_pad batch;    /* [consumer][0][slot]: its size; written by the producer before the sequence */
    xs_pad credit;   /* [producer][0][consumer]: highest sequence that this consumer has given back */
    uint32_t producer;
    uint32_t depth;
    uint64_t consumers; /* bit r: rank r consumes (worlds of more than 64 ranks: consumers are all but the producer) */
} xs_channel;

/* Bounds of a wait; a field of 0 does not bound. Waits end softly with xs_result. */
typedef struct xs_bound {
    uint64_t polls;        /* give up after so many polls */
    uint64_t ns;           /* give up after so many nanoseconds */
    uint64_t heartbeat_ns; /* give up when the peer's heartbeat has not moved for so long */
    const uint64_t *heartbeat; /* local copy of the peer's heartbeat slot; NULL: none */
} xs_bound;

XS_INLINE xs_bound xs_unbounded(void) {
    xs_bound b = {0, 0, 0, NULL};
    return b;
}
XS_INLINE xs_bound xs_bound_ns(uint64_t ns) {
    xs_bound b = {0, ns, 0, NULL};
    return b;
}

#endif
