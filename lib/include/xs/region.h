/* The region: the memory that kernels write events into, one per process. A memfd on real runs (sealed, so that it
 * cannot shrink under a reader), readable by another process after SIGKILL. Everything that a reader needs to take it
 * apart is in its header: magic, version, sizes, offsets and strides. Fixed-width types only; offsets are bytes from the
 * region's first byte.
 *
 *   header | controls | groups (ring bitmap of CPU ranks) | ring headers | status lines | records | catalog | journal | activity
 */
#ifndef XS_REGION_H
#define XS_REGION_H

#include <stddef.h>
#include <xs/activity.h>
#include <xs/record.h>

/* Stored XORed, so that a memory scan does not match the constants of the program itself. */
#define XS_REGION_MAGIC (0x314e4f4947455258ull ^ 0xa5a5a5a5a5a5a5a5ull)
#define XS_REGION_VERSION 4u
#define XS_REGION_NAMED \
    4u /* from here on XS_END_NAMED means what it says; in 3 it was the highest bit of the stage until it did */

enum xs_region_state { XS_REGION_INIT = 0, XS_REGION_LIVE = 1, XS_REGION_ENDED = 2 };

typedef struct xs_region_header {
    uint64_t magic;
    uint32_t version;
    uint32_t header_bytes;
    uint64_t total_bytes;
    uint64_t events_hash; /* of the event and code tables: xs_events_hash() */
    uint16_t record_bytes;
    /* 2: records, owners and status lines are 8-byte words with a stamp each (record.h); 0: 16 bytes whole. In captures
     * always 0, since whoever copies records makes them one again */
    uint16_t record_words;
    uint32_t sequence_bits;
    uint32_t state; /* xs_region_state; ENDED is the clean-shutdown flag */
    uint32_t virtual_time; /* 1: sim; host, process and time are virtual */
    /* identity */
    uint64_t host;    /* hash of the boot id; 0 on sim */
    uint64_t process; /* hash of boot id, pid and start time; 1 + first rank on sim */
    uint64_t start_time; /* CLOCK_BOOTTIME, ns */
    int64_t start_realtime; /* CLOCK_REALTIME, ns, at the same moment */
    int32_t pid;
    int32_t device; /* CUDA ordinal; -1: host backend */
    uint32_t first_rank; /* ranks first_rank .. first_rank + ranks - 1 live in this process */
    uint32_t ranks;
    uint32_t world_ranks;
    /* rings */
    uint32_t rings_per_rank;
    uint32_t groups_per_rank; /* 64 rings a group, one bitmap word each */
    uint32_t ring_records;    /* power of two */
    uint32_t lines_per_ring;  /* status lines: waits that one writer may have open at once */
    uint32_t placement;       /* xs_ring_placement of the rings that can be placed */
    uint64_t control_offset; /* xs_control, one a rank of this process */
    uint64_t groups_offset;
    uint64_t ring_headers_offset;
    uint64_t ring_header_stride;
    uint64_t status_offset;
    uint64_t status_stride; /* per line */
    uint64_t records_offset;
    uint64_t records_stride; /* per ring: ring_records records */
    uint64_t catalog_offset; /* capture frames that describe: names, pads, plan. Append only */
    uint64_t catalog_bytes;
    uint64_t catalog_used; /* committed with release order */
    uint64_t journal_offset; /* ring of xs_journal_entry: launches, clock pairs, host calls */
    uint64_t journal_entries; /* power of two */
    uint64_t activity_offset;  /* xs_activity_head, then entries: what CUPTI tells */
    uint64_t activity_entries; /* power of two; 0: there is no such section */
} xs_region_header;

/* What is recorded, as the host sets it. Each ring header has a copy for its writer, since reads of one word in host
 * memory by many warps of a GPU take turns. */
typedef struct xs_window {
    uint32_t started; /* xs_started_bits */
    uint32_t freeze;  /* control: set before a trap; nobody records after it is seen */
    uint32_t rank_first, rank_last; /* filters, inclusive */
    uint32_t block_first, block_last;
    uint64_t epoch_first, epoch_last;
} xs_window;
XS_STATIC_ASSERT(sizeof(xs_window) == 40 && offsetof(xs_window, block_first) == 16, "writers read 16 bytes at once");

