/* Writers that hold rings, and their open waits, from two samples of the status lines. */
#include "hang.h"

#include <stdlib.h>
#include <string.h>
#include <xs/errors.h>

#define PAIR(low, high) ((uint64_t)(high) << 32 | (low))

static uint64_t start_of(const xs_status_line *s) { return PAIR(s->p3.start_lo, s->p3.start_hi); }
static uint64_t written_of(const xs_status_line *s) { return PAIR(s->p2.time_lo, s->p2.time_hi); }
static uint64_t observed_of(const xs_status_line *s) { return PAIR(s->p1.observed_lo, s->p1.observed_hi); }
static uint64_t polls_of(const xs_status_line *s) { return PAIR(s->p2.polls, s->p7.polls_hi); }

static int is_open(const xs_status_line *s) {
    uint32_t state = s->p0.state_stage & 0xff;
    return state == XS_LINE_WAITING || state == XS_LINE_SLOW;
}

/* The same wait: its start tells it from any other of this writer. */
static const xs_status_line *same_wait(const hang_sample *sample, const hang_line *wait) {
    for (uint32_t i = 0; i < sample->count; i++) {
        const xs_status_line *s = &sample->lines[i].status;
        if (sample->lines[i].ring == wait->ring && is_open(s) && s->p0.object == wait->status.p0.object &&
            s->p7.launch == wait->status.p7.launch && start_of(s) == start_of(&wait->status))
            return s;
    }
    return NULL;
}

/* The device's clock against the host's: the newest pair that was journalled. 0: none. */
int hang_device_offset(const hang_region *region, int32_t device, int64_t *offset) {
    for (uint32_t i = region->journal_count; i > 0; i--) {
        const xs_journal_entry *e = &region->journal[i - 1];
        if (e->kind == XS_JOURNAL_CLOCK && e->a == (uint32_t)device + 1) {
            *offset = (int64_t)(e->c - e->d);
            return 1;
        }
    }
    return 0;
}

/* Where a device's clock was never compared (or time is virtual): up to the newest time that any line shows. */
static uint64_t newest_time(const hang_region *region) {
    uint64_t newest = 0;
    for (uint32_t i = 0; i < region->samples[1].count; i++)
        if (written_of(&region->samples[1].lines[i].status) > newest)
            newest = written_of(&region->samples[1].lines[i].status);
    return newest;
}

static uint64_t age_of(const hang_region *region, const hang_line *line) {
    uint64_t start = start_of(&line->status), now = region->now;
    int32_t device = xs_view_ring(&region->at->view, line->ring)->device;
    int64_t offset = 0;
    if (region->no_now || (device >= 0 && !hang_device_offset(region, device, &offset)))
        now = newest_time(region);
    start += (uint64_t)offset;
    return now > start ? now - start : 0;
}

/* Of one look: recorded in what would lie between two. The time of a record is known modulo 4.29 s. */
static void look_back(const hang_region *region, hang_writer *w) {
    const xs_region_view *view = &region->at->view;
    int64_t offset = 0;
    int32_t device = xs_view_ring(view, w->ring)->device;
    uint32_t newest = region->samples[1].newest[w->ring], s = newest;
    xs_record record;
    while (s && newest - s < view->head.ring_records && xs_attach_code(view, w->ring, s) == XS_CODE_HEARTBEAT)
        s--;
    if (!s || !xs_attach_record(view, w->ring, s, &record) ||
        (device >= 0 && !hang_device_offset(region, device, &offset)))
        return;
    uint32_t ago = (uint32_t)(region->now - (uint64_t)offset) - record.time;
    w->last = region->now > ago ? region->now - ago : 0;
    w->moved = ago < HANG_SAMPLE_NS;
}

/* Heartbeats alone are no progress. The ring may have wrapped meanwhile: what is gone counts. */
static uint32_t records_between(const hang_region *region, uint32_t ring) {
    uint32_t from = region->samples[0].newest[ring], moved = 0;
    uint32_t count = (region->samples[1].newest[ring] - from) & xs_view_known(&region->at->view);
    if (count > region->at->view.head.ring_records)
        return count;
    for (uint32_t i = 1; i <= count; i++)
        moved += xs_attach_code(&region->at->view, ring, from + i) != XS_CODE_HEARTBEAT;
    return moved;
}

static int add_writer(hang_world *world, uint32_t r, uint32_t ring) {
    const hang_region *region = &world->regions[r];
    const xs_region_header *h = &region->at->view.head;
    xs_ring_owner owner;
    if (!region->samples[1].newest[ring] && !xs_view_taken(&region->at->view, ring))
        return 0;
    if (!xs_attach_owner(&region->at->view, ring, &owner))
        return 0;
    if (RD_ROOM(world->writers, world->writer_room, world->writer_count + 1))
        return XS_E_MEMORY;
    world->writers[world->writer_count++] = (hang_writer){.region = r,
                                                          .ring = ring,
                                                          .rank = h->first_rank + ring / h->rings_per_rank,
                                                          .block = owner.block,
                                                          .warp = owner.warp_sm & 0xffff,
                                                          .sm = owner.warp_sm >> 16,
                                                          .role = owner.role,
                                                          .launch = owner.launch};
    if (world->source->looks == 2)
        world->writers[world->writer_count - 1].moved = records_between(region, ring);
    else
        look_back(region, &world->writers[world->writer_count - 1]);
    return 0;
}

