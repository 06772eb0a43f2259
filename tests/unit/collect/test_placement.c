/* Records in memory of the device, as the host backend has it: private memory that a thread copies into the region.
 * Worlds with their own collector; writers of the test's own, whose counts the captures must show: kept + lost =
 * emitted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "frames.h"
#include "placement.h"
#include "synthetic.h"

static char folder[64], path[128], file[160];

static uint64_t begun;

static xs_world *begin_world(const char *placement, uint32_t records, uint32_t collectors, int on_trigger) {
    xs_world *world = NULL;
    xs_config config = {.size = sizeof config,
                        .version = 1,
                        .backend = "host",
                        .scheduler = "threads",
                        .ranks = 1,
                        .ring_records = records,
                        .record_words = XS_RECORD_WORDS,
                        .capture = path,
                        .placement = placement,
                        .collectors = collectors,
                        .capture_on_trigger = on_trigger};
    begun = synthetic_now();
    int rc = xs_world_create(&config, &world);
    if (rc)
        fail_msg("%s: %s", xs_strerror(rc), xs_error_detail());
    return world;
}

static synthetic_writer begin_writer(const xs_world *world, uint32_t ring, uint32_t mode) {
    synthetic_writer w = synthetic_begin(world->region, ring, mode);
    w.records = (xs_record *)(void *)(xs_placement_records(world, 0) + ring * xs_region(world)->records_stride);
    return w;
}

static void emit(synthetic_writer *w, uint32_t mode, uint64_t count) {
    uint32_t time = (uint32_t)synthetic_now();
    while (count--)
        synthetic_emit(w, mode, time);
}

static void end_world(xs_world *world, frames *f) {
    assert_int_equal(xs_world_destroy(world), 0);
    memset(f, 0, sizeof *f);
    assert_int_equal(frames_read(f, file), 0);
    if (f->wrong)
        fail_msg("%s", f->what);
    assert_int_equal(f->counts[XS_FRAME_END], 1);
}

static void check_ring(const frames *f, uint32_t ring, uint64_t emitted) {
    const ring_account *r = &f->rings[ring];
    assert_int_equal(r->kept + r->lost, emitted);
    assert_int_equal(r->next, emitted + 1);
    /* What holds the collector up for longer than half of the sequence range takes makes gaps of "at least"; of two words the smallest
     * rings know 18 bits of it. */
    assert_true(!r->at_least || synthetic_now() - begun > (SYNTHETIC_WORDS ? 200000u : 4000000000u));
    assert_int_equal(r->lost_by[XS_LOSS_DEVICE], 0);
    if (XS_RECORD_WORDS == 1) /* a writer that is preempted between two words leaves a hole for as long */
        assert_int_equal(r->lost_by[XS_LOSS_NEVER_ARRIVED], 0);
}

/* Ten times more than fits into a ring, in bursts, by owners that hand the ring over; the collector comes when it
 * comes. */
static void overfill(const char *placement, uint32_t collectors, uint32_t records, uint32_t mode) {
    static frames f;
    enum { RINGS = 5 };
    xs_world *world = begin_world(placement, records, collectors, 0);
    uint64_t emitted[RINGS] = {0};
    for (int owner = 0; owner < 4; owner++)
        for (uint32_t ring = 0; ring < RINGS; ring++) {
            synthetic_writer w = begin_writer(world, ring, mode);
            uint64_t count = (uint64_t)records * 10 / 4 + (uint64_t)owner * 3 + ring;
            emit(&w, mode, count);
            emitted[ring] += count;
            synthetic_end(&w);
            if (owner == 2)
                assert_int_equal(xs_placement_flush(world, XS_PLACEMENT_WAIT_NS), 0);
        }
    end_world(world, &f);
    for (uint32_t ring = 0; ring < RINGS; ring++) {
        check_ring(&f, ring, emitted[ring]);
        assert_true(f.rings[ring].kept > 0);
        uint64_t full = f.rings[ring].lost_by[mode == XS_OVERWRITE ? XS_LOSS_OVERWRITTEN : XS_LOSS_DISCARDED];
        assert_int_equal(full + f.rings[ring].lost_by[XS_LOSS_NEVER_ARRIVED], f.rings[ring].lost);
    }
}

