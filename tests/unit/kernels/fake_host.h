/* The host's side of kernels, small and plain, so that kernel code is tested without libxs: threads that are kernel threads
 * when they say so, a clock that ticks 16 ns a look, and a region in static memory. */
#ifndef FAKE_HOST_H
#define FAKE_HOST_H

#include <xs/host_thread.h>

enum { FAKE_RINGS = 64, FAKE_RECORDS_MAX = 4096, FAKE_LINES = 4, FAKE_RANKS = 8, FAKE_WARPS = 4 };

/* What the hooks were told, by the calling thread. */
typedef struct fake_counts {
    uint64_t steps, releases, acquires, polls_failed;
    uint32_t release_scope, acquire_scope;
} fake_counts;

extern _Thread_local fake_counts fake_count;
extern _Thread_local xs_host_thread fake_self;
/* Called by every failed poll of this thread, if set. */
extern _Thread_local void (*fake_poll_hook)(void);

/* Starts over: clock, region and abort word; nobody may be running. ring_records is a power of two. */
void fake_reset(uint32_t ring_records);
/* The handle of a launch of `ranks` ranks (from 0) of one block each. */
xs_handle fake_handle(uint32_t ranks);
void fake_set_time(uint64_t ns);
void fake_abort(uint32_t reason);

xs_control *fake_control(void);
xs_ring_header *fake_ring(uint32_t ring);
/* As readers see them, whatever form they have: copies, of which the last few of a thread are kept. */
const xs_record *fake_record(uint32_t ring, uint32_t slot);
const xs_record *fake_overflow(uint32_t ring);
const xs_status_line *fake_line(uint32_t ring, uint32_t line);
/* 1: they are whole. */
int fake_record_load(uint32_t ring, uint32_t slot, xs_record *record);
int fake_part_load(uint32_t ring, uint32_t line, uint32_t part, xs_record *copy);
uint64_t *fake_group(uint32_t rank);

/* A pad of rows x columns 64-bit slots, one cache line each, for `owners` ranks; zeroed; lives until fake_reset. */
xs_pad fake_pad(uint32_t first, uint32_t owners, uint32_t rows, uint32_t columns, uint32_t flags);

/* Runs f(rank, warp, argument) on ranks x warps threads that are the kernel threads of one block per rank. */
void fake_run(uint32_t ranks, uint32_t warps, void (*f)(uint32_t rank, uint32_t warp, void *argument), void *argument);

#endif
