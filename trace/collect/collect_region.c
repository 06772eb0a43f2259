/* What a region says about itself: catalog, counters. */
#include <string.h>
#include <xs/frame.h>

#include "collector_internal.h"

/* The frame at `offset` of a catalog of `used` bytes; NULL: none, or not one of ours. */
static const xs_frame *catalog_frame(const char *catalog, uint64_t used, uint64_t offset, xs_frame *head) {
    if (used - offset < sizeof *head)
        return NULL;
    memcpy(head, catalog + offset, sizeof *head);
    uint64_t room = used - offset - sizeof *head;
    if (head->magic != XS_FRAME_MAGIC || head->header_bytes != sizeof *head || head->payload_bytes > room ||
        xs_frame_padded(head->payload_bytes) > room)
        return NULL;
    return (const xs_frame *)(const void *)(catalog + offset);
}

static int describes(uint16_t type) {
    return type == XS_FRAME_PROCESS || type == XS_FRAME_NAME || type == XS_FRAME_PAD || type == XS_FRAME_PLAN ||
           type == XS_FRAME_NOTE;
}

static int put_catalog_frame(xs_collector *c, xs_frame *head, const char *payload) {
    if (!describes(head->type))
        return 0;
    void *to = xs_capture_reserve(c->capture, head->type, head->payload_bytes);
    if (!to)
        return -1;
    memcpy(to, payload, head->payload_bytes);
    if (xs_frame_checksum(head, to) != head->checksum) { /* of the copy: the region may be another process's */
        xs_capture_cancel(c->capture);
        return 0;
    }
    xs_capture_commit(c->capture, head, head->payload_bytes);
    return 0;
}

/* Puts frames from *offset on and moves it. */
static void put_catalog(xs_collector *c, const char *catalog, uint64_t used, uint64_t *offset) {
    xs_frame head;
    while (catalog_frame(catalog, used, *offset, &head)) {
        uint64_t bytes = head.payload_bytes;
        if (put_catalog_frame(c, &head, catalog + *offset + sizeof head))
            return; /* no space: later */
        *offset += sizeof head + xs_frame_padded(bytes);
    }
}

void xs_collect_catalog(xs_collector *c, xs_collected *r) {
    put_catalog(c, r->view.base + r->view.head.catalog_offset, xs_view_catalog_used(&r->view), &r->catalog_read);
}

void xs_collect_catalog_again(xs_collector *c, xs_collected *r) {
    uint64_t offset = 0;
    put_catalog(c, r->ended ? r->catalog_copy : r->view.base + r->view.head.catalog_offset, r->catalog_read, &offset);
}

uint64_t xs_collect_process_again(xs_collector *c, xs_collected *r, int put) {
    uint64_t offset = 0, sum = 0;
    xs_frame head;
    while (r->catalog_copy && catalog_frame(r->catalog_copy, r->catalog_read, offset, &head)) {
        if (head.type == XS_FRAME_PROCESS) {
            sum += sizeof head + xs_frame_padded(head.payload_bytes);
            if (put && put_catalog_frame(c, &head, r->catalog_copy + offset + sizeof head))
                break; /* no space: the next segment has it */
        }
        offset += sizeof head + xs_frame_padded(head.payload_bytes);
    }
    return sum;
}

void xs_collect_counters(xs_collector *c, xs_collected *r, int always) {
    xs_view_counts counts = xs_view_counters(&r->view);
    xs_frame_counters now = {.no_ring = counts.no_ring,
                             .foreign = counts.foreign,
                             .no_line = counts.no_line,
                             .journal_lost = r->journal_lost};
    if (!always && !memcmp(&now, &r->counters, sizeof now))
        return;
    if (!xs_collect_put(c, r, XS_FRAME_COUNTERS, UINT32_MAX, &now, sizeof now))
        r->counters = now;
}
