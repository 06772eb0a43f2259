/* Regions, grouped into worlds, looked at twice. */
#include "hang.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xs/errors.h>

int hang_room(void **array, uint32_t *size, uint32_t need, size_t width) {
    if (need <= *size)
        return 0;
    void *larger = realloc(*array, 2 * (size_t)need * width);
    if (!larger)
        return XS_E_MEMORY;
    *array = larger;
    *size = 2 * need;
    return 0;
}

/* A region that is just being made, or whose world is over, waits for nothing. */
static int is_live(const xs_attached *region) { return region->view.head.state == XS_REGION_LIVE; }

static int add_region(hang_world *world, const xs_attached *at) {
    hang_region *larger = realloc(world->regions, (world->region_count + 1) * sizeof *larger);
    if (!larger)
        return XS_E_MEMORY;
    world->regions = larger;
    world->regions[world->region_count++] = (hang_region){.at = at};
    return 0;
}

static int place_region(hang_report *r, const xs_attached *at) {
    for (uint32_t i = 0; i < r->world_count; i++)
        if (xs_attach_same_world(r->worlds[i].regions[0].at, at))
            return add_region(&r->worlds[i], at);
    hang_world *larger = realloc(r->worlds, (r->world_count + 1) * sizeof *larger);
    if (!larger)
        return XS_E_MEMORY;
    r->worlds = larger;
    memset(&r->worlds[r->world_count], 0, sizeof *larger);
    return add_region(&r->worlds[r->world_count++], at);
}

static int by_rank(const void *a, const void *b) {
    const hang_region *x = a, *y = b;
    uint32_t p = x->at->view.head.first_rank, q = y->at->view.head.first_rank;
    return p < q ? -1 : p > q;
}

static int sample_all(hang_report *r, int which) {
    for (uint32_t i = 0; i < r->world_count; i++)
        for (uint32_t j = 0; j < r->worlds[i].region_count; j++) {
            int rc = hang_sample_take(&r->worlds[i].regions[j], which);
            if (rc)
                return rc;
        }
    return 0;
}

static void rest(void) {
    struct timespec left = {0, HANG_SAMPLE_NS};
    while (nanosleep(&left, &left)) {
    }
}

/* Catalogs and journals are read behind the samples: a wait that began meanwhile was launched and named before it. */
static int describe(hang_world *world) {
    int rc = 0;
    qsort(world->regions, world->region_count, sizeof *world->regions, by_rank);
    for (uint32_t j = 0; j < world->region_count && !rc; j++) {
        hang_region *region = &world->regions[j];
        rc = xs_catalog_view_read(&region->at->view, &region->catalog);
        if (!rc)
            rc = hang_journal_take(region);
    }
    return rc;
}

static int conclude(hang_world *world) {
    int rc = hang_find_waits(world);
    if (rc)
        return rc;
    hang_find_suppliers(world);
    rc = hang_find_ranks(world);
    return rc ? rc : hang_judge(world);
}

static int worst_first(const void *a, const void *b) {
    const hang_world *x = a, *y = b;
    if (x->verdict != y->verdict)
        return x->verdict > y->verdict ? -1 : 1;
    int32_t p = x->regions[0].at->holder, q = y->regions[0].at->holder;
    return p < q ? -1 : p > q;
}

int hang_read(const int32_t *pids, uint32_t count, hang_report *r) {
    memset(r, 0, sizeof *r);
    int rc = xs_attach_find(pids, count, &r->set);
    for (uint32_t i = 0; i < r->set.count && !rc; i++)
        if (is_live(&r->set.regions[i]))
            rc = place_region(r, &r->set.regions[i]);
    if (!rc)
        rc = sample_all(r, 0);
    if (!rc && r->world_count)
        rest();
    if (!rc)
        rc = sample_all(r, 1);
    for (uint32_t i = 0; i < r->world_count && !rc; i++)
        rc = describe(&r->worlds[i]);
    for (uint32_t i = 0; i < r->world_count && !rc; i++)
        rc = conclude(&r->worlds[i]);
    if (!rc && r->world_count)
        qsort(r->worlds, r->world_count, sizeof *r->worlds, worst_first);
    return rc;
}

static void free_region(hang_region *region) {
    xs_catalog_view_free(&region->catalog);
    free(region->launches);
    free(region->journal);
    for (int i = 0; i < 2; i++) {
        free(region->samples[i].lines);
        free(region->samples[i].newest);
    }
}

void hang_free(hang_report *r) {
    for (uint32_t i = 0; i < r->world_count; i++) {
        hang_world *world = &r->worlds[i];
        for (uint32_t j = 0; j < world->region_count; j++)
            free_region(&world->regions[j]);
        free(world->regions);
        free(world->ranks);
        free(world->writers);
        free(world->waits);
        free(world->chain.waits);
    }
    free(r->worlds);
    xs_attach_free(&r->set);
}
