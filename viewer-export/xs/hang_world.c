/* Worlds and their processes, whatever the source; and the way from what is known to an answer. */
#include "hang.h"

#include <stdlib.h>
#include <string.h>
#include <xs/errors.h>

hang_world *hang_add_world(hang_report *r, const hang_source *source) {
    hang_world *larger = realloc(r->worlds, (r->world_count + 1) * sizeof *larger);
    if (!larger)
        return NULL;
    r->worlds = larger;
    r->worlds[r->world_count] = (hang_world){.source = source, .facts = r->facts};
    return &r->worlds[r->world_count++];
}

hang_region *hang_add_region(hang_world *world) {
    hang_region *larger = realloc(world->regions, (world->region_count + 1) * sizeof *larger);
    if (!larger)
        return NULL;
    world->regions = larger;
    memset(&world->regions[world->region_count], 0, sizeof *larger);
    return &world->regions[world->region_count++];
}

static int overlap(const hang_region *r, uint32_t first, uint32_t ranks) {
    return first < r->first_rank + r->ranks && r->first_rank < first + ranks;
}

/* A process that holds all ranks of its world shares it with nobody. */
static int fits(const hang_world *world, uint32_t first_rank, uint32_t ranks, uint32_t world_ranks) {
    for (uint32_t i = 0; i < world->region_count; i++) {
        const hang_region *r = &world->regions[i];
        if (r->world_ranks != world_ranks || overlap(r, first_rank, ranks))
            return 0;
    }
    return ranks < world_ranks;
}

hang_world *hang_find_world(hang_report *r, uint32_t first_rank, uint32_t ranks, uint32_t world_ranks) {
    for (uint32_t i = 0; i < r->world_count; i++)
        if (fits(&r->worlds[i], first_rank, ranks, world_ranks))
            return &r->worlds[i];
    return NULL;
}

static int conclude(hang_world *world) {
    hang_find_suppliers(world);
    int rc = hang_find_ranks(world);
    return rc ? rc : hang_judge(world);
}

static int worst_first(const void *a, const void *b) {
    const hang_world *x = a, *y = b;
    if (x->verdict != y->verdict)
        return x->verdict > y->verdict ? -1 : 1;
    int32_t p = x->regions[0].holder, q = y->regions[0].holder;
    return p < q ? -1 : p > q;
}

int hang_conclude(hang_report *r) {
    int rc = 0;
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
    for (uint32_t i = 0; i < r->note_count; i++)
        free(r->notes[i]);
    hang_capture_close(r);
    hang_image_close(r);
    xs_attach_free(&r->set);
}
