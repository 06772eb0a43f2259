/* Bounded captures: what each segment repeats, and what is lost with a removed one. */
#include <stdlib.h>
#include <string.h>
#include <xs/frame.h>

#include "collector_internal.h"

#define CARRY_ROOM 16384u /* for losses beside it */

/* Everything up to removed_to was in removed segments or lost there. Cumulative: the newest frame of a ring holds,
 * and says why the newest of it went. */
static void put_removed_of(xs_collector *c, xs_collected *r) {
    frame_array array;
    uint32_t cause = xs_capture_crowded(c->capture) ? XS_LOSS_NO_SPACE : XS_LOSS_BOUNDED;
    xs_array_begin(&array, c, r, XS_FRAME_LOSS, sizeof(xs_frame_loss));
    for (uint32_t ring = 0; ring < r->view.rings; ring++) {
        xs_frame_loss loss = {.ring = ring, .cause = cause, .first = 1, .last = r->rings[ring].removed_to};
        if (loss.last)
            xs_array_add(&array, &loss);
    }
    xs_array_end(&array);
}

static void put_removed_and_carried(xs_collector *c, xs_collected *r) {
    xs_collect_carry_begin(r);
    put_removed_of(c, r);
    xs_collect_carry_put(c, r);
}

void xs_collect_removed(xs_collector *c) {
    if (!c->removed)
        return;
    c->removed = 0;
    for (xs_collected *r = c->regions; r; r = r->next) {
        uint64_t carried = xs_collect_carry_bytes(r);
        if (carried && xs_capture_reserve(c->capture, XS_FRAME_LOSS,
                                          carried + CARRY_ROOM)) /* a new segment, if one is due, begins before */
            xs_capture_cancel(c->capture);
        put_removed_and_carried(c, r);
    }
}

/* Over, and all that it recorded is gone. It still was of the run: others may wait for it. */
static int is_gone(const xs_collected *r) {
    return r->ended && !r->marks && r->end_marked && !xs_collect_carry_bytes(r);
}

static uint64_t gone_bytes(xs_collector *c, xs_collected *r) {
    uint64_t rings = 0;
    for (uint32_t ring = 0; ring < r->view.rings; ring++)
        rings += r->rings[ring].removed_to > 0;
    return xs_collect_process_again(c, r, 0) + (rings ? sizeof(xs_frame) + rings * sizeof(xs_frame_loss) : 0) +
           sizeof(xs_frame) + xs_frame_padded(sizeof r->end);
}

/* Who it was, that all of it is lost, and how it ended. */
static void put_gone(xs_collector *c, xs_collected *r) {
    xs_collect_process_again(c, r, 1);
    put_removed_of(c, r);
    xs_collect_put_end(c, r);
}

/* In a run in which processes come and go for days they are many: the latest of them, in as much as a frame of
 * records takes. */
static void put_all_gone(xs_collector *c) {
    uint64_t sum = 0, most = xs_capture_frame_most(c->capture);
    for (xs_collected *r = c->regions; r; r = r->next)
        sum += is_gone(r) ? gone_bytes(c, r) : 0;
    for (xs_collected *r = c->regions; r; r = r->next) {
        if (!is_gone(r))
            continue;
        if (sum <= most)
            put_gone(c, r);
        else
            sum -= gone_bytes(c, r);
    }
}

void xs_collect_segment_begins(void *user, xs_capture *capture) {
    xs_collector *c = user;
    (void)capture;
    c->removed = 0;
    put_all_gone(c);
    for (xs_collected *r = c->regions; r; r = r->next) {
        if (is_gone(r))
            continue;
        xs_collect_catalog_again(c, r);
        xs_collect_activity_again(c, r);
        put_removed_and_carried(c, r);
        xs_collect_journal_again(c, r);
        if (r->ended) {
            xs_collect_put_end(c, r);
            continue;
        }
        xs_collect_owners(c, r, 1);
        xs_collect_looks(c, r, 1);
    }
}

static void add_mark(xs_collected *r, uint64_t segment) {
    segment_mark *mark = malloc(sizeof *mark + r->view.rings * sizeof mark->taken_to[0]);
    if (!mark)
        return; /* the losses of this segment are told with the next one's */
    mark->next = NULL;
    mark->segment = segment;
    for (uint32_t ring = 0; ring < r->view.rings; ring++)
        mark->taken_to[ring] = xs_collect_saved_to(&r->rings[ring]);
    segment_mark **end = &r->marks;
    while (*end)
        end = &(*end)->next;
    *end = mark;
}

void xs_collect_segment_ends(void *user, uint64_t segment) {
    xs_collector *c = user;
    for (xs_collected *r = c->regions; r; r = r->next) {
        if (!r->end_marked)
            add_mark(r, segment);
        r->end_marked = r->ended; /* nothing of it comes later */
    }
}

void xs_collect_segment_removed(void *user, uint64_t segment, int fd) {
    xs_collector *c = user;
    c->removed = 1;
    for (xs_collected *r = c->regions; r; r = r->next)
        while (r->marks && r->marks->segment <= segment) {
            segment_mark *mark = r->marks;
            if (mark->segment == segment)
                xs_collect_carry(c, r, mark, fd);
            for (uint32_t ring = 0; ring < r->view.rings; ring++)
                r->rings[ring].removed_to = mark->taken_to[ring];
            r->marks = mark->next;
            free(mark);
        }
}
