/* Detectors of time, of waits: stall, detection-lag, late-rank. Each threshold is tried on both sides. */
#include "judge.h"

enum { US = 1000, MS = 1000 * US };

static void found(const judged *j, uint32_t detector, bool wanted) {
    if (!wanted) {
        expect_not(j, detector);
        return;
    }
    if (!finding_of(j, detector)) {
        print_all(j);
        fail_msg("no %s", xsa_detector_name(detector));
    }
}

/* ---- stall ---- */

typedef struct stalls {
    uint32_t waits; /* of the class, the long one included */
    int64_t usual, longest, least;
    uint32_t starts_lost; /* of the usual ones */
} stalls;

static void stall(stalls s, bool wanted) {
    xsa_options o = {.size = sizeof o, .stall_ns = s.least};
    cb *c = case_begin(2, 1, 1);
    uint32_t slot = cb_slot(c, cb_pad(c, "full", "", "", 1, 1, 0), 0, 0, 0), wait = RING(0, 0);
    uint64_t t = 2000;
    for (uint32_t i = 1; i <= s.waits; i++) {
        uint64_t took = (uint64_t)(i == s.waits / 2 ? s.longest : s.usual), start = cb_next(c, wait);
        cb_wait_start(c, wait, t, slot, i, i - 1);
        if (i <= s.starts_lost)
            cb_lose(c, wait, start, cb_next(c, wait) - 1, XS_LOSS_OVERWRITTEN);
        cb_signal(c, RING(1, 0), t + took - 10, slot, i);
        cb_wait_end(c, wait, t + took, slot, i, XS_RESULT_OK, 9);
        t += took + 500;
    }
    case_end_writers(c, 2, 1, t);
    judged j = judge_with(c, &o);
    found(&j, XSA_STALL, wanted);
    if (wanted && !s.starts_lost) /* else trace-health comes first */
        expect_first(&j, XSA_STALL, XSA_WARNING, "rank 0 full", 1, 0);
    judged_free(&j);
}

static void test_wait_longer_than_its_class(void **state) {
    (void)state;
    stall((stalls){40, 1000, 20000, 20000, 0}, true); /* the floor */
    stall((stalls){40, 1000, 19999, 20000, 0}, false);
    stall((stalls){40, 1000, 16 * 1023, 1, 0},
          true); /* sixteen times what nine of ten take at most: 1000 is in the bucket up to 1023 */
    stall((stalls){40, 1000, 16 * 1023 - 1, 1, 0}, false);
    stall((stalls){32, 1000, 20000, 1, 0}, true); /* so many before a habit is known */
    stall((stalls){31, 1000, 20000, 1, 0}, false);
}

/* A wait whose start is lost has no length: it does not make a habit. */
static void test_stall_with_starts_lost(void **state) {
    (void)state;
    stall((stalls){36, 1000, 20000, 1, 4}, true);
    stall((stalls){36, 1000, 20000, 1, 5}, false);
}

/* Given up, though the supplier goes on; or it came too late, which is no error. */
static void test_wait_that_gave_up(void **state) {
    (void)state;
    for (int late = 0; late < 2; late++) {
        cb *c = case_begin(2, 1, 1);
        uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
        cb_plan_writer(c, pad, 1);
        cb_wait_start(c, RING(0, 0), 2000, slot, 1, 0);
        cb_wait_end(c, RING(0, 0), 20 * MS, slot, 0, XS_RESULT_TIMEOUT, 99);
        cb_epoch(c, RING(1, 0), 20 * MS + 100, 1); /* it goes on */
        if (late) {
            cb_signal(c, RING(1, 0), 21 * MS, slot, 1);
            cb_pass(c, RING(0, 0), 22 * MS, slot, 1, 1); /* tried again */
        }
        judged j = judge_killed(c);
        expect_first(&j, XSA_STALL, late ? XSA_WARNING : XSA_ERROR, "rank 0 full", late ? -1 : 1, late ? -1 : 0);
        judged_free(&j);
    }
}

/* ---- detection lag ---- */

typedef struct lags {
    uint32_t waits;
    uint64_t before, lag; /* waited for the signal; from it to the end */
    uint32_t last_fail;   /* ns before the end; 0: unknown */
    uint64_t slept;
    uint64_t bracket; /* of two devices' clocks; 0: one clock */
} lags;

static void begin_of(cb *c, uint32_t rank, uint64_t bracket, uint32_t *slot) {
    xs_region_header h = cb_region(rank, 1, 2);
    h.device = (int32_t)rank;
    cb_process_as(c, &h);
    uint32_t role = cb_role(c, "work"), kernel = cb_kernel(c, "case"), pad = cb_pad(c, "full", "", "", 1, 1, 0);
    *slot = cb_slot(c, pad, 0, 0, 0);
    cb_launch_begin(c, 1, kernel, 900, 1, 32, rank, 1);
    for (uint64_t t = 0; t < 20; t++)
        cb_device_clock(c, rank, 500 + t * MS, 500 + t * MS, bracket);
    cb_writer_begin_at(c, RING(rank, 0), 1000, role, 0, 1, rank, 0, 0, 0);
}

