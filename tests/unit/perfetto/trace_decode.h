/* Reads a trace as trace_processor does, as far as these traces go: sequences, clocks, interning, stacks of slices, flows,
 * counters, and the statistics that would tell of a mistake. */
#ifndef TRACE_DECODE_H
#define TRACE_DECODE_H

#include "perfetto_trace.pb-c.h"
#include <stdbool.h>
#include <stdint.h>

typedef struct td_slice {
    int64_t ts, dur; /* -1: open; instants 0 */
    uint64_t track;
    int depth, parent; /* index; -1 */
    bool instant, state; /* state: an instant here; it holds until the next one of its track */
    const char *name, *category, *correlation;
    const TrackEvent *event;
    uint32_t edges; /* flow edges that end here */
} td_slice;

typedef struct td_counter {
    int64_t ts, value;
    uint64_t track;
    size_t order;
} td_counter;

typedef struct td_flow {
    uint64_t id;
    int from, to; /* slices: from the one that starts first */
} td_flow;

typedef struct td_track {
    uint64_t uuid, parent;
    const char *name, *description, *unit;
    int32_t pid, order;
    uint32_t ordering, merge;
    const char *merge_key;
    bool states, counter, has_slices, has_counters;
} td_track;

typedef struct td {
    Trace *trace;
    td_slice *slices;
    td_counter *counters; /* by time */
    td_flow *flows;
    td_track *tracks;
    int slice_count, counter_count, flow_count, track_count;
    /* mistakes */
    uint64_t unknown_iid, flow_end_without_start, flow_duplicate, unmatched_end, missing_track, bad_sequence, bad_clock;
    uint64_t dropped_marks, stats_lost;
    int64_t realtime_minus_boot;
    bool complete;
} td;

td *td_read(const char *path); /* NULL: no such file or not a trace */
void td_free(td *t);
const td_track *td_track_of(const td *t, uint64_t uuid);
const td_track *td_track_named(const td *t, const char *name, const td_track *parent); /* first; parent NULL: any */
bool td_arg(const td *t, const td_slice *s, const char *key, uint64_t *number, const char **text);
uint64_t td_number(const td *t, const td_slice *s, const char *key); /* UINT64_MAX: not there */
const char *td_text(const td *t, const td_slice *s, const char *key); /* "" : not there */
/* "rank 0 · CPU > role push > push block 2": names from the root down. Into a static buffer. */
const char *td_path(const td *t, const td_track *track);

#endif
