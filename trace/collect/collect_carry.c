/* Bounded captures: a writer that hangs, or died, records nothing more while others go on. The last that it did is
 * what a hang is understood by, so it is taken along when the segment that holds it is removed, into the newest one. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <xs/frame.h>

#include "collector_internal.h"

#define LEAST (sizeof(xs_frame) + sizeof(xs_frame_records) + sizeof(xs_record)) /* a frame of one record */

/* What of a ring is found in the segment: its RECORDS frames from `start` on follow each other and end before
 * `next`. */
typedef struct found {
    int wanted;
    uint64_t start, next, bytes;
} found;

typedef struct removed_segment {
    const char *bytes;
    uint64_t size;
    const segment_mark *mark;
    found *rings;
    uint64_t most; /* bytes that are carried of a ring */
} removed_segment;

static int is_held(const xs_collected *r, uint32_t ring) {
    return r->ended ? r->rings[ring].held : xs_view_taken(&r->view, ring);
}

/* Its newest record goes with the segment, and its writer is still there, or was when its process died. */
static int is_quiet(const xs_collected *r, const segment_mark *mark, uint32_t ring) {
    const ring_state *s = &r->rings[ring];
    return mark->taken_to[ring] > s->removed_to && mark->taken_to[ring] == xs_collect_saved_to(s) && is_held(r, ring);
}

/* The next whole RECORDS frame of a ring that is looked for, at or after *at, which is moved behind it; NULL: none. */
static const xs_frame *next_records(const removed_segment *g, const xs_collected *r, uint64_t *at,
                                    xs_frame_records *head) {
    while (g->size - *at >= sizeof(xs_frame)) {
        const xs_frame *frame = (const xs_frame *)(const void *)(g->bytes + *at);
        uint64_t room = g->size - *at - sizeof *frame;
        if (frame->magic != XS_FRAME_MAGIC || frame->header_bytes != sizeof *frame || frame->payload_bytes > room ||
            xs_frame_padded(frame->payload_bytes) > room)
            return NULL;
        *at += sizeof *frame + xs_frame_padded(frame->payload_bytes);
        if (frame->type != XS_FRAME_RECORDS || frame->host != r->view.head.host ||
            frame->process != r->view.head.process || frame->ring >= r->view.rings || !g->rings[frame->ring].wanted ||
            frame->payload_bytes < sizeof *head)
            continue;
        memcpy(head, frame + 1, sizeof *head);
        if (head->count <= (frame->payload_bytes - sizeof *head) / sizeof(xs_record))
            return frame;
    }
    return NULL;
}

static uint64_t bytes_of(const xs_frame *frame) { return sizeof *frame + xs_frame_padded(frame->payload_bytes); }

static void find_frames(const removed_segment *g, const xs_collected *r) {
    const xs_frame *frame;
    xs_frame_records head;
    for (uint64_t at = 0; (frame = next_records(g, r, &at, &head));) {
        found *f = &g->rings[frame->ring];
        if (head.first != f->next) { /* what was lost between is told by a frame that is gone: no further back */
            f->start = at - bytes_of(frame);
            f->bytes = 0;
        }
        f->bytes += bytes_of(frame);
        f->next = head.first + head.count;
    }
}

/* Its last records: as many as there is room for. */
static void keep_frame(ring_state *s, const xs_frame *frame, xs_frame_records head, uint64_t room) {
    const xs_record *records = (const xs_record *)(const void *)((const char *)(frame + 1) + sizeof head);
    uint64_t most = room < sizeof *frame + sizeof head ? 0 : (room - sizeof *frame - sizeof head) / sizeof *records;
    uint64_t kept = head.count < most ? head.count : most;
    if (!kept)
        return;
    xs_frame shorter = *frame;
    shorter.payload_bytes = sizeof head + kept * sizeof *records;
    records += head.count - kept;
    head.first += head.count - kept;
    head.count = kept;
    if (!s->carry->bytes)
        s->carry->first = head.first;
    char *to = s->carry->frames + s->carry->bytes;
    memcpy(to, &shorter, sizeof shorter);
    memcpy(to + sizeof shorter, &head, sizeof head);
    memcpy(to + sizeof shorter + sizeof head, records, kept * sizeof *records);
    s->carry->bytes += bytes_of(&shorter);
    s->carry->last = head.first + kept - 1;
}

static int has_carry(ring_state *s, uint64_t room) {
    if (!s->carry && (s->carry = malloc(sizeof *s->carry + room)))
        *s->carry = (ring_carry){.room = room};
    return s->carry != NULL;
}

