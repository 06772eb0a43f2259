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

#include "bed.h"

static char folder[64];

/* Time between passes. A stall is when half of the sequence range could have been written, at 2 ns a record, since the last
 * look: with 8 bits the tests say exactly how long that is, and of two words the smallest rings know 18. */
#define STEP (XS_SEQUENCE_BITS < 32 ? 200u : SYNTHETIC_WORDS ? 200000u : 1000000u)
#define MOST_RECORDS (XS_SEQUENCE_BITS < 32 ? 32u : 65536u)

static void start(bed *b, uint32_t records, int on_trigger) {
    char name[128];
    snprintf(name, sizeof name, "%s/run", folder);
    xs_capture_options file = {.name = name};
    assert_int_equal(bed_open(b, &file, records, on_trigger), 0);
}

static void finish(bed *b, frames *f) {
    assert_int_equal(bed_close(b), 0);
    assert_int_equal(bed_read(b, f), 0);
    if (f->wrong)
        fail_msg("%s", f->what);
    assert_int_equal(f->cut, 0);
}

static void everything_is_kept(void **unused) {
    (void)unused;
    bed b;
    frames f;
    start(&b, MOST_RECORDS, 0);
    synthetic_writer w = synthetic_begin(b.region, 3, XS_OVERWRITE);
    for (int i = 0; i < 2000; i++) {
        bed_emit(&b, &w, XS_OVERWRITE, 25);
        bed_pass(&b, STEP);
    }
    synthetic_end(&w);
    finish(&b, &f);
    assert_int_equal(f.rings[3].kept, 50000);
    assert_int_equal(f.rings[3].lost, 0);
    assert_int_equal(f.counts[XS_FRAME_FILE], 1);
    assert_int_equal(f.counts[XS_FRAME_END], 1);
    assert_int_equal(f.counts[XS_FRAME_PROCESS_END], 1);
    assert_true(f.counts[XS_FRAME_OWNERS] >= 1);
    assert_true(f.counts[XS_FRAME_LOOK] >= 1);
    assert_true(f.end.clean && !f.end.tail_unknown);
}

/* Ten times more than fits, the reader comes now and then: exact, in both modes and all sizes. With narrow sequences the
 * reader comes before half of their range is gone. */
static void overfill(uint32_t records, uint32_t mode) {
    bed b;
    frames f;
    start(&b, records, 0);
    uint64_t emitted = 0;
    const uint32_t most = XS_SEQUENCE_BITS < 32 ? 90 : UINT32_MAX;
    for (int owner = 0; owner < 5; owner++) { /* handed over in mid-test */
        synthetic_writer w = synthetic_begin(b.region, 0, mode);
        for (int i = 0; i < 4; i++) {
            uint32_t count = records * 10 / 4 + (uint32_t)i * 3;
            count = count < most ? count : most;
            bed_emit(&b, &w, mode, count);
            emitted += count;
            if (i != owner % 4 || XS_SEQUENCE_BITS < 32)
                bed_pass(&b, STEP);
        }
        synthetic_end(&w);
        if (owner & 1)
            bed_pass(&b, STEP);
    }
    finish(&b, &f);
    ring_account *ring = &f.rings[0];
    assert_int_equal(ring->kept + ring->lost, emitted);
    assert_int_equal(ring->next, emitted + 1);
    assert_true(ring->lost > 0 && ring->kept > 0);
    assert_int_equal(ring->lost_by[mode == XS_OVERWRITE ? XS_LOSS_OVERWRITTEN : XS_LOSS_DISCARDED], ring->lost);
    assert_int_equal(ring->at_least, 0);
}

static void overfill_is_counted(void **unused) {
    (void)unused;
    for (uint32_t records = 4; records <= MOST_RECORDS; records *= 2) {
        overfill(records, XS_OVERWRITE);
        overfill(records, XS_DISCARD);
    }
}

/* The reader is away while more than half of the range is written (8 bits), or just long (32 bits: all is exact). */
static void stall_beyond_half_is_at_least(void **unused) {
    (void)unused;
    bed b;
    frames f;
    start(&b, 16, 0);
    synthetic_writer w = synthetic_begin(b.region, 0, XS_OVERWRITE);
    bed_emit(&b, &w, XS_OVERWRITE, 10);
    bed_pass(&b, STEP);
    bed_emit(&b, &w, XS_OVERWRITE, 1000);
    bed_pass(&b, 2000); /* at 2 ns a record */
    bed_emit(&b, &w, XS_OVERWRITE, 5);
    bed_pass(&b, STEP);
    synthetic_end(&w);
    finish(&b, &f);
    assert_int_equal(f.rings[0].at_least, XS_SEQUENCE_BITS < 32);
    assert_int_equal(f.rings[0].kept + f.rings[0].lost, 1015); /* the ring's own count, at its end, puts it right */
}

