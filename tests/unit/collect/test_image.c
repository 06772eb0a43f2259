/* Rings in device memory, step by step: random writers, copier and collector on a clock of the test's own, in one
 * thread. What a seed's capture holds is compared with what its writers wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bed.h"
#include "collector_internal.h"
#include "placement.h"

#define RINGS 3u
#define SEEDS 400u
/* With narrow sequences, what happens until the reader has settled a gap, two looks at new images later, must stay
 * below half of their range. */
#define BURST (XS_SEQUENCE_BITS < 32 ? 24u : 100u)
#define MOST_UNSEEN 36u
/* In discard mode records may stand in a full ring for as long as their writer drops: until three quarters of the range
 * are over they are told from newer ones. */
#define MOST_DISCARDING (XS_SEQUENCE_BITS < 32 ? 180u : UINT32_MAX)
#define TICK (XS_SEQUENCE_BITS < 32 ? 20u : SYNTHETIC_WORDS ? 5000u : 30000000u) /* see STEP of test_collector.c */

static char folder[64];
static bed test_bed;
static char *memory; /* the device's */

static uint64_t host_now(void *state) {
    (void)state;
    return test_bed.now;
}

static int copy_some(xs_world *world, const xs_ring_span *spans, uint32_t count) {
    const xs_region_header *h = xs_region(world);
    for (const xs_ring_span *s = spans; s < spans + count; s++)
        for (uint32_t i = 0; i < s->rings; i++)
            memcpy(world->region + h->records_offset + (s->ring + i) * h->records_stride + s->slot * sizeof(xs_record),
                   memory + (s->ring + i) * h->records_stride + s->slot * sizeof(xs_record),
                   s->slots * sizeof(xs_record));
    return 0;
}

static uint32_t random_below(uint32_t *state, uint32_t n) {
    *state = *state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(*state >> 8) * n >> 24);
}

typedef struct run {
    xs_world world;
    xs_backend backend;
    xs_scheduler scheduler;
    xs_placement placement;
    synthetic_writer writer[RINGS];
    int writing[RINGS];
    uint32_t mode[RINGS], since[RINGS]; /* since: records since the ring was copied whole and read */
    uint64_t emitted[RINGS];
    uint32_t random;
} run;

static void begin_run(run *r, uint32_t seed, uint32_t records) {
    char name[128];
    snprintf(name, sizeof name, "%s/run", folder);
    xs_capture_options file = {.name = name};
    memset(r, 0, sizeof *r);
    assert_int_equal(bed_open(&test_bed, &file, records, 0), 0);
    const xs_region_header *h = synthetic_of(test_bed.region);
    memory = calloc(h->rings_per_rank, h->records_stride);
    r->random = seed;
    r->backend.rings_copy = copy_some;
    r->scheduler.host_now = host_now;
    r->world.backend = &r->backend;
    r->world.scheduler = &r->scheduler;
    r->world.scheduler_state = r;
    r->world.region = test_bed.region;
    r->placement.world = &r->world;
    r->placement.rings = h->rings_per_rank;
    r->placement.ring = calloc(h->rings_per_rank, sizeof(placed_ring));
    r->placement.spans = calloc(h->rings_per_rank * (XS_PARTS + 1), sizeof(xs_ring_span));
    for (uint32_t ring = 0; ring < h->rings_per_rank; ring++) {
        r->placement.ring[ring].placed = 1;
        ((xs_ring_header *)(void *)(test_bed.region + h->ring_headers_offset + ring * h->ring_header_stride))
            ->placement = XS_RING_DEVICE;
        xs_ring_reader *reader = &test_bed.collected->rings[ring].reader;
        reader->ordered = 0; /* as the collector has it where rings are placed from the begin */
        if (XS_SEQUENCE_BITS < 32)
            reader->grace_ns = reader->drop_grace_ns = 1;
        if (ring < RINGS)
            r->mode[ring] = random_below(&r->random, 2);
    }
}

static void copy_step(run *r, int all) {
    uint64_t slots = 0;
    test_bed.now += TICK;
    assert_int_equal(xs_placement_step(&r->placement, all, NULL, 0, &slots), 0);
}

static void copy_and_read(run *r) {
    copy_step(r, 1);
    bed_pass(&test_bed, TICK);
    memset(r->since, 0, sizeof r->since);
}