/* Adds nothing where bracket is 0; else to *bound what the two clocks may be apart. */
static judged lag_case(lags l, int64_t *bound) {
    xsa_options o = {.size = sizeof o, .lag_ns = 20 * US};
    uint32_t slot = 0;
    cb *c = NULL;
    if (l.bracket) {
        c = cb_begin(judged_path());
        assert_non_null(c);
        begin_of(c, 1, l.bracket, &slot);
        begin_of(c, 0, l.bracket, &slot);
    } else {
        c = case_begin(2, 1, 1);
        slot = cb_slot(c, cb_pad(c, "full", "", "", 1, 1, 0), 0, 0, 0);
    }
    uint64_t t = 2000;
    for (uint32_t i = 1; i <= l.waits; i++) {
        cb_select(c, l.bracket ? 1 : 0);
        cb_wait_start(c, RING(0, 0), t, slot, i, i - 1);
        cb_select(c, 0);
        cb_signal(c, RING(1, 0), t + l.before, slot, i);
        cb_select(c, l.bracket ? 1 : 0);
        cb_wait_end_at(c, RING(0, 0), t + l.before + l.lag, slot, i, XS_RESULT_OK, 9, l.slept, l.last_fail, 42, 1);
        t += l.before + l.lag + 500;
    }
    judged j = judge_with(c, &o);
    *bound = 0;
    for (uint32_t i = 0; i < j.model->clock_count && l.bracket; i++)
        *bound += j.model->clocks[i].device >= 0 ? j.model->clocks[i].bound_ns : 0;
    return j;
}

static void lag(lags l, bool wanted) {
    int64_t bound;
    judged j = lag_case(l, &bound);
    found(&j, XSA_DETECTION_LAG, wanted);
    if (wanted) {
        const xsa_finding *f = finding_of(&j, XSA_DETECTION_LAG);
        assert_int_equal(f->owes_rank, 0); /* who polls */
        assert_int_equal(f->line, 42);
        assert_non_null(strstr(f->cure, l.slept > (l.before + l.lag) / 2 ? "back-off" : "fewer waits"));
        assert_int_equal(f->evidence_count, 2);
    }
    judged_free(&j);
}

/* Two ranks of a process are two clocks with a step of 1 ns each: 2 ns are taken off every lag. */
static void test_signal_seen_late(void **state) {
    (void)state;
    lag((lags){.waits = 8, .before = 1000, .lag = 20002}, true);
    lag((lags){.waits = 8, .before = 1000, .lag = 20001}, false);
    lag((lags){.waits = 7, .before = 1000, .lag = 20002}, false);
    lag((lags){.waits = 8, .before = 79900, .lag = 20002}, true); /* a fifth of the time */
    lag((lags){.waits = 8, .before = 80100, .lag = 20002}, false);
    lag((lags){.waits = 8, .before = 1000, .lag = 20002, .slept = 15000}, true);
}

/* It polled again after the signal came, and did not see it yet: what is before that poll is the link's. */
static void test_lag_counts_from_the_last_failed_poll(void **state) {
    (void)state;
    lag((lags){.waits = 8, .before = 1000, .lag = 40000, .last_fail = 20002}, true);
    lag((lags){.waits = 8, .before = 1000, .lag = 40000, .last_fail = 20001}, false);
    lag((lags){.waits = 8, .before = 1000, .lag = 20002, .last_fail = 20500}, true); /* before the signal */
}

/* What two clocks may be apart is no lag. The bound that the model ends with may be up to a bracket off that of the
 * moment. */
static void test_lag_within_the_clocks_bound(void **state) {
    (void)state;
    lags l = {.waits = 8, .before = 60000, .lag = 30000, .bracket = 8000};
    int64_t bound, again;
    judged j = lag_case(l, &bound);
    judged_free(&j);
    assert_true(bound >= 8000);
    l.lag = 20000 + (uint64_t)bound + 1000;
    j = lag_case(l, &again);
    found(&j, XSA_DETECTION_LAG, true);
    judged_free(&j);
    l.lag = 20000 + (uint64_t)bound - 1000;
    j = lag_case(l, &again);
    found(&j, XSA_DETECTION_LAG, false);
    judged_free(&j);
}

/* ---- late rank ---- */

/* On CPU threads a machine's scheduler has a part in times: low confidence, and that is why. On sim and on GPUs times
 * are the program's. */
