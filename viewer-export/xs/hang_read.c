/* Regions of running processes, grouped into worlds, looked at twice. */
#include "hang.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xs/errors.h>

const hang_source hang_live = {
    "live", 2, "Hung so far: ", " ago", hang_look_into_rings, hang_ring_left_out, hang_ring_had_writers};

/* A region that is just being made, or whose world is over, waits for nothing. */
static int is_live(const xs_attached *region) { return region->view.head.state == XS_REGION_LIVE; }

static hang_world *world_of(hang_report *r, const xs_attached *at) {
    for (uint32_t i = 0; i < r->world_count; i++)
        if (xs_attach_same_world(r->worlds[i].regions[0].at, at))
            return &r->worlds[i];
    return hang_add_world(r, &hang_live);
}

static enum hang_process_state state_of(const xs_attached *at) {
    if (!at->pid)
        return HANG_PROCESS_GONE;
    return at->run_state == 'T' || at->run_state == 't' ? HANG_PROCESS_STOPPED : HANG_PROCESS_RUNS;
}

static int place_region(hang_report *r, const xs_attached *at) {
    hang_world *world = world_of(r, at);
    hang_region *region = world ? hang_add_region(world) : NULL;
    if (!region)
        return XS_E_MEMORY;
    hang_region_is(region, at, state_of(at));
    region->pid = at->pid ? at->pid : at->view.head.pid;
    region->holder = at->holder;
    region->no_now = at->view.head.virtual_time != 0;
    return 0;
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
static int describe_all(hang_report *r) {
    int rc = 0;
    for (uint32_t i = 0; i < r->world_count && !rc; i++)
        rc = hang_describe(&r->worlds[i]);
    for (uint32_t i = 0; i < r->world_count && !rc; i++)
        rc = hang_find_waits(&r->worlds[i]);
    return rc;
}

int hang_read(const int32_t *pids, uint32_t count, hang_report *r) {
    memset(r, 0, sizeof *r);
    r->asked = count;
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
    if (!rc)
        rc = describe_all(r);
    return rc ? rc : hang_conclude(r);
}
