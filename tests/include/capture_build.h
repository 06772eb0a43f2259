/* Builds small captures for tests: frames as capture.h says, records as record.h says, times and sequences as told.
 *
 *     cb *c = cb_begin("/tmp/t.xs");             // NULL: in memory, see cb_bytes
 *     cb_process(c, 0, 2, 2);                    // ranks 0 and 1 of a world of 2
 *     uint32_t push = cb_role(c, "push"), done = cb_pad(c, "done", "src", "chunk", 2, 4, 0);
 *     cb_writer_begin(c, 0, 1000, push, 2, 1);   // ring 0 at 1000 ns: block 2, launch 1
 *     cb_signal(c, 0, 1100, cb_slot(c, done, 1, 0, 3), 7);
 *     assert_int_equal(cb_end(c), 0);            // flushes, writes PROCESS_END and END, closes
 *
 * Every ring has 64-bit sequences from 1. Records wait in memory until cb_flush (or cb_end) puts them into RECORDS
 * frames, one a ring and gap. Times are absolute nanoseconds. Failures (memory, file) are kept and returned by cb_end.
 * Sources to list in CMake: tests/support/capture_build{,_records,_activity}.c. */
#ifndef CAPTURE_BUILD_H
#define CAPTURE_BUILD_H

#include <xs/capture.h>
#include <xs/handle.h>
#include <xs/xs.h>

typedef struct cb cb;

cb *cb_begin(const char *path); /* NULL: out of memory */
int cb_end(cb *c);              /* 0, or a negative xs_error; frees c */
int cb_cut(cb *c);              /* as cb_end, but writes neither PROCESS_END nor END: as if killed */
/* The collector went twice more over the rings, the first time so long after all that was recorded, and found nothing. */
void cb_quiet_passes(cb *c, uint64_t after);
/* As cb_end(closed) or cb_cut(!closed), but hands the bytes over (free them) and writes no file. */
int cb_bytes(cb *c, int closed, void **bytes, size_t *size);

/* ---- catalog. The process made last is the current one; cb_select goes back to an earlier one. ---- */
/* Defaults: host 0x10, process 0x100 + first_rank, pid 1000 + first_rank, 64 rings a rank, 4 lines a ring, host backend.
 * Returns its index, from 0. cb_region gives the header, to change and hand to cb_process_as. */
uint32_t cb_process(cb *c, uint32_t first_rank, uint32_t ranks, uint32_t world_ranks);
uint32_t cb_process_as(cb *c, const xs_region_header *region); /* everything as told */
xs_region_header cb_region(uint32_t first_rank, uint32_t ranks, uint32_t world_ranks);
void cb_select(cb *c, uint32_t process);
void cb_name(cb *c, uint32_t kind, uint32_t id, const char *name);
uint32_t cb_role(cb *c, const char *name);   /* ids from 1, by kind and process */
uint32_t cb_mark_name(cb *c, const char *name);
uint32_t cb_kernel(cb *c, const char *name);
/* Returns the pad's number in this process; objects follow each other from 1. Owners: the ranks of the world. */
uint32_t cb_pad(cb *c, const char *name, const char *row_label, const char *column_label, uint32_t rows, uint32_t columns, uint32_t flags);
uint32_t cb_pad_first(const cb *c, uint32_t pad);
uint32_t cb_slot(const cb *c, uint32_t pad, uint32_t owner, uint32_t row, uint32_t column); /* object */
void cb_plan(cb *c, const xs_plan_entry *entries, uint32_t count);
void cb_plan_writer(cb *c, uint32_t pad, uint32_t rank); /* all slots of the pad; rank or XS_PLAN_ROW, _COLUMN */
void cb_journal(cb *c, uint32_t kind, uint32_t a, uint64_t b, uint64_t time, uint64_t d, uint64_t e, uint64_t f);
void cb_launch_begin(cb *c, uint32_t launch, uint32_t kernel, uint64_t time, uint32_t grid, uint32_t block, uint32_t first_rank, uint32_t ranks);
void cb_launch_room(cb *c, const xs_launch_room *room); /* of launches that begin from here on */
void cb_launch_end(cb *c, uint32_t launch, uint64_t time, uint64_t result);
void cb_clock(cb *c, uint64_t boottime, uint64_t realtime, uint64_t bracket);
/* A sample of a GPU's clock. Records of that GPU carry its time; frames and looks the host's: flush with cb_flush_at. */
void cb_device_clock(cb *c, uint32_t device, uint64_t boottime, uint64_t device_time, uint64_t bracket);
void cb_ring_device(cb *c, uint32_t ring, int32_t device); /* of its RECORDS frames; without: the process's */

/* ---- what CUPTI tells; times are CUPTI's ---- */
void cb_activity(cb *c, const xs_activity_entry *entry); /* sequence is filled in */
uint32_t cb_activity_name(cb *c, const char *name);      /* ids from 1, by process; the same text again is a new id */
/* CUPTI's clock was `time` between boottime before and after. */
void cb_tick(cb *c, uint64_t before, uint64_t after, uint64_t time);
void cb_gpu_kernel(cb *c, const char *name, int32_t device, uint32_t stream, uint64_t begin, uint64_t end, uint32_t correlation,
                   uint64_t graph_node, uint32_t grid, uint32_t block);
void cb_gpu_copy(cb *c, int32_t device, uint32_t stream, uint64_t begin, uint64_t end, uint32_t correlation, uint32_t kind, uint64_t bytes);
void cb_cuda_call(cb *c, const char *name, uint32_t thread, uint64_t begin, uint64_t end, uint32_t correlation);
void cb_cupti(cb *c, uint32_t state, uint64_t since, uint64_t until, const char *why);

