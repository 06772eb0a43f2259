/* Shared by the tests of recording: an application (app.c) is run, recorded by the recorder or by itself, and what its capture holds
 * is compared with its counters. */
#ifndef XS_TESTS_RUNS_H
#define XS_TESTS_RUNS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "frames.h"
#include "recorder.h"

#define BEGIN_RECORDS 3u /* of a writer, before its marks */
#define END_RECORDS 2u
#define BLOCKS 2u
#define RINGS_PER_RANK 64u

/* A test that runs once for each of several texts, its state, and says which. */
#define TEST_OF(function, text) {#function "_" text, function, NULL, NULL, text}

/* A folder of the program's own, in memory if possible; of the last run: the application's counters, and NAME of NAME.xs. */
extern char folder[64], counters_path[128], capture[128], capture_path[160];
extern uint64_t counters[64];
int open_folder(void **unused); /* of the group */
int remove_folder(void **unused);

void new_run(void);
void read_counters(void);
void read_frames(frames *f, const char *path);
void sleep_ms(unsigned ms);
/* Sum over the rings of one rank, in which its blocks' writers may have sat anywhere. */
uint64_t reached(const frames *f, uint32_t rank, uint32_t *writers);
uint64_t kept(const frames *f);
/* Runs the application under the recorder. */
void record(const xs_recorder_options *options, xs_recorder_result *result, const char *records, const char *pace, const char *end);
/* xs_recorder_run, whose worlds are given back: the other members stay. */
int run_recorder(const xs_recorder_options *options, char *const argv[], xs_recorder_result *result);
/* Runs the application alone; its exit status. */
int alone(const char *records, const char *pace, const char *end);

#endif
