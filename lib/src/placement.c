/* Records in device memory: making it, and the thread that copies them out. On sim there is no thread: launches that
 * end and passes of the collector copy, at virtual times that the seed alone decides. */
#include "placement.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REST_LEAST_NS 200000u
#define REST_MOST_NS 10000000u

/* Takes the launches that are over; the caller frees the list. p->lock held. */
static uint32_t *take_ended(xs_placement *p, uint32_t *count) {
    uint32_t *ended = p->ended;
    *count = p->ended_count;
    p->ended = NULL;
    p->ended_count = p->ended_room = 0;
    return ended;
}

static int remember_ended(xs_placement *p, uint32_t launch) {
    if (p->ended_count == p->ended_room) {
        uint32_t room = p->ended_room ? 2 * p->ended_room : 16;
        uint32_t *larger = realloc(p->ended, room * sizeof *larger);
        if (!larger)
            return 0;
        p->ended = larger;
        p->ended_room = room;
    }
    p->ended[p->ended_count++] = launch;
    return 1;
}

/* A step, and a second one for rings that the first has reclaimed. */
static uint64_t steps(xs_placement *p, int all) {
    uint32_t count;
    uint64_t slots = 0;
    pthread_mutex_lock(&p->lock);
    uint32_t *ended = take_ended(p, &count);
    pthread_mutex_unlock(&p->lock);
    int rc = xs_placement_step(p, all, ended, count, &slots);
    if (!rc && count)
        rc = xs_placement_step(p, all, NULL, 0, &slots);
    pthread_mutex_lock(&p->lock);
    p->late = rc == XS_E_TIMEOUT;
    for (uint32_t i = 0; p->late && i < count; i++)
        remember_ended(p, ended[i]); /* again, if need be: it does no harm */
    pthread_mutex_unlock(&p->lock);
    free(ended);
    return slots;
}

/* The collector's request, from this process or another one. */
static void answer_collector(xs_placement *p) {
    xs_control *control = xs_region_control(xs_region(p->world));
    uint32_t asked = __atomic_load_n(&control->image_asked, __ATOMIC_ACQUIRE);
    if (asked == __atomic_load_n(&control->image_done, __ATOMIC_RELAXED))
        return;
    steps(p, 1);
    __atomic_store_n(&control->image_done, asked, __ATOMIC_RELEASE);
}

static void later(struct timespec *when, uint64_t ns) {
    clock_gettime(CLOCK_MONOTONIC, when);
    ns += (uint64_t)when->tv_nsec;
    when->tv_sec += (time_t)(ns / 1000000000u);
    when->tv_nsec = (long)(ns % 1000000000u);
}

/* 0: stop. */
static int rest(xs_placement *p, uint64_t ns) {
    struct timespec until;
    later(&until, ns);
    pthread_mutex_lock(&p->lock);
    if (!p->stopping && p->asked == p->done && (!p->ended_count || p->late))
        pthread_cond_timedwait(&p->changed, &p->lock, &until);
    int go_on = !p->stopping;
    pthread_mutex_unlock(&p->lock);
    return go_on;
}

