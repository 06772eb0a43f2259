/* The region of a world: a memfd that cannot shrink under a reader, with all its pages behind it before the first
 * launch, so that no kernel meets a full machine; anonymous memory on sim. */
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
    void *at = mmap(NULL, world->region_bytes, PROT_READ | PROT_WRITE, flags, world->region_fd, 0);
    if (at == MAP_FAILED)
        return xs_fail(XS_E_MEMORY, "cannot map %llu bytes for rings: %s", (unsigned long long)world->region_bytes,
                       strerror(errno));
    world->region = at;
    return 0;
}

static int make_memfd(xs_world *world) {
    int fd = memfd_create("xs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return xs_fail(XS_E_SYSTEM, "memfd_create: %s", strerror(errno));
    world->region_fd = fd;
    if (ftruncate(fd, (off_t)world->region_bytes)) return xs_fail(XS_E_SYSTEM, "memfd: ftruncate: %s", strerror(errno));
    int rc;
    do rc = fallocate(fd, 0, 0, (off_t)world->region_bytes);
    while (rc && errno == EINTR);
    if (rc)
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
    header.lines_per_ring = world->config.lines;
    header.activity_entries = activity_entries(world);
    fill_identity(world, &header);
    world->region_bytes = xs_region_layout(&header);
    world->region_fd = -1;
    int rc = is_sim(world) ? map(world, MAP_PRIVATE | MAP_ANONYMOUS) : make_memfd(world);
    if (rc) {
        xs_region_destroy(world);
        return rc;
    }
    xs_region_init(world->region, &header);
    return 0;
}

void xs_region_destroy(xs_world *world) {
    if (world->region) munmap(world->region, world->region_bytes);
    if (world->region_fd >= 0) close(world->region_fd);
    world->region = NULL;
    world->region_fd = -1;
}