/* ---- what a collector writes ---- */
void cb_frame(cb *c, uint16_t type, uint32_t ring, uint64_t time, const void *payload, uint64_t bytes); /* any frame */
void cb_owner(cb *c, uint32_t ring, uint32_t ordinal, const xs_ring_owner *owner);
void cb_look(cb *c, uint32_t ring, uint64_t newest, uint64_t time);
void cb_status(cb *c, uint32_t ring, uint32_t line, uint64_t time, const xs_status_line *status);
/* A line of an open wait, its eight parts with one generation. */
xs_status_line cb_status_line(uint32_t state, uint32_t object, uint64_t need, uint64_t observed, uint64_t polls, uint64_t start, uint64_t time);
void cb_loss(cb *c, uint32_t ring, uint64_t first, uint64_t last, uint32_t cause); /* the frame alone */
void cb_counters(cb *c, uint64_t no_ring, uint64_t foreign, uint64_t no_line, uint64_t journal_lost);
void cb_note(cb *c, const char *text);
void cb_trigger(cb *c, const char *reason);
void cb_process_end(cb *c, uint32_t clean, int32_t exit_status, uint32_t abort_reason, uint32_t tail_unknown);

/* ---- records ---- */
uint64_t cb_next(const cb *c, uint32_t ring); /* sequence of the next record */
/* Records first .. last of the ring never reach the capture; a LOSS frame says so if cause is not 0. Before the flush. */
void cb_lose(cb *c, uint32_t ring, uint64_t first, uint64_t last, uint32_t cause);
void cb_skip_records(cb *c, uint32_t ring, uint64_t count, uint32_t cause); /* the next `count` are lost */
void cb_flush(cb *c);                    /* all rings; taken at the time of the newest record */
void cb_flush_at(cb *c, uint64_t time);  /* all rings, taken at `time` */
void cb_no_looks(cb *c);                 /* from here on looked_before is 0 */

void cb_record(cb *c, uint32_t ring, uint64_t time, uint32_t code_object, uint32_t value, uint32_t word3); /* raw */
void cb_one(cb *c, uint32_t ring, uint64_t time, uint32_t code, uint32_t object, uint32_t value);
typedef struct cb_full {
    uint32_t kind, object, value, order, scope, fence, cmp, result, detail;
    uint32_t further;       /* 0 to 2 */
    uint32_t a[2], b[2], c[2];
} cb_full;
void cb_full_event(cb *c, uint32_t ring, uint64_t time, const cb_full *event);

void cb_writer_begin(cb *c, uint32_t ring, uint64_t time, uint32_t role, uint32_t block, uint32_t launch);
void cb_writer_begin_at(cb *c, uint32_t ring, uint64_t time, uint32_t role, uint32_t block, uint32_t launch, uint32_t rank,
                        uint32_t warp, uint32_t sm, uint32_t epoch);
void cb_writer_end(cb *c, uint32_t ring, uint64_t time);
void cb_role_change(cb *c, uint32_t ring, uint64_t time, uint32_t role);
void cb_epoch(cb *c, uint32_t ring, uint64_t time, uint64_t epoch);
void cb_signal(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t value);      /* release.sys, one record */
void cb_signal_wide(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t value); /* all 64 bits */
void cb_pass(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t observed, uint64_t need);
void cb_wait_start(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t need, uint64_t observed);
void cb_wait_end(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t observed, uint32_t result, uint64_t polls);
void cb_wait_end_at(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t observed, uint32_t result, uint64_t polls,
                    uint64_t slept, uint32_t last_fail, uint32_t line, uint32_t stage);
void cb_arrive(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint32_t old, uint32_t weight, uint32_t expected); /* from base */
void cb_arrive_full(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t old, uint32_t weight, uint32_t expected, uint32_t target);
void cb_watermark(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t value, uint32_t rows);
void cb_gate(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t old, uint32_t add);
void cb_barrier_enter(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint32_t generation, uint32_t participants);
void cb_barrier_leave(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint32_t generation, uint32_t participants, uint32_t result);
void cb_block_enter(cb *c, uint32_t ring, uint64_t time, uint32_t id, uint32_t count);
void cb_block_leave(cb *c, uint32_t ring, uint64_t time, uint32_t id, uint32_t count);
void cb_publish(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t sequence, uint32_t batch, uint32_t depth);
void cb_consume(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t sequence, uint32_t batch, uint32_t depth);
void cb_fence(cb *c, uint32_t ring, uint64_t time, uint32_t line);
void cb_bus_flush(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint32_t value);
void cb_reset(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint64_t value, uint32_t slots);
void cb_heartbeat(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint32_t beat);
void cb_abort(cb *c, uint32_t ring, uint64_t time, uint32_t reason, uint32_t line);
/* kind: XS_EV_READ_BEGIN, WRITE_BEGIN or WORK_BEGIN */
void cb_payload(cb *c, uint32_t ring, uint64_t time, uint32_t kind, uint32_t name, uint32_t index, uint32_t generation,
                uint32_t peer, uint32_t rows, uint32_t bytes);
void cb_payload_end(cb *c, uint32_t ring, uint64_t time, uint32_t name, uint32_t index);
void cb_mark(cb *c, uint32_t ring, uint64_t time, uint32_t name, uint32_t word);
void cb_scope_begin(cb *c, uint32_t ring, uint64_t time, uint32_t name, uint32_t word);
void cb_scope_end(cb *c, uint32_t ring, uint64_t time, uint32_t name, uint32_t word);
void cb_skip(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint32_t need); /* the SKIP event */
void cb_expect(cb *c, uint32_t ring, uint64_t time, uint32_t object, uint32_t expected, uint32_t epoch);
void cb_drop(cb *c, uint32_t ring, uint64_t time);

#endif