static void write_some(run *r, uint32_t ring) {
    uint32_t count = random_below(&r->random, BURST);
    if (XS_SEQUENCE_BITS < 32 && r->since[ring] + count > MOST_UNSEEN)
        copy_and_read(r);
    if (r->mode[ring] == XS_DISCARD && r->emitted[ring] + count > MOST_DISCARDING)
        return;
    if (!r->writing[ring]) {
        r->writer[ring] = synthetic_begin(test_bed.region, ring, r->mode[ring]);
        r->writer[ring].records = (xs_record *)(void *)(memory + ring * synthetic_of(test_bed.region)->records_stride);
        r->writing[ring] = 1;
    }
    bed_emit(&test_bed, &r->writer[ring], r->mode[ring], count);
    r->emitted[ring] += count;
    r->since[ring] += count;
}

static void one_step(run *r) {
    uint32_t what = random_below(&r->random, 10), ring = random_below(&r->random, RINGS);
    if (what < 5)
        write_some(r, ring);
    else if (what == 5 && r->writing[ring])
        synthetic_end(&r->writer[ring]), r->writing[ring] = 0;
    else if (what < 8)
        copy_step(r, what == 7);
    else
        bed_pass(&test_bed, TICK);
}

static void end_run(run *r, uint32_t seed, uint32_t records) {
    static frames f;
    for (uint32_t ring = 0; ring < RINGS; ring++)
        if (r->writing[ring])
            synthetic_end(&r->writer[ring]);
    copy_step(r, 1);
    free(r->placement.ring);
    free(r->placement.spans);
    assert_int_equal(bed_close(&test_bed), 0);
    free(memory);
    assert_int_equal(bed_read(&test_bed, &f), 0);
    if (f.wrong)
        fail_msg("seed %u, rings of %u: %s", seed, records, f.what);
    for (uint32_t ring = 0; ring < RINGS; ring++) {
        const ring_account *a = &f.rings[ring];
        if (a->kept + a->lost != r->emitted[ring] || a->lost_by[XS_LOSS_DEVICE] ||
            (r->mode[ring] == XS_OVERWRITE && a->lost_by[XS_LOSS_DISCARDED]))
            fail_msg("seed %u, rings of %u, ring %u mode %u: kept %llu, lost %llu of %llu", seed, records, ring,
                     r->mode[ring], (unsigned long long)a->kept, (unsigned long long)a->lost,
                     (unsigned long long)r->emitted[ring]);
        if (XS_SEQUENCE_BITS == 32 && (a->at_least || a->lost_by[XS_LOSS_NEVER_ARRIVED]))
            fail_msg("seed %u, rings of %u, ring %u: a hole that was none, or a stall", seed, records, ring);
    }
}

static void what_was_written_is_kept_or_lost(void **unused) {
    (void)unused;
    static run r;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        uint32_t records = 4u << random_below(&(uint32_t){seed * 77777u}, XS_SEQUENCE_BITS < 32 ? 3 : 6);
        begin_run(&r, seed, records);
        for (int step = 0; step < 120; step++)
            one_step(&r);
        end_run(&r, seed, records);
    }
}

/* Without anybody who reads rings nothing is copied; a request brings all. */
static void nobody_reads_nothing_is_copied(void **unused) {
    (void)unused;
    static run r;
    begin_run(&r, 1, 16);
    xs_control *control = xs_view_control(&test_bed.collected->view);
    const xs_record *image = xs_view_records(&test_bed.collected->view, 0);
    control->image_wish = XS_IMAGE_NOBODY;
    while (r.emitted[0] == 0)
        write_some(&r, 0);
    test_bed.now += 1000000000;
    copy_step(&r, 0);
    assert_int_equal(image[1].code_object, 0);
    control->image_wish = XS_IMAGE_LOOKS;
    copy_step(&r, 0);
    assert_int_not_equal(image[1].code_object, 0);
    end_run(&r, 1, 16);
}

int main(void) {
    snprintf(folder, sizeof folder, "/tmp/xs-image-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_reads_nothing_is_copied),
        cmocka_unit_test(what_was_written_is_kept_or_lost),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char remove[96];
    snprintf(remove, sizeof remove, "rm -rf '%s'", folder);
    return system(remove) || failed;
}