static void round_of(xs_placement *p, uint64_t *pause) {
    pthread_mutex_lock(&p->lock);
    uint64_t asked = p->asked;
    int all = asked != p->done;
    pthread_mutex_unlock(&p->lock);
    uint64_t slots = steps(p, all);
    answer_collector(p);
    *pause = slots ? REST_LEAST_NS : *pause * 2 < REST_MOST_NS ? *pause * 2 : REST_MOST_NS;
    if (!all)
        return;
    pthread_mutex_lock(&p->lock);
    p->done = asked;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static void *run(void *user) {
    xs_placement *p = user;
    uint64_t pause = REST_LEAST_NS;
    pthread_setname_np(pthread_self(), "xs copier");
    do
        round_of(p, &pause);
    while (rest(p, pause));
    return NULL;
}

static int start_thread(xs_placement *p) {
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are the application's */
    int number = pthread_create(&p->thread, NULL, run, p);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (number)
        return xs_fail(XS_E_SYSTEM, "no thread to copy rings: %s", strerror(number));
    p->threaded = 1;
    return 0;
}

static int make(xs_world *world, xs_placement **out) {
    const xs_region_header *h = xs_region(world);
    pthread_condattr_t monotonic;
    xs_placement *p = calloc(1, sizeof *p);
    if (!p)
        return XS_E_MEMORY;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    p->world = world;
    p->rings = h->ranks * h->rings_per_rank;
    p->base = calloc(h->ranks, sizeof *p->base);
    p->ring = calloc(p->rings, sizeof *p->ring);
    p->spans = calloc((uint64_t)p->rings * (XS_PARTS + 1), sizeof *p->spans);
    *out = p;
    return p->base && p->ring && p->spans ? 0 : XS_E_MEMORY;
}

/* Rings and region say where their records are. Nobody reads them yet. */
static void mark_rings(const xs_placement *p) {
    xs_region_header *h = xs_region(p->world);
    h->placement = XS_RING_DEVICE;
    for (uint32_t i = 0; i < p->rings; i++) {
        xs_ring_header *ring =
            (xs_ring_header *)(p->world->region + h->ring_headers_offset + i * h->ring_header_stride);
        p->ring[i].placed = p->base[i / h->rings_per_rank] != NULL;
        ring->placement = p->ring[i].placed ? XS_RING_DEVICE : XS_RING_MAPPED;
    }
}

int xs_placement_open(xs_world *world) {
    if (strcmp(world->config.placement, "device"))
        return 0;
    int rc = make(world, &world->placement);
    if (!rc)
        rc = world->backend->rings_open(world, world->placement->base);
    if (rc)
        return rc;
    mark_rings(world->placement);
    return xs_region(world)->virtual_time ? 0 : start_thread(world->placement);
}

static void stop_thread(xs_placement *p) {
    pthread_mutex_lock(&p->lock);
    p->stopping = 1;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
}

void xs_placement_close(xs_world *world) {
    xs_placement *p = world->placement;
    if (!p)
        return;
    int here = world->owner_pid == (int32_t)getpid(); /* a forked child has no such thread */
    if (p->threaded && here)
        stop_thread(p);
    if (here) {
        pthread_cond_destroy(&p->changed);
        pthread_mutex_destroy(&p->lock);
    }
    free(p->ended);
    free(p->base);
    free(p->ring);
    free(p->spans);
    free(p);
    world->placement = NULL;
}

char *xs_placement_records(const xs_world *world, uint32_t rank) {
    const xs_region_header *h = xs_region(world);
    uint64_t local = rank - h->first_rank;
    void *base = world->placement ? world->placement->base[local] : NULL;
    return base ? base : world->region + h->records_offset + local * h->rings_per_rank * h->records_stride;
}

int xs_placement_launch_ended(xs_world *world, uint32_t launch) {
    xs_placement *p = world->placement;
    if (!p)
        return 0;
    pthread_mutex_lock(&p->lock);
    int kept = remember_ended(p, launch);
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    if (!p->threaded)
        steps(p, 1);
    return kept;
}

int xs_placement_flush(xs_world *world, uint64_t ns) {
    xs_placement *p = world->placement;
    struct timespec until;
    if (!p)
        return 0;
    if (!p->threaded) {
        steps(p, 1);
        return p->error;
    }
    later(&until, ns);
    pthread_mutex_lock(&p->lock);
    uint64_t mine = ++p->asked;
    int late = 0;
    pthread_cond_broadcast(&p->changed);
    while (p->done < mine && !late)
        late = pthread_cond_timedwait(&p->changed, &p->lock, &until) == ETIMEDOUT;
    late |= p->late;
    pthread_mutex_unlock(&p->lock);
    int error = __atomic_load_n(&p->error, __ATOMIC_ACQUIRE);
    return error ? error : late ? XS_E_TIMEOUT : 0;
}

void xs_placement_pass(xs_world *world) {
    xs_placement *p = world->placement;
    if (!p || p->threaded)
        return;
    steps(p, 0);
    answer_collector(p);
}
