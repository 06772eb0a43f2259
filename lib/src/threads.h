/* Inside the threads scheduler: one pthread a warp, grouped in blocks, blocks in runs (a run is a launch under way). */
#ifndef XS_THREADS_H
#define XS_THREADS_H

#include <setjmp.h>

#include "world.h"

#define XS_BLOCK_BARRIERS 16u

typedef struct threads_state {
    xs_world *world;
    pthread_mutex_t lock; /* runs, resident, a block's `over` */
    pthread_cond_t changed;
    struct threads_run *runs; /* oldest first */
    uint32_t resident;        /* blocks that run now */
} threads_state;

typedef struct threads_run {
    threads_state *state;
    xs_launch_order *order;
    uint32_t first_rank, ranks;
    uint32_t total, next; /* blocks: all, and the next to start */
    uint32_t warps;
    struct threads_block *live; /* started, not yet joined */
    int finished;
    pthread_t runner;
    struct threads_run *next_run;
} threads_run;

typedef struct threads_warp {
    xs_host_thread self;
    pthread_t thread;
    struct threads_block *block;
    jmp_buf leave; /* out of a kernel that cannot go on */
} threads_warp;

typedef struct threads_shared {
    const void *key;
    void *memory;
    struct threads_shared *next;
} threads_shared;

enum threads_gate { GATE_SHUT, GATE_OPEN, GATE_CANCELLED };

typedef struct threads_block {
    threads_run *run;
    pthread_mutex_t lock; /* gate, barriers, shared */
    pthread_cond_t changed;
    uint32_t gate;
    struct {
        uint32_t arrived, generation;
    } barrier[XS_BLOCK_BARRIERS];
    threads_shared *shared;
    void *dynamic;
    uint32_t running; /* warps not yet over; atomic */
    int over;         /* state->lock */
    uint32_t created; /* threads to join */
    struct threads_block *next;
    threads_warp warps[];
} threads_block;

/* threads_block.c */
int threads_block_start(threads_run *run, uint32_t index, threads_block **block); /* no lock held */
void threads_block_join(threads_block *block);                                    /* joins its threads, frees it */
void threads_block_wake(threads_block *block); /* barriers look at the abort word again */
int threads_block_barrier(xs_host_thread *self, uint32_t id, uint32_t count);
void *threads_block_shared(xs_host_thread *self, const void *key, size_t bytes);
void *threads_block_dynamic(xs_host_thread *self);

/* threads_run.c */
void *threads_run_main(void *run);

#endif
