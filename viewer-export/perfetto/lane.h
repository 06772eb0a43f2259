/* The track of one writer. It shows waits, work and signals one after the other, or nested where work holds a
 * signal, and nothing may enclose a wait. Events come in time order, but a wait is told only when it is settled, and
 * a signal when all its waits are: a queue keeps the writer's order, and `cursor` is the first moment that is still
 * free. */
#ifndef XSV_LANE_H
#define XSV_LANE_H

#include "draw.h"

#define LANE_WORK_DEPTH 8u

enum item_kind { ITEM_WAIT, ITEM_SIGNAL, ITEM_ELECT, ITEM_WORK, ITEM_WORK_END, ITEM_BLOCK, ITEM_BLOCK_END, ITEM_OVER };

typedef struct lane_item {
    uint32_t kind;
    bool settled;
    union {
        xsr_event event;
        struct xsr_wait wait;
    };
    uint64_t id; /* of a wait: the event that ends it */
} lane_item;

typedef struct lane_work {
    xsr_event event;
    int64_t begin; /* as drawn */
} lane_work;

typedef struct lane_fold {
    uint64_t count, total, longest;
    int64_t begin, end;
    uint32_t supplier_rank, supplier; /* of all, else XSR_NONE and 0 */
} lane_fold;

typedef struct lane {
    uint32_t index, rank, role, writer_text;
    uint32_t track;
    uint32_t *rows; /* tracks for further open waits */
    uint32_t row_count;
    int32_t order;
    int64_t cursor;
    lane_item *queue;
    uint32_t head, count, room; /* items are queue[head .. head + count) */
    lane_work work[LANE_WORK_DEPTH];
    uint32_t work_count, work_deeper; /* deeper: begun beyond the depth, not drawn */
    lane_work block; /* named barrier entered; event.id 0: none */
    arrival elected; /* waits for the signal that it publishes; id 0: none */
    uint32_t elected_slot;
    int64_t elected_begin;
    lane_fold fold;
    bool open_drawn;
    uint64_t waited, signals; /* ns, count: for the start-up commands */
} lane;

/* What is kept of a signal until it is drawn. Only signals that moved or follow an election have one. */
typedef struct pending_signal {
    int64_t begin, end;
    uint32_t counter; /* slot, XSR_NONE */
    arrival elected;
} pending_signal;

lane *lane_of_writer(drawing *d, uint32_t writer); /* NULL: unknown writer; d->texts.failed: out of memory */
int lane_event(drawing *d, lane *lane, const xsr_event *event);
int lane_wait(drawing *d, lane *lane, const xsr_wait *wait);
int lanes_flush(drawing *d);  /* nothing more comes */
int lanes_finish(drawing *d); /* after the open waits are drawn */
void lanes_free(drawing *d);
uint32_t lane_open_row(drawing *d, lane *lane); /* the track for the next open wait */
/* Cuts open work before, and goes on with it after, something that nothing may enclose. */
int lane_cut_work(drawing *d, lane *lane, int64_t time);
void lane_resume_work(lane *lane);
/* Time of a signal as drawn: differs from `time` only if the signal was moved. */
int64_t signal_drawn_at(const drawing *d, uint64_t id, int64_t time);
/* work.c */
int draw_work(drawing *d, lane *lane, const lane_work *work, int64_t end);
int draw_block(drawing *d, lane *lane, int64_t end);

#endif
