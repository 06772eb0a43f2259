/* The host backend: kernels are functions, ranks are threads; memory is private to one process, or a segment of
 * several. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "segment.h"

typedef struct allocation {
    void *memory;
    struct allocation *next;
} allocation;

typedef struct host_state {
    xs_segment *segment;     /* NULL: all ranks live here */
    allocation *allocations; /* without a segment */
    uint32_t abort_word __attribute__((aligned(128)));
    char pad0[124];
} host_state;

static int available(void) { return 1; }

static int is_forked(const xs_world *world) { return world->owner_pid != (int32_t)getpid(); }

/* In a forked child the scheduler's threads do not exist: what it holds is left as it is. */
static void close_host(xs_world *world) {
    host_state *state = world->backend_state;
    if (world->scheduler_state && !is_forked(world)) world->scheduler->close(world->scheduler_state);
    if (state->segment) xs_segment_close(state->segment, !is_forked(world));
    for (allocation *a = state->allocations, *next; a; a = next) {
        next = a->next;
        free(a->memory);
        free(a);
    }
    free(state);
    world->scheduler_state = NULL;
    world->backend_state = NULL;
}

static int open_host(xs_world *world) {
    host_state *state = aligned_alloc(128, sizeof *state);
    if (!state) return XS_E_MEMORY;
    memset(state, 0, sizeof *state);
    world->backend_state = state;
    world->abort_word = &state->abort_word;
    int rc = 0;
    if (world->config.local_ranks < world->config.ranks) rc = xs_segment_open(world, &state->segment);
    if (state->segment) world->abort_word = xs_segment_abort_word(state->segment);
    if (!rc) rc = world->scheduler->open(world, &world->scheduler_state);
    if (rc) close_host(world);
    return rc;
}

/* One allocation a rank, so that a sanitizer sees an access that runs from one rank's copy into the next one's. */
static int allocate(host_state *state, uint64_t bytes, void **memory) {
    allocation *a = malloc(sizeof *a);
    uint64_t whole = (bytes + 127) & ~(uint64_t)127;
    if (!a || !(a->memory = aligned_alloc(128, whole))) {
        free(a);
        return xs_fail(XS_E_MEMORY, "no memory for %llu bytes", (unsigned long long)bytes);
    }
    memset(a->memory, 0, whole);
    a->next = state->allocations;
    state->allocations = a;
    *memory = a->memory;
    return 0;
}

static int shared_memory(xs_world *world, const char *name, uint64_t bytes_per_rank, void **base) {
    host_state *state = world->backend_state;
    if (state->segment) return xs_segment_area(state->segment, name, bytes_per_rank, base);
    int rc = 0;
    for (uint32_t r = 0; !rc && bytes_per_rank && r < world->config.ranks; r++)
        rc = allocate(state, bytes_per_rank, &base[r]);
    return rc;
}

static int map_region(xs_world *world) {
    (void)world; /* host threads read and write it as it is */
    return 0;
}

static int launch(xs_world *world, xs_launch_order *order) {
    if (!order->kernel->host)
        return xs_fail(XS_E_UNSUPPORTED, "kernel %s is not compiled for the host", order->kernel->name);
    return world->scheduler->launch(world->scheduler_state, order);
}

static int sync_host(xs_world *world) { return world->scheduler->sync(world->scheduler_state); }

static int copy(xs_world *world, void *to, const void *from, uint64_t bytes) {
    (void)world;
    memcpy(to, from, bytes);
    return 0;
}

static int slot_read(xs_world *world, const void *address, uint32_t width, uint64_t *value) {
    (void)world;
    *value = width == 32 ? __atomic_load_n((const uint32_t *)address, __ATOMIC_SEQ_CST)
                         : __atomic_load_n((const uint64_t *)address, __ATOMIC_SEQ_CST);
    return 0;
}

static int slot_write(xs_world *world, void *address, uint32_t width, uint64_t value) {
    (void)world;
    if (width == 32) __atomic_store_n((uint32_t *)address, (uint32_t)value, __ATOMIC_SEQ_CST);
    else __atomic_store_n((uint64_t *)address, value, __ATOMIC_SEQ_CST);
    return 0;
}

const xs_backend xs_backend_host = {
    .name = "host",
    .available = available,
    .open = open_host,
    .close = close_host,
    .shared_memory = shared_memory,
    .map_region = map_region,
    .launch = launch,
    .sync = sync_host,
    .copy = copy,
    .slot_read = slot_read,
    .slot_write = slot_write,
};