static void test_times_of_threads_are_doubted(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) { /* threads, sim, a GPU */
        cb *c = cb_begin(judged_path());
        assert_non_null(c);
        xs_region_header h = cb_region(0, 2, 2);
        h.virtual_time = kind == 1;
        h.device = kind == 2 ? 0 : -1;
        cb_process_as(c, &h);
        uint32_t slot = cb_slot(c, cb_pad(c, "full", "", "", 1, 1, 0), 0, 0, 0);
        cb_writer_begin(c, RING(0, 0), 1000, cb_role(c, "work"), 0, 1);
        cb_writer_begin(c, RING(1, 0), 1000, 1, 0, 1);
        for (uint32_t i = 1; i <= 40; i++) {
            uint64_t t = 2000 + 30000 * (uint64_t)i, took = i == 20 ? 20000 : 1000;
            cb_wait_start(c, RING(0, 0), t, slot, i, i - 1);
            cb_signal(c, RING(1, 0), t + took - 10, slot, i);
            cb_wait_end(c, RING(0, 0), t + took, slot, i, XS_RESULT_OK, 9);
        }
        judged j = judge_with(c, &(xsa_options){.size = sizeof(xsa_options), .stall_ns = 10000});
        found(&j, XSA_STALL, true);
        const xsa_finding *f = finding_of(&j, XSA_STALL);
        assert_int_equal(f->confidence, kind == 0 ? XSA_LOW : XSA_MEDIUM);
        assert_int_equal(strstr(f->text, "the machine's scheduler has a part in times") != NULL, kind == 0);
        judged_free(&j);
    }
}

static void late(uint64_t after, bool first_lost, bool wanted) {
    xsa_options o = {.size = sizeof o, .late_ns = 1 * MS};
    cb *c = case_begin(2, 1, 0);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_plan_writer(c, pad, 1);
    cb_writer_begin(c, RING(0, 0), 1000, 1, 0, 1);
    cb_wait_start(c, RING(0, 0), 2000, slot, 1, 0);
    cb_flush_at(c, 2000);
    cb_writer_begin(c, RING(1, 0), 2000 + after, 1, 0, 1);
    if (first_lost)
        cb_lose(c, RING(1, 0), 1, cb_next(c, RING(1, 0)) - 1, XS_LOSS_OVERWRITTEN);
    cb_signal(c, RING(1, 0), 2500 + after, slot, 1);
    cb_wait_end(c, RING(0, 0), 2600 + after, slot, 1, XS_RESULT_OK, 50);
    case_end_writers(c, 2, 1, 3000 + after);
    judged j = judge_with(c, &o);
    found(&j, XSA_LATE_RANK, wanted);
    judged_free(&j);
}

static void test_late_by_the_threshold(void **state) {
    (void)state;
    late(1 * MS + 1, false, true);
    late(1 * MS, false, false);
}

/* Where the first records of a rank are lost, its start is not known. */
static void test_start_that_is_lost(void **state) {
    (void)state;
    late(5 * MS, true, false);
}

/* What another rank lost does not matter; and that the verdict is not known is said. */
static void test_unknown_start_is_said(void **state) {
    (void)state;
    xsa_options o = {.size = sizeof o, .late_ns = 1 * MS};
    for (int own = 0; own < 2; own++) {
        cb *c = case_begin(3, 1, 0);
        uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0),
                 loses = own ? RING(1, 0) : RING(2, 0);
        cb_plan_writer(c, pad, 1);
        cb_writer_begin(c, RING(0, 0), 1000, 1, 0, 1);
        cb_wait_start(c, RING(0, 0), 2000, slot, 1, 0);
        cb_writer_begin(c, RING(1, 0), 9 * MS, 1, 0, 1);
        cb_writer_begin(c, RING(2, 0), 1000, 1, 0, 1);
        cb_lose(c, loses, 1, cb_next(c, loses) - 1, XS_LOSS_OVERWRITTEN);
        cb_signal(c, RING(1, 0), 10 * MS, slot, 1);
        cb_wait_end(c, RING(0, 0), 10 * MS + 100, slot, 1, XS_RESULT_OK, 50);
        case_end_writers(c, 3, 1, 11 * MS);
        judged j = judge_with(c, &o);
        found(&j, XSA_LATE_RANK, !own);
        assert_int_equal(verdict_of(&j, XSA_LATE_RANK)->status, own ? XSA_UNKNOWN : XSA_FOUND);
        judged_free(&j);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wait_longer_than_its_class),
        cmocka_unit_test(test_stall_with_starts_lost),
        cmocka_unit_test(test_wait_that_gave_up),
        cmocka_unit_test(test_times_of_threads_are_doubted),
        cmocka_unit_test(test_signal_seen_late),
        cmocka_unit_test(test_lag_counts_from_the_last_failed_poll),
        cmocka_unit_test(test_lag_within_the_clocks_bound),
        cmocka_unit_test(test_late_by_the_threshold),
        cmocka_unit_test(test_start_that_is_lost),
        cmocka_unit_test(test_unknown_start_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
