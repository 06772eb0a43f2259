/* The worlds of this process: a forked child must not touch its parent's capture, and the clock outside kernels is that
 * of the world made last. */
#include <unistd.h>

#include "identity.h"
#include "objects.h"

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static xs_world *newest;
static uint32_t virtual_worlds; /* 0: the clock is the machine's, and asking for it takes no lock */

static void before_fork(void) { pthread_mutex_lock(&list_lock); }
static void parent_after_fork(void) { pthread_mutex_unlock(&list_lock); }

/* The child keeps its copies of the structures, so that its calls can answer XS_E_FORKED, but no collector. Another
 * thread of the parent may have been anywhere, in the allocator too: nothing that takes a lock is called. */
static void child_after_fork(void) {
    xs_collect.forked();
    for (xs_world *world = newest; world; world = world->next_world) {
        if (world->collect_state) xs_collect.forget(world->collect_state);
        world->collect_state = NULL;
    }
    pthread_mutex_unlock(&list_lock);
}

static void install(void) { pthread_atfork(before_fork, parent_after_fork, child_after_fork); }

void xs_worlds_watch_forks(void) { pthread_once(&once, install); }

void xs_worlds_add(xs_world *world) {
    pthread_mutex_lock(&list_lock);
    world->next_world = newest;
    newest = world;
    __atomic_fetch_add(&virtual_worlds, xs_region(world)->virtual_time, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&list_lock);
}

void xs_worlds_remove(xs_world *world) {
    pthread_mutex_lock(&list_lock);
    xs_world **link = &newest;
    while (*link && *link != world) link = &(*link)->next_world;
    if (*link) {
        *link = world->next_world;
        __atomic_fetch_sub(&virtual_worlds, xs_region(world)->virtual_time, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&list_lock);
}

uint64_t xs_worlds_now(void) {
    if (!__atomic_load_n(&virtual_worlds, __ATOMIC_RELAXED)) return xs_clock_boot();
    pthread_mutex_lock(&list_lock);
    uint64_t now = newest ? xs_world_now(newest) : xs_clock_boot();
    pthread_mutex_unlock(&list_lock);
    return now;
}

uint64_t xs_world_now(const xs_world *world) {
    if (world->scheduler && world->scheduler_state) return world->scheduler->host_now(world->scheduler_state);
    return xs_region(world)->virtual_time ? 0 : xs_clock_boot();
}

int xs_world_check(const xs_world *world) {
    xs_fail_clear();
    if (!world) return xs_fail(XS_E_ARGUMENT, "no world given");
    if (world->owner_pid != (int32_t)getpid())
        return xs_fail(XS_E_FORKED, "the world belongs to process %d", (int)world->owner_pid);
    return 0;
}
