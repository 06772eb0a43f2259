/* Inside libxs: records in memory of the device. Kernels write there; the records in the region are an image that a
 * copier keeps, so that whoever reads the region (collector, recorder, another process after a crash) reads it as
 * always:
 *
 *   ring header, `next`, taken bit   mapped: always true
 *   records                          as of image_time, at least; a slot may be newer
 *   image_next                       says that a free ring is copied to its end
 *
 * A record that was overwritten before it was copied shows by its stamp, as in a ring that its reader was too slow for.
 */
#ifndef XS_PLACEMENT_INTERNAL_H
#define XS_PLACEMENT_INTERNAL_H

#include "world.h"

/* Parts of a ring that are copied by themselves: a bit each. */
#define XS_PARTS 4u
#define XS_PARTS_ALL ((1u << XS_PARTS) - 1u)

typedef struct placed_ring {
    uint64_t copied;          /* free: the image is final up to this `next` */
    uint64_t next;            /* this step: free with this `next`; 0: taken */
    uint64_t time[XS_PARTS];  /* when each part was copied last */
    uint32_t stamp[XS_PARTS]; /* of its last record then */
    uint8_t need;             /* this step: parts to copy */
    uint8_t live;             /* this step: taken, and to be watched */
    /* this step: a full ring drops, and is copied whole when anything is new, so that it gets room soon */
    uint8_t discard;
    uint8_t placed, lost;
} placed_ring;

typedef struct xs_placement {
    xs_world *world;
    void **base; /* a local rank; NULL: in the region */
    uint32_t rings;
    placed_ring *ring;
    xs_ring_span *spans; /* room for every part of every ring */
    uint32_t span_count;
    /* a part of a ring that somebody writes is copied when its copy is so old, however slow it fills */
    uint64_t stale_ns;
    int error;    /* the device's memory is lost */
    int late;     /* the last step did not come to its end */
    /* between the copier's thread and others */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    int threaded, stopping;
    uint64_t asked, done;
    uint32_t *ended; /* launches that are over and not yet reclaimed */
    uint32_t ended_count, ended_room;
} xs_placement;

/* placement_copy.c: looks at every ring and copies what is new. all: everything, else what is due. ended: launches that
 * are over; their rings are reclaimed. *slots is counted up by slots that held something new. XS_E_TIMEOUT: try again;
 * another error: nothing can be copied any more, and rings of writers that did not give them back stay theirs, since
 * nobody knows how far they came. */
int xs_placement_step(xs_placement *p, int all, const uint32_t *ended, uint32_t ended_count, uint64_t *slots);

/* Spans for the parts in need, in p->spans; probes: for the last slot of each part that is not, of the rings that are
 * watched. */
void xs_placement_spans(xs_placement *p, int probes);
/* Parts that hold [from, next) of a ring with `capacity` slots. */
uint32_t xs_placement_parts(uint64_t from, uint64_t next, uint32_t capacity);

#endif
