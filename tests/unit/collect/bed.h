/* A region, a capture and a collector on a clock of the test's own. */
#ifndef XS_TEST_BED_H
#define XS_TEST_BED_H

#include <stdio.h>
#include <unistd.h>

#include "collector.h"
#include "frames.h"
#include "synthetic.h"

typedef struct bed {
    char *region, path[256];
    uint64_t now;
    xs_collector *collector;
    xs_collected *collected;
} bed;

/* Threads of the collectors that are made from here on. */
static uint32_t bed_threads __attribute__((unused)) = 1;

static inline uint64_t bed_clock(void *user) { return *(uint64_t *)user; }

/* 0 or the error of xs_capture_open. */
static inline int bed_open(bed *b, const xs_capture_options *file, uint32_t records, int on_trigger) {
    xs_capture *capture;
    memset(b, 0, sizeof *b);
    int rc = xs_capture_open(file, &capture);
    if (rc)
        return rc;
    b->now = synthetic_now();
    b->region = synthetic_region(1, 64, records);
    snprintf(b->path, sizeof b->path, "%s", xs_capture_path(capture));
    xs_collector_options how = {.capture = capture, .now = bed_clock, .user = &b->now, .threads = bed_threads, .on_trigger = on_trigger};
    if (xs_collector_create(&how, &b->collector) ||
        xs_collector_add(b->collector, b->region, synthetic_of(b->region)->total_bytes, 0, &b->collected))
        abort();
    return 0;
}

static inline void bed_pass(bed *b, uint64_t ns) {
    b->now += ns;
    xs_collector_pass(b->collector);
}

static inline void bed_emit(const bed *b, synthetic_writer *w, uint32_t mode, uint32_t count) {
    while (count--)
        synthetic_emit(w, mode, (uint32_t)b->now);
}

/* Ends and closes; the error of the capture. */
static inline int bed_close(bed *b) {
    xs_frame_end end = {.clean = 1, .exit_status = -1};
    b->now += 1000000;
    xs_collector_end(b->collector, b->collected, &end);
    int rc = xs_collector_close(b->collector);
    free(b->region);
    return rc;
}

static inline int bed_read(const bed *b, frames *f) {
    memset(f, 0, sizeof *f);
    return frames_read(f, b->path);
}

#endif
