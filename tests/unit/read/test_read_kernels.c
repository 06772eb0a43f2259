/* Kernels that CUPTI tells of, as brackets of a GPU's clock, and told apart by what was stamped inside them. */
#include "gpu_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void test_a_minute_is_right_at_both_ends(void **state) {
    static int64_t off[MINUTE];
    gpu_run r;
    (void)state;
    gpu_record_minute(&r, "minute.xs", 0, GPU_PROBE);
    gpu_read_back(&r);
    const xsr_clock *clock = gpu_clock(&r);
    const xsr_model *m = xsr_model_of(r.reader);
    assert_int_equal(clock->step_ns, 32);
    assert_int_equal(clock->kernels, MINUTE);
    assert_int_equal(clock->fault_ns, 0);
    assert_in_range(clock->residual_ns, 1, 64);
    assert_in_range(clock->bound_ns, 1, 600);
    assert_int_equal(m->writer_count, MINUTE);
    for (uint32_t i = 0; i < MINUTE; i++)
        off[i] = llabs(m->writers[i].begin - gpu_begin_of(i));
    qsort(off, MINUTE, sizeof *off, gpu_by_value);
    assert_in_range(off[MINUTE * 99 / 100], 0, 100);
    assert_true(gpu_worst_of(&r, 0, MINUTE) <= clock->bound_ns);
    assert_true(gpu_worst_of(&r, 0, 250) <= 120);
    assert_true(gpu_worst_of(&r, MINUTE - 250, MINUTE) <= 120);
    for (uint32_t i = 0; i < MINUTE; i++)
        assert_int_equal(m->activities[m->writers[i].kernel].correlation, i + 1);
    gpu_end(&r);
}

static void test_five_microseconds_in_the_answers_are_found(void **state) {
    gpu_run r;
    (void)state;
    gpu_record_minute(&r, "planted.xs", 5 * US, GPU_PROBE);
    gpu_read_back(&r);
    const xsr_clock *clock = gpu_clock(&r);
    assert_in_range(clock->fault_ns, 3 * US, 5 * US);
    assert_true(clock->bound_ns >= gpu_worst_of(&r, 0, MINUTE));
    assert_true(clock->bound_ns >= 5 * US); /* which of the two is wrong is not known */
    assert_non_null(strstr(xsr_model_of(r.reader)->notes[0], "clock fault of GPU 0"));
    gpu_end(&r);
}

/* Kernels end 3 us behind their last stamps and begin half a microsecond before the first: their middles are off by more than a microsecond,
 * all alike. That moves no time, and the bound is half of what all brackets leave. */
static void test_kernels_that_end_late_move_no_clock(void **state) {
    gpu_run r;
    int64_t common;
    (void)state;
    gpu_record_minute(&r, "late_ends.xs", 0, GPU_H200);
    gpu_read_back(&r);
    const xsr_clock *clock = gpu_clock(&r);
    assert_int_equal(clock->kernels, MINUTE);
    assert_int_equal(clock->fault_ns, 0);
    assert_in_range(gpu_scatter(&r, &common), 0, 40); /* stamps come in steps of 32 */
    assert_in_range(clock->residual_ns, 1, 75);  /* of a sample: begins are even, ends are not and count less */
    assert_in_range(clock->bound_ns, 300, 800);
    assert_true(gpu_worst_of(&r, 0, MINUTE) <= clock->bound_ns);
    gpu_end(&r);
}

/* Both ways: the contradiction is what is planted less what the answers' brackets and the kernels' slacks hide. */
static void test_five_microseconds_are_found_beside_late_ends(void **state) {
    static const int64_t planted[] = {-5 * US, 5 * US, 10 * US};
    gpu_run r;
    (void)state;
    for (int i = 0; i < 3; i++) {
        gpu_record_minute(&r, "late_planted.xs", planted[i], GPU_H200);
        gpu_read_back(&r);
        const xsr_clock *clock = gpu_clock(&r);
        int64_t hidden = planted[i] > 0 ? 480 + 2950 : 600 + 500; /* asked to read, last stamp to end; read to seen, begin to first stamp */
        assert_in_range(clock->fault_ns, llabs(planted[i]) - hidden, llabs(planted[i]) - hidden + 600);
        assert_true(clock->bound_ns >= gpu_worst_of(&r, 0, MINUTE));
        assert_in_range(clock->bound_ns, clock->fault_ns, llabs(planted[i]) + US);
        assert_true(gpu_worst_of(&r, 0, MINUTE) < 2950); /* at the kernels' ends: they enclose what was stamped in them */
        assert_non_null(strstr(xsr_model_of(r.reader)->notes[0], "clock fault of GPU 0"));
        gpu_end(&r);
    }
}

