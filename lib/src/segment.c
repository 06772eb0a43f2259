/* Opening, sharing out and closing a segment. */
#include "segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "segment_layout.h"

#define FOLDER "/dev/shm"

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

static int reserve(int fd, uint64_t offset, uint64_t bytes) {
    int rc;
    do rc = fallocate(fd, 0, (off_t)offset, (off_t)bytes);
    while (rc && errno == EINTR);
    return rc ? system_error("no room in " FOLDER) : 0;
}

static int map(xs_segment *s) {
    void *at = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, s->fd, 0);
    if (at == MAP_FAILED) return system_error("mmap");
    s->control = at;
    return 0;
}

static void unmap(xs_segment *s) {
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

/* A file without a name, filled in whole. */
static int make(xs_segment *s, const xs_world *world) {
    uint64_t control_bytes = xs_segment_control_bytes(world->config.ranks);
    s->bytes = control_bytes + world->config.ranks * world->config.shared_bytes;
    s->fd = open(FOLDER, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (s->fd < 0) return system_error("cannot create a file in " FOLDER);
    if (ftruncate(s->fd, (off_t)s->bytes)) return system_error("ftruncate");
    int rc = reserve(s->fd, 0, control_bytes);
    if (!rc) rc = map(s);
    if (rc) return rc;
    segment_control *c = s->control;
    c->magic = XS_SEGMENT_MAGIC;
    c->version = XS_SEGMENT_VERSION;
    c->ranks = world->config.ranks;
    c->control_bytes = control_bytes;
    c->shared_bytes = world->config.shared_bytes;
    xs_segment_enter(c, s->first_rank, s->local_ranks);
    return init_lock(&c->lock);
}

/* 1: linked; 0: another process was first. */
static int give_name(const xs_segment *s) {
    char from[48], to[96];
    snprintf(from, sizeof from, "/proc/self/fd/%d", s->fd);
    snprintf(to, sizeof to, FOLDER "/%s", s->name);
    if (!linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW)) return 1;
    return errno == EEXIST ? 0 : system_error("cannot name the file");
}

/* 1: there is one, and it is mapped; 0: there is none. */
static int find(xs_segment *s) {
    char path[96];
    struct stat st;
    snprintf(path, sizeof path, FOLDER "/%s", s->name);
    s->fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (s->fd < 0) return errno == ENOENT ? 0 : system_error(path);
    if (fstat(s->fd, &st)) return system_error("fstat");
    s->bytes = (uint64_t)st.st_size;
    if (st.st_uid != geteuid() || s->bytes < sizeof(segment_control)) return xs_fail(XS_E_FORMAT, "%s is not a world's memory", path);
    int rc = map(s);
    if (rc) return rc;
    if (s->control->magic != XS_SEGMENT_MAGIC) return xs_fail(XS_E_FORMAT, "%s is not a world's memory", path);
    if (s->control->version != XS_SEGMENT_VERSION) return xs_fail(XS_E_VERSION, "%s is of another version of xs", path);
    return 1;
}

static void retire(xs_segment *s) {
    char path[96];
    snprintf(path, sizeof path, FOLDER "/%s", s->name);
    s->control->retired = 1;
    unlink(path);
}

static int same_world(const segment_control *c, const xs_world *world) {
    if (c->ranks == world->config.ranks && c->shared_bytes == world->config.shared_bytes) return 0;
    return xs_fail(XS_E_SHAPE, "the world has %u ranks of %llu bytes in another process, %u of %llu here", c->ranks,
                   (unsigned long long)c->shared_bytes, world->config.ranks, (unsigned long long)world->config.shared_bytes);
}

/* 1: joined; 0: it was stale or just going, look again. */
static int join(xs_segment *s, const xs_world *world) {
    int rc = xs_segment_lock(s->control);
    if (rc) return rc;
    int how = s->control->retired ? 0 : xs_segment_may_join(s->control, s->first_rank, s->local_ranks);
    if (how == XS_REPLACE) retire(s);
    if (how == XS_JOIN) rc = same_world(s->control, world);
    if (how == XS_JOIN && !rc) xs_segment_enter(s->control, s->first_rank, s->local_ranks);
    xs_segment_unlock(s->control);
    if (how < 0 || rc) return how < 0 ? how : rc;
    return how == XS_JOIN;
}

static int attach(xs_segment *s, const xs_world *world) {
    for (int attempt = 0; attempt < 1000; attempt++) {
        int rc = find(s);
        if (rc > 0) rc = join(s, world);
        else if (!rc && !(rc = make(s, world))) rc = give_name(s);
        if (rc) return rc < 0 ? rc : 0;
        unmap(s);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return xs_fail(XS_E_SYSTEM, "the world's shared memory comes and goes: %s", s->name);
}

int xs_segment_open(const xs_world *world, xs_segment **segment) {
    xs_segment *s = calloc(1, sizeof *s);
    if (!s) return XS_E_MEMORY;
    s->fd = -1;
    s->first_rank = world->config.first_rank;
    s->local_ranks = world->config.local_ranks;
    uint64_t hash = XXH3_64bits(world->config.world, strlen(world->config.world));
    snprintf(s->name, sizeof s->name, "xs.%u.%016llx", (unsigned)geteuid(), (unsigned long long)hash);
    int rc = attach(s, world);
    if (rc) {
        unmap(s);
        free(s);
        return rc;
    }
    *segment = s;
    return 0;
}

void xs_segment_close(xs_segment *s, int leave) {
    if (leave && !xs_segment_lock(s->control)) {
        if (xs_segment_leave(s->control, s->first_rank, s->local_ranks)) retire(s);
        xs_segment_unlock(s->control);
    }
    unmap(s);
    free(s);
}

uint32_t *xs_segment_abort_word(xs_segment *s) { return &s->control->abort_word; }

static uint64_t rank_part(const segment_control *c, uint32_t rank) { return c->control_bytes + rank * c->shared_bytes; }

static int create_area(xs_segment *s, const char *key, uint64_t bytes) {
    segment_control *c = s->control;
    uint64_t whole = (bytes + 4095) & ~(uint64_t)4095;
    if (c->area_count >= XS_SEGMENT_AREAS) return xs_fail(XS_E_TOO_MANY, "at most %u pads and buffers are shared", XS_SEGMENT_AREAS);
    if (whole > c->shared_bytes - c->used)
        return xs_fail(XS_E_MEMORY, "%s: %llu bytes a rank do not fit into shared_bytes (%llu)", key, (unsigned long long)bytes,
                       (unsigned long long)c->shared_bytes);
    for (uint32_t r = 0; whole && r < c->ranks; r++) {
        int rc = reserve(s->fd, rank_part(c, r) + c->used, whole);
        if (rc) return rc;
    }
    segment_area *area = &c->areas[c->area_count];
    memset(area, 0, sizeof *area);
    strcpy(area->key, key); /* length checked by the caller */
    area->bytes = bytes;
    area->offset = c->used;
    c->used += whole;
    __atomic_store_n(&c->area_count, c->area_count + 1, __ATOMIC_RELEASE);
    return 0;
}

static int find_area(xs_segment *s, const char *key, uint64_t bytes) {
    segment_control *c = s->control;
    if (s->next_area >= c->area_count) return create_area(s, key, bytes);
    const segment_area *area = &c->areas[s->next_area];
    if (!strcmp(area->key, key) && area->bytes == bytes) return 0;
    return xs_fail(XS_E_SHAPE, "\"%s\" is created here where another process created \"%s\"", key, area->key);
}

int xs_segment_area(xs_segment *s, const char *key, uint64_t bytes, void **base) {
    if (strlen(key) >= XS_SEGMENT_KEY) return XS_E_NAME;
    int rc = xs_segment_lock(s->control);
    if (rc) return rc;
    rc = find_area(s, key, bytes);
    xs_segment_unlock(s->control);
    if (rc) return rc;
    uint64_t offset = s->control->areas[s->next_area++].offset;
    for (uint32_t r = 0; base && r < s->control->ranks; r++) base[r] = (char *)s->control + rank_part(s->control, r) + offset;
    return 0;
}
