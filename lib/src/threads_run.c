/* A run: one thread sees a launch through. It waits for earlier launches of the same ranks, starts blocks as the
 * residency allows, joins them, and is the watchdog: it aborts the world when the launch takes longer than wait_ns, and
 * lets barriers know of an abort. It looks every TICK_NS, and whenever a block is over. */
#include <stdlib.h>
#include <time.h>

#include "identity.h"
#include "objects.h"
#include "threads.h"

#define TICK_NS 10000000

static int overlap(const threads_run *a, const threads_run *b) {
    return a->first_rank < b->first_rank + b->ranks && b->first_rank < a->first_rank + a->ranks;
}

/* state->lock held, as in all of the following. */
static int must_wait(const threads_run *run) {
    for (const threads_run *earlier = run->state->runs; earlier && earlier != run; earlier = earlier->next_run)
        if (!earlier->finished && overlap(earlier, run)) return 1;
    return 0;
}

static void wait_tick(threads_state *state) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += TICK_NS;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    pthread_cond_timedwait(&state->changed, &state->lock, &t);
}

static int may_start(const threads_run *run) {
    uint32_t residency = run->state->world->config.residency;
    return run->next < run->total && (!residency || run->state->resident < residency);
}

/* The lock is let go while threads are made. */
static int start_block(threads_run *run) {
    threads_state *state = run->state;
    threads_block *block = NULL;
    uint32_t index = run->next++;
    state->resident++;
    pthread_mutex_unlock(&state->lock);
    int rc = threads_block_start(run, index, &block);
    pthread_mutex_lock(&state->lock);
    if (rc) {
        state->resident--;
        return rc;
    }
    block->next = run->live;
    run->live = block;
    return 0;
}

/* Blocks whose last thread is over, or just about to be. */
static void join_over(threads_run *run) {
    threads_block *over = NULL;
    for (threads_block **link = &run->live; *link;) {
        threads_block *block = *link;
        if (!block->over) {
            link = &block->next;
            continue;
        }
        *link = block->next;
        block->next = over;
        over = block;
    }
    pthread_mutex_unlock(&run->state->lock);
    while (over) {
        threads_block *next = over->next;
        threads_block_join(over);
        over = next;
    }
    pthread_mutex_lock(&run->state->lock);
}

/* A launch that cannot have all its threads fails whole: blocks that did start may wait for those that could not. */
static void fail(threads_run *run, int error) {
    run->order->result = error;
    run->total = run->next;
    xs_abort(run->state->world, error);
}

static void watch(threads_run *run, uint64_t deadline) {
    xs_world *world = run->state->world;
    xs_journal_clock(world, XS_CLOCK_GAP_NS);
    if (deadline && xs_clock_boot() >= deadline) xs_abort(world, XS_E_TIMEOUT);
    if (!xs_world_abort_error(world)) return;
    if (run->next < run->total) { /* what has not begun would only find the world aborted */
        run->total = run->next;
        if (!run->order->result) run->order->result = XS_E_ABORTED;
    }
    for (threads_block *block = run->live; block; block = block->next) threads_block_wake(block);
}

static void run_blocks(threads_run *run) {
    uint64_t bound = run->state->world->config.wait_ns;
    uint64_t deadline = bound ? xs_clock_boot() + bound : 0;
    while (run->next < run->total || run->live) {
        watch(run, deadline);
        while (may_start(run)) {
            int rc = start_block(run);
            if (rc) fail(run, rc);
        }
        int over = 0;
        for (threads_block *block = run->live; block; block = block->next) over |= block->over;
        if (over) join_over(run);
        else if (run->next < run->total || run->live) wait_tick(run->state);
    }
}

void *threads_run_main(void *argument) {
    threads_run *run = argument;
    threads_state *state = run->state;
    pthread_mutex_lock(&state->lock);
    while (must_wait(run)) pthread_cond_wait(&state->changed, &state->lock);
    pthread_mutex_unlock(&state->lock);
    xs_launch_begun(run->order);
    pthread_mutex_lock(&state->lock);
    run_blocks(run);
    pthread_mutex_unlock(&state->lock);
    xs_launch_ended(run->order);
    pthread_mutex_lock(&state->lock);
    run->finished = 1;
    pthread_cond_broadcast(&state->changed);
    pthread_mutex_unlock(&state->lock);
    return NULL;
}
