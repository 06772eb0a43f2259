/* Drives the sim scheduler alone: a world of `ranks` local ranks without pads, regions or collector. Kernels are plain functions that get
 * one pointer. The h_ calls are what <xs/host_thread.h> offers to kernels, without libxs between. */
#ifndef SIM_HARNESS_H
#define SIM_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim.h"

typedef struct harness {
    xs_world world;
    uint32_t abort;
    void *state;
} harness;

typedef void harness_kernel(void *argument);

/* Passes of the collector so far, and what to call at each; NULL: nothing. */
extern uint32_t harness_passes;
extern void (*harness_on_pass)(void);

void harness_open(harness *h, uint32_t ranks, uint64_t seed);
void harness_close(harness *h);
/* A percentage in the environment: what is none is refused. Leaves it unset. */
void harness_wants_a_percentage(const char *name);
/* Queues; the order is checked and freed by harness_sync. first and ranks as in xs_launch_config. */
void harness_launch(harness *h, harness_kernel *kernel, void *argument, uint32_t first, uint32_t ranks, uint32_t grid, uint32_t block);
int harness_sync(harness *h);
/* All of it for one launch on all ranks; returns what sync returned. */
int harness_run(uint32_t ranks, uint64_t seed, harness_kernel *kernel, void *argument, uint32_t grid, uint32_t block);
/* Time of the begin and end of the n-th launch of the process, and its result. */
typedef struct harness_times {
    uint64_t begin, end;
    int result;
} harness_times;
extern harness_times harness_launches[64];
extern uint32_t harness_launch_count;

xs_host_thread *h_self(void);
uint32_t h_rank(void);  /* in the world */
uint32_t h_block(void); /* in the rank */
uint64_t h_now(void);
void h_step(void);
void h_work(uint64_t ns);
int h_aborted(void);
void h_store(void *to, uint64_t value);
uint64_t h_load(const void *from);
int h_barrier(uint32_t id, uint32_t count);
/* Slots: relaxed, with their scheduling point; release first where a scope is given. */
void h_signal(uint64_t *slot, uint64_t value, uint32_t scope);
uint64_t h_add(uint64_t *slot, uint64_t value, uint32_t scope);
uint64_t h_read(const uint64_t *slot);
/* 0, XS_RESULT_ABORTED, or XS_RESULT_TIMEOUT after `ns` (0: unbounded). Back-off doubles up to 1 us. */
int h_wait(const uint64_t *slot, uint64_t need, uint64_t ns); /* acquires at system scope */
int h_wait_relaxed(const uint64_t *slot, uint64_t need, uint64_t ns);
void h_acquire(uint32_t scope);

#endif