static void overfill_is_counted(void **unused) {
    (void)unused;
    const uint32_t most = !XS_WHOLE_ACCESS ? 4096 : 65536; /* a sanitizer is slow */
    for (uint32_t records = 4; records <= most; records *= records < 4096 ? 4 : 16)
        for (uint32_t mode = XS_OVERWRITE; mode <= XS_DISCARD; mode++)
            for (uint32_t collectors = 1; collectors <= 2; collectors++) {
                overfill("device", collectors, records, mode);
                overfill("mapped", collectors, records, mode);
            }
}

/* What fits into the ring is whole once the launch is over, with no loss: the point of the placement. */
static void a_burst_is_whole_at_its_end(void **unused) {
    (void)unused;
    static frames f;
    xs_world *world = begin_world("device", 4096, 1, 0);
    synthetic_writer w = begin_writer(world, 7, XS_OVERWRITE);
    emit(&w, XS_OVERWRITE, 4096);
    synthetic_end(&w);
    end_world(world, &f);
    check_ring(&f, 7, 4096);
    assert_int_equal(f.rings[7].kept, 4096);
}

static uint64_t records_in_file(void) {
    static frames f;
    memset(&f, 0, sizeof f);
    return frames_read(&f, file) ? 0 : f.rings[3].kept;
}

static int reaches(uint64_t count) {
    for (uint64_t begin = synthetic_now(); synthetic_now() - begin < 100000000000u;) {
        if (records_in_file() >= count)
            return 1;
        usleep(2000);
    }
    return 0;
}

/* A writer that never ends, as in a kernel that hangs: what it wrote comes out while it holds its ring, to the last
 * record. */
static void an_open_ring_comes_out_whole(void **unused) {
    (void)unused;
    static frames f;
    xs_world *world = begin_world("device", 256, 1, 0);
    synthetic_writer w = begin_writer(world, 3, XS_OVERWRITE);
    emit(&w, XS_OVERWRITE, 77); /* no part of the ring is full */
    assert_true(reaches(77));
    emit(&w, XS_OVERWRITE, 128);
    assert_true(reaches(205));
    end_world(world, &f);
    check_ring(&f, 3, 205);
    assert_true(f.end.tail_unknown);
}

/* On trigger nothing is collected as it comes; what a dump asks for follows it, and nobody waited. A look may have
 * copied the ring while it was being filled, and what it saw then comes out as well. */
static void a_dump_is_followed_by_the_copy(void **unused) {
    (void)unused;
    static frames f;
    xs_world *world = begin_world("device", 256, 1, 1);
    synthetic_writer w = begin_writer(world, 3, XS_OVERWRITE);
    emit(&w, XS_OVERWRITE, 700);
    assert_int_equal(records_in_file(), 0);
    assert_int_equal(xs_trace_dump(world, "test"), 0);
    assert_true(reaches(256));
    synthetic_end(&w);
    end_world(world, &f);
    check_ring(&f, 3, 700);
    assert_true(f.rings[3].kept >= 256);
}

typedef struct running {
    xs_world *world;
    uint32_t ring, mode;
    uint64_t emitted;
    int *stop;
} running;

static void *write_on(void *user) {
    running *r = user;
    while (!__atomic_load_n(r->stop, __ATOMIC_RELAXED)) {
        synthetic_writer w = begin_writer(r->world, r->ring, r->mode);
        emit(&w, r->mode, 1000 + r->ring);
        __atomic_fetch_add(&r->emitted, 1000 + r->ring, __ATOMIC_RELAXED);
        synthetic_end(&w);
    }
    return NULL;
}

static int all_have_begun(const running *all, uint32_t count) {
    int yes = 1;
    for (uint32_t i = 0; i < count; i++)
        yes &= __atomic_load_n(&all[i].emitted, __ATOMIC_RELAXED) > 0;
    return yes;
}

