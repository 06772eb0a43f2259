/* A world from its configuration to its end. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config.h"
#include "objects.h"
#include "trace.h"

static int choose_scheduler(xs_world *world) {
    if (world->backend != &xs_backend_host) return 0;
    static const xs_scheduler *const known[] = {&xs_scheduler_threads, &xs_scheduler_sim};
    const char *name = world->config.scheduler;
    for (size_t i = 0; i < 2; i++)
        if (!strcmp(known[i]->name, name)) world->scheduler = known[i];
    return world->scheduler ? 0 : xs_fail(XS_E_ARGUMENT, "scheduler \"%s\": expected threads or sim", name);
}

static int choose_backend(xs_world *world) {
    static const xs_backend *const known[] = {&xs_backend_host, &xs_backend_cuda};
    const char *name = world->config.backend;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (!strcmp(known[i]->name, name)) world->backend = known[i];
    if (!world->backend) return xs_fail(XS_E_BACKEND, "backend \"%s\" is not in this build", name);
    int rc = world->backend->available();
    return rc < 0 ? rc : 0;
}

/* Every rank has a copy with one slot for each rank; the sender's is its column. */
static int make_heartbeat(xs_world *world) {
    int rc = xs_pad_create(world, "heartbeat", 1, world->config.ranks, XS_PAD_NO_DATA, &world->heartbeat);
    xs_plan_entry writer = {.kind = XS_PLAN_WRITER, .owner = XS_PLAN_ANY, .row = XS_PLAN_ANY, .column = XS_PLAN_ANY};
    writer.pad_first = world->heartbeat.first;
    writer.epoch = UINT64_MAX;
    writer.a = XS_PLAN_COLUMN;
    return rc ? rc : xs_plan_add(world, &writer, 1);
}

static int describe(xs_world *world) {
    pthread_mutex_lock(&world->lock);
    int rc = xs_catalog_process(world);
    pthread_mutex_unlock(&world->lock);
    if (!rc) rc = make_heartbeat(world);
    return rc ? rc : xs_trace_configure(world);
}

static int start_collector(xs_world *world) {
    xs_journal_clock(world, 0);
    __atomic_store_n(&xs_region(world)->state, XS_REGION_LIVE, __ATOMIC_RELEASE);
    return xs_collect.start(world, &world->collect_state);
}

static int open_world(xs_world *world, const xs_config *config) {
    int rc = xs_config_resolve(config, &world->config);
    if (!rc) rc = choose_backend(world);
    if (!rc) rc = choose_scheduler(world);
    if (!rc) rc = xs_objects_create(world);
    if (!rc) rc = xs_region_create(world);
    if (!rc) rc = world->backend->open(world);
    if (!rc) rc = world->backend->map_region(world);
    if (!rc) rc = xs_placement_open(world);
    if (!rc) rc = describe(world);
    if (!rc) rc = start_collector(world);
    return rc;
}

/* Whatever of it exists. In a forked child only this process's copies go: nothing that is shared is touched. */
static void free_world(xs_world *world) {
    xs_placement_close(world); /* before the memory that it copies */
    if (world->backend && world->backend_state) world->backend->close(world);
    free(world->claims);
    free(world->given_back);
    free(world->near);
    xs_region_destroy(world);
    xs_objects_destroy(world);
    xs_config_free(&world->config);
    pthread_mutex_destroy(&world->lock);
    free(world);
}

int xs_world_create(const xs_config *config, xs_world **world) {
    xs_fail_clear();
    if (!world) return xs_fail(XS_E_ARGUMENT, "no place for the world");
    *world = NULL;
    xs_worlds_watch_forks();
    xs_world *made = calloc(1, sizeof *made);
    if (!made) return xs_fail(XS_E_MEMORY, "out of memory");
    made->region_fd = -1;
    made->owner_pid = (int32_t)getpid();
    pthread_mutex_init(&made->lock, NULL);
    int rc = open_world(made, config);
    if (rc) {
        free_world(made);
        return rc;
    }
    xs_worlds_add(made);
    *world = made;
    return 0;
}

static int stop_collector(xs_world *world) {
    xs_journal_clock(world, 0);
    __atomic_store_n(&xs_region(world)->state, XS_REGION_ENDED, __ATOMIC_RELEASE);
    void *state = world->collect_state;
    world->collect_state = NULL;
    return state ? xs_collect.stop(state, 1) : 0;
}

int xs_world_destroy(xs_world *world) {
    int rc = xs_world_check(world);
    if (rc == XS_E_ARGUMENT) return rc;
    if (!rc) {
        int synced = world->backend->sync(world);
        xs_launch_reap(world, 1);
        if (world->collect_state) xs_placement_flush(world, XS_PLACEMENT_WAIT_NS);
        rc = stop_collector(world);
        if (!rc) rc = xs_objects_of(world)->first_error;
        if (!rc) rc = synced;
    } else {
        xs_launch_reap(world, 1);
    }
    xs_worlds_remove(world);
    free_world(world);
    return rc;
}

uint32_t xs_world_ranks(const xs_world *world) { return world ? world->config.ranks : 0; }
uint32_t xs_world_first_rank(const xs_world *world) { return world ? world->config.first_rank : 0; }
uint32_t xs_world_local_ranks(const xs_world *world) { return world ? world->config.local_ranks : 0; }
int xs_world_device(const xs_world *world, uint32_t rank) {
    uint32_t local = world ? rank - world->config.first_rank : 0;
    if (!world || local >= world->config.local_ranks) return -1;
    const xs_region_header *h = (const xs_region_header *)world->region;
    uint64_t ring = (uint64_t)local * h->rings_per_rank;
    return ((const xs_ring_header *)(world->region + h->ring_headers_offset + ring * h->ring_header_stride))->device;
}
const char *xs_world_backend(const xs_world *world) { return world ? world->backend->name : ""; }
const char *xs_world_scheduler(const xs_world *world) {
    if (!world) return "";
    return world->scheduler ? world->scheduler->name : world->backend->name;
}
