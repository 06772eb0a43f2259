/* Kernels that CUPTI tells of, as brackets of a GPU's clock, and told apart by what was stamped inside them. */
#include "read_help.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define S 1000000000ll
#define MS 1000000ll
#define US 1000ll
#define H0 (500 * S)             /* host time at which the runs begin */
#define D0 1795964922682060295ll /* the device's at the same moment */
#define C0 1764000000000000000ll /* CUPTI's */

typedef struct run {
    cb *c;
    const char *path;
    double ppm;
    int64_t wrong;      /* planted in the device's answers */
    int64_t cupti_step; /* of CUPTI's clock, at this host time */
    int64_t cupti_step_at;
    uint32_t correlation;
    int h200; /* slacks as a run on an H200 had them, else as a probe had that did nothing but stamp */
    xsr_reader *reader;
    told told;
} run;

static int64_t random_below(int64_t n) { return rand() % n; }

/* A clock that is not a line: up to 300 ns away from one, over 40 s. */
static int64_t device_exact(const run *r, int64_t host) {
    double x = (double)(host - H0), t = x / (40 * S), u = t - (double)(int64_t)t;
    return D0 + (host - H0) + (int64_t)(r->ppm * 1e-6 * x + 1200 * u * (1 - u));
}
static uint64_t device_stamp(const run *r, int64_t host) {
    int64_t d = device_exact(r, host);
    return (uint64_t)(d - d % 32);
}
static uint64_t cupti_time(const run *r, int64_t host) {
    return (uint64_t)(C0 + (host - H0) + (r->cupti_step && host >= r->cupti_step_at ? r->cupti_step : 0));
}

static void begin(run *r, const char *name, double ppm) {
    memset(r, 0, sizeof *r);
    srand(7);
    r->ppm = ppm;
    r->path = help_path(name);
    r->c = cb_begin(r->path);
    assert_non_null(r->c);
    xs_region_header region = cb_region(0, 1, 1);
    region.device = 0;
    region.start_time = (uint64_t)(H0 - S);
    region.start_realtime = C0;
    cb_process_as(r->c, &region);
}

/* About 0, most within 2 sd. */
static int64_t noise(int64_t sd) {
    return (random_below(1001) + random_below(1001) + random_below(1001) + random_below(1001) - 2000) * sd / 577;
}

/* h200: read half a microsecond after it was asked for, seen as long after that, or later. */
static void answer(run *r, int64_t host) {
    int64_t bracket = (r->h200 ? 1050 : 2050) + random_below(120);
    if (r->h200) {
        cb_device_clock(r->c, 0, (uint64_t)(host + bracket / 2 + r->wrong), device_stamp(r, host + 480 + random_below(60)), (uint64_t)bracket);
        return;
    }
    cb_device_clock(r->c, 0, (uint64_t)(host + bracket / 2 + r->wrong),
                    device_stamp(r, host + bracket / 2 + random_below(155) - 77), (uint64_t)bracket);
}

static void tick(run *r, int64_t host) {
    int64_t took = 60 + random_below(100);
    cb_tick(r->c, (uint64_t)host, (uint64_t)(host + took), cupti_time(r, host + random_below(took)));
}

/* CUPTI's span is longer than the stamps by what was measured, and its ends are good to some 50 ns. */
static void kernel(run *r, int64_t at, int64_t length, uint32_t stream, uint64_t node, uint32_t ring, uint32_t launch) {
    int64_t before = r->h200 ? 500 + noise(25) : 380 + random_below(60);
    int64_t behind = r->h200 ? 2950 + noise(90) : 370 + random_below(60); /* its end waits for the bus */
    cb_gpu_kernel(r->c, "work", 0, stream, cupti_time(r, at - before), cupti_time(r, at + length + behind),
                  ++r->correlation, node, 1, 32);
    cb_writer_begin(r->c, ring, device_stamp(r, at), 0, r->correlation, launch);
    cb_writer_end(r->c, ring, device_stamp(r, at + length));
}

static void read_back(run *r) {
    assert_int_equal(cb_end(r->c), 0);
    r->reader = help_open(r->path);
    assert_int_equal(help_run(r->reader, &r->told), 0);
}

static void end(run *r) {
    help_free(&r->told);
    xsr_close(r->reader);
}

static const xsr_clock *gpu(const run *r) {
    const xsr_model *m = xsr_model_of(r->reader);
    for (uint32_t i = 0; i < m->clock_count; i++)
        if (m->clocks[i].device == 0)
            return &m->clocks[i];
    fail_msg("no clock of the GPU");
    return NULL;
}

