/* Looks at a region, live or an image, and what it says beside its status lines. */
#include "hang.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xs/errors.h>

/* For lines that are half new: one that is left out would be taken for a wait that is over, and whoever waits there
 * for one that owes. Lines of writers that were stopped in the middle stay half new. */
#define RESTS 200u

static uint64_t boot_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A line counts if the writer that holds the ring now wrote it: a launch that was killed may have left lines behind. */
static int is_of(const xs_status_line *line, const xs_ring_owner *owner) {
    return line->p7.launch == owner->launch && line->p6.block == owner->block &&
           (line->p6.warp_sm & 0xffff) == (owner->warp_sm & 0xffff);
}

static void rest(void *user) {
    (void)user;
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

static int take_ring(const hang_region *region, hang_sample *sample, uint32_t ring, xs_view_patience *patience) {
    const xs_region_view *view = &region->at->view;
    xs_ring_owner owner;
    if (!xs_view_taken(view, ring) || !xs_attach_owner(view, ring, &owner))
        return 0;
    sample->newest[ring] = xs_attach_newest(view, ring);
    for (uint32_t i = 0; i < view->head.lines_per_ring; i++) {
        hang_line line = {.ring = ring};
        int whole = xs_view_await_line(view, ring, i, &line.status, patience);
        sample->torn += whole < 0;
        if (whole <= 0 || !is_of(&line.status, &owner))
            continue;
        if (RD_ROOM(sample->lines, sample->room, sample->count + 1))
            return XS_E_MEMORY;
        sample->lines[sample->count++] = line;
    }
    return 0;
}

int hang_sample_take(hang_region *region, int which) {
    hang_sample *sample = &region->samples[which];
    sample->newest = calloc(region->at->view.rings, sizeof *sample->newest);
    xs_view_patience patience = {RESTS, rest, NULL};
    int rc = sample->newest ? 0 : XS_E_MEMORY;
    for (uint32_t ring = 0; ring < region->at->view.rings && !rc; ring++)
        rc = take_ring(region, sample, ring, &patience);
    region->now = boot_now();
    return rc;
}

static hang_launch *find_launch(hang_region *region, uint32_t id) {
    for (uint32_t i = region->launch_count; i > 0; i--)
        if (region->launches[i - 1].id == id)
            return &region->launches[i - 1];
    return NULL;
}

static int take_journal(hang_region *region) {
    int rc = xs_attach_journal(&region->at->view, &region->journal, &region->journal_count);
    if (rc)
        return rc;
    region->launches = calloc(region->journal_count + 1u, sizeof *region->launches);
    if (!region->launches)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < region->journal_count; i++) {
        const xs_journal_entry *e = &region->journal[i];
        hang_launch *l = e->kind == XS_JOURNAL_LAUNCH_END ? find_launch(region, e->a) : NULL;
        if (l) {
            l->end = e->c ? e->c : 1;
            l->result = (int32_t)(int64_t)e->d;
        }
        if (e->kind == XS_JOURNAL_LAUNCH_BEGIN)
            region->launches[region->launch_count++] = (hang_launch){.id = e->a,
                                                                     .kernel = (uint32_t)e->b,
                                                                     .begin = e->c,
                                                                     .first_rank = (uint32_t)e->f,
                                                                     .ranks = (uint32_t)(e->f >> 32)};
    }
    return 0;
}

void hang_region_is(hang_region *region, const xs_attached *at, enum hang_process_state state) {
    const xs_region_header *h = &at->view.head;
    region->at = at;
    region->state = state;
    region->pid = region->holder = h->pid;
    region->first_rank = h->first_rank;
    region->ranks = h->ranks;
    region->world_ranks = h->world_ranks;
}

static int by_rank(const void *a, const void *b) {
    uint32_t p = ((const hang_region *)a)->first_rank, q = ((const hang_region *)b)->first_rank;
    return p < q ? -1 : p > q;
}

void hang_sort_regions(hang_world *world) {
    qsort(world->regions, world->region_count, sizeof *world->regions, by_rank);
}

int hang_describe(hang_world *world) {
    int rc = 0;
    hang_sort_regions(world);
    for (uint32_t j = 0; j < world->region_count && !rc; j++) {
        hang_region *region = &world->regions[j];
        region->counts = xs_view_counters(&region->at->view);
        region->torn = region->samples[1].torn;
        rc = xs_catalog_view_read(&region->at->view, &region->catalog);
        if (!rc)
            rc = take_journal(region);
    }
    return rc;
}

void hang_look_into_rings(const hang_world *world, hang_wait *wait) {
    xs_ring_owner owner;
    uint32_t value;
    for (uint32_t r = 0; r < world->region_count; r++) {
        const hang_region *region = &world->regions[r];
        const xs_region_view *view = &region->at->view;
        uint32_t object = xs_catalog_view_object(&region->catalog, &wait->slot);
        for (uint32_t ring = 0; object && ring < view->rings; ring++)
            if (xs_attach_owner(view, ring, &owner) && xs_attach_signalled(view, ring, object, &value))
                hang_saw(wait, view->head.first_rank + ring / view->head.rings_per_rank);
    }
}

#define HABIT 3u /* signals that make one */

int hang_ring_left_out(const hang_world *world, const hang_wait *wait, const hang_wait *other) {
    const hang_writer *w = &world->writers[other->writer];
    const hang_region *region = &world->regions[w->region];
    uint32_t object = xs_catalog_view_object(&region->catalog, &wait->slot),
             stands = xs_catalog_view_object(&region->catalog, &other->slot);
    xs_attach_habit h;
    return object && stands && xs_attach_habit_of(&region->at->view, w->ring, object, stands, &h) && h.passed &&
           h.signals >= HABIT && h.most && h.since > h.most;
}

int hang_ring_had_writers(const hang_world *world, uint32_t region, uint32_t rank, uint32_t launch) {
    const xs_region_view *view = &world->regions[region].at->view;
    uint32_t first = (rank - view->head.first_rank) * view->head.rings_per_rank;
    for (uint32_t i = 0; i < view->head.rings_per_rank; i++)
        if (xs_attach_had_owner(view, first + i, launch))
            return 1;
    return 0;
}
