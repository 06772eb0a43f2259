/* Shared by the files of the collector. */
#ifndef XS_COLLECTOR_INTERNAL_H
#define XS_COLLECTOR_INTERNAL_H

#include "collector.h"
#include "ring_reader.h"
#include "ring_workers.h"

#define XS_SECOND 1000000000ull
#define XS_LOOKS_KEPT 8u

typedef struct ring_look {
    uint64_t newest, time;
} ring_look;

/* Whole RECORDS frames of a ring, whose segment is removed, on their way into the newest one. */
typedef struct ring_carry {
    uint64_t first, last; /* records */
    uint64_t bytes, room;
    char frames[];
} ring_carry;

typedef struct ring_state {
    xs_ring_reader reader;
    uint64_t unsaved_first, unsaved_last; /* taken from the ring, but there was no space; 0: none */
    uint64_t free_since;  /* the ring was seen free with `free_next`; 0: taken */
    uint64_t free_next;
    uint64_t removed_to;  /* bounded: everything up to here is gone */
    uint64_t told_newest; /* of the last LOOK frame */
    ring_look looks[XS_LOOKS_KEPT]; /* trigger mode: kept here until the dump */
    uint32_t look_count;
    uint32_t owners_seen;
    int held;          /* of a process that is over: its ring was taken */
    ring_carry *carry; /* bounded; NULL: nothing is carried */
} ring_state;

/* What was said about an open wait, so that it is not said every second for hours. */
typedef struct line_state {
    uint32_t start_lo, start_hi, object;
    uint32_t given_up; /* told */
    uint64_t seen, told; /* times of the collector */
} line_state;

/* What CUPTI told. */
typedef struct activity_state {
    uint64_t read, lost;
    xs_cupti_health told;
    xs_activity_entry *names;
    uint32_t name_count, name_room;
} activity_state;

#define XS_STANDING_MOST 64u

/* Where every ring stood when a segment ended. */
typedef struct segment_mark {
    struct segment_mark *next;
    uint64_t segment;
    uint64_t taken_to[];
} segment_mark;

struct xs_collected {
    struct xs_collected *next;
    xs_region_view view;
    int foreign_time, ended, end_marked;
    uint32_t abort_seen;
    uint64_t last_sum;   /* records of the last pass */
    uint32_t image_seen; /* on trigger: the last request for copies of device rings that was met and dumped */
    uint64_t catalog_read;
    char *catalog_copy; /* bounded captures: of a process that is over */
    xs_frame_end end;
    /* when its process was seen to be gone, 0: it was not; as PROCESS_END says, however often it is put */
    uint64_t gone_at, ended_at;
    uint64_t journal_read, journal_lost;
    /* entries that hold to this moment, in their order: collect_journal.c */
    xs_journal_entry standing[XS_STANDING_MOST]; uint32_t standing_count;
    xs_frame_counters counters; /* last told */
    uint64_t looked_all, told_looks, told_status, told_counters;
    ring_state *rings;
    line_state *lines;
    activity_state activity;
    segment_mark *marks; /* oldest first */
};

struct xs_collector {
    xs_collector_options options;
    xs_capture *capture;
    xs_collected *regions;
    uint64_t now;
    uint64_t records; /* put into the capture */
    uint64_t carried; /* of them, put once more since their segment was removed */
    int finished; /* END is put */
    int removed;  /* segments were removed, and that is not told yet */
    int given_up; /* trigger mode: a wait gave up since the last dump */
    int aborted;  /* trigger mode: a world was, since the last dump */
    ring_workers *workers; /* NULL: the caller alone */
    struct {
        xs_record records[1024]; /* what is read from rings while there is no space */
    } scratch[XS_CAPTURE_LANES];
};

/* As of when the ring is read: an image of device memory is as old as its copy, and its reader goes by that clock. */
static inline uint64_t xs_ring_time(const xs_collector *c, const ring_state *s) {
    const xs_ring_header *header = s->reader.header;
    return header->placement ? __atomic_load_n(&header->image_time, __ATOMIC_ACQUIRE) : c->now;
}