static int by_value(const void *a, const void *b) {
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* A kernel every 20 ms over a minute. The block of a writer is its kernel's number, so its true begin is known. */
static int64_t begin_of(uint32_t i) { return H0 + S + (int64_t)i * 20 * MS; }
enum { MINUTE = 3000 };

static void record_minute(run *r, const char *name, int64_t wrong, int h200) {
    begin(r, name, 10.6);
    r->wrong = wrong;
    r->h200 = h200;
    for (uint32_t i = 0; i < MINUTE; i++) {
        if (i % 50 == 0)
            answer(r, begin_of(i) - 5 * MS);
        if (i % 5 == 0)
            tick(r, begin_of(i) - 3 * MS);
        kernel(r, begin_of(i), (int64_t)(3 + i % 16) * US, 7, 0, 0, 0);
        cb_flush_at(r->c, (uint64_t)(begin_of(i) + 10 * MS));
    }
    answer(r, begin_of(MINUTE));
    tick(r, begin_of(MINUTE));
}

static int64_t worst_of(const run *r, uint32_t first, uint32_t last) {
    const xsr_model *m = xsr_model_of(r->reader);
    int64_t worst = 0;
    for (uint32_t i = first; i < last; i++) {
        int64_t off = llabs(m->writers[i].begin - begin_of(m->writers[i].block - 1));
        worst = off > worst ? off : worst;
    }
    return worst;
}

static void test_a_minute_is_right_at_both_ends(void **state) {
    static int64_t off[MINUTE];
    run r;
    (void)state;
    record_minute(&r, "minute.xs", 0, 0);
    read_back(&r);
    const xsr_clock *clock = gpu(&r);
    const xsr_model *m = xsr_model_of(r.reader);
    assert_int_equal(clock->step_ns, 32);
    assert_int_equal(clock->kernels, MINUTE);
    assert_int_equal(clock->fault_ns, 0);
    assert_in_range(clock->residual_ns, 1, 64);
    assert_in_range(clock->bound_ns, 1, 600);
    assert_int_equal(m->writer_count, MINUTE);
    for (uint32_t i = 0; i < MINUTE; i++)
        off[i] = llabs(m->writers[i].begin - begin_of(i));
    qsort(off, MINUTE, sizeof *off, by_value);
    assert_in_range(off[MINUTE * 99 / 100], 0, 100);
    assert_true(worst_of(&r, 0, MINUTE) <= clock->bound_ns);
    assert_true(worst_of(&r, 0, 250) <= 120);
    assert_true(worst_of(&r, MINUTE - 250, MINUTE) <= 120);
    for (uint32_t i = 0; i < MINUTE; i++)
        assert_int_equal(m->activities[m->writers[i].kernel].correlation, i + 1);
    end(&r);
}

static void test_five_microseconds_in_the_answers_are_found(void **state) {
    run r;
    (void)state;
    record_minute(&r, "planted.xs", 5 * US, 0);
    read_back(&r);
    const xsr_clock *clock = gpu(&r);
    assert_in_range(clock->fault_ns, 3 * US, 5 * US);
    assert_true(clock->bound_ns >= worst_of(&r, 0, MINUTE));
    assert_true(clock->bound_ns >= 5 * US); /* which of the two is wrong is not known */
    assert_non_null(strstr(xsr_model_of(r.reader)->notes[0], "clock fault of GPU 0"));
    end(&r);
}

/* p99 of how far the writers' begins lie from where they were, less what all of them have in common. */
static int64_t scatter(const run *r, int64_t *common) {
    static int64_t off[MINUTE];
    const xsr_model *m = xsr_model_of(r->reader);
    assert_int_equal(m->writer_count, MINUTE);
    for (uint32_t i = 0; i < MINUTE; i++)
        off[i] = m->writers[i].begin - begin_of(m->writers[i].block - 1);
    qsort(off, MINUTE, sizeof *off, by_value);
    *common = off[MINUTE / 2];
    for (uint32_t i = 0; i < MINUTE; i++)
        off[i] = llabs(off[i] - *common);
    qsort(off, MINUTE, sizeof *off, by_value);
    return off[MINUTE * 99 / 100];
}

/* Kernels end 3 us behind their last stamps and begin half a microsecond before the first: their middles are off by more than a microsecond,
 * all alike. That moves no time, and the bound is half of what all brackets leave. */
static void test_kernels_that_end_late_move_no_clock(void **state) {
    run r;
    int64_t common;
    (void)state;
    record_minute(&r, "late_ends.xs", 0, 1);
    read_back(&r);
    const xsr_clock *clock = gpu(&r);
    assert_int_equal(clock->kernels, MINUTE);
    assert_int_equal(clock->fault_ns, 0);
    assert_in_range(scatter(&r, &common), 0, 40); /* stamps come in steps of 32 */
    assert_in_range(clock->residual_ns, 1, 75);  /* of a sample: begins are even, ends are not and count less */
    assert_in_range(clock->bound_ns, 300, 800);
    assert_true(worst_of(&r, 0, MINUTE) <= clock->bound_ns);
    end(&r);
}

/* Both ways: the contradiction is what is planted less what the answers' brackets and the kernels' slacks hide. */
static void test_five_microseconds_are_found_beside_late_ends(void **state) {
    static const int64_t planted[] = {-5 * US, 5 * US, 10 * US};
    run r;
    (void)state;
    for (int i = 0; i < 3; i++) {
        record_minute(&r, "late_planted.xs", planted[i], 1);
        read_back(&r);
        const xsr_clock *clock = gpu(&r);
        int64_t hidden = planted[i] > 0 ? 480 + 2950 : 600 + 500; /* asked to read, last stamp to end; read to seen, begin to first stamp */
        assert_in_range(clock->fault_ns, llabs(planted[i]) - hidden, llabs(planted[i]) - hidden + 600);
        assert_true(clock->bound_ns >= worst_of(&r, 0, MINUTE));
        assert_in_range(clock->bound_ns, clock->fault_ns, llabs(planted[i]) + US);
        assert_true(worst_of(&r, 0, MINUTE) < 2950); /* at the kernels' ends: they enclose what was stamped in them */
        assert_non_null(strstr(xsr_model_of(r.reader)->notes[0], "clock fault of GPU 0"));
        end(&r);
    }
}

/* CLOCK_REALTIME is set back by a second in mid-run. */
static void test_a_step_of_cuptis_clock_moves_no_kernel(void **state) {
    run r;
    (void)state;
    begin(&r, "step.xs", 10.6);
    r.cupti_step = -S;
    r.cupti_step_at = H0 + 10 * S + 10 * MS; /* between two kernels */
    for (uint32_t i = 0; i < 1000; i++) {
        if (i % 50 == 0)
            answer(&r, begin_of(i) - 5 * MS);
        tick(&r, begin_of(i) - 3 * MS);
        kernel(&r, begin_of(i), 5 * US, 7, 0, 0, 0);
        cb_flush_at(r.c, (uint64_t)(begin_of(i) + 10 * MS));
    }
    read_back(&r);
    const xsr_model *m = xsr_model_of(r.reader);
    uint32_t wrong = 0;
    assert_int_equal(m->activity_count, 1000);
    for (uint32_t i = 0; i < 1000; i++)
        wrong += llabs(m->activities[i].begin + 400 - begin_of(m->activities[i].correlation - 1)) > US;
    /* In the second that CUPTI's clock has twice, a time is taken for the later one. */
    assert_in_range(wrong, 0, 52);
    assert_int_equal(gpu(&r)->fault_ns, 0);
    end(&r);
}

/* Two nodes of one graph on two streams, a hundred replays back to back: the same two handles each time. The kernels
 * overlap, sometimes wholly; the gaps between replays are smaller than the answers' brackets. */
static void test_a_hundred_replays_are_told_apart(void **state) {
    run r;
    (void)state;
    begin(&r, "replays.xs", 10.6);
    answer(&r, H0 + S / 2);
    tick(&r, H0 + S / 2);
    for (uint32_t launch = 1; launch <= 2; launch++)
        cb_launch_begin(r.c, launch, 0, (uint64_t)(H0 + S / 2), 1, 32, 0, 1);
    int64_t at = H0 + S;
    for (uint32_t i = 0; i < 100; i++) {
        int64_t first = 20 * US + random_below(10 * US), second = 20 * US + random_below(10 * US),
                later = random_below(3) ? random_below(15 * US) : 0;
        kernel(&r, at, first, 7, 501, 0, 1);
        kernel(&r, at + later, second, 8, 502, 1, 2);
        at += (first > later + second ? first : later + second) + 2000;
        if (i % 10 == 0) { /* the queue ran dry: kernels stand alone there */
            at += 100 * US;
            kernel(&r, at, 5 * US, 7, 500, 2, 0);
            at += 100 * US;
        }
    }
    cb_flush_at(r.c, (uint64_t)(at + MS));
    answer(&r, at + S);
    tick(&r, at + S);
    cb_cupti(r.c, XS_CUPTI_ENDED, (uint64_t)H0, (uint64_t)(at + S), "");
    read_back(&r);
    const xsr_model *m = xsr_model_of(r.reader);
    assert_int_equal(m->writer_count, 210);
    for (uint32_t i = 0; i < m->writer_count; i++) {
        const xsr_writer *w = &m->writers[i];
        if (w->kernel == XSR_NONE)
            fail_msg("writer %u of kernel %u is in none", i, w->block);
        assert_int_equal(m->activities[w->kernel].correlation, w->block); /* which the test wrote there */
    }
    assert_int_equal(m->note_count, 0);
    for (uint32_t i = 0; i < m->activity_count; i++)
        assert_int_equal(m->activities[i].writers, 1);
    end(&r);
}

/* Two nodes of one graph that lie in each other's kernels in every replay, as two sides of a ping-pong do: the second begins `later` ns
 * after the first, give or take `moves` ns. around, ns: two further twins begin so much earlier and end so much later, so that
 * the inner ones lie in all four. Returns how many writers are in their own kernel; none may be in the other. */
static uint32_t told_of_twins(const char *name, int64_t later, int64_t moves, int64_t around, uint32_t *notes) {
    run r;
    begin(&r, name, 10.6);
    answer(&r, H0 + S / 2);
    tick(&r, H0 + S / 2);
    for (uint32_t launch = 1; launch <= 4; launch++)
        cb_launch_begin(r.c, launch, 0, (uint64_t)(H0 + S / 2), 1, 32, 0, 1);
    int64_t at = H0 + S;
    for (uint32_t i = 0; i < 100; i++) {
        int64_t length = 20 * US + random_below(10 * US), shift = later + (moves ? random_below(2 * moves) - moves : 0);
        kernel(&r, at, length, 7, 501, 0, 1);
        kernel(&r, at + shift, length - shift, 8, 502, 1, 2);
        if (around) {
            int64_t outer = moves ? random_below(2 * moves) - moves : 0;
            kernel(&r, at - around, length + 2 * around, 9, 503, 3, 3);
            kernel(&r, at - around + outer, length + 2 * around - outer, 10, 504, 4, 4);
        }
        at += length + 5000 + 2 * around;
        if (i % 10 == 0) { /* kernels that stand alone, for the clock */
            at += 100 * US;
            kernel(&r, at, 5 * US, 7, 500, 2, 0);
            at += 100 * US;
        }
    }
    cb_flush_at(r.c, (uint64_t)(at + MS));
    answer(&r, at + S);
    tick(&r, at + S);
    cb_cupti(r.c, XS_CUPTI_ENDED, (uint64_t)H0, (uint64_t)(at + S), "");
    read_back(&r);
    const xsr_model *m = xsr_model_of(r.reader);
    uint32_t right = 0;
    assert_int_equal(m->writer_count, around ? 410 : 210);
    for (uint32_t i = 0; i < m->writer_count; i++) {
        const xsr_writer *w = &m->writers[i];
        if (w->kernel == XSR_NONE)
            continue;
        assert_int_equal(m->activities[w->kernel].correlation, w->block);
        right++;
    }
    *notes = m->note_count;
    end(&r);
    return right - 10;
}

static void test_twins_that_change_places_are_told_apart(void **state) {
    uint32_t notes;
    (void)state;
    assert_int_equal(told_of_twins("change_places.xs", 0, 300, 0, &notes), 200);
    assert_int_equal(notes, 0);
}

static void test_twins_that_begin_in_order_are_told_apart(void **state) {
    uint32_t notes;
    (void)state;
    assert_int_equal(told_of_twins("in_order.xs", 350, 0, 0, &notes), 200);
    assert_int_equal(notes, 0);
}

static void test_twins_inside_of_twins_are_told_apart(void **state) {
    uint32_t notes;
    (void)state;
    assert_int_equal(told_of_twins("inside.xs", 0, 300, 2 * US, &notes), 400);
    assert_int_equal(notes, 0);
}

/* They are said to be unclear, and are put nowhere. */
static void test_twins_that_are_alike_are_not_told_apart(void **state) {
    uint32_t notes;
    (void)state;
    assert_int_equal(told_of_twins("alike.xs", 0, 0, 0, &notes), 0);
    assert_int_equal(notes, 1);
}

/* A kernel of seconds, with the clock asked beside it, still bounds the clock at both its ends. */
static void test_a_long_kernel_bounds_the_clock(void **state) {
    run r;
    (void)state;
    begin(&r, "long.xs", 10.6);
    r.wrong = 3 * US;
    answer(&r, H0 + S / 2);
    tick(&r, H0 + S / 2);
    kernel(&r, H0 + S, 5 * S, 7, 0, 0, 0);
    for (int i = 0; i < 4; i++)
        cb_gpu_kernel(r.c, XSR_CLOCK_KERNEL, 0, 9, cupti_time(&r, H0 + (2 + i) * S),
                      cupti_time(&r, H0 + (2 + i) * S + 20 * US), 900 + i, 0, 1, 1);
    cb_flush_at(r.c, (uint64_t)(H0 + 7 * S));
    answer(&r, H0 + 7 * S);
    tick(&r, H0 + 7 * S);
    read_back(&r);
    assert_int_equal(gpu(&r)->kernels, 1);
    assert_in_range(gpu(&r)->fault_ns, US, 3 * US);
    end(&r);
}

/* What is not told of has no kernel, and is said; what ran before CUPTI listened, or after it was lost, is nobody's
 * fault. */
static void test_writers_in_no_kernel_are_said(void **state) {
    run r;
    (void)state;
    begin(&r, "nowhere.xs", 0);
    answer(&r, H0 + S / 2);
    tick(&r, H0 + S / 2);
    kernel(&r, H0 + S, 10 * US, 7, 0, 0, 0);
    cb_writer_begin(r.c, 0, device_stamp(&r, H0 + 2 * S), 0, 99, 0);
    cb_writer_end(r.c, 0, device_stamp(&r, H0 + 2 * S + 10 * US));
    cb_flush_at(r.c, (uint64_t)(H0 + 3 * S));
    cb_writer_begin(r.c, 0, device_stamp(&r, H0 + 4 * S), 0, 100, 0);
    cb_writer_end(r.c, 0, device_stamp(&r, H0 + 4 * S + 10 * US));
    cb_flush_at(r.c, (uint64_t)(H0 + 5 * S));
    answer(&r, H0 + 5 * S);
    cb_cupti(r.c, XS_CUPTI_ENDED, (uint64_t)H0, (uint64_t)(H0 + 3 * S), "");
    read_back(&r);
    const xsr_model *m = xsr_model_of(r.reader);
    assert_int_equal(m->writers[1].kernel, XSR_NONE);
    assert_int_equal(m->writers[2].kernel, XSR_NONE);
    assert_int_equal(m->note_count, 1);
    assert_string_equal(m->notes[0], "GPU 0 of process 1000: 1 writers ran in no kernel that CUPTI told of");
    end(&r);
}

static void test_a_killed_run_says_from_when_cupti_is_missing(void **state) {
    run r;
    (void)state;
    begin(&r, "killed.xs", 0);
    answer(&r, H0 + S / 2);
    tick(&r, H0 + S / 2);
    kernel(&r, H0 + S, 10 * US, 7, 0, 0, 0);
    cb_flush_at(r.c, (uint64_t)(H0 + 3 * S));
    cb_cupti(r.c, XS_CUPTI_ON, (uint64_t)H0, (uint64_t)(H0 + 3 * S / 2), "");
    assert_int_equal(cb_cut(r.c), 0);
    r.reader = help_open(r.path);
    assert_int_equal(help_run(r.reader, &r.told), 0);
    const xsr_model *m = xsr_model_of(r.reader);
    assert_int_equal(m->note_count, 1);
    assert_string_equal(
        m->notes[0],
        "process 1000: CUPTI is missing from 2.500000 s after its start on: later kernels are known by their "
        "launches and ends alone");
    end(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_minute_is_right_at_both_ends),
                                       cmocka_unit_test(test_five_microseconds_in_the_answers_are_found),
                                       cmocka_unit_test(test_kernels_that_end_late_move_no_clock),
                                       cmocka_unit_test(test_five_microseconds_are_found_beside_late_ends),
                                       cmocka_unit_test(test_a_step_of_cuptis_clock_moves_no_kernel),
                                       cmocka_unit_test(test_a_hundred_replays_are_told_apart),
                                       cmocka_unit_test(test_twins_that_change_places_are_told_apart),
                                       cmocka_unit_test(test_twins_that_begin_in_order_are_told_apart),
                                       cmocka_unit_test(test_twins_inside_of_twins_are_told_apart),
                                       cmocka_unit_test(test_twins_that_are_alike_are_not_told_apart),
                                       cmocka_unit_test(test_a_long_kernel_bounds_the_clock),
                                       cmocka_unit_test(test_writers_in_no_kernel_are_said),
                                       cmocka_unit_test(test_a_killed_run_says_from_when_cupti_is_missing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
