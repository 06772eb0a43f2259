/* Region -> capture file, with synthetic writers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xs/frame.h>

#include "collector.h"
#include "frames.h"
#include "synthetic.h"

static char folder[64];

static uint64_t clock_of(void *user) { return *(uint64_t *)user; }

typedef struct bed {
    char *region, path[128];
    uint64_t now;
    xs_collector *collector;
    xs_collected *collected;
} bed;

static void bed_open(bed *b, uint32_t records, int on_trigger, uint64_t bound) {
    memset(b, 0, sizeof *b);
    b->now = synthetic_now();
    b->region = synthetic_region(1, 64, records);
    snprintf(b->path, sizeof b->path, "%s/run", folder);
    xs_capture *capture;
    xs_capture_options options = {.name = b->path, .bound_bytes = bound};
    assert_int_equal(xs_capture_open(&options, &capture), 0);
    snprintf(b->path, sizeof b->path, "%s", xs_capture_path(capture));
    xs_collector_options how = {.capture = capture, .now = clock_of, .user = &b->now, .on_trigger = on_trigger};
    assert_int_equal(xs_collector_create(&how, &b->collector), 0);
    uint64_t bytes = synthetic_of(b->region)->total_bytes;
    assert_int_equal(xs_collector_add(b->collector, b->region, bytes, 0, &b->collected), 0);
}

static void bed_pass(bed *b) {
    b->now += 1000000;
    xs_collector_pass(b->collector);
}

static void bed_close(bed *b, frames *f) {
    xs_frame_end end = {.clean = 1, .exit_status = -1};
    b->now += 1000000;
    xs_collector_end(b->collector, b->collected, &end);
    assert_int_equal(xs_collector_close(b->collector), 0);
    free(b->region);
    if (!f->each)
        memset(f, 0, sizeof *f);
    assert_int_equal(frames_read(f, b->path), 0);
    if (f->wrong)
        fail_msg("%s", f->what);
    assert_int_equal(f->cut, 0);
}

static void emit(bed *b, synthetic_writer *w, uint32_t mode, uint32_t count) {
    while (count--)
        synthetic_emit(w, mode, (uint32_t)b->now);
}

static void everything_is_kept(void **unused) {
    (void)unused;
    bed b;
    frames f = {0};
    bed_open(&b, 4096, 0, 0);
    synthetic_writer w = synthetic_begin(b.region, 3, XS_OVERWRITE);
    for (int i = 0; i < 50; i++) {
        emit(&b, &w, XS_OVERWRITE, 1000);
        bed_pass(&b);
    }
    synthetic_end(&w);
    bed_close(&b, &f);
    assert_int_equal(f.rings[3].kept, 50000);
    assert_int_equal(f.rings[3].lost, 0);
    assert_int_equal(f.counts[XS_FRAME_FILE], 1);
    assert_int_equal(f.counts[XS_FRAME_END], 1);
    assert_int_equal(f.counts[XS_FRAME_PROCESS_END], 1);
    assert_true(f.counts[XS_FRAME_OWNERS] >= 1);
    assert_true(f.counts[XS_FRAME_LOOK] >= 1);
    assert_true(f.end.clean && !f.end.tail_unknown);
}

/* Ten times more than fits, the reader comes now and then: exact, in both modes and all sizes. */
static void overfill(uint32_t records, uint32_t mode) {
    bed b;
    frames f = {0};
    bed_open(&b, records, 0, 0);
    uint64_t emitted = 0;
    for (int owner = 0; owner < 5; owner++) { /* handed over in mid-test */
        synthetic_writer w = synthetic_begin(b.region, 0, mode);
        for (int i = 0; i < 4; i++) {
            uint32_t count = records * 10 / 4 + (uint32_t)i * 3;
            emit(&b, &w, mode, count);
            emitted += count;
            if (i != owner % 4)
                bed_pass(&b);
        }
        synthetic_end(&w);
        if (owner & 1)
            bed_pass(&b);
    }
    bed_close(&b, &f);
    ring_account *ring = &f.rings[0];
    assert_int_equal(ring->kept + ring->lost, emitted);
    assert_int_equal(ring->next, emitted + 1);
    assert_true(ring->lost > 0 && ring->kept > 0);
    assert_int_equal(ring->lost_by[mode == XS_OVERWRITE ? XS_LOSS_OVERWRITTEN : XS_LOSS_DISCARDED], ring->lost);
    assert_int_equal(ring->at_least, 0);
}

static void overfill_is_counted(void **unused) {
    (void)unused;
    for (uint32_t records = 4; records <= 65536; records *= 2) {
        overfill(records, XS_OVERWRITE);
        overfill(records, XS_DISCARD);
    }
}

int main(void) {
    snprintf(folder, sizeof folder, "/tmp/xs-collector-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_kept),
        cmocka_unit_test(overfill_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
