/* Who is in a segment, who has died, who may still come. The lock is held. */
#include <errno.h>
#include <unistd.h>

#include "identity.h"
#include "segment_layout.h"

#define STAY_NS 30000000000ull

int xs_segment_lock(segment_control *control) {
    int rc = pthread_mutex_lock(&control->lock);
    /* The holder was killed. All changes under the lock end in one store that makes them count, so what is there is
     * whole. */
    if (rc == EOWNERDEAD) rc = pthread_mutex_consistent(&control->lock);
    return rc ? xs_fail(XS_E_SYSTEM, "the lock of the world's shared memory cannot be taken (%d)", rc) : 0;
}

int xs_segment_try_lock(segment_control *control) {
    int rc = pthread_mutex_trylock(&control->lock);
    if (rc == EOWNERDEAD) rc = pthread_mutex_consistent(&control->lock);
    return !rc;
}

void xs_segment_unlock(segment_control *control) { pthread_mutex_unlock(&control->lock); }

static int is_alive(const segment_member *m) { return m->state == MEMBER_HERE && xs_identity_alive(m->pid, m->start); }

typedef struct census {
    uint32_t alive, died;
    uint32_t mine_alive, mine_taken; /* of the ranks asked for */
} census;

static census count_members(const segment_control *c, uint32_t first, uint32_t count) {
    census n = {0, 0, 0, 0};
    for (uint32_t r = 0; r < c->ranks; r++) {
        const segment_member *m = &c->members[r];
        uint32_t live = (uint32_t)is_alive(m), mine = r >= first && r - first < count;
        n.alive += live;
        n.died += m->state == MEMBER_HERE && !live;
        n.mine_alive += live && mine;
        n.mine_taken += m->state != MEMBER_NONE && mine;
    }
    return n;
}

/* Nobody is there, but somebody may come to whom something was left. */
static int is_kept(const segment_control *c, const census *n) {
    return !n->died && xs_clock_boot() - c->left_time < STAY_NS;
}

int xs_segment_may_join(const segment_control *c, uint32_t first, uint32_t count) {
    census n = count_members(c, first, count);
    if (n.mine_alive)
        return xs_fail(XS_E_ARGUMENT, "another process of this world already has one of ranks %u to %u", first,
                       first + count - 1);
    return n.alive || (is_kept(c, &n) && !n.mine_taken) ? XS_JOIN : XS_REPLACE;
}

int xs_segment_is_stale(const segment_control *c) {
    census n = count_members(c, 0, 0);
    return !n.alive && !is_kept(c, &n);
}

void xs_segment_enter(segment_control *control, uint32_t first, uint32_t count) {
    int32_t pid = (int32_t)getpid();
    uint64_t start = xs_identity_start(pid);
    for (uint32_t r = first; r < first + count; r++) {
        control->members[r].pid = pid;
        control->members[r].start = start;
        __atomic_store_n(&control->members[r].state, MEMBER_HERE, __ATOMIC_RELEASE);
    }
}

int xs_segment_leave(segment_control *control, uint32_t first, uint32_t count) {
    uint32_t alive = 0, to_come = 0;
    for (uint32_t r = first; r < first + count; r++) control->members[r].state = MEMBER_LEFT;
    for (uint32_t r = 0; r < control->ranks; r++) {
        alive += (uint32_t)is_alive(&control->members[r]);
        to_come += control->members[r].state == MEMBER_NONE;
    }
    control->left_time = xs_clock_boot();
    return !alive && !to_come;
}
