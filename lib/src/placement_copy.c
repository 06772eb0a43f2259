/* One step of the copier: which parts of which rings are new, copying them, and saying so in the ring headers. */
#include <stdio.h>
#include <xs/ring_access.h>

#include "placement.h"

#define STALE_NS 100000000u /* stale_ns where copies are quick */
#define LOOK_NS 500000000u  /* where nobody takes records as they come */
#define DUTY 10u            /* copies of stale parts take one part in so many of the time, at most */
#define MEASURED 65536u     /* slots of a step whose time says what a slot costs */

typedef struct copy_step {
    uint64_t time;
    int all;
    uint32_t wish; /* xs_image_wish */
    const uint32_t *ended;
    uint32_t ended_count;
} copy_step;

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
    return xs_ring_taken((const uint64_t *)(p->world->region + h->groups_offset) + ring / 64, ring % 64,
                         ring_of(p, ring));
}

/* Slots of a part. */
static void part_slots(uint32_t part, uint32_t capacity, uint32_t *first, uint32_t *count) {
    *count = capacity / XS_PARTS;
    *first = part * (capacity / XS_PARTS);
}

uint32_t xs_placement_parts(uint64_t from, uint64_t next, uint32_t capacity) {
    uint32_t part = capacity / XS_PARTS, parts = 0;
    if (next - from >= capacity)
        return XS_PARTS_ALL;
    for (uint64_t s = from; s < next; s = (s / part + 1) * part)
        parts |= 1u << (s & (capacity - 1)) / part;
    return parts;
}

typedef int ring_wants(const placed_ring *ring, uint32_t parts);

static int wants_all(const placed_ring *r, uint32_t parts) { return r->need == parts; }
static int wants_some(const placed_ring *r, uint32_t parts) { return (r->need & parts) && r->need != XS_PARTS_ALL; }
static int wants_probe(const placed_ring *r, uint32_t parts) { return r->live && !(r->need & parts); }

/* Rings of one rank that follow each other and want these parts are one span. */
static void add_runs(xs_placement *p, ring_wants *wants, uint32_t parts, uint32_t slot, uint32_t slots) {
    uint32_t per_rank = header_of(p)->rings_per_rank;
    for (uint32_t ring = 0; ring < p->rings;) {
        uint32_t begin = ring++;
        if (!wants(&p->ring[begin], parts))
            continue;
        while (ring < p->rings && ring % per_rank && wants(&p->ring[ring], parts))
            ring++;
        p->spans[p->span_count++] = (xs_ring_span){begin, ring - begin, slot, slots};
    }
}

void xs_placement_spans(xs_placement *p, int probes) {
    uint32_t capacity = header_of(p)->ring_records, first, count;
    p->span_count = 0;
    if (!probes)
        add_runs(p, wants_all, XS_PARTS_ALL, 0, capacity);
    for (uint32_t part = 0; part < XS_PARTS; part++) {
        part_slots(part, capacity, &first, &count);
        add_runs(p, probes ? wants_probe : wants_some, 1u << part, probes ? first + count - 1 : first,
                 probes ? 1 : count);
    }
}

static int is_ended(uint32_t words, const xs_ring_header *header, uint32_t owners, const uint32_t *ended,
                    uint32_t count) {
    xs_ring_owner owner;
    if (!owners || !xs_ring_owner_load(words, header, owners - 1, &owner))
        return 0;
    for (uint32_t i = 0; i < count; i++)
        if (ended[i] == owner.launch)
            return 1;
    return 0;
}

/* A free ring: what it holds beyond what was copied when it was free last. */
static void observe_free(xs_placement *p, uint32_t ring, const xs_ring_header *header) {
    placed_ring *r = &p->ring[ring];
    uint64_t next = __atomic_load_n(&header->next, __ATOMIC_ACQUIRE), from = r->copied ? r->copied : 1;
    if (taken(p, ring) || next <= 1 || next == r->copied)
        return;
    r->next = next;
    r->need = (uint8_t)xs_placement_parts(from, next, header->capacity);
}

static uint32_t stale_parts(const placed_ring *r, uint64_t time, uint64_t age) {
    uint32_t parts = 0;
    for (uint32_t part = 0; part < XS_PARTS; part++)
        parts |= (uint32_t)(!r->time[part] || time - r->time[part] >= age) << part;
    return parts;
}

