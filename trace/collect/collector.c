#include "collector.h"

#include <stdlib.h>
#include <string.h>
#include <xs/errors.h>
#include <xs/frame.h>

#include "collector_internal.h"

#define CLOSE_ROOM 16384u

void xs_collect_fill(const xs_collector *c, const xs_collected *r, xs_frame *frame, uint16_t type, uint32_t ring) {
    int32_t rank = -1;
    if (r && ring < r->view.rings)
        rank = (int32_t)(r->view.head.first_rank + ring / r->view.head.rings_per_rank);
    /* A run in virtual time would seem to last until the collector's time, which is of another clock. */
    xs_frame_fill(frame, type, r ? &r->view.head : NULL, rank, ring, r && r->foreign_time ? 0 : c->now);
}

int xs_collect_put(xs_collector *c, const xs_collected *r, uint16_t type, uint32_t ring, const void *payload,
                   uint64_t bytes) {
    xs_frame frame;
    xs_collect_fill(c, r, &frame, type, ring);
    return xs_capture_put(c->capture, &frame, payload, bytes);
}

void xs_array_begin(frame_array *a, xs_collector *c, const xs_collected *r, uint16_t type, uint16_t entry_bytes) {
    a->collector = c;
    a->region = r;
    a->bytes = 0;
    a->type = type;
    a->entry_bytes = entry_bytes;
    a->failed = 0;
}

void xs_array_add(frame_array *a, const void *entry) {
    if (a->bytes + a->entry_bytes > sizeof a->data)
        xs_array_end(a);
    memcpy(a->data + a->bytes, entry, a->entry_bytes);
    a->bytes += a->entry_bytes;
}

int xs_array_end(frame_array *a) {
    int rc = a->bytes ? xs_collect_put(a->collector, a->region, a->type, UINT32_MAX, a->data, a->bytes) : 0;
    a->bytes = 0;
    if (rc && !a->failed)
        a->failed = rc;
    return a->failed;
}

static void tick(xs_collector *c) {
    c->now = c->options.now(c->options.user);
    xs_capture_set_time(c->capture, c->now);
}

static int start_workers(xs_collector *c) {
    uint32_t lanes = xs_capture_lanes(c->capture, c->options.threads);
    if (lanes > 1)
        c->workers = ring_workers_create(lanes);
    return lanes > 1 && !c->workers ? XS_E_MEMORY : 0;
}

int xs_collector_create(const xs_collector_options *options, xs_collector **collector) {
    xs_collector *c = calloc(1, sizeof *c);
    if (!c)
        return XS_E_MEMORY;
    c->options = *options;
    c->capture = options->capture;
    int rc = start_workers(c);
    if (rc) {
        free(c);
        return rc;
    }
    xs_capture_owner owner = {c, xs_collect_segment_begins, xs_collect_segment_ends, xs_collect_segment_removed};
    xs_capture_set_owner(c->capture, &owner);
    tick(c);
    *collector = c;
    return 0;
}

static void free_region(xs_collected *r) {
    while (r->marks) {
        segment_mark *next = r->marks->next;
        free(r->marks);
        r->marks = next;
    }
    free(r->catalog_copy);
    free(r->lines);
    free(r->activity.names);
    for (uint32_t ring = 0; r->rings && ring < r->view.rings; ring++)
        free(r->rings[ring].carry);
    free(r->rings);
    free(r);
}

static int init_rings(xs_collected *r) {
    r->rings = calloc(r->view.rings, sizeof *r->rings);
    r->lines = calloc((uint64_t)r->view.rings * r->view.head.lines_per_ring + 1, sizeof *r->lines);
    if (!r->rings || !r->lines)
        return XS_E_MEMORY;
#ifdef __x86_64__
    int ordered = r->view.head.device < 0;
#else
    int ordered = 0;
#endif
    for (uint32_t i = 0; i < r->view.rings; i++) {
        xs_ring_header *header = xs_view_ring(&r->view, i);
        xs_ring_reader_init(&r->rings[i].reader, xs_view_records(&r->view, i), header, r->view.head.ring_records,
                            r->view.head.record_words,
                            ordered && !header->placement); /* slots of an image are copied one after the other */
    }
    return 0;
}

int xs_collector_add(xs_collector *c, void *base, uint64_t bytes, int foreign_time, xs_collected **region) {
    xs_collected *r = calloc(1, sizeof *r);
    if (!r)
        return XS_E_MEMORY;
    int rc = xs_region_view_open(&r->view, base, bytes);
    if (!rc)
        rc = init_rings(r);
    if (rc) {
        free_region(r);
        return rc;
    }
    r->foreign_time = foreign_time;
    __atomic_store_n(&xs_view_control(&r->view)->image_wish, c->options.on_trigger ? XS_IMAGE_LOOKS : XS_IMAGE_LIVE,
                     __ATOMIC_RELAXED);
    tick(c);
    r->looked_all = r->told_looks = r->told_status = r->told_counters = c->now;
    xs_collected **end = &c->regions;
    while (*end)
        end = &(*end)->next;
    *end = r;
    xs_collect_catalog(c, r); /* reaches the file with the next pass: whoever hands a region over may be waiting */
    *region = r;
    return 0;
}