/* CLOCK_REALTIME is set back by a second in mid-run. */
static void test_a_step_of_cuptis_clock_moves_no_kernel(void **state) {
    gpu_run r;
    (void)state;
    gpu_begin(&r, "step.xs", 10.6);
    r.cupti_step = -S;
    r.cupti_step_at = H0 + 10 * S + 10 * MS; /* between two kernels */
    for (uint32_t i = 0; i < 1000; i++) {
        if (i % 50 == 0)
            gpu_answer(&r, gpu_begin_of(i) - 5 * MS);
        gpu_tick(&r, gpu_begin_of(i) - 3 * MS);
        gpu_ran(&r, gpu_begin_of(i), 5 * US, 7, 0, 0, 0);
        cb_flush_at(r.c, (uint64_t)(gpu_begin_of(i) + 10 * MS));
    }
    gpu_read_back(&r);
    const xsr_model *m = xsr_model_of(r.reader);
    uint32_t wrong = 0;
    assert_int_equal(m->activity_count, 1000);
    for (uint32_t i = 0; i < 1000; i++)
        wrong += llabs(m->activities[i].begin + 400 - gpu_begin_of(m->activities[i].correlation - 1)) > US;
    /* In the second that CUPTI's clock has twice, a time is taken for the later one. */
    assert_in_range(wrong, 0, 52);
    assert_int_equal(gpu_clock(&r)->fault_ns, 0);
    gpu_end(&r);
}

/* Two nodes of one graph on two streams, a hundred replays back to back: the same two handles each time. The kernels
 * overlap, sometimes wholly; the gaps between replays are smaller than the answers' brackets. */
static void test_a_hundred_replays_are_told_apart(void **state) {
    gpu_run r;
    (void)state;
    gpu_begin(&r, "replays.xs", 10.6);
    gpu_answer(&r, H0 + S / 2);
    gpu_tick(&r, H0 + S / 2);
    for (uint32_t launch = 1; launch <= 2; launch++)
        cb_launch_begin(r.c, launch, 0, (uint64_t)(H0 + S / 2), 1, 32, 0, 1);
    int64_t at = H0 + S;
    for (uint32_t i = 0; i < 100; i++) {
        int64_t first = 20 * US + gpu_random_below(10 * US), second = 20 * US + gpu_random_below(10 * US),
                later = gpu_random_below(3) ? gpu_random_below(15 * US) : 0;
        gpu_ran(&r, at, first, 7, 501, 0, 1);
        gpu_ran(&r, at + later, second, 8, 502, 1, 2);
        at += (first > later + second ? first : later + second) + 2000;
        if (i % 10 == 0) { /* the queue ran dry: kernels stand alone there */
            at += 100 * US;
            gpu_ran(&r, at, 5 * US, 7, 500, 2, 0);
            at += 100 * US;
        }
    }
    cb_flush_at(r.c, (uint64_t)(at + MS));
    gpu_answer(&r, at + S);
    gpu_tick(&r, at + S);
    cb_cupti(r.c, XS_CUPTI_ENDED, (uint64_t)H0, (uint64_t)(at + S), "");
    gpu_read_back(&r);
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
    gpu_end(&r);
}

/* Two nodes of one graph that lie in each other's kernels in every replay, as two sides of a ping-pong do: the second begins `later` ns
 * after the first, give or take `moves` ns. around, ns: two further twins begin so much earlier and end so much later, so that
 * the inner ones lie in all four. Returns how many writers are in their own kernel; none may be in the other. */
