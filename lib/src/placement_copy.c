/* One step of the copier: which parts of which rings are new, copying them, and saying so in the ring headers. */
#include <stdio.h>
#include <xs/record_access.h>

#include "placement.h"

#define WHOLE_NS 100000000u /* a ring that somebody writes is copied whole so often, however slow it fills */
#define LOOK_NS 500000000u  /* and so often where nobody takes its records as they come */
#define DUTY 10u            /* a copy of all that took long is not repeated before so many times as long */

static const xs_region_header *header_of(const xs_placement *p) { return xs_region(p->world); }

static xs_ring_header *ring_of(const xs_placement *p, uint32_t ring) {
    const xs_region_header *h = header_of(p);
    return (xs_ring_header *)(p->world->region + h->ring_headers_offset + ring * h->ring_header_stride);
}

static const xs_record *image_of(const xs_placement *p, uint32_t ring) {
    const xs_region_header *h = header_of(p);
    return (const xs_record *)(p->world->region + h->records_offset + ring * h->records_stride);
}

static int taken(const xs_placement *p, uint32_t ring) {
    const xs_region_header *h = header_of(p);
    const uint64_t *groups = (const uint64_t *)(p->world->region + h->groups_offset);
    uint32_t rank = ring / h->rings_per_rank, bit = ring % h->rings_per_rank;
    return (int)(__atomic_load_n(&groups[rank * h->groups_per_rank + bit / 64], __ATOMIC_ACQUIRE) >> (bit % 64) & 1);
}

/* Slots of a part; the overflow slot is the last one. */
static void part_slots(uint32_t part, uint32_t capacity, uint32_t *first, uint32_t *count) {
    *count = part == XS_PARTS ? 1 : capacity / XS_PARTS;
    *first = part * (capacity / XS_PARTS);
}

uint32_t xs_placement_parts(uint64_t from, uint64_t next, uint32_t capacity) {
    uint32_t part = capacity / XS_PARTS, parts = 0;
    if (next - from >= capacity) return XS_PARTS_ALL & ~XS_PART_OVERFLOW;
    for (uint64_t s = from; s < next; s = (s / part + 1) * part) parts |= 1u << (s & (capacity - 1)) / part;
    return parts;
}

static int wants(const xs_placement *p, uint32_t ring, uint32_t parts, int exactly) {
    uint32_t need = p->ring[ring].need;
    return exactly ? need == parts : (need & parts) && need != XS_PARTS_ALL;
}

/* Rings of one rank that follow each other and need these parts (exactly, or among others) are one span. */
static void add_runs(xs_placement *p, uint32_t parts, int exactly, uint32_t slot, uint32_t slots) {
    uint32_t per_rank = header_of(p)->rings_per_rank;
    for (uint32_t ring = 0; ring < p->rings;) {
        uint32_t begin = ring++;
        if (!wants(p, begin, parts, exactly)) continue;
        while (ring < p->rings && ring % per_rank && wants(p, ring, parts, exactly)) ring++;
        p->spans[p->span_count++] = (xs_ring_span){begin, ring - begin, slot, slots};
    }
}

void xs_placement_spans(xs_placement *p, int ends) {
    uint32_t capacity = header_of(p)->ring_records, first, count;
    p->span_count = 0;
    if (!ends) add_runs(p, XS_PARTS_ALL, 1, 0, capacity + 1);
    for (uint32_t part = 0; part <= XS_PARTS; part++) {
        part_slots(part, capacity, &first, &count);
        add_runs(p, 1u << part, 0, ends ? first + count - 1 : first, ends ? 1 : count);
    }
}

static int is_ended(const xs_ring_header *header, uint32_t owners, const uint32_t *ended, uint32_t count) {
    uint32_t launch = owners ? header->owner[(owners - 1) % XS_RING_OWNERS].launch : 0;
    for (uint32_t i = 0; i < count; i++)
        if (ended[i] == launch) return 1;
    return 0;
}

/* A free ring: what it holds beyond what was copied when it was free last. */
static void observe_free(xs_placement *p, uint32_t ring, const xs_ring_header *header) {
    placed_ring *r = &p->ring[ring];
    uint64_t next = __atomic_load_n(&header->next, __ATOMIC_ACQUIRE), from = r->copied ? r->copied : 1;
    if (taken(p, ring) || next <= 1 || next == r->copied) return;
    r->next = next;
    r->need = (uint8_t)xs_placement_parts(from, next, header->capacity);
    if (__atomic_load_n(&header->mode, __ATOMIC_RELAXED) == XS_DISCARD) r->need |= XS_PART_OVERFLOW;
}