/* Writers go on and hand their rings over while copier and collectors work. */
static void writers_run_on(void **unused) {
    (void)unused;
    static frames f;
    enum { WRITERS = 4 };
    for (uint32_t mode = XS_OVERWRITE; mode <= XS_DISCARD; mode++) {
        xs_world *world = begin_world("device", 1024, 2, 0);
        running all[WRITERS];
        pthread_t threads[WRITERS];
        int stop = 0;
        for (uint32_t i = 0; i < WRITERS; i++) {
            all[i] = (running){world, i, mode, 0, &stop};
            assert_int_equal(pthread_create(&threads[i], NULL, write_on, &all[i]), 0);
        }
        for (int i = 0; i < 20 || !all_have_begun(all, WRITERS); i++) {
            assert_int_equal(xs_placement_flush(world, XS_PLACEMENT_WAIT_NS), 0);
            usleep(5000);
        }
        __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
        for (uint32_t i = 0; i < WRITERS; i++)
            pthread_join(threads[i], NULL);
        end_world(world, &f);
        for (uint32_t i = 0; i < WRITERS; i++)
            check_ring(&f, i, all[i].emitted);
    }
}

/* ---- a device that is lost or busy from a moment on that the test chooses: no copy is under way then ---- */

static enum { COPIES, LOST, BUSY } device;
static pthread_mutex_t device_lock = PTHREAD_MUTEX_INITIALIZER;

static int copy_if_there(xs_world *world, const xs_ring_span *spans, uint32_t count) {
    pthread_mutex_lock(&device_lock);
    int rc = device == LOST   ? xs_fail(XS_E_SYSTEM, "CUDA_ERROR_ILLEGAL_ADDRESS")
             : device == BUSY ? xs_fail(XS_E_TIMEOUT, "busy")
                              : xs_backend_host.rings_copy(world, spans, count);
    pthread_mutex_unlock(&device_lock);
    return rc;
}

static void device_is(int state) {
    pthread_mutex_lock(&device_lock);
    device = state;
    pthread_mutex_unlock(&device_lock);
}

/* The copier looks at the backend only when there is something to copy: from the flush on it has the new one. */
static xs_world *begin_world_with_device(void) {
    static xs_backend backend;
    xs_world *world = begin_world("device", 256, 1, 0);
    device_is(COPIES);
    backend = *world->backend;
    backend.rings_copy = copy_if_there;
    world->backend = &backend;
    assert_int_equal(xs_placement_flush(world, XS_PLACEMENT_WAIT_NS), 0);
    return world;
}

static void put_part(xs_record *part, uint32_t a, uint32_t b) {
    if (SYNTHETIC_WORDS == 2)
        xs_stamped_put(part, 1, a, b, 0);
    else
        xs_record_put(part, 1, a, b, 0);
}

static void tell_cursor(const xs_world *world, uint32_t ring, const synthetic_writer *w) {
    const xs_region_header *h = xs_region(world);
    xs_status_line *line = (xs_status_line *)(void *)(world->region + h->status_offset +
                                                      (uint64_t)ring * h->lines_per_ring * h->status_stride);
    xs_ring_owner owner = {0};
    assert_true(xs_ring_owner_load(SYNTHETIC_WORDS, w->ring, w->ring->owners - 1, &owner));
    xs_record *parts = (xs_record *)(void *)line;
    for (int i = 0; i < 6; i++)
        put_part(&parts[i], 0, 0);
    put_part(&parts[6], (uint32_t)w->cursor, owner.block);
    put_part(&parts[7], owner.launch, 0);
}

/* What was not copied when the device was lost is a loss of that cause: exactly, where its ring was given back; at
 * least what the writer last told, where it was not; and a note says why. */
static void a_lost_device_is_told(void **unused) {
    (void)unused;
    static frames f;
    xs_world *world = begin_world_with_device();
    synthetic_writer ends = begin_writer(world, 3, XS_OVERWRITE), hangs = begin_writer(world, 5, XS_OVERWRITE),
                     silent = begin_writer(world, 9, XS_OVERWRITE);
    emit(&ends, XS_OVERWRITE, 100);
    emit(&hangs, XS_OVERWRITE, 60);
    emit(&silent, XS_OVERWRITE, 30);
    assert_int_equal(xs_placement_flush(world, XS_PLACEMENT_WAIT_NS), 0);
    device_is(LOST);
    emit(&ends, XS_OVERWRITE, 50);
    emit(&hangs, XS_OVERWRITE, 20);
    tell_cursor(world, 5, &hangs);
    emit(&silent, XS_OVERWRITE, 10);
    synthetic_end(&ends);
    assert_int_equal(xs_placement_flush(world, XS_PLACEMENT_WAIT_NS), XS_E_SYSTEM);
    end_world(world, &f);
    assert_int_equal(f.rings[3].kept, 100);
    assert_int_equal(f.rings[3].lost_by[XS_LOSS_DEVICE], 50);
    assert_int_equal(f.rings[3].at_least, 0);
    assert_int_equal(f.rings[5].kept, 60);
    assert_int_equal(f.rings[5].lost_by[XS_LOSS_DEVICE], 20);
    assert_true(f.rings[5].at_least);
    assert_int_equal(f.rings[9].kept + f.rings[9].lost, 30); /* nobody knows of its last ten */
    assert_true(f.end.tail_unknown);
    assert_non_null(strstr(f.note, "CUDA_ERROR_ILLEGAL_ADDRESS"));
    assert_non_null(strstr(f.note, "device memory"));
}