/* What kernels of a GPU look at instead of words in host memory (kernels: lookout.h). Two a rank, for kernels built
 * without tracing and with it, in the GPU's memory; a launch has those of its first rank. Zeroed when the world is
 * made; the host does not touch them again. */
typedef struct xs_lookout {
    uint32_t aborted; /* the world's abort word as last seen */
    uint32_t time;    /* low 32 bits of ns, when somebody last looked */
    uint32_t state;   /* `started` as last seen, XS_LOOKOUT_FROZEN where `freeze` is up */
    uint8_t pad[116];
} xs_lookout;
XS_STATIC_ASSERT(sizeof(xs_lookout) == 128, "no two share a line");

/* What a kernel reads at writer-begin and at back-off stages, and the counters that keep silence out. Each launch
 * has that of its first rank: adds of several devices to one word of mapped memory would lose counts, so readers sum
 * over all. */
typedef struct xs_control {
    uint32_t started; /* xs_started_bits */
    uint32_t freeze;  /* set before a trap: nobody records after it is seen */
    uint32_t rank_first, rank_last; /* filters, inclusive */
    uint32_t block_first, block_last;
    uint64_t epoch_first, epoch_last;
    /* the reason (positive xs_error), by whoever aborts: the world's abort word is not in the region */
    uint32_t aborted;
    uint8_t pad0[20];
    uint64_t no_ring; /* writers that found no free ring */
    uint64_t foreign; /* record calls from another lane than the one chosen at writer-begin */
    uint64_t no_line; /* waits that found no free status line */
    /* device placement: what the collector wants of the process that copies rings into the region */
    uint32_t image_wish;  /* xs_image_wish */
    uint32_t image_asked; /* counted up: once, whole, now */
    uint32_t image_done;  /* the request that was met last */
    uint8_t pad1[28];
} xs_control;
XS_STATIC_ASSERT(sizeof(xs_control) == 128, "two cache lines: what is read, and the counters");
XS_STATIC_ASSERT(offsetof(xs_control, aborted) == sizeof(xs_window), "it begins like a window");

/* Nobody reads the rings; they are read at a dump, and looked at now and then, so that positions and times stay
 * known; they are read as they fill. */
enum xs_image_wish { XS_IMAGE_NOBODY = 0, XS_IMAGE_LOOKS = 1, XS_IMAGE_LIVE = 2 };

/* FILTERED: not everybody passes the filters; without it nobody looks at them. */
enum xs_started_bits { XS_STARTED = 1, XS_STARTED_PAYLOAD = 2, XS_STARTED_FILTERED = 4 };

/* In a ring header each half of an entry, which one 16-byte store writes, carries a stamp of the entry's ordinal, so that its writer
 * needs no fence: whoever sees the count of owners before the entry sees the wrong stamp. Without stamps everywhere else
 * (ring_access.h takes them off). Where records are two words, an entry is four of 56 bits and a stamp of 8:
 *
 *   first 48 | role, bits 0..7          time, bits 0..55          launch 32 | block, bits 0..23
 *   warp_sm 32 | time, bits 56..63 | block, bits 24..31 | role, bits 8..15 */
typedef struct xs_ring_owner {
    uint64_t first;   /* 64-bit sequence of its first record; in a ring header its low 48 bits | stamp 16 (high) */
    uint64_t time;    /* ns, when it took the ring */
    uint32_t launch;
    uint32_t block;   /* index inside the rank */
    uint32_t warp_sm; /* warp 16 | SM 16 (high) */
    uint32_t role;    /* in a ring header 16 bits | stamp 16 (high) */
} xs_ring_owner;
XS_STATIC_ASSERT(sizeof(xs_ring_owner) == 32, "owner entries are 32 bytes");

#define XS_RING_OWNERS 8u

#define XS_RING_STAMP(ordinal) (((uint32_t)(ordinal) & 0x7fffu) + 1u) /* never that of zeroed memory */
#define XS_RING_WORD_STAMP(ordinal) (0x80u | ((uint32_t)(ordinal) / XS_RING_OWNERS & 0x7fu)) /* of 8 bits; nor this */