/* A gap stands where its records would have stood, and both neighbours are the right ones: checked by frames.c with the
 * values. Here: what is lost is what the writer wrote while nobody read. */
static void gap_is_where_it_belongs(void **unused) {
    (void)unused;
    bed b;
    frames f;
    start(&b, 16, 0);
    synthetic_writer w = synthetic_begin(b.region, 5, XS_DISCARD);
    bed_emit(&b, &w, XS_DISCARD, 10);
    bed_pass(&b, STEP);
    bed_emit(&b, &w, XS_DISCARD, 30); /* 11..26 fit, 27..40 do not */
    bed_pass(&b, STEP);
    bed_pass(&b, STEP);
    bed_emit(&b, &w, XS_DISCARD, 3);
    bed_pass(&b, STEP);
    assert_int_equal(w.ring->consumed, 43);
    synthetic_end(&w);
    finish(&b, &f);
    assert_int_equal(f.rings[5].kept, 29);
    assert_int_equal(f.rings[5].lost_by[XS_LOSS_DISCARDED], 14);
    assert_int_equal(f.rings[5].gaps, 1);
}

/* In trigger mode nothing is taken until the dump; then what the rings hold is. */
static void dump_takes_what_rings_hold(void **unused) {
    (void)unused;
    bed b;
    frames f;
    start(&b, 16, 1);
    synthetic_writer w = synthetic_begin(b.region, 0, XS_OVERWRITE);
    for (int i = 0; i < 20; i++) {
        bed_emit(&b, &w, XS_OVERWRITE, 7);
        bed_pass(&b, XS_SEQUENCE_BITS < 32 ? 200 : 600000000);
    }
    assert_int_equal(xs_collector_dump(b.collector, "test"), 0);
    synthetic_end(&w);
    finish(&b, &f);
    assert_int_equal(f.rings[0].kept + f.rings[0].lost, 140);
    assert_true(XS_SEQUENCE_BITS < 32 || f.rings[0].kept == 16);
    assert_int_equal(f.counts[XS_FRAME_TRIGGER], 2);
}

/* Memory of a process that died, with sequences in it that nobody wrote: each was a gap away from the last one, round and round the
 * sequences' range, until the capture had hundreds of megabytes of gaps. */
static void stale_sequences_of_a_dead_ring_end(void **unused) {
    (void)unused;
    bed b;
    frames f;
    if (XS_SEQUENCE_BITS < 32)
        skip();
    start(&b, 16, 0);
    synthetic_writer w = synthetic_begin(b.region, 0, XS_OVERWRITE);
    for (uint32_t i = 0; i < 16; i++) {
        uint32_t sequence = 1 + i + i * (SYNTHETIC_WORDS ? 0x10000u : 0x10000000u);
        xs_slot_put(SYNTHETIC_WORDS, &w.records[sequence & w.mask], 4, sequence, XS_HEAD(XS_CODE_MARK, 1), sequence, (uint32_t)b.now);
    }
    w.cursor = 0; /* given back, and no end known */
    synthetic_end(&w);
    finish(&b, &f);
    assert_in_range(f.rings[0].kept, 1, 64);
    assert_in_range(f.rings[0].gaps, 1, 64);
}

/* A ring's end that lies half a range away, where the record taken last still stands: the gap up to it was empty, and came again and again. */
static void an_end_half_a_range_away_is_one_gap(void **unused) {
    (void)unused;
    bed b;
    frames f;
    if (XS_SEQUENCE_BITS < 32)
        skip();
    start(&b, 16, 0);
    synthetic_writer w = synthetic_begin(b.region, 0, XS_OVERWRITE);
    bed_emit(&b, &w, XS_OVERWRITE, 5);
    bed_pass(&b, STEP);
    w.cursor += 3ull << 30;
    synthetic_end(&w);
    finish(&b, &f);
    assert_int_equal(f.rings[0].kept, 5);
    assert_int_equal(f.rings[0].lost, 3ull << 30);
    assert_in_range(f.rings[0].gaps, 1, 4);
}

int main(void) {
    snprintf(folder, sizeof folder, "/tmp/xs-collector-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_kept),
        cmocka_unit_test(overfill_is_counted),
        cmocka_unit_test(stall_beyond_half_is_at_least),
        cmocka_unit_test(gap_is_where_it_belongs),
        cmocka_unit_test(dump_takes_what_rings_hold),
        cmocka_unit_test(stale_sequences_of_a_dead_ring_end),
        cmocka_unit_test(an_end_half_a_range_away_is_one_gap),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char remove[96];
    snprintf(remove, sizeof remove, "rm -rf '%s'", folder);
    return system(remove) || failed;
}
