/* The file behind a segment: made, named, found, mapped, retired, swept. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "segment_layout.h"

void xs_segment_name(char *name, size_t size, const char *world) {
    int used = snprintf(name, size, "xs.%u.", (unsigned)geteuid());
    if (*world)
        snprintf(name + used, size - (size_t)used, "%016llx", (unsigned long long)XXH3_64bits(world, strlen(world)));
}

uint64_t xs_segment_placement(const xs_world *world) {
    const char *cpu = world->config.cpu_ranks && world->backend == &xs_backend_cuda ? world->config.cpu_ranks : "";
    uint64_t hash = XXH3_64bits(world->backend->name, strlen(world->backend->name));
    return XXH3_64bits_withSeed(cpu, strlen(cpu), hash);
}

uint64_t xs_segment_control_bytes(uint32_t ranks) {
    uint64_t bytes = sizeof(segment_control) + (uint64_t)ranks * sizeof(segment_member);
    return (bytes + 4095) & ~(uint64_t)4095;
}

static int system_error(const char *what) {
    int saved = errno;
    xs_fail(XS_E_SYSTEM, "shared memory of the world: %s: %s", what, strerror(saved));
    errno = saved;
    return saved == ENOSPC || saved == ENOMEM ? XS_E_MEMORY : XS_E_SYSTEM;
}

int xs_segment_reserve(int fd, uint64_t offset, uint64_t bytes) {
    int rc;
    do rc = fallocate(fd, 0, (off_t)offset, (off_t)bytes);
    while (rc && errno == EINTR);
    return rc ? system_error("no room in " XS_SEGMENT_FOLDER) : 0;
}

static int map(xs_segment *s) {
    void *at = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, s->fd, 0);
    if (at == MAP_FAILED) return system_error("mmap");
    s->control = at;
    return 0;
}

void xs_segment_unmap(xs_segment *s) {
    if (s->control) munmap(s->control, s->bytes);
    if (s->fd >= 0) close(s->fd);
    s->control = NULL;
    s->fd = -1;
}

static int init_lock(pthread_mutex_t *lock) {
    pthread_mutexattr_t attr;
    int rc = pthread_mutexattr_init(&attr);
    if (rc) return XS_E_SYSTEM;
    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
    rc = pthread_mutex_init(lock, &attr);
    pthread_mutexattr_destroy(&attr);
    return rc ? XS_E_SYSTEM : 0;
}

/* Filled in whole before it has a name. */
int xs_segment_make(xs_segment *s, const xs_world *world) {
    uint64_t control_bytes = xs_segment_control_bytes(world->config.ranks);
    s->bytes = control_bytes + world->config.ranks * world->config.shared_bytes;
    s->fd = open(XS_SEGMENT_FOLDER, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (s->fd < 0) return system_error("cannot create a file in " XS_SEGMENT_FOLDER);
    if (ftruncate(s->fd, (off_t)s->bytes)) return system_error("ftruncate");
    int rc = xs_segment_reserve(s->fd, 0, control_bytes);
    if (!rc) rc = map(s);
    if (rc) return rc;
    segment_control *c = s->control;
    c->magic = XS_SEGMENT_MAGIC;
    c->version = XS_SEGMENT_VERSION;
    c->ranks = world->config.ranks;
    c->control_bytes = control_bytes;
    c->shared_bytes = world->config.shared_bytes;
    c->placement = xs_segment_placement(world);
    xs_segment_enter(c, s->first_rank, s->local_ranks);
    return init_lock(&c->lock);
}

int xs_segment_give_name(const xs_segment *s) {
    char from[48], to[96];
    snprintf(from, sizeof from, "/proc/self/fd/%d", s->fd);
    snprintf(to, sizeof to, XS_SEGMENT_FOLDER "/%s", s->name);
    if (!linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW)) return 1;
    return errno == EEXIST ? 0 : system_error("cannot name the file");
}

int xs_segment_find(xs_segment *s) {
    char path[96];
    struct stat st;
    snprintf(path, sizeof path, XS_SEGMENT_FOLDER "/%s", s->name);
    s->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (s->fd < 0) return errno == ENOENT ? 0 : system_error(path);
    if (fstat(s->fd, &st)) return system_error("fstat");
    s->bytes = (uint64_t)st.st_size;
    if (st.st_uid != geteuid() || s->bytes < sizeof(segment_control))
        return xs_fail(XS_E_FORMAT, "%s is not a world's memory", path);
    int rc = map(s);
    if (rc) return rc;
    if (s->control->magic != XS_SEGMENT_MAGIC) return xs_fail(XS_E_FORMAT, "%s is not a world's memory", path);
    if (s->control->version != XS_SEGMENT_VERSION) return xs_fail(XS_E_VERSION, "%s is of another version of xs", path);
    return 1;
}

void xs_segment_retire(xs_segment *s) {
    char path[96];
    snprintf(path, sizeof path, XS_SEGMENT_FOLDER "/%s", s->name);
    s->control->retired = 1;
    unlink(path);
}

static void sweep_one(const char *name) {
    xs_segment s = {.fd = -1};
    if (strlen(name) >= sizeof s.name) return;
    strcpy(s.name, name);
    if (xs_segment_find(&s) == 1 && xs_segment_try_lock(s.control)) {
        if (!s.control->retired && xs_segment_is_stale(s.control)) xs_segment_retire(&s);
        xs_segment_unlock(s.control);
    }
    xs_segment_unmap(&s);
}

/* Processes that were killed leave their memory behind, and nobody may ever ask for that name again. */
void xs_segment_sweep(void) {
    char prefix[64];
    xs_segment_name(prefix, sizeof prefix, "");
    DIR *folder = opendir(XS_SEGMENT_FOLDER);
    if (!folder) return;
    for (struct dirent *entry; (entry = readdir(folder));)
        if (!strncmp(entry->d_name, prefix, strlen(prefix))) sweep_one(entry->d_name);
    closedir(folder);
    xs_fail_clear();
}