/* One word of such an entry: low 32 bits, high 24 bits. */
#define XS_OWNER_WORD(stamp, high, low) \
    ((uint32_t)(low) | (uint64_t)((uint32_t)(stamp) << 24 | ((uint32_t)(high)&0xffffffu)) << 32)
#define XS_OWNER_WORD0(stamp, first, role) \
    XS_OWNER_WORD(stamp, ((uint32_t)((first) >> 32) & 0xffffu) | ((uint32_t)(role)&0xffu) << 16, first)
#define XS_OWNER_WORD1(stamp, time) XS_OWNER_WORD(stamp, (time) >> 32, time)
#define XS_OWNER_WORD2(stamp, launch, block) XS_OWNER_WORD(stamp, block, launch)
#define XS_OWNER_WORD3(stamp, warp_sm, time, block, role) \
    XS_OWNER_WORD(stamp, (uint32_t)((time) >> 56) | (uint32_t)(block) >> 24 << 8 | ((uint32_t)(role) >> 8 & 0xffu) << 16, warp_sm)
#define XS_RING_STARTED 8u
#define XS_RING_MAGIC 0x474e4952u

/* 512 bytes; lines of 64 bytes by who writes them. */
typedef struct xs_ring_header {
    uint32_t magic;
    uint32_t index; /* in the region: rank_index * rings_per_rank + ring */
    uint32_t rank;
    int32_t device;
    uint32_t capacity;
    uint32_t lines;
    /* blocks of the rank, 8 a ring in turn: the launch that last began there (traced CUDA kernels) */
    uint32_t started[XS_RING_STARTED];
    uint8_t pad0[8];
    /* the writer's, at its begin and its end: on a GPU by one 16-byte store */
    uint64_t next;   /* next sequence; exact while the ring is free */
    uint32_t owners; /* so far; the newest is owner[(owners - 1) % 8] */
    uint16_t mode;   /* xs_ring_mode of the file that took it last */
    uint16_t busy;   /* 1: between begin and end. A CPU's ring is taken a little longer, see `groups` */
    uint8_t pad1[48];
    uint64_t consumed; /* collector: everything up to this sequence was taken (discard mode looks at it when full) */
    uint8_t pad2[8];
    xs_window window; /* the host's, for the next owner */
    uint8_t pad3[8];
    /* device placement, whoever copies: the records in the region are an image of the ring */
    uint64_t image_time; /* every slot is at least as new as this (time of the world); 0: never copied */
    uint64_t image_next; /* the ring was free with this `next`, and the image holds all that it held; 0: not so */
    uint32_t placement;  /* xs_ring_placement, from the begin */
    uint32_t image_lost; /* 1: the device memory is lost, nothing newer comes */
    uint8_t pad4[8];
    xs_record overflow; /* writer in discard mode, ring full: a DROP that holds the last sequence dropped */
    uint8_t pad5[16];
    xs_ring_owner owner[XS_RING_OWNERS];
} xs_ring_header;
XS_STATIC_ASSERT(sizeof(xs_ring_header) == 512, "ring headers are 512 bytes");
XS_STATIC_ASSERT(offsetof(xs_ring_header, next) == 64 && offsetof(xs_ring_header, busy) == 78 &&
                     offsetof(xs_ring_header, window) % 16 == 0,
                 "writers store and load 16 bytes at once");

/* Where kernels write records. Ring headers, status lines and control are in the region always. */
enum xs_ring_placement { XS_RING_MAPPED = 0, XS_RING_DEVICE = 1 };

enum xs_ring_mode { XS_OVERWRITE = 0, XS_DISCARD = 1 };

/* Picked per file at compile time. */
#ifndef XS_RING_MODE
#define XS_RING_MODE XS_OVERWRITE
#endif

/* A status line: what one open wait is doing. Eight parts of 16 bytes; word 0 of each is the generation, so that a
 * half-new line is recognised (a reader takes the line only if all eight agree). Generation 0: never used. Lines lie
 * on multiples of their size. Where records are two words, so are parts: their generation is in the stamps
 * (record.h), cut to 16 bits, and a line is taken only if all sixteen agree. */