static void add_signal(hang_world *world, hang_writer *w, const xs_status_line *s) {
    if (!s->p5.signal_object)
        return;
    w->has_signalled = xs_catalog_view_place(&world->regions[w->region].catalog, s->p5.signal_object, &w->signal);
    uint32_t low = 0;
    w->has_value = xs_attach_signalled(&world->regions[w->region].at->view, w->ring, s->p5.signal_object, &low);
    w->signal_value = low;
}

static int add_wait(hang_world *world, uint32_t writer, const hang_line *line) {
    hang_writer *w = &world->writers[writer];
    const hang_region *region = &world->regions[w->region];
    const xs_status_line *s = &line->status, *before = same_wait(&region->samples[0], line);
    if (RD_ROOM(world->waits, world->wait_room, world->wait_count + 1))
        return XS_E_MEMORY;
    hang_wait *wait = &world->waits[world->wait_count++];
    *wait = (hang_wait){.writer = writer,
                        .rank = w->rank,
                        .file = s->p5.file,
                        .line = s->p4.line_role & 0xffff,
                        .user = s->p4.user,
                        .epoch = s->p3.epoch,
                        .cmp = s->p0.state_stage >> 24,
                        .slow = (s->p0.state_stage & 0xff) == XS_LINE_SLOW,
                        .object = s->p0.object,
                        .need = PAIR(s->p0.need_lo, s->p1.need_hi),
                        .observed = observed_of(s),
                        .polls = polls_of(s),
                        .age = age_of(region, line),
                        .supplier = HANG_NONE};
    w->role = s->p4.line_role >> 16; /* it may have changed since the writer began */
    w->waits++;
    wait->is_slot = xs_catalog_view_place(&region->catalog, wait->object, &wait->slot);
    wait->state = before && observed_of(before) == wait->observed ? HANG_STUCK : HANG_MOVING;
    if (world->source->looks == 1)
        wait->state = wait->age >= HANG_SAMPLE_NS ? HANG_STUCK : HANG_YOUNG;
    wait->polling = before && (polls_of(before) != wait->polls || written_of(before) != written_of(s));
    return 0;
}

/* The lines of one writer stand together. */
static int add_lines(hang_world *world, uint32_t writer, uint32_t *at) {
    hang_writer *w = &world->writers[writer];
    const hang_sample *sample = &world->regions[w->region].samples[1];
    const xs_status_line *newest = NULL;
    int rc = 0;
    while (*at < sample->count && sample->lines[*at].ring < w->ring)
        ++*at;
    for (; *at < sample->count && sample->lines[*at].ring == w->ring && !rc; ++*at) {
        const xs_status_line *s = &sample->lines[*at].status;
        if (!newest || written_of(s) >= written_of(newest))
            newest = s;
        world->given_up += (s->p0.state_stage & 0xff) == XS_LINE_GIVEN_UP;
        if (is_open(s))
            rc = add_wait(world, writer, &sample->lines[*at]);
    }
    if (newest)
        add_signal(world, w, newest);
    return rc;
}

static void count_ended(hang_world *world, const hang_region *region) {
    for (uint32_t i = 0; i < region->samples[0].count; i++)
        world->ended += is_open(&region->samples[0].lines[i].status) &&
                        !same_wait(&region->samples[1], &region->samples[0].lines[i]);
}

static int oldest_first(const void *a, const void *b) {
    const hang_wait *x = a, *y = b;
    if (x->age != y->age)
        return x->age > y->age ? -1 : 1;
    return x->rank != y->rank ? (x->rank < y->rank ? -1 : 1) : x->object < y->object ? -1 : x->object > y->object;
}

void hang_sort_waits(hang_world *world) {
    if (world->wait_count)
        qsort(world->waits, world->wait_count, sizeof *world->waits, oldest_first);
}

int hang_find_waits(hang_world *world) {
    int rc = 0;
    for (uint32_t r = 0; r < world->region_count && !rc; r++) {
        uint32_t at = 0;
        for (uint32_t ring = 0; ring < world->regions[r].at->view.rings && !rc; ring++) {
            uint32_t before = world->writer_count;
            rc = add_writer(world, r, ring);
            if (!rc && world->writer_count > before)
                rc = add_lines(world, before, &at);
        }
        count_ended(world, &world->regions[r]);
    }
    hang_sort_waits(world);
    return rc;
}
