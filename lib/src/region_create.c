/* The region of a world: a memfd that cannot shrink under a reader, with all its pages behind it before the first
 * launch, so that no kernel meets a full machine; anonymous memory on sim. The catalog alone gets its pages as it
 * grows: no kernel writes there, and what plans need is not known before. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "identity.h"
#include "world.h"

static int is_sim(const xs_world *world) { return !strcmp(world->config.scheduler, "sim"); }

static void fill_identity(const xs_world *world, xs_region_header *h) {
    h->device = world->backend == &xs_backend_cuda ? 0 : -1; /* ranks of further GPUs: see the ring headers */
    h->first_rank = world->config.first_rank;
    h->ranks = world->config.local_ranks;
    h->world_ranks = world->config.ranks;
    h->virtual_time = (uint32_t)is_sim(world);
    if (h->virtual_time) { /* same seed, same bytes */
        h->process = 1 + (uint64_t)h->first_rank;
        h->pid = 1 + (int32_t)h->first_rank;
        return;
    }
    h->host = xs_identity_host();
    h->process = xs_identity_process();
    h->pid = (int32_t)getpid();
    h->start_time = xs_clock_boot();
    h->start_realtime = xs_clock_real();
}

#define ACTIVITY_ENTRIES 8192u
#define ACTIVITY_FEW     64u /* without CUPTI: room to say so */

static uint32_t activity_entries(const xs_world *world) {
    if (is_sim(world) || (world->backend != &xs_backend_cuda && world->config.cupti != 1)) return 0;
    return world->config.cupti < 0 ? ACTIVITY_FEW : ACTIVITY_ENTRIES;
}

static int map(xs_world *world, int flags) {
    void *at = mmap(NULL, world->region_total, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, world->region_fd, 0);
    if (at == MAP_FAILED)
        return xs_fail(XS_E_MEMORY,
                       "cannot map %llu bytes for rings, and for names, pads and plan (XS_CATALOG_BYTES): %s",
                       (unsigned long long)world->region_total, strerror(errno));
    world->region = at;
    return 0;
}

#define CATALOG_STEP (1ull << 20)

static int make_pages(const xs_world *world, uint64_t at, uint64_t bytes) {
    int rc;
    do rc = fallocate(world->region_fd, 0, (off_t)at, (off_t)bytes);
    while (rc && errno == EINTR);
    return rc;
}

int xs_region_catalog_grow(xs_world *world, uint64_t bytes) {
    const xs_region_header *h = xs_region(world);
    if (world->region_fd < 0 || bytes <= world->catalog_ready) return 0;
    uint64_t ready = (bytes + CATALOG_STEP - 1) & ~(CATALOG_STEP - 1);
    if (ready > h->catalog_bytes) ready = h->catalog_bytes;
    if (make_pages(world, h->catalog_offset + world->catalog_ready, ready - world->catalog_ready))
        return xs_fail(XS_E_MEMORY, "no memory for %llu bytes of names, pads and plan: %s", (unsigned long long)ready,
                       strerror(errno));
    world->catalog_ready = ready;
    return 0;
}

static int make_memfd(xs_world *world, const xs_region_header *h) {
    int fd = memfd_create("xs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return xs_fail(XS_E_SYSTEM, "memfd_create: %s", strerror(errno));
    world->region_fd = fd;
    if (ftruncate(fd, (off_t)world->region_total)) return xs_fail(XS_E_SYSTEM, "memfd: ftruncate: %s", strerror(errno));
    if (make_pages(world, 0, world->region_bytes) ||
        make_pages(world, h->journal_offset, world->region_total - h->journal_offset))
        return xs_fail(XS_E_MEMORY, "no memory for %llu bytes of rings: %s", (unsigned long long)world->region_bytes,
                       strerror(errno));
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
        return xs_fail(XS_E_SYSTEM, "memfd: seal: %s", strerror(errno));
    return map(world, MAP_SHARED);
}

int xs_region_create(xs_world *world) {
    xs_region_header header;
    memset(&header, 0, sizeof header);
    header.rings_per_rank = world->config.rings;
    header.ring_records = world->config.ring_records;
    header.record_words = world->config.record_words == 2 ? 2 : 0;
    header.lines_per_ring = world->config.lines;
    header.catalog_bytes = world->config.catalog_bytes;
    header.activity_entries = activity_entries(world);
    fill_identity(world, &header);
    world->region_total = xs_region_layout(&header);
    world->region_bytes = header.catalog_offset;
    world->region_fd = -1;
    int rc = is_sim(world) ? map(world, MAP_PRIVATE | MAP_ANONYMOUS) : make_memfd(world, &header);
    if (rc) {
        xs_region_destroy(world);
        return rc;
    }
    xs_region_init(world->region, &header);
    return 0;
}

void xs_region_destroy(xs_world *world) {
    if (world->region) munmap(world->region, world->region_total);
    if (world->region_fd >= 0) close(world->region_fd);
    world->region = NULL;
    world->region_fd = -1;
}