enum xs_line_state { XS_LINE_FREE = 0, XS_LINE_WAITING = 1, XS_LINE_SLOW = 2, XS_LINE_GIVEN_UP = 3, XS_LINE_OVER = 4 };

/* 16 bits of a generation, time << 3 | state: the state, so that it is not 0, and the time in steps of 1.02 us,
 * which come again after 8.4 ms. Two writes to a line in a row that agree in it are in the same state, at a multiple
 * of that apart. */
#define XS_LINE_STAMP(generation) (((generation) >> 10 & 0xfff8u) | ((generation) & 7u))

typedef struct xs_status_line {
    struct { uint32_t generation, state_stage, object, need_lo; } p0; /* state 8 | stage 8 | result 8 | cmp 8 */
    struct { uint32_t generation, need_hi, observed_lo, observed_hi; } p1;
    struct { uint32_t generation, polls, time_lo, time_hi; } p2;   /* when this line was written */
    struct { uint32_t generation, start_lo, start_hi, epoch; } p3; /* when the wait began */
    struct { uint32_t generation, line_role, user, heartbeat; } p4; /* source line 16 | role 16 (high) */
    struct {
        uint32_t generation, signal_object, at_lo, file;
    } p5; /* the slot it signalled last (the value is in its ring); low
                                                                     * half of the address that it waits at, 0 on the host; file_id.h */
    struct { uint32_t generation, cursor, block, warp_sm; } p6;
    struct { uint32_t generation, launch, rank, polls_hi; } p7;
} xs_status_line;
XS_STATIC_ASSERT(sizeof(xs_status_line) == 128, "a status line is two cache lines");

/* The journal: what the host does that is too frequent for the catalog. */
enum xs_journal_kind {
    /* a = launch, b = kernel name id, c = time, d = grid, e = block, f = first rank | ranks << 32, g = xs_launch_room */
    XS_JOURNAL_LAUNCH_BEGIN = 1,
    XS_JOURNAL_LAUNCH_END = 2, /* a = launch, b = 0, c = time, d = result */
    /* a = device + 1, b = 0, c = CLOCK_BOOTTIME, d = CLOCK_REALTIME (or device time), e = bracket, ns, f = step of the
     * device's clock, ns, where it was measured */
    XS_JOURNAL_CLOCK = 3,
    XS_JOURNAL_HOST_CALL = 4,  /* a = enum of the call, c = time */
    XS_JOURNAL_TRACE_STATE = 5 /* a = started bits, c = time: tracing was switched, or narrowed by a filter */
};

/* The room that a launch's kernel takes on an SM, as it is and as it would be without tracing. All 0: not known
 * (launched on the host, or not by xs_launch). */
typedef struct xs_launch_room {
    uint8_t blocks;       /* of its size that an SM holds at once */
    uint8_t plain_blocks; /* the same of the kernel without tracing; 0: not known (xs_add_kernels, PLAIN) */
    uint8_t registers;    /* a thread */
    uint8_t plain_registers;
    uint8_t limit; /* xs_room_limit: what keeps `blocks` from being more */
    uint8_t untraced; /* 1: tracing was stopped, and the kernel without it ran (XS_PLAIN_STOPPED) */
    /* bytes of local memory a thread (stack, spilled registers), beyond those of the plain kernel where it is known */
    uint16_t local;
} xs_launch_room;
XS_STATIC_ASSERT(sizeof(xs_launch_room) == 8, "it is one word of a journal entry");

enum xs_room_limit {
    XS_ROOM_UNKNOWN = 0,
    XS_ROOM_REGISTERS = 1,
    XS_ROOM_SHARED = 2,
    XS_ROOM_THREADS = 3,
    XS_ROOM_BLOCKS = 4
};

typedef struct xs_journal_entry {
    uint64_t sequence; /* 1-based, written last with release order; stamps the entry */
    uint32_t kind;
    uint32_t a;
    uint64_t b, c, d, e, f, g;
} xs_journal_entry;
XS_STATIC_ASSERT(sizeof(xs_journal_entry) == 64, "journal entries are one cache line");


#endif