/* 1 once every `ns`. */
static int every(const xs_collector *c, uint64_t *last, uint64_t ns) {
    if (c->now - *last < ns)
        return 0;
    *last = c->now;
    return 1;
}

static uint64_t pass_region(xs_collector *c, xs_collected *r) {
    xs_collect_catalog(c, r);
    xs_collect_journal(c, r, 0);
    xs_collect_activity(c, r, 0);
    uint64_t taken = xs_collect_rings(c, r, DRAIN_LIVE);
    xs_collect_owners(c, r, 0);
    if (every(c, &r->told_looks, XS_SECOND / 2))
        xs_collect_looks(c, r, 0);
    if (every(c, &r->told_status, XS_SECOND))
        xs_collect_status(c, r, STATUS_LONG);
    if (every(c, &r->told_counters, XS_SECOND))
        xs_collect_counters(c, r, 0);
    xs_collect_unsaved(c, r, 0);
    return taken;
}

static void put_trigger(xs_collector *c, const xs_collected *r, const char *why) {
    xs_collect_put(c, r, XS_FRAME_TRIGGER, UINT32_MAX, why, strlen(why) + 1);
}

/* The copy that a dump asked for has come: what it brought follows the dump. */
static void dump_image(xs_collector *c, xs_collected *r) {
    const xs_control *control = xs_view_control(&r->view);
    uint32_t done = __atomic_load_n(&control->image_done, __ATOMIC_ACQUIRE);
    if (done == r->image_seen)
        return;
    r->image_seen = done;
    put_trigger(c, r, "records of device memory, copied after the dump");
    xs_collect_rings(c, r, DRAIN_LIVE);
    xs_collect_looks(c, r, 0);
}

/* The reason that the process, or one of its kernels, gave; 0: none. */
static uint32_t abort_reason(const xs_collected *r) {
    const xs_control *control = xs_view_control(&r->view);
    for (uint32_t rank = 0; rank < r->view.head.ranks; rank++) {
        uint32_t reason = __atomic_load_n(&control[rank].aborted, __ATOMIC_RELAXED);
        if (reason)
            return reason;
    }
    return 0;
}

static void watch_abort(xs_collector *c, xs_collected *r) {
    uint32_t reason = abort_reason(r);
    if (reason && !r->abort_seen)
        c->aborted = 1;
    r->abort_seen = reason;
}

/* Twice in what no writer gets through half of the sequences in that two words tell, if that is less than a second. */
static uint64_t look_ns(const xs_collected *r) {
    uint64_t ns = r->view.head.record_words == 2 ? r->rings[0].reader.stall_ns / 2 : XS_SECOND / 2;
    return ns < XS_SECOND / 1000 ? XS_SECOND / 1000 : ns < XS_SECOND / 2 ? ns : XS_SECOND / 2;
}

/* The rings are left alone, but their positions and times stay known. */
static void watch_region(xs_collector *c, xs_collected *r) {
    xs_collect_catalog(c, r);
    dump_image(c, r);
    watch_abort(c, r);
    xs_collect_activity_left_alone(r);
    if (every(c, &r->told_looks, look_ns(r)))
        xs_collect_look_at_rings(c, r);
    if (every(c, &r->told_status, XS_SECOND / 50) && xs_collect_gave_up(r))
        c->given_up = 1;
}

static void dump_region(xs_collector *c, xs_collected *r) {
    for (uint32_t i = 0; i < r->view.rings; i++)
        r->rings[i].reader.bold = 1;
    if (c->options.on_trigger)
        xs_collect_kept_looks(c, r);
    pass_region(c, r);
    xs_collect_looks(c, r, 0);
    xs_collect_status(c, r, STATUS_OPEN_OR_GIVEN_UP);
    xs_collect_counters(c, r, 1);
}

int xs_collector_dump(xs_collector *c, const char *why) {
    tick(c);
    c->given_up = c->aborted = 0;
    int rc = xs_collect_put(c, NULL, XS_FRAME_TRIGGER, UINT32_MAX, why, strlen(why) + 1);
    for (xs_collected *r = c->regions; r; r = r->next)
        if (!r->ended)
            dump_region(c, r);
    int flushed = xs_capture_flush(c->capture);
    for (xs_collected *r = c->regions; r; r = r->next) /* now that the dump is on disk; nobody waits for it */
        if (!r->ended && r->view.head.placement)
            __atomic_fetch_add(&xs_view_control(&r->view)->image_asked, 1, __ATOMIC_RELEASE);
    return rc ? rc : flushed;
}