/* The last of them, as many as may be carried. */
static void keep_frames(const removed_segment *g, xs_collected *r) {
    const xs_frame *frame;
    xs_frame_records head;
    for (uint64_t at = 0; (frame = next_records(g, r, &at, &head));) {
        found *f = &g->rings[frame->ring];
        ring_state *s = &r->rings[frame->ring];
        if (at <= f->start || f->next != g->mark->taken_to[frame->ring] + 1 || !has_carry(s, g->most))
            continue;
        f->bytes -= bytes_of(frame); /* of those behind it, which go first */
        uint64_t room = s->carry->room - s->carry->bytes;
        keep_frame(s, frame, head, f->bytes < room ? room - f->bytes : 0);
    }
}

/* More of the ring goes now than what was to be put: with a gap between, or it is carried anew. */
static void drop_older(xs_collected *r, const segment_mark *mark) {
    for (uint32_t ring = 0; ring < r->view.rings; ring++) {
        ring_state *s = &r->rings[ring];
        if (!s->carry || s->carry->last >= mark->taken_to[ring])
            continue;
        free(s->carry);
        s->carry = NULL;
    }
}

void xs_collect_carry(xs_collector *c, xs_collected *r, const segment_mark *mark, int segment_fd) {
    struct stat st;
    uint32_t quiet = 0;
    drop_older(r, mark);
    found *rings = calloc(r->view.rings, sizeof *rings);
    for (uint32_t ring = 0; rings && ring < r->view.rings; ring++)
        quiet += (uint32_t)(rings[ring].wanted = is_quiet(r, mark, ring));
    if (!quiet || segment_fd < 0 || fstat(segment_fd, &st) || st.st_size <= 0) {
        free(rings);
        return;
    }
    removed_segment g = {
        .size = (uint64_t)st.st_size, .mark = mark, .rings = rings, .most = xs_capture_carry_most(c->capture) / quiet};
    if (g.most > xs_capture_frame_most(c->capture))
        g.most = xs_capture_frame_most(c->capture);
    void *map = g.most < LEAST ? MAP_FAILED : mmap(NULL, g.size, PROT_READ, MAP_SHARED, segment_fd, 0);
    g.bytes = map == MAP_FAILED ? NULL : map;
    if (g.bytes) {
        find_frames(&g, r);
        keep_frames(&g, r);
    }
    if (g.bytes)
        munmap(map, g.size);
    free(rings);
}

uint64_t xs_collect_carry_bytes(const xs_collected *r) {
    uint64_t sum = 0;
    for (uint32_t ring = 0; ring < r->view.rings; ring++)
        sum += r->rings[ring].carry ? r->rings[ring].carry->bytes : 0;
    return sum;
}

/* It is in none of the segments before the newest. */
static void not_before(xs_collected *r, uint32_t ring, uint64_t first) {
    for (segment_mark *mark = r->marks; mark; mark = mark->next)
        if (mark->taken_to[ring] >= first)
            mark->taken_to[ring] = first - 1;
}

void xs_collect_carry_begin(xs_collected *r) {
    for (uint32_t ring = 0; ring < r->view.rings; ring++)
        if (r->rings[ring].carry)
            r->rings[ring].removed_to = r->rings[ring].carry->first - 1;
}

static int put_frames(xs_collector *c, const ring_carry *carry) {
    int rc = 0;
    for (uint64_t at = 0; at < carry->bytes && !rc;) {
        xs_frame frame;
        xs_frame_records head;
        memcpy(&frame, carry->frames + at, sizeof frame);
        memcpy(&head, carry->frames + at + sizeof frame, sizeof head);
        rc = xs_capture_put(c->capture, &frame, carry->frames + at + sizeof frame, frame.payload_bytes);
        c->carried += rc ? 0 : head.count;
        at += bytes_of(&frame);
    }
    return rc;
}

void xs_collect_carry_put(xs_collector *c, xs_collected *r) {
    for (uint32_t ring = 0; ring < r->view.rings; ring++) {
        ring_state *s = &r->rings[ring];
        ring_carry *carry = s->carry;
        s->carry = NULL;
        if (!carry)
            continue;
        if (put_frames(c, carry)) { /* no space: it is gone after all */
            s->removed_to = carry->last;
            c->removed = 1;
        } else {
            not_before(r, ring, carry->first);
            r->end_marked = 0;
        }
        free(carry);
    }
}