static uint32_t told_of_twins(const char *name, int64_t later, int64_t moves, int64_t around, uint32_t *notes) {
    gpu_run r;
    gpu_begin(&r, name, 10.6);
    gpu_answer(&r, H0 + S / 2);
    gpu_tick(&r, H0 + S / 2);
    for (uint32_t launch = 1; launch <= 4; launch++)
        cb_launch_begin(r.c, launch, 0, (uint64_t)(H0 + S / 2), 1, 32, 0, 1);
    int64_t at = H0 + S;
    for (uint32_t i = 0; i < 100; i++) {
        int64_t length = 20 * US + gpu_random_below(10 * US), shift = later + (moves ? gpu_random_below(2 * moves) - moves : 0);
        gpu_ran(&r, at, length, 7, 501, 0, 1);
        gpu_ran(&r, at + shift, length - shift, 8, 502, 1, 2);
        if (around) {
            int64_t outer = moves ? gpu_random_below(2 * moves) - moves : 0;
            gpu_ran(&r, at - around, length + 2 * around, 9, 503, 3, 3);
            gpu_ran(&r, at - around + outer, length + 2 * around - outer, 10, 504, 4, 4);
        }
        at += length + 5000 + 2 * around;
        if (i % 10 == 0) { /* kernels that stand alone, for the clock */
            at += 100 * US;
            gpu_ran(&r, at, 5 * US, 7, 500, 2, 0);
            at += 100 * US;
        }
    }
    cb_flush_at(r.c, (uint64_t)(at + MS));
    gpu_answer(&r, at + S);
    gpu_tick(&r, at + S);
    cb_cupti(r.c, XS_CUPTI_ENDED, (uint64_t)H0, (uint64_t)(at + S), "");
    gpu_read_back(&r);
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
    gpu_end(&r);
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
    gpu_run r;
    (void)state;
    gpu_begin(&r, "long.xs", 10.6);
    r.wrong = 3 * US;
    gpu_answer(&r, H0 + S / 2);
    gpu_tick(&r, H0 + S / 2);
    gpu_ran(&r, H0 + S, 5 * S, 7, 0, 0, 0);
    for (int i = 0; i < 4; i++)
        cb_gpu_kernel(r.c, XSR_CLOCK_KERNEL, 0, 9, gpu_cupti_time(&r, H0 + (2 + i) * S),
                      gpu_cupti_time(&r, H0 + (2 + i) * S + 20 * US), 900 + i, 0, 1, 1);
    cb_flush_at(r.c, (uint64_t)(H0 + 7 * S));
    gpu_answer(&r, H0 + 7 * S);
    gpu_tick(&r, H0 + 7 * S);
    gpu_read_back(&r);
    assert_int_equal(gpu_clock(&r)->kernels, 1);
    assert_in_range(gpu_clock(&r)->fault_ns, US, 3 * US);
    gpu_end(&r);
}

/* What is not told of has no kernel, and is said; what ran before CUPTI listened, or after it was lost, is nobody's
 * fault. */
static void test_writers_in_no_kernel_are_said(void **state) {
    gpu_run r;
    (void)state;
    gpu_begin(&r, "nowhere.xs", 0);
    gpu_answer(&r, H0 + S / 2);
    gpu_tick(&r, H0 + S / 2);
    gpu_ran(&r, H0 + S, 10 * US, 7, 0, 0, 0);
    cb_writer_begin(r.c, 0, gpu_stamp(&r, H0 + 2 * S), 0, 99, 0);
    cb_writer_end(r.c, 0, gpu_stamp(&r, H0 + 2 * S + 10 * US));
    cb_flush_at(r.c, (uint64_t)(H0 + 3 * S));
    cb_writer_begin(r.c, 0, gpu_stamp(&r, H0 + 4 * S), 0, 100, 0);
    cb_writer_end(r.c, 0, gpu_stamp(&r, H0 + 4 * S + 10 * US));
    cb_flush_at(r.c, (uint64_t)(H0 + 5 * S));
    gpu_answer(&r, H0 + 5 * S);
    cb_cupti(r.c, XS_CUPTI_ENDED, (uint64_t)H0, (uint64_t)(H0 + 3 * S), "");
    gpu_read_back(&r);
    const xsr_model *m = xsr_model_of(r.reader);
    assert_int_equal(m->writers[1].kernel, XSR_NONE);
    assert_int_equal(m->writers[2].kernel, XSR_NONE);
    assert_int_equal(m->note_count, 1);
    assert_string_equal(m->notes[0], "GPU 0 of process 1000: 1 writers ran in no kernel that CUPTI told of");
    gpu_end(&r);
}

static void test_a_killed_run_says_from_when_cupti_is_missing(void **state) {
    gpu_run r;
    (void)state;
    gpu_begin(&r, "killed.xs", 0);
    gpu_answer(&r, H0 + S / 2);
    gpu_tick(&r, H0 + S / 2);
    gpu_ran(&r, H0 + S, 10 * US, 7, 0, 0, 0);
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
    gpu_end(&r);
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