/* Which rings are free and new, which parts are stale, which rings are to be probed. */
static void observe(xs_placement *p, const copy_step *step) {
    for (uint32_t ring = 0; ring < p->rings; ring++) {
        placed_ring *r = &p->ring[ring];
        const xs_ring_header *header = ring_of(p, ring);
        r->next = r->need = r->live = 0;
        if (!r->placed || r->lost)
            continue;
        if (!taken(p, ring)) {
            if (step->wish == XS_IMAGE_LIVE || step->all)
                observe_free(p, ring, header);
            continue;
        }
        r->discard = __atomic_load_n(&header->mode, __ATOMIC_RELAXED) == XS_DISCARD;
        uint32_t owners = __atomic_load_n(&header->owners, __ATOMIC_ACQUIRE);
        int ended =
            step->ended_count && is_ended(header_of(p)->record_words, header, owners, step->ended, step->ended_count);
        if (step->all || ended)
            r->need = XS_PARTS_ALL;
        else if (step->wish)
            r->need = (uint8_t)stale_parts(r, step->time, step->wish == XS_IMAGE_LIVE ? p->stale_ns : LOOK_NS);
        r->live = step->wish == XS_IMAGE_LIVE && r->need != XS_PARTS_ALL;
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

/* 0, or why nothing was copied. A copy that does not end is tried again: a device that is busy is not a lost one. */
static int copy_spans(xs_placement *p) {
    if (!p->span_count || p->error)
        return p->error;
    int rc = p->world->backend->rings_copy(p->world, p->spans, p->span_count);
    if (rc && rc != XS_E_TIMEOUT)
        lose(p, rc);
    return rc;
}

/* Of what stands in the last slot of a part; of two words, the high half of the first: stamp and low bits of the
 * time. */
static uint32_t stamp_of(const xs_placement *p, uint32_t ring, uint32_t part) {
    xs_record record;
    uint32_t first, count;
    part_slots(part, header_of(p)->ring_records, &first, &count);
    if (!xs_record_load(&image_of(p, ring)[first + count - 1], &record))
        return 0;
    return header_of(p)->record_words == 2 ? record.code_object : record.sequence;
}

/* Copies the last slot of each part of the rings that are watched: where it is new, the whole part is. */
static int probe(xs_placement *p) {
    xs_placement_spans(p, 1);
    int rc = copy_spans(p);
    for (uint32_t ring = 0; ring < p->rings && !rc; ring++) {
        placed_ring *r = &p->ring[ring];
        if (!r->live)
            continue;
        uint32_t fresh = 0;
        for (uint32_t part = 0; part < XS_PARTS; part++)
            fresh |= (uint32_t)(stamp_of(p, ring, part) != r->stamp[part]) << part;
        r->need |= (uint8_t)(fresh && r->discard ? XS_PARTS_ALL : fresh);
    }
    return rc;
}

/* What a part's copy has brought; returns its slots if that was new. */
static uint32_t part_copied(xs_placement *p, uint32_t ring, uint32_t part, uint64_t time) {
    placed_ring *r = &p->ring[ring];
    uint32_t first, count;
    r->time[part] = time;
    uint32_t stamp = stamp_of(p, ring, part), is_new = stamp != r->stamp[part];
    r->stamp[part] = stamp;
    part_slots(part, header_of(p)->ring_records, &first, &count);
    return is_new ? count : 0;
}

/* Every slot is at least as new as its part. */
static uint64_t image_time(const placed_ring *r) {
    uint64_t oldest = UINT64_MAX;
    for (uint32_t part = 0; part < XS_PARTS; part++)
        oldest = r->time[part] < oldest ? r->time[part] : oldest;
    return oldest;
}

/* After the copy: what the image is now. */
static uint64_t publish(xs_placement *p, uint64_t time) {
    uint64_t slots = 0;
    for (uint32_t ring = 0; ring < p->rings; ring++) {
        placed_ring *r = &p->ring[ring];
        xs_ring_header *header = ring_of(p, ring);
        if (!r->need)
            continue;
        for (uint32_t part = 0; part < XS_PARTS; part++) {
            if (r->need >> part & 1)
                slots += part_copied(p, ring, part, time);
            else if (r->next)
                r->time[part] = time; /* nobody wrote there since it was copied */
        }
        uint64_t oldest = image_time(r);
        if (oldest > header->image_time) /* a clock: readers count on it */
            __atomic_store_n(&header->image_time, oldest, __ATOMIC_RELEASE);
        if (!r->next)
            continue;
        r->copied = r->next;
        slots++;
        __atomic_store_n(&header->image_next, r->next, __ATOMIC_RELEASE);
    }
    return slots;
}

static uint64_t slots_of(const xs_placement *p) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->span_count; i++)
        sum += (uint64_t)p->spans[i].rings * p->spans[i].slots;
    return sum;
}

/* Copying all rings that somebody writes may take its share of the time, not more. */
static void measure(xs_placement *p, uint64_t took) {
    uint64_t slots = slots_of(p), live = 0;
    if (slots < MEASURED)
        return;
    for (uint32_t ring = 0; ring < p->rings; ring++)
        live += (uint64_t)(p->ring[ring].need && !p->ring[ring].next);
    uint64_t pause = (uint64_t)((double)took / (double)slots * (double)live * header_of(p)->ring_records * DUTY);
    p->stale_ns = pause > STALE_NS ? pause : STALE_NS;
}

int xs_placement_step(xs_placement *p, int all, const uint32_t *ended, uint32_t ended_count, uint64_t *slots) {
    const xs_control *control = xs_region_control(header_of(p));
    uint32_t wish = __atomic_load_n(&control->image_wish, __ATOMIC_RELAXED);
    uint64_t now = xs_world_now(p->world);
    copy_step step = {now ? now : 1, all, wish, ended, ended_count};
    if (!p->stale_ns)
        p->stale_ns = STALE_NS;
    observe(p, &step);
    int rc = probe(p);
    uint64_t begin = xs_world_now(p->world);
    xs_placement_spans(p, 0);
    if (!rc)
        rc = copy_spans(p);
    if (rc)
        return rc;
    measure(p, xs_world_now(p->world) - begin);
    *slots += publish(p, step.time);
    for (uint32_t i = 0; i < ended_count; i++)
        xs_region_reclaim(p->world->region, ended[i], p->world->given_back);
    return 0;
}