/* live: rings that somebody writes are watched. whole: they are copied. */
static void observe(xs_placement *p, int live, int whole, const uint32_t *ended, uint32_t ended_count) {
    for (uint32_t ring = 0; ring < p->rings; ring++) {
        placed_ring *r = &p->ring[ring];
        const xs_ring_header *header = ring_of(p, ring);
        r->next = r->need = r->live = 0;
        if (!r->placed || r->lost) continue;
        if (!taken(p, ring)) {
            if (live || whole) observe_free(p, ring, header);
            continue;
        }
        uint32_t owners = __atomic_load_n(&header->owners, __ATOMIC_ACQUIRE);
        r->live = live && !whole;
        if (whole || (ended_count && is_ended(header, owners, ended, ended_count))) r->need = XS_PARTS_ALL;
    }
}

/* Where memory is lost, it is said where its records would have been. */
static void lose(xs_placement *p, int error) {
    char text[160];
    __atomic_store_n(&p->error, error, __ATOMIC_RELEASE);
    snprintf(text, sizeof text, "records in device memory that were not copied yet are lost: %s", xs_error_detail());
    for (uint32_t ring = 0; ring < p->rings; ring++)
        if (p->ring[ring].placed) {
            p->ring[ring].lost = 1;
            __atomic_store_n(&ring_of(p, ring)->image_lost, 1, __ATOMIC_RELEASE);
        }
    pthread_mutex_lock(&p->world->lock);
    xs_catalog_note(p->world, text);
    pthread_mutex_unlock(&p->world->lock);
}

static int copy_spans(xs_placement *p) {
    if (!p->span_count || p->error) return p->error;
    int rc = p->world->backend->rings_copy(p->world, p->spans, p->span_count);
    p->copies += p->span_count;
    if (rc) lose(p, rc);
    return rc;
}

static uint32_t stamp_of(const xs_placement *p, uint32_t ring, uint32_t part) {
    xs_record record;
    uint32_t first, count;
    part_slots(part, header_of(p)->ring_records, &first, &count);
    return xs_record_load(&image_of(p, ring)[first + count - 1], &record) ? record.sequence : 0;
}

/* Copies the last slot of each part of the rings that are watched: where it is new, the whole part is. */
static void probe(xs_placement *p) {
    int any = 0;
    for (uint32_t ring = 0; ring < p->rings; ring++) {
        placed_ring *r = &p->ring[ring];
        if (!r->live) continue;
        any = 1;
        r->need = XS_PARTS_ALL & ~XS_PART_OVERFLOW;
    }
    if (!any) return;
    xs_placement_spans(p, 1);
    int rc = copy_spans(p);
    for (uint32_t ring = 0; ring < p->rings; ring++) {
        placed_ring *r = &p->ring[ring];
        if (!r->live) continue;
        r->need = 0;
        for (uint32_t part = 0; !rc && part < XS_PARTS; part++)
            if (stamp_of(p, ring, part) != r->stamp[part]) r->need |= (uint8_t)(1u << part);
        if (__atomic_load_n(&ring_of(p, ring)->mode, __ATOMIC_RELAXED) == XS_DISCARD) r->need |= XS_PART_OVERFLOW;
    }
}

/* After the copy: what the image is now. */
static uint64_t publish(xs_placement *p, uint64_t time) {
    uint64_t slots = 0;
    uint32_t first, count;
    for (uint32_t ring = 0; ring < p->rings; ring++) {
        placed_ring *r = &p->ring[ring];
        xs_ring_header *header = ring_of(p, ring);
        if (!r->need) continue;
        for (uint32_t part = 0; part < XS_PARTS; part++) {
            uint32_t stamp = r->need >> part & 1 ? stamp_of(p, ring, part) : r->stamp[part];
            part_slots(part, header->capacity, &first, &count);
            slots += stamp != r->stamp[part] ? count : 0;
            r->stamp[part] = stamp;
        }
        if (r->next || r->need == XS_PARTS_ALL) __atomic_store_n(&header->image_time, time ? time : 1, __ATOMIC_RELEASE);
        if (!r->next) continue;
        r->copied = r->next;
        slots++;
        __atomic_store_n(&header->image_next, r->next, __ATOMIC_RELEASE);
    }
    p->slots += slots;
    return slots;
}

uint64_t xs_placement_step(xs_placement *p, int all, const uint32_t *ended, uint32_t ended_count) {
    const xs_control *control = xs_region_control(header_of(p));
    uint64_t time = xs_world_now(p->world), slots = 0;
    int live = __atomic_load_n(&control->image_live, __ATOMIC_RELAXED) != 0, whole = all || time >= p->whole_due;
    observe(p, live, whole, ended, ended_count);
    if (!whole) probe(p);
    xs_placement_spans(p, 0);
    if (!copy_spans(p)) slots = publish(p, time);
    if (whole) {
        uint64_t took = xs_world_now(p->world) - time, pause = live ? WHOLE_NS : LOOK_NS;
        p->whole_due = time + (took * DUTY > pause ? took * DUTY : pause);
    }
    /* Where memory is lost nobody knows how far its writers came: their rings stay theirs. */
    for (uint32_t i = 0; i < ended_count && !p->error; i++) xs_region_reclaim(p->world->region, ended[i]);
    return slots;
}
