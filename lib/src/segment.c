/* Joining, sharing out and leaving a segment. */
#include "segment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "identity.h"
#include "segment_layout.h"

static int same_world(const segment_control *c, const xs_world *world) {
    if (c->placement != xs_segment_placement(world))
        return xs_fail(XS_E_SHAPE,
                       "another process of the world has another backend or other cpu_ranks than \"%s\" and \"%s\"",
                       world->backend->name, world->config.cpu_ranks ? world->config.cpu_ranks : "");
    if (c->ranks == world->config.ranks && c->shared_bytes == world->config.shared_bytes) return 0;
    return xs_fail(XS_E_SHAPE, "the world has %u ranks of %llu bytes in another process, %u of %llu here", c->ranks,
                   (unsigned long long)c->shared_bytes, world->config.ranks,
                   (unsigned long long)world->config.shared_bytes);
}

/* 1: joined; 0: it was stale or just going, look again. */
static int join(xs_segment *s, const xs_world *world) {
    int rc = xs_segment_lock(s->control);
    if (rc) return rc;
    int how = s->control->retired ? 0 : xs_segment_may_join(s->control, s->first_rank, s->local_ranks);
    if (how == XS_REPLACE) xs_segment_retire(s);
    if (how == XS_JOIN) rc = same_world(s->control, world);
    if (how == XS_JOIN && !rc) xs_segment_enter(s->control, s->first_rank, s->local_ranks);
    xs_segment_unlock(s->control);
    if (how < 0 || rc) return how < 0 ? how : rc;
    return how == XS_JOIN;
}

static int attach(xs_segment *s, const xs_world *world) {
    for (int attempt = 0; attempt < 1000; attempt++) {
        int rc = xs_segment_find(s);
        if (rc > 0) rc = join(s, world);
        else if (!rc && !(rc = xs_segment_make(s, world))) rc = xs_segment_give_name(s);
        if (rc) return rc < 0 ? rc : 0;
        xs_segment_unmap(s);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return xs_fail(XS_E_SYSTEM, "the world's shared memory comes and goes: %s", s->name);
}

static void say_shared(const xs_segment *s, xs_world *world) {
    struct stat st;
    if (!fstat(s->fd, &st))
        snprintf(world->shared, sizeof world->shared, "%llx.%llx", (unsigned long long)st.st_dev,
                 (unsigned long long)st.st_ino);
}

int xs_segment_open(xs_world *world, xs_segment **segment) {
    xs_segment *s = calloc(1, sizeof *s);
    if (!s) return XS_E_MEMORY;
    s->fd = -1;
    s->first_rank = world->config.first_rank;
    s->local_ranks = world->config.local_ranks;
    xs_segment_name(s->name, sizeof s->name, world->config.world);
    xs_segment_sweep();
    int rc = attach(s, world);
    if (rc) {
        xs_segment_unmap(s);
        free(s);
        return rc;
    }
    say_shared(s, world);
    *segment = s;
    return 0;
}

void xs_segment_close(xs_segment *s, int leave) {
    if (leave && !xs_segment_lock(s->control)) {
        if (xs_segment_leave(s->control, s->first_rank, s->local_ranks)) xs_segment_retire(s);
        xs_segment_unlock(s->control);
    }
    xs_segment_unmap(s);
    free(s);
}

uint32_t *xs_segment_abort_word(xs_segment *s) { return &s->control->abort_word; }

void xs_segment_control_range(xs_segment *s, void **at, uint64_t *bytes) {
    *at = s->control;
    *bytes = s->control->control_bytes;
}

static uint32_t member_state(const xs_segment *s, uint32_t rank, int *alive) {
    const segment_member *m = &s->control->members[rank];
    uint32_t state = __atomic_load_n(&m->state, __ATOMIC_ACQUIRE);
    *alive = state == MEMBER_HERE && xs_identity_alive(m->pid, m->start);
    return state;
}

int xs_segment_died(const xs_segment *s, uint32_t rank) {
    int alive;
    return member_state(s, rank, &alive) == MEMBER_HERE && !alive;
}

int xs_segment_lives(const xs_segment *s, uint32_t rank) {
    int alive;
    member_state(s, rank, &alive);
    return alive;
}

static uint64_t rank_part(const segment_control *c, uint32_t rank) { return c->control_bytes + rank * c->shared_bytes; }

static int create_area(xs_segment *s, const char *key, uint64_t bytes) {
    segment_control *c = s->control;
    uint64_t whole = (bytes + 4095) & ~(uint64_t)4095;
    if (c->area_count >= XS_SEGMENT_AREAS)
        return xs_fail(XS_E_TOO_MANY, "at most %u pads and buffers are shared", XS_SEGMENT_AREAS);
    if (whole > c->shared_bytes - c->used)
        return xs_fail(XS_E_MEMORY, "%s: %llu bytes a rank do not fit into shared_bytes (%llu)", key,
                       (unsigned long long)bytes, (unsigned long long)c->shared_bytes);
    for (uint32_t r = 0; whole && r < c->ranks; r++) {
        int rc = xs_segment_reserve(s->fd, rank_part(c, r) + c->used, whole);
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
    for (uint32_t r = 0; base && r < s->control->ranks; r++)
        base[r] = (char *)s->control + rank_part(s->control, r) + offset;
    return 0;
}
