/* The host backend: kernels are functions, ranks are threads; memory is private to one process, or a segment of
 * several. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xs/record_access.h>

#include "segment.h"

#define COPY_TRIES 1000 /* at a record that is being written, where it takes two loads or stores */

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

/* As on a device: memory that only kernels of this process reach. */
static int rings_open(xs_world *world, void **base) {
    const xs_region_header *h = xs_region(world);
    uint64_t rank_bytes = h->rings_per_rank * h->records_stride;
    void *memory = NULL;
    int rc = allocate(world->backend_state, h->ranks * rank_bytes, &memory);
    for (uint32_t i = 0; !rc && i < h->ranks; i++) base[i] = (char *)memory + i * rank_bytes;
    return rc;
}

/* Whole records, since kernels write there meanwhile and others read here; what is just being written stays as it
 * was. */
static void copy_records(uint32_t words, const xs_record *from, xs_record *to, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        xs_record record, apart;
        int tries = COPY_TRIES;
        while ((!xs_record_load(&from[i], &record) || (words == 2 && !xs_stamped_open(&record, &apart))) && --tries)
            continue;
        if (tries) xs_record_store(&to[i], &record);
    }
}

static int rings_copy(xs_world *world, const xs_ring_span *spans, uint32_t count) {
    const xs_region_header *h = xs_region(world);
    for (const xs_ring_span *s = spans; s < spans + count; s++)
        for (uint32_t i = 0; i < s->rings; i++) {
            uint64_t rank = s->ring / h->rings_per_rank, ring = s->ring + i, in_rank = ring - rank * h->rings_per_rank;
            char *from = xs_placement_records(world, h->first_rank + (uint32_t)rank) + in_rank * h->records_stride;
            char *to = world->region + h->records_offset + ring * h->records_stride;
            copy_records(h->record_words, (const xs_record *)from + s->slot, (xs_record *)to + s->slot, s->slots);
        }
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
    .rings_open = rings_open,
    .rings_copy = rings_copy,
    .launch = launch,
    .sync = sync_host,
    .copy = copy,
    .slot_read = slot_read,
    .slot_write = slot_write,
};
