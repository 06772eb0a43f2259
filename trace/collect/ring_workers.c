#include "ring_workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

#define SPINS 2000u /* a busy pass follows the last one at once: shorter than going to sleep and being woken */

typedef struct ring_worker {
    ring_workers *all;
    pthread_t thread;
    uint32_t lane;
} ring_worker;

struct ring_workers {
    pthread_mutex_t lock;
    pthread_cond_t begin;
    uint64_t round;   /* counted up when there is work */
    uint32_t working; /* threads that are not done with it */
    int stopping;
    ring_work *work;
    void *user;
    uint32_t count; /* without the caller */
    ring_worker worker[];
};

/* Waits for a round after `seen`. 0: stop. */
static int await_round(ring_workers *w, uint64_t seen) {
    for (uint32_t i = 0; i < SPINS; i++)
        if (__atomic_load_n(&w->round, __ATOMIC_ACQUIRE) != seen)
            break;
    pthread_mutex_lock(&w->lock);
    while (w->round == seen && !w->stopping)
        pthread_cond_wait(&w->begin, &w->lock);
    int go_on = !w->stopping;
    pthread_mutex_unlock(&w->lock);
    return go_on;
}

static void *run(void *user) {
    const ring_worker *me = user;
    ring_workers *w = me->all;
    pthread_setname_np(pthread_self(), "xs collector");
    for (uint64_t seen = 0; await_round(w, seen); seen++) {
        w->work(w->user, me->lane);
        __atomic_sub_fetch(&w->working, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

ring_workers *ring_workers_create(uint32_t threads) {
    ring_workers *w = calloc(1, sizeof *w + threads * sizeof w->worker[0]);
    if (!w)
        return NULL;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->begin, NULL);
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* signals are the application's */
    for (uint32_t lane = 1; lane < threads; lane++) {
        w->worker[w->count] = (ring_worker){.all = w, .lane = lane};
        if (pthread_create(&w->worker[w->count].thread, NULL, run, &w->worker[w->count]))
            break;
        w->count++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (w->count == threads - 1)
        return w;
    ring_workers_destroy(w);
    return NULL;
}

void ring_workers_run(ring_workers *w, ring_work *work, void *user) {
    pthread_mutex_lock(&w->lock);
    w->work = work;
    w->user = user;
    w->working = w->count;
    __atomic_store_n(&w->round, w->round + 1, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&w->begin);
    pthread_mutex_unlock(&w->lock);
    work(user, 0);
    for (uint32_t spins = 0; __atomic_load_n(&w->working, __ATOMIC_ACQUIRE);)
        if (++spins > SPINS)
            sched_yield();
}

void ring_workers_destroy(ring_workers *w) {
    pthread_mutex_lock(&w->lock);
    w->stopping = 1;
    pthread_cond_broadcast(&w->begin);
    pthread_mutex_unlock(&w->lock);
    for (uint32_t i = 0; i < w->count; i++)
        pthread_join(w->worker[i].thread, NULL);
    pthread_cond_destroy(&w->begin);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