uint64_t xs_collector_pass(xs_collector *c) {
    uint64_t taken = 0;
    tick(c);
    for (xs_collected *r = c->regions; r; r = r->next) {
        if (r->ended)
            continue;
        if (c->options.on_trigger)
            watch_region(c, r);
        else
            taken += pass_region(c, r);
    }
    if (c->aborted)
        xs_collector_dump(c, "the world was aborted");
    if (c->given_up)
        xs_collector_dump(c, "a wait gave up");
    xs_collect_removed(c);
    xs_capture_flush(c->capture);
    return taken;
}

int xs_collector_note(xs_collector *c, const char *text) {
    return xs_collect_put(c, NULL, XS_FRAME_NOTE, UINT32_MAX, text, strlen(text) + 1);
}

static int any_taken(const xs_collected *r) {
    for (uint32_t ring = 0; ring < r->view.rings; ring++)
        if (xs_view_taken(&r->view, ring))
            return 1;
    return 0;
}

/* A bounded capture repeats what describes the process as long as records of it are kept. */
static void keep_catalog(xs_collected *r) {
    r->catalog_copy = malloc(r->catalog_read + 1);
    if (r->catalog_copy)
        memcpy(r->catalog_copy, r->view.base + r->view.head.catalog_offset, r->catalog_read);
    else
        r->catalog_read = 0;
}

void xs_collector_gone(xs_collector *c, xs_collected *r) {
    tick(c);
    r->gone_at = r->gone_at ? r->gone_at : c->now;
}

void xs_collect_put_end(xs_collector *c, const xs_collected *r) {
    xs_frame frame;
    xs_collect_fill(c, r, &frame, XS_FRAME_PROCESS_END, UINT32_MAX);
    frame.time = r->ended_at;
    xs_capture_put(c->capture, &frame, &r->end, sizeof r->end);
}

void xs_collector_end(xs_collector *c, xs_collected *r, const xs_frame_end *end) {
    if (r->ended)
        return;
    tick(c);
    xs_capture_closing(c->capture, 1);
    if (c->options.on_trigger) {
        put_trigger(c, r, "the process ended");
        xs_collect_kept_looks(c, r);
    }
    r->end = *end;
    if (!r->end.abort_reason)
        r->end.abort_reason = abort_reason(r);
    r->end.tail_unknown = (uint32_t)any_taken(r);
    xs_collect_catalog(c, r);
    xs_collect_journal(c, r, 1);
    xs_collect_activity(c, r, 1);
    xs_collect_rings(c, r, DRAIN_LAST);
    xs_collect_device_tail(c, r);
    xs_collect_unsaved(c, r, 1);
    xs_collect_owners(c, r, 0);
    xs_collect_looks(c, r, 0);
    xs_collect_status(c, r, STATUS_OPEN);
    xs_collect_counters(c, r, 1);
    r->ended_at = r->foreign_time ? 0 : r->gone_at ? r->gone_at : c->now;
    xs_collect_put_end(c, r);
    xs_capture_flush(c->capture);
    xs_capture_closing(c->capture, 0);
    keep_catalog(r);
    for (uint32_t ring = 0; ring < r->view.rings; ring++)
        r->rings[ring].held = xs_view_taken(&r->view, ring);
    r->ended = 1;
}

const xs_region_view *xs_collected_view(const xs_collected *r) { return &r->view; }
xs_capture *xs_collector_capture(const xs_collector *c) { return c->capture; }
uint64_t xs_collector_records(const xs_collector *c) { return c->records; }
uint64_t xs_collector_kept(const xs_collector *c) {
    return c->records + c->carried - xs_capture_removed_records(c->capture);
}

static void free_collector(xs_collector *c) {
    while (c->regions) {
        xs_collected *next = c->regions->next;
        free_region(c->regions);
        c->regions = next;
    }
    free(c);
}

void xs_collector_finish(xs_collector *c) {
    if (c->finished)
        return;
    c->finished = 1;
    tick(c);
    xs_capture_closing(c->capture, 1);
    int removed, most = 16;
    do { /* whatever has to be removed for it is told before */
        xs_capture_reserve(c->capture, XS_FRAME_END, CLOSE_ROOM);
        xs_capture_cancel(c->capture);
        removed = c->removed;
        xs_collect_removed(c);
    } while (removed && --most);
    xs_collect_put(c, NULL, XS_FRAME_END, UINT32_MAX, NULL, 0);
}

int xs_collector_close(xs_collector *c) {
    xs_collector_finish(c);
    xs_capture_owner nobody = {NULL, NULL, NULL, NULL};
    xs_capture_set_owner(c->capture, &nobody);
    if (c->workers)
        ring_workers_destroy(c->workers);
    int rc = xs_capture_close(c->capture);
    free_collector(c);
    return rc;
}

void xs_collector_forget(xs_collector *c) {
    if (c->workers)
        ring_workers_destroy(c->workers);
    xs_capture_forget(c->capture);
    free_collector(c);
}