/* Frame of a region. */
void xs_collect_fill(const xs_collector *c, const xs_collected *r, xs_frame *frame, uint16_t type, uint32_t ring);
int xs_collect_put(xs_collector *c, const xs_collected *r, uint16_t type, uint32_t ring, const void *payload,
                   uint64_t bytes);

/* An array that is put as frames of one type. */
typedef struct frame_array {
    xs_collector *collector;
    const xs_collected *region;
    uint32_t bytes;
    uint16_t type, entry_bytes;
    int failed;
    char data[16384];
} frame_array;
void xs_array_begin(frame_array *a, xs_collector *c, const xs_collected *r, uint16_t type, uint16_t entry_bytes);
void xs_array_add(frame_array *a, const void *entry);
/* 0, or the first error of a put. */
int xs_array_end(frame_array *a);

/* collect_rings.c */
enum drain_how { DRAIN_LIVE, DRAIN_LAST };
uint64_t xs_collect_rings(xs_collector *c, xs_collected *r, enum drain_how how);
/* Rings in device memory whose writers were active at the end: what status lines say was written, and was not
 * copied. */
void xs_collect_device_tail(xs_collector *c, xs_collected *r);
void xs_collect_unsaved(xs_collector *c, xs_collected *r, int last);
/* collect_looks.c */
void xs_collect_look_at_rings(xs_collector *c, xs_collected *r);
void xs_collect_looks(xs_collector *c, xs_collected *r, int all);
void xs_collect_kept_looks(xs_collector *c, xs_collected *r);
void xs_collect_owners(xs_collector *c, xs_collected *r, int newest_again);
void xs_collect_put_end(xs_collector *c, const xs_collected *r);
/* collect_region.c */
void xs_collect_catalog(xs_collector *c, xs_collected *r);
void xs_collect_catalog_again(xs_collector *c, xs_collected *r);
/* Of a process that is over: its PROCESS frame alone; put 0: only how many bytes that takes. */
uint64_t xs_collect_process_again(xs_collector *c, xs_collected *r, int put);
void xs_collect_counters(xs_collector *c, xs_collected *r, int always);
/* collect_journal.c */
void xs_collect_journal(xs_collector *c, xs_collected *r, int last);
void xs_collect_journal_again(xs_collector *c, xs_collected *r);
/* collect_activity.c */
void xs_collect_activity(xs_collector *c, xs_collected *r, int last);
void xs_collect_activity_left_alone(xs_collected *r);
void xs_collect_activity_again(xs_collector *c, xs_collected *r);
/* collect_status.c */
enum status_which { STATUS_LONG, STATUS_OPEN, STATUS_OPEN_OR_GIVEN_UP };
void xs_collect_status(xs_collector *c, xs_collected *r, enum status_which which);
int xs_collect_gave_up(xs_collected *r);
/* collect_segments.c */
void xs_collect_removed(xs_collector *c);
void xs_collect_segment_begins(void *user, xs_capture *capture);
void xs_collect_segment_ends(void *user, uint64_t segment);
void xs_collect_segment_removed(void *user, uint64_t segment, int fd);
/* The newest record that is in the capture, or told as lost. */
static inline uint64_t xs_collect_saved_to(const ring_state *s) {
    return s->unsaved_first ? s->unsaved_first - 1 : s->reader.next - 1;
}
/* collect_carry.c. Before what went with a segment is said to be removed: what of it is carried. _begin, then
 * BOUNDED losses, then _put. */
void xs_collect_carry(xs_collector *c, xs_collected *r, const segment_mark *mark, int segment_fd);
uint64_t xs_collect_carry_bytes(const xs_collected *r);
void xs_collect_carry_begin(xs_collected *r);
void xs_collect_carry_put(xs_collector *c, xs_collected *r);

#endif
