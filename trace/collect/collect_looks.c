/* What is known about rings besides their records: newest sequences with time, and owners. */
#include "collector_internal.h"

/* A record may carry a time a little ahead of the collector's, which was read before. */
#define AHEAD_NS 200000000u

/* 64-bit time of a record seen not long after it was written. Times of other clocks are left to the reader. */
static uint64_t time_of(const xs_collector *c, const xs_collected *r, const ring_state *s, const xs_record *record) {
    if (r->view.head.device >= 0)
        return xs_ring_time(c, s);
    uint64_t latest = c->now + AHEAD_NS;
    uint32_t ago = (uint32_t)latest - record->time;
    return latest > ago ? latest - ago : 0;
}

static void keep_look(ring_state *s, ring_look look) {
    if (s->look_count == XS_LOOKS_KEPT) { /* thin out: every second one of the older */
        for (uint32_t i = 0; i < XS_LOOKS_KEPT / 2; i++)
            s->looks[i] = s->looks[2 * i + 1];
        s->look_count = XS_LOOKS_KEPT / 2;
    }
    s->looks[s->look_count++] = look;
}

void xs_collect_look_at_rings(xs_collector *c, xs_collected *r) {
    for (uint32_t ring = 0; ring < r->view.rings; ring++) {
        ring_state *s = &r->rings[ring];
        xs_record record;
        if (!xs_ring_look(&s->reader, &record, xs_ring_time(c, s)) || s->reader.newest == s->told_newest)
            continue;
        s->told_newest = s->reader.newest;
        keep_look(s, (ring_look){s->reader.newest, time_of(c, r, s, &record)});
    }
}

static void add_look(frame_array *array, uint32_t ring, ring_look look) {
    xs_frame_look entry = {.ring = ring, .newest = look.newest, .time = look.time};
    xs_array_add(array, &entry);
}

void xs_collect_kept_looks(xs_collector *c, xs_collected *r) {
    frame_array array;
    if (r->foreign_time)
        return;
    xs_array_begin(&array, c, r, XS_FRAME_LOOK, sizeof(xs_frame_look));
    for (uint32_t ring = 0; ring < r->view.rings; ring++) {
        for (uint32_t i = 0; i < r->rings[ring].look_count; i++)
            add_look(&array, ring, r->rings[ring].looks[i]);
        r->rings[ring].look_count = 0;
    }
    xs_array_end(&array);
}

/* Where the reader stands; all: also rings that were told before (a segment's head). */
void xs_collect_looks(xs_collector *c, xs_collected *r, int all) {
    frame_array array;
    if (r->foreign_time)
        return;
    xs_array_begin(&array, c, r, XS_FRAME_LOOK, sizeof(xs_frame_look));
    for (uint32_t ring = 0; ring < r->view.rings; ring++) {
        ring_state *s = &r->rings[ring];
        uint64_t newest = s->reader.next - 1;
        int changed = newest && newest != s->told_newest;
        if (changed && s->reader.last.sequence == ((uint32_t)newest & XS_SEQUENCE_MASK)) {
            s->told_newest = newest;
            s->looks[0] = (ring_look){newest, time_of(c, r, s, &s->reader.last)};
            s->look_count = 1;
        }
        if ((changed || all) && s->look_count)
            add_look(&array, ring, s->looks[0]);
    }
    xs_array_end(&array);
}

static int add_owner(frame_array *array, const xs_collected *r, uint32_t ring, uint32_t ordinal) {
    xs_frame_owner entry = {.ring = ring, .ordinal = ordinal};
    if (!xs_ring_owner_load(r->view.head.record_words, r->rings[ring].reader.header, ordinal, &entry.owner))
        return 0;
    xs_array_add(array, &entry);
    return 1;
}

/* Those that nobody told of yet. A GPU's count may be seen before the entry that it counts: that one is told of next
 * time. */
static void add_new_owners(frame_array *array, const xs_collected *r, uint32_t ring) {
    ring_state *s = &r->rings[ring];
    const uint32_t *counted = &s->reader.header->owners;
    uint32_t owners = __atomic_load_n(counted, __ATOMIC_ACQUIRE);
    if (owners - s->owners_seen > XS_RING_OWNERS)
        s->owners_seen = owners - XS_RING_OWNERS;
    for (; s->owners_seen != owners; s->owners_seen++)
        if (!add_owner(array, r, ring, s->owners_seen) &&
            __atomic_load_n(counted, __ATOMIC_ACQUIRE) - s->owners_seen < XS_RING_OWNERS)
            return;
}

void xs_collect_owners(xs_collector *c, xs_collected *r, int newest_again) {
    frame_array array;
    xs_array_begin(&array, c, r, XS_FRAME_OWNERS, sizeof(xs_frame_owner));
    for (uint32_t ring = 0; ring < r->view.rings; ring++) {
        ring_state *s = &r->rings[ring];
        if (!newest_again)
            add_new_owners(&array, r, ring);
        else if (s->owners_seen)
            add_owner(&array, r, ring, s->owners_seen - 1);
    }
    xs_array_end(&array);
}
