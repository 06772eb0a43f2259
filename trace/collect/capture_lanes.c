/* The lanes of a capture: frames that are put together, get their numbers and checksums, and are written in that
 * order. */
#include "capture_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xs/errors.h>
#include <xs/frame.h>

#define STAGE_BYTES (512u << 10)
#define STAGE_MOST (64u << 20)

static void lock(xs_capture *c) {
    if (c->lane_count > 1)
        pthread_mutex_lock(&c->lock);
}
static void unlock(xs_capture *c) {
    if (c->lane_count > 1)
        pthread_mutex_unlock(&c->lock);
}

int xs_capture_make_lane(xs_capture *c, uint32_t index) {
    xs_capture_lane *lane = &c->lanes[index];
    *lane = (xs_capture_lane){.capture = c, .stage = malloc(STAGE_BYTES), .stage_bytes = STAGE_BYTES};
    return lane->stage ? 0 : XS_E_MEMORY;
}

uint32_t xs_capture_lanes(xs_capture *c, uint32_t count) {
    while (c->folder_fd < 0 && c->lane_count < count && c->lane_count < XS_CAPTURE_LANES &&
           !xs_capture_make_lane(c, c->lane_count))
        c->lane_count++;
    return c->lane_count;
}

xs_capture_lane *xs_capture_lane_of(xs_capture *c, uint32_t index) { return &c->lanes[index]; }

static void seal_lane(const xs_capture_lane *lane, uint64_t number) {
    for (char *at = lane->stage; at < lane->stage + lane->staged;) {
        xs_frame *frame = (xs_frame *)(void *)at;
        uint64_t bytes = frame->payload_bytes;
        frame->number = number++;
        xs_frame_seal(frame, frame + 1, bytes);
        at += sizeof *frame + xs_frame_padded(bytes);
    }
}

static int is_turn(const xs_capture *c, uint64_t first) { return c->number == first; }

/* Lanes write side by side where a place is theirs whatever becomes of the one before: not where the disk may be
 * full there. */
static int side_by_side(const xs_capture *c) { return c->allocated != UINT64_MAX; }

/* Numbers and a place for the frames of this lane, sealed and written. 0 or errno, when it is the lane's turn to
 * count as written. Lock held, but not while it is written. */
static int write_in_turn(xs_capture *c, xs_capture_lane *lane) {
    for (;;) {
        while (c->failing)
            pthread_cond_wait(&c->turn, &c->lock);
        uint64_t generation = c->generation, first = c->promised;
        int number = 0, together = side_by_side(c);
        if (is_turn(c, first))
            c->promised_at = c->written; /* all before is written: segments begin anew */
        lane->at = c->promised_at;
        c->promised += lane->frames;
        c->promised_at += lane->staged;
        c->writing += together;
        unlock(c);
        seal_lane(lane, first);
        if (together)
            number = xs_capture_write(c, lane);
        lock(c);
        c->writing -= together;
        if (c->failing)
            pthread_cond_broadcast(&c->turn);
        while (c->generation == generation && !is_turn(c, first))
            pthread_cond_wait(&c->turn, &c->lock);
        if (c->generation != generation)
            continue;
        if (!together) { /* nobody else writes, or moves c->written, before this lane has */
            unlock(c);
            number = xs_capture_write(c, lane);
            lock(c);
        }
        return number;
    }
}

static void written(xs_capture *c, xs_capture_lane *lane) {
    c->written += lane->staged;
    c->claimed -= lane->staged;
    lane->claimed -= lane->staged;
    c->number += lane->frames;
    lane->staged = lane->frames = 0;
    if (c->allocated == UINT64_MAX)
        c->full = 0;
}

/* The file ends with its last whole frame again, when those who wrote behind it are done. */
static int not_written(xs_capture *c, int number) {
    int rc = xs_capture_failed(c, number);
    c->generation++;
    c->promised = c->number;
    c->promised_at = c->written;
    c->failing = 1;
    while (c->writing)
        pthread_cond_wait(&c->turn, &c->lock);
    int ignored = ftruncate(c->fd, (off_t)c->written);
    (void)ignored;
    c->failing = 0;
    return rc;
}

/* Lock held. */
static int flush_lane(xs_capture *c, xs_capture_lane *lane) {
    if (!lane->staged)
        return 0;
    if (c->fd < 0 || (c->full && c->allocated == UINT64_MAX && c->now < c->retry_at && !c->closing))
        return c->error;
    int number = write_in_turn(c, lane), rc = 0;
    if (!number)
        written(c, lane);
    else
        rc = not_written(c, number);
    if (c->lane_count > 1)
        pthread_cond_broadcast(&c->turn);
    return rc;
}

int xs_lane_flush(xs_capture_lane *lane) {
    lock(lane->capture);
    int rc = flush_lane(lane->capture, lane);
    unlock(lane->capture);
    return rc;
}

int xs_capture_flush(xs_capture *c) {
    int first = 0;
    for (uint32_t i = 0; i < c->lane_count; i++) {
        int rc = xs_lane_flush(&c->lanes[i]);
        if (rc && !first)
            first = rc;
    }
    return first;
}