/* A copy that does not end in its time is no lost device: what it should have brought comes with a later one. */
static void a_slow_copy_is_tried_again(void **unused) {
    (void)unused;
    static frames f;
    xs_world *world = begin_world_with_device();
    device_is(BUSY);
    synthetic_writer w = begin_writer(world, 3, XS_OVERWRITE);
    emit(&w, XS_OVERWRITE, 200);
    synthetic_end(&w);
    assert_int_equal(xs_placement_flush(world, XS_PLACEMENT_WAIT_NS), XS_E_TIMEOUT);
    device_is(COPIES);
    assert_int_equal(xs_placement_flush(world, XS_PLACEMENT_WAIT_NS), 0);
    end_world(world, &f);
    check_ring(&f, 3, 200);
    assert_int_equal(f.rings[3].kept, 200);
}

/* Parts of a ring, and runs of rings, that a step copies. */
static void parts_and_spans(void **unused) {
    (void)unused;
    assert_int_equal(xs_placement_parts(1, 1, 16), 0);
    assert_int_equal(xs_placement_parts(1, 2, 16), 1);
    assert_int_equal(xs_placement_parts(4, 5, 16), 2);
    assert_int_equal(xs_placement_parts(3, 9, 16), 7);
    assert_int_equal(xs_placement_parts(15, 18, 16), 9); /* round the end */
    assert_int_equal(xs_placement_parts(5, 21, 16), 15);
    assert_int_equal(xs_placement_parts(1, 1000, 4), 15);
    xs_world *world = begin_world("device", 16, 1, 0);
    placed_ring rings[64] = {0};
    xs_ring_span spans[64 * (XS_PARTS + 1)];
    xs_placement p = {.world = world, .rings = 64, .ring = rings, .spans = spans};
    rings[3].need = rings[4].need = XS_PARTS_ALL;
    rings[5].need = rings[6].need = 1;
    rings[63].need = 1 | 8;
    xs_placement_spans(&p, 0);
    static const xs_ring_span want[] = {{3, 2, 0, 16}, {5, 2, 0, 4}, {63, 1, 0, 4}, {63, 1, 12, 4}};
    assert_int_equal(p.span_count, 4);
    assert_memory_equal(spans, want, sizeof want);
    rings[8].live = rings[9].live = 1;
    rings[9].need = 4; /* stale: copied in any case */
    xs_placement_spans(&p, 1);
    static const xs_ring_span probes[] = {{8, 2, 3, 1}, {8, 2, 7, 1}, {8, 1, 11, 1}, {8, 2, 15, 1}};
    assert_int_equal(p.span_count, 4);
    assert_memory_equal(spans, probes, sizeof probes);
    xs_world_destroy(world);
}

int main(void) {
    snprintf(folder, sizeof folder, "/tmp/xs-placement-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/run", folder);
    snprintf(file, sizeof file, "%s.xs", path);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_and_spans),
        cmocka_unit_test(a_burst_is_whole_at_its_end),
        cmocka_unit_test(an_open_ring_comes_out_whole),
        cmocka_unit_test(a_dump_is_followed_by_the_copy),
        cmocka_unit_test(a_lost_device_is_told),
        cmocka_unit_test(a_slow_copy_is_tried_again),
        cmocka_unit_test(overfill_is_counted),
        cmocka_unit_test(writers_run_on),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    char remove[96];
    snprintf(remove, sizeof remove, "rm -rf '%s'", folder);
    return system(remove) || failed;
}
