/* Writing a capture: append-only frames in NAME.xs, or, bounded, in segments NAME.xs/NNNNNN.seg of which the oldest are
 * removed. Frames are put together in a buffer and appended by write(), so that a killed process leaves whole frames
 * and at most one that is cut. Space is allocated ahead where the file system can do so: a full disk is met between
 * frames, never inside one, and a reserve is kept for the frames that end a capture.
 *
 * One thread at a time; in an unbounded capture one a lane. Errors are negative xs_error; the first one is kept
 * (xs_capture_error). After XS_E_NO_SPACE the capture takes no records (xs_capture_reserve returns NULL) until space
 * returns; the caller counts what it leaves out. */
#ifndef XS_CAPTURE_WRITER_H
#define XS_CAPTURE_WRITER_H

#include <xs/capture.h>

typedef struct xs_capture xs_capture;
typedef struct xs_capture_lane xs_capture_lane;

#define XS_CAPTURE_LANES 8u

typedef struct xs_capture_options {
    const char *name;     /* NAME or NAME.xs */
    const char *suffix;   /* put between NAME and .xs, "" or NULL: nothing */
    uint64_t bound_bytes; /* 0: no bound. At least 256 KiB */
    /* what is older than that before the newest record may be removed; a silence counts as an eighth of it at most.
     * 0: no bound */
    uint64_t bound_ns;
    uint64_t preallocate; /* bytes of space made at once; 0: as it grows. Unbounded captures only */
    int held;             /* 1: an earlier capture of that name stays until xs_capture_begin */
} xs_capture_options;

/* What a segment starts with, and what is gone with one. Called inside xs_capture_reserve. */
typedef struct xs_capture_owner {
    void *user;
    void (*segment_begins)(void *user, xs_capture *capture); /* puts catalog, positions and losses again */
    void (*segment_ends)(void *user, uint64_t segment);      /* no further frame goes into it */
    void (*segment_removed)(void *user, uint64_t segment, int fd); /* fd: reads what was in it; -1: it cannot be read */
} xs_capture_owner;

/* XS_E_NO_SPACE, XS_E_SYSTEM (folder missing or read-only), XS_E_ARGUMENT (bound too small, empty name), with a text
 * in xs_error_detail. An existing capture of that name is replaced, unless another process is writing it: then
 * NAME.2 and so on is used. Until the new one is sure to begin it is written beside the earlier one, which a failure
 * leaves as it was. */
int xs_capture_open(const xs_capture_options *options, xs_capture **capture);
/* For one that is held: it takes its place. Nobody may be putting frames. One that has not begun when it is closed
 * or forgotten is gone, and what was there before it is there. XS_E_SYSTEM: the place cannot be taken; the capture
 * goes on beside it (xs_capture_path). */
int xs_capture_begin(xs_capture *capture);
void xs_capture_set_owner(xs_capture *capture, const xs_capture_owner *owner);
const char *xs_capture_path(const xs_capture *capture);
/* Time for retries and for bounds by age. */
void xs_capture_set_time(xs_capture *capture, uint64_t now);

/* Room for the payload of one frame; NULL: no space (or no memory). The next call must be xs_capture_commit or _cancel.
 */
void *xs_capture_reserve(xs_capture *capture, uint32_t type, uint64_t payload_bytes);
/* Gives the frame its number and seals it. payload_bytes may be less than what was reserved. */
void xs_capture_commit(xs_capture *capture, xs_frame *frame, uint64_t payload_bytes);
void xs_capture_cancel(xs_capture *capture);
/* The three above in one. 0, or the reason why the frame is not in the capture. */
int xs_capture_put(xs_capture *capture, xs_frame *frame, const void *payload, uint64_t payload_bytes);

/* Lanes: threads that put frames at the same time, each through its own. xs_capture_open makes lane 0, which the
 * functions above use; xs_capture_lanes makes `count` in all (1 where the capture is bounded) and returns how many
 * there are. Frames of one lane stay in order; those of several follow each other as the lanes were flushed. A full
 * lane flushes itself. */
uint32_t xs_capture_lanes(xs_capture *capture, uint32_t count);
xs_capture_lane *xs_capture_lane_of(xs_capture *capture, uint32_t index);
void *xs_lane_reserve(xs_capture_lane *lane, uint32_t type, uint64_t payload_bytes);
void xs_lane_commit(xs_capture_lane *lane, xs_frame *frame, uint64_t payload_bytes);
void xs_lane_cancel(xs_capture_lane *lane);
int xs_lane_put(xs_capture_lane *lane, xs_frame *frame, const void *payload, uint64_t payload_bytes);
int xs_lane_flush(xs_capture_lane *lane);

/* Everything put so far, in all lanes, reaches the file. No other thread may be using a lane. */
int xs_capture_flush(xs_capture *capture);
/* 1: records may be put. Tries again now and then while it is 0. */
int xs_capture_has_space(xs_capture *capture);
int xs_capture_error(const xs_capture *capture);
/* 1: the last segment that was removed had to make room on a full disk, not under the bound. */
int xs_capture_crowded(const xs_capture *capture);
/* Records that went with removed segments. */
uint64_t xs_capture_removed_records(const xs_capture *capture);
/* Most payload bytes that one frame of records should have. */
uint64_t xs_capture_frame_most(const xs_capture *capture);
/* Most bytes of records that a segment should take over from one that is removed. */
uint64_t xs_capture_carry_most(const xs_capture *capture);
/* 1: the reserve may be used, for frames that end a process or the capture. */
void xs_capture_closing(xs_capture *capture, int on);
/* Returns the first error of the capture's life. The capture is gone. */
int xs_capture_close(xs_capture *capture);
/* Frees memory and descriptors, leaves the file alone. */
void xs_capture_forget(xs_capture *capture);
/* In a forked child: closes its descriptors, which hold the file's lock, and nothing else. A signal handler may call
 * it. */
void xs_capture_let_go(xs_capture *capture);

#endif