/* The buffer holds `need` more bytes, or is made to. */
static int stage_room(xs_capture *c, xs_capture_lane *lane, uint64_t need) {
    if (need <= lane->stage_bytes - lane->staged)
        return 1;
    if (flush_lane(c, lane) && need > lane->stage_bytes - lane->staged)
        return 0;
    if (need <= lane->stage_bytes - lane->staged)
        return 1;
    if (need > STAGE_MOST - lane->staged)
        return 0;
    char *larger = realloc(lane->stage, lane->staged + need);
    if (!larger)
        return 0;
    lane->stage = larger;
    lane->stage_bytes = lane->staged + need;
    return 1;
}

static int has_space(xs_capture *c) {
    if (c->full && c->allocated == UINT64_MAX)
        c->full = c->now < c->retry_at;
    else if (c->full && xs_capture_space(c, c->written + c->claimed + XS_CAPTURE_RESERVE + XS_CAPTURE_GROW_LEAST))
        c->full = 0;
    return !c->full;
}

/* Lock held. */
static void *reserve_in(xs_capture *c, xs_capture_lane *lane, uint32_t type, uint64_t payload_bytes) {
    uint64_t need = sizeof(xs_frame) + xs_frame_padded(payload_bytes);
    /* Records leave the whole reserve, other frames half of it, for the frames that end the capture. */
    uint64_t reserve = type == XS_FRAME_RECORDS ? XS_CAPTURE_RESERVE : XS_CAPTURE_RESERVE / 2;
    if ((c->closing && type != XS_FRAME_RECORDS) || c->folder_fd >= 0)
        reserve = 0;
    if (c->folder_fd >= 0 && xs_capture_bound(c, need))
        return NULL;
    if (!stage_room(c, lane, need) || !xs_capture_space(c, c->written + c->claimed + need + reserve))
        return NULL;
    if (type == XS_FRAME_RECORDS && !has_space(c))
        return NULL;
    lane->claimed += need;
    c->claimed += need;
    return lane->stage + lane->staged + sizeof(xs_frame);
}

void *xs_lane_reserve(xs_capture_lane *lane, uint32_t type, uint64_t payload_bytes) {
    if (payload_bytes > STAGE_MOST / 2)
        return NULL;
    lock(lane->capture);
    void *at = reserve_in(lane->capture, lane, type, payload_bytes);
    unlock(lane->capture);
    return at;
}

/* What was claimed for the frame at hand and not used is free again. */
static void unclaim(xs_capture_lane *lane) {
    xs_capture *c = lane->capture;
    lock(c);
    c->claimed -= lane->claimed - lane->staged;
    lane->claimed = lane->staged;
    unlock(c);
}

/* Bounded: one lane. */
static void count_records(xs_capture *c, const xs_frame *frame, const char *payload) {
    xs_frame_records head;
    if (c->folder_fd < 0 || frame->type != XS_FRAME_RECORDS)
        return;
    memcpy(&head, payload, sizeof head);
    c->segment_records += head.count;
}

void xs_lane_commit(xs_capture_lane *lane, xs_frame *frame, uint64_t payload_bytes) {
    char *at = lane->stage + lane->staged, *payload = at + sizeof(xs_frame);
    uint64_t padded = xs_frame_padded(payload_bytes);
    frame->payload_bytes = payload_bytes;
    memcpy(at, frame, sizeof *frame);
    memset(payload + payload_bytes, 0, padded - payload_bytes);
    lane->staged += sizeof *frame + padded;
    lane->frames++;
    count_records(lane->capture, frame, payload);
    xs_capture_age(lane->capture, frame, payload);
    unclaim(lane);
}

void xs_lane_cancel(xs_capture_lane *lane) { unclaim(lane); }

int xs_lane_put(xs_capture_lane *lane, xs_frame *frame, const void *payload, uint64_t payload_bytes) {
    void *to = xs_lane_reserve(lane, frame->type, payload_bytes);
    if (!to)
        return xs_capture_error(lane->capture) ? xs_capture_error(lane->capture) : XS_E_MEMORY;
    if (payload_bytes)
        memcpy(to, payload, payload_bytes);
    xs_lane_commit(lane, frame, payload_bytes);
    return 0;
}

void *xs_capture_reserve(xs_capture *c, uint32_t type, uint64_t bytes) {
    return xs_lane_reserve(&c->lanes[0], type, bytes);
}
void xs_capture_commit(xs_capture *c, xs_frame *frame, uint64_t bytes) { xs_lane_commit(&c->lanes[0], frame, bytes); }
void xs_capture_cancel(xs_capture *c) { xs_lane_cancel(&c->lanes[0]); }
int xs_capture_put(xs_capture *c, xs_frame *frame, const void *payload, uint64_t bytes) {
    return xs_lane_put(&c->lanes[0], frame, payload, bytes);
}

int xs_capture_has_space(xs_capture *c) {
    lock(c);
    int is = has_space(c);
    unlock(c);
    return is;
}
