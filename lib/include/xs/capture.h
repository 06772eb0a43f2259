/* The capture: append-only frames, each with length, checksum and identity. Cut off anywhere, every whole frame
 * before the cut can be read. NAME.xs is one file, or (bounded captures) a folder of segments NAME.xs/NNNNNN.seg,
 * each of which starts with a FILE frame and the catalog. Little-endian. Frames start at multiples of 16 bytes. */
#ifndef XS_CAPTURE_H
#define XS_CAPTURE_H

#include <xs/region.h>

#define XS_FRAME_MAGIC 0x4d524658u /* "XFRM" */
/* 2: ends of waits may name a source file where version 1 has what was slept (record.h), so that readers of 1 must
 * not guess. */
#define XS_CAPTURE_VERSION 2u

/* X(number, NAME, "payload") */
#define XS_FRAMES(X)                                                                                                \
    X(1, FILE, "xs_frame_file: first frame of every file and segment")                                              \
    X(2, PROCESS, "xs_frame_process, then host name, command line and executable, zero-terminated")                 \
    X(3, NAME, "xs_frame_name, then the name, zero-terminated")                                                     \
    X(4, PAD, "xs_frame_pad, then pad name, row label, column label, zero-terminated")                              \
    X(5, PLAN, "array of xs_plan_entry")                                                                            \
    X(6, JOURNAL, "array of xs_journal_entry")                                                                      \
    X(7, RECORDS, "xs_frame_records, then records")                                                                 \
    X(8, LOOK, "array of xs_frame_look: newest sequence and time of rings")                                         \
    X(9, OWNERS, "array of xs_frame_owner")                                                                         \
    X(10, STATUS, "array of xs_frame_status: open waits")                                                           \
    X(11, LOSS, "array of xs_frame_loss")                                                                           \
    X(12, COUNTERS, "xs_frame_counters")                                                                            \
    X(13, TRIGGER, "zero-terminated reason: the rings were dumped here")                                            \
    X(14, NOTE, "zero-terminated text for the report")                                                              \
    X(15, PROCESS_END, "xs_frame_end: this process is over, cleanly or not")                                        \
    X(16, END, "empty: the capture was closed in order")                                                            \
    X(17, ACTIVITY, "array of xs_activity_entry: what CUPTI tells of GPUs")                                         \
    X(18, CUPTI, "xs_cupti_health")

#define XS_FRAME_ENUM(number, name, text) XS_FRAME_##name = number,
enum xs_frame_type { XS_FRAMES(XS_FRAME_ENUM) XS_FRAME_COUNT = 19 };
#undef XS_FRAME_ENUM

typedef struct xs_frame {
    uint32_t magic;
    uint16_t type;
    uint16_t header_bytes; /* 80; a newer version may add */
    uint64_t payload_bytes; /* without padding to 16 */
    uint64_t checksum; /* XXH3-64 of the payload, seeded with that of the header in which this field is 0 */
    uint64_t number;   /* of the frame in this capture, from 0: a gap is a lost frame */
    uint64_t host;     /* identity; 0 where a frame belongs to no process */
    uint64_t process;
    int32_t device;
    int32_t rank; /* -1: none or several */
    uint32_t ring; /* index in the region; 0xffffffff: none */
    uint32_t reserved0;
    /* CLOCK_BOOTTIME ns when the frame was made; 0: by a collector of another clock than the process (virtual time) */
    uint64_t time;
    uint64_t reserved1;
} xs_frame;
XS_STATIC_ASSERT(sizeof(xs_frame) == 80, "frame headers are 80 bytes");

typedef struct xs_frame_file {
    char magic[16]; /* "xs capture\r\n\x1a\n" */
    uint32_t version;
    uint32_t xs_version;
    uint64_t events_hash;
    uint64_t segment; /* number of the segment, from 0 */
    uint64_t dropped_segments; /* removed before this one, because the capture is bounded */
} xs_frame_file;
#define XS_CAPTURE_MAGIC "xs capture\r\n\x1a\n"

typedef struct xs_frame_process {
    xs_region_header region; /* as it was when the process was first seen */
    uint64_t strings_bytes;
} xs_frame_process;

enum xs_name_kind {
    XS_NAME_ROLE = 1,
    XS_NAME_MARK = 2,
    XS_NAME_KERNEL = 3,
    XS_NAME_BUFFER = 4,
    XS_NAME_DEVICE = 5,
    XS_NAME_CALL = 6,
    XS_NAME_FILE = 7
};
typedef struct xs_frame_name {
    uint32_t kind;
    uint32_t id;
} xs_frame_name;

typedef struct xs_frame_pad {
    uint32_t first, rows, columns, flags;
    uint32_t owners; /* ranks of the world */
    uint32_t reserved0;
} xs_frame_pad;

typedef struct xs_frame_records {
    uint64_t first;       /* 64-bit sequence of the first record; the rest follow without a gap */
    uint64_t count;
    uint64_t looked_before; /* time of the collector's previous look at this ring; 0: none. Records newer than the
                               newest one seen then are younger than this, less what a preempted writer takes */
    uint64_t time;        /* when these were taken */
} xs_frame_records;

typedef struct xs_frame_look {
    uint32_t ring;
    uint32_t reserved0;
    uint64_t newest; /* 64-bit sequence of the newest record seen in the ring */
    uint64_t time;
} xs_frame_look;

typedef struct xs_frame_owner {
    uint32_t ring;
    uint32_t ordinal; /* the how many-th owner of the ring, from 0 */
    xs_ring_owner owner;
} xs_frame_owner;

typedef struct xs_frame_status {
    uint32_t ring;
    uint32_t line;
    uint64_t time;
    xs_status_line status;
} xs_frame_status;

/* Why records are missing. X(number, NAME, "text") */
#define XS_LOSS_CAUSES(X)                                                                      \
    X(1, OVERWRITTEN, "the ring wrapped before the collector came")                            \
    X(2, DISCARDED, "the ring was full (discard mode)")                                        \
    X(3, NEVER_ARRIVED, "a hole that newer records passed and that did not fill")              \
    X(4, NO_SPACE, "the capture could not be written")                                         \
    X(5, BOUNDED, "removed, because the capture is bounded")                                   \
    X(6, RECORDER, "the recorder was gone")                                                    \
    X(7, DEVICE, "in device memory when it was lost or could no longer be copied")
#define XS_LOSS_ENUM(number, name, text) XS_LOSS_##name = number,
enum xs_loss_cause { XS_LOSS_CAUSES(XS_LOSS_ENUM) XS_LOSS_COUNT = 8 };
#undef XS_LOSS_ENUM

typedef struct xs_frame_loss {
    uint32_t ring;
    uint32_t cause;
    uint64_t first, last; /* 64-bit sequences, both lost */
    uint32_t at_least;    /* 1: a stall beyond half the sequence range: there may be whole ranges more */
    uint32_t reserved0;
} xs_frame_loss;

typedef struct xs_frame_counters {
    uint64_t no_ring, foreign, no_line;
    uint64_t journal_lost;
} xs_frame_counters;

typedef struct xs_frame_end {
    uint32_t clean;      /* 1: xs_world_destroy ran; 0: the process died or left without */
    int32_t exit_status; /* of waitpid where known, else -1 */
    uint32_t abort_reason;
    uint32_t tail_unknown; /* 1: writers were active: records after the newest ones seen may be missing, uncounted */
} xs_frame_end;

#endif
