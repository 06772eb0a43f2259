/* Shared by capture.c and capture_segments.c. */
#ifndef XS_CAPTURE_INTERNAL_H
#define XS_CAPTURE_INTERNAL_H

#include <pthread.h>

#include "capture.h"

#define XS_CAPTURE_MOST_SEGMENTS 64u
#define XS_CAPTURE_RESERVE (128u << 10)
#define XS_CAPTURE_GROW_LEAST (64u << 10)

typedef struct kept_segment {
    uint64_t number, bytes, records;
    uint64_t aged; /* xs_capture.aged when it ended */
} kept_segment;

/* Frames of one thread that are not yet written; whole ones only. They get their numbers when they are. */
struct xs_capture_lane {
    xs_capture *capture;
    char *stage;
    uint64_t stage_bytes, staged;
    uint64_t claimed;  /* staged, and what the frame that is being made may add */
    uint64_t frames;   /* staged */
    uint64_t at;       /* where in the file they go */
};

/* Several lanes: `lock` guards all but the stages. A lane that has numbers for its frames has their place in the
 * file too, and writes there outside of the lock, beside others where the file's space is made ahead; they count as
 * written in the order of their numbers. One lane: nothing is locked. */
struct xs_capture {
    char *path;    /* of the file or folder */
    char *place;   /* the same where links are followed */
    char *beside;  /* where it is until it begins; NULL: in its place */
    int fd;        /* of the file or the newest segment; -1: none could be made */
    int folder_fd; /* bounded captures; -1 otherwise */
    int earlier_fd; /* of what beside is to replace: holds its lock until then; -1: nothing */
    int begun;     /* the place is its own; before, a failure leaves there what was there */
    int fresh;     /* what is in its place was made here, or had nothing in it */
    /* bytes that it takes when it begins, where there is no space beside the earlier one; 0: it has them */
    uint64_t put_off;
    xs_capture_lane lanes[XS_CAPTURE_LANES];
    uint32_t lane_count;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    uint64_t promised;   /* number of the next frame that gets one */
    uint64_t promised_at; /* its place in fd */
    uint64_t generation; /* writes that failed: whoever has numbers gets new ones */
    uint32_t writing;    /* lanes that write */
    int failing;         /* a write failed, and those beside it are waited for */
    uint64_t claimed;    /* by all lanes */
    uint64_t written;   /* bytes in fd: whole frames */
    uint64_t allocated; /* bytes of fd that have space; UINT64_MAX: the file system does not tell */
    uint64_t number;    /* of the next frame in the file */
    uint64_t now, retry_at;
    int full, closing, error;
    xs_capture_owner owner;
    /* bounded */
    uint64_t bound_bytes, bound_ns, segment_bytes, segment_ns;
    uint64_t segment_limit; /* of the newest: segment_bytes, or more where its head is large */
    uint64_t segment, segment_begun, dropped; /* segment_begun: `aged` then */
    uint64_t aged;    /* time in which anything was recorded: a program that hangs does not age what it did before */
    uint64_t aged_at; /* of the last frame that counted; 0: none did */
    uint64_t segment_records, removed_records;
    uint64_t kept_bytes;
    kept_segment kept[XS_CAPTURE_MOST_SEGMENTS]; /* before the newest, oldest first */
    uint32_t kept_count;
    int rotating;
    int crowded; /* the last segment that was removed made room on a full disk */
};

/* Remembers the first error; a full disk and its kin also stop records. Returns the xs_error for errno. */
int xs_capture_failed(xs_capture *c, int number);
int xs_capture_put_file_frame(xs_capture *c);

/* capture_space.c. xs_capture_grow makes space up to `end`: 0 or errno. xs_capture_space: is there any? */
int xs_capture_grow(xs_capture *c, uint64_t end);
int xs_capture_space(xs_capture *c, uint64_t end);
/* Writes what a lane holds to its place. 0, or errno. */
int xs_capture_write(const xs_capture *c, const xs_capture_lane *lane);

/* capture_lanes.c */
int xs_capture_make_lane(xs_capture *c, uint32_t index);

/* Cuts fd to what was written and closes it. */
int xs_capture_close_file(xs_capture *c);

/* capture_place.c. xs_capture_find_place: opens the file or the first segment at c->path, or beside an earlier
 * capture. 0, an error, or 1: another process writes there. xs_capture_give_up: a start that fails leaves nothing
 * behind. */
int xs_capture_find_place(xs_capture *c, const xs_capture_options *options);
void xs_capture_give_up(xs_capture *c);
/* There is no space for it. 0: there will be once the earlier one is gone, so it starts then; else XS_E_NO_SPACE,
 * with a text. */
int xs_capture_put_off(xs_capture *c, const xs_capture_options *options);

#define XS_CAPTURE_FIRST "first.new" /* the name of the first segment until the capture begins */
void xs_capture_remove_segments(int folder_fd);
int xs_capture_only_segments(int folder_fd); /* 0: other files are in it */
uint64_t xs_capture_segment_bytes(int folder_fd); /* on the disk */
int xs_capture_first_segment(xs_capture *c, const xs_capture_options *options); /* 0 or errno */
/* The segments of an earlier capture go. 0 or errno. */
int xs_capture_name_first(xs_capture *c);
/* 1: a segment was removed; 0: there is none, or the capture has no segments. */
int xs_capture_remove_oldest(xs_capture *c);
/* A frame was put: segments age by those that tell what a program does, while it does it. */
void xs_capture_age(xs_capture *c, const xs_frame *frame, const char *payload);
/* Before `bytes` more are put: begins a new segment where due, removes what would pass the bound. 0 or an error. */
int xs_capture_bound(xs_capture *c, uint64_t bytes);

#endif
