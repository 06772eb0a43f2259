/* Detectors of order in time: head-of-line, unfairness, readiness-collapse. Each threshold is tried on both sides. */
#include "judge.h"

enum { US = 1000 };

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

/* ---- head of line: rank 0 takes col 0, then col 1 of each epoch; rank 1 delivers them in this order, or the other
 * ---- */

typedef struct rounds {
    uint32_t rounds, inverted; /* the first so many the other way round */
    uint64_t blocked;          /* col 1 was there so long before col 0 */
    uint64_t alone;            /* waited for col 0 before either was there */
} rounds;

static void head_of_line(rounds r, bool wanted) {
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "done", "", "", 1, 2, 0), first = cb_slot(c, pad, 0, 0, 0),
             second = cb_slot(c, pad, 0, 0, 1);
    uint64_t t = 2000;
    for (uint32_t i = 1; i <= r.rounds; i++) {
        bool other = i <= r.inverted;
        cb_epoch(c, RING(0, 0), t, i);
        cb_wait_start(c, RING(0, 0), t + 1, first, i, i - 1);
        cb_signal(c, RING(1, 0), t + 1 + r.alone, other ? second : first, i);
        if (other)
            cb_signal(c, RING(1, 0), t + 1 + r.alone + r.blocked, first, i);
        uint64_t end = t + 1 + r.alone + (other ? r.blocked : 0);
        cb_wait_end(c, RING(0, 0), end, first, i, XS_RESULT_OK, 9);
        if (!other)
            cb_signal(c, RING(1, 0), end + 1, second, i);
        cb_pass(c, RING(0, 0), end + 10, second, i, i);
        t = end + 100;
    }
    case_end_writers(c, 2, 1, t);
    judged j = judge(c);
    found(&j, XSA_HEAD_OF_LINE, wanted);
    if (wanted)
        expect_first(&j, XSA_HEAD_OF_LINE, XSA_WARNING, "rank 0 done[col=0]", 1, -1); /* one peer: its order */
    judged_free(&j);
}

static void test_order_that_is_not_that_of_delivery(void **state) {
    (void)state;
    head_of_line((rounds){8, 8, 1000, 1000}, true);
    head_of_line((rounds){7, 7, 1000, 1000}, false); /* so many neighbours before an order is judged */
    head_of_line((rounds){10, 7, 1000, 1000}, true); /* more than six of ten */
    head_of_line((rounds){10, 6, 1000, 1000}, false);
    head_of_line((rounds){8, 8, 1120, 10000}, true); /* more than a tenth of what it waited */
    head_of_line((rounds){8, 8, 1100, 10000}, false);
}

/* Times of different epochs are not compared. */
static void test_order_over_epochs(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "done", "", "", 1, 2, 0);
    uint64_t t = 2000;
    for (uint32_t i = 1; i <= 20; i++, t += 5000) {
        uint32_t slot = cb_slot(c, pad, 0, 0, i % 2);
        cb_epoch(c, RING(0, 0), t, i);
        cb_wait_start(c, RING(0, 0), t + 1, slot, i, 0);
        cb_signal(c, RING(1, 0), t + 2000, slot, i);
        cb_wait_end(c, RING(0, 0), t + 2001, slot, i, XS_RESULT_OK, 9);
    }
    case_end_writers(c, 2, 1, t);
    judged j = judge(c);
    found(&j, XSA_HEAD_OF_LINE, false);
    judged_free(&j);
}

/* ---- unfairness ---- */

/* What is told of a rank and a peer (XSR_NONE: of who waits for a shared slot), found or not. */
static const xsa_starved *starved(const judged *j, uint32_t rank, uint32_t peer) {
    for (uint32_t i = 0; i < j->result->starved_count; i++)
        if (j->result->starved[i].rank == rank && j->result->starved[i].peer == peer)
            return &j->result->starved[i];
    fail_msg("nothing is told of rank %u", rank);
    return NULL;
}

static bool about(int64_t is, uint64_t wanted) {
    return is >= (int64_t)(wanted - wanted / 8) && is <= (int64_t)(wanted + wanted / 8);
}

/* Rank 0 sees the signals of ranks 1, 2 after `usual`, those of rank 3 after `late`, but for the first ones. */
static void peers_at_first(uint32_t waits, uint64_t usual, uint64_t late, uint32_t firsts, uint64_t first, bool wanted) {
    cb *c = case_begin(4, 1, 1);
    uint32_t pad = cb_pad(c, "from", "", "", 1, 4, XS_PAD_NO_DATA);
    cb_plan_writer(c, pad, XS_PLAN_COLUMN);
    uint64_t t = 2000;
    for (uint32_t i = 1; i <= waits; i++)
        for (uint32_t from = 1; from < 4; from++) {
            uint32_t slot = cb_slot(c, pad, 0, 0, from);
            uint64_t delay = from != 3 ? usual : i <= firsts ? first : late;
            cb_wait_start(c, RING(0, 0), t, slot, i, i - 1);
            cb_signal(c, RING(from, 0), t + 10, slot, i);
            cb_wait_end(c, RING(0, 0), t + 10 + delay, slot, i, XS_RESULT_OK, 9);
            t += delay + 500;
        }
    case_end_writers(c, 4, 1, t);
    judged j = judge(c);
    found(&j, XSA_UNFAIRNESS, wanted);
    if (wanted) {
        const xsa_finding *f = finding_of(&j, XSA_UNFAIRNESS);
        assert_int_equal(f->owes_rank, 0);
        assert_int_equal(f->rank, 3);
        assert_true(f->evidence_count > 0);
    }
    const xsa_starved *worst = starved(&j, 0, 3), *other = starved(&j, 0, 1);
    assert_int_equal(worst->waits, waits);
    uint64_t most = firsts && first > late ? first : late, half = 2 * firsts > waits ? first : late;
    assert_true(about(worst->median_ns, half) && about(other->median_ns, usual));
    assert_true(worst->max_ns <= (int64_t)most &&
                worst->max_ns >= (int64_t)most - 4); /* less what clocks may be apart */
    assert_true(worst->jain == other->jain && worst->jain < 1);
    assert_int_equal(worst->finding != XSR_NONE, wanted);
    judged_free(&j);
}

static void peers(uint32_t waits, uint64_t usual, uint64_t late, bool wanted) { peers_at_first(waits, usual, late, 0, 0, wanted); }

static void test_a_few_late_looks_are_no_unfair_service(void **state) {
    (void)state;
    peers_at_first(160, 10 * US, 12 * US, 1, 100000 * US, false);
    peers_at_first(160, 10 * US, 12 * US, 79, 1000 * US, false);
    peers_at_first(160, 10 * US, 12 * US, 81, 1000 * US, true);
}

static void test_peer_that_is_served_late(void **state) {
    (void)state;
    peers(8, 10 * US, 78 * US, true); /* Jain's index crosses 0.75 at 76.7 us */
    peers(8, 10 * US, 76 * US, false);
    peers(8, 1 * US, 20 * US + 2, true); /* and less than 20 us is nobody's loss; 2 ns may be the clocks' */
    peers(8, 1 * US, 20 * US + 1, false);
    peers(7, 10 * US, 100 * US, false); /* so many waits a peer */
}

/* Rank 0 comes last to a barrier, rank 3 long before the others: whoever is early is seen late, which is nobody's unfair service. */
static void early_at_a_barrier(bool noted) {
    cb *c = case_begin(4, 1, 1);
    uint32_t pad = cb_pad(c, "bar", "", "", 1, 4, 0), own = cb_slot(c, pad, 0, 0, 0);
    cb_plan_writer(c, pad, XS_PLAN_COLUMN);
    uint64_t t = 2000;
    for (uint32_t g = 1; g <= 10; g++, t += 200 * US) {
        for (uint32_t from = 1; from < 4; from++)
            cb_signal(c, RING(from, 0), t + (from == 3 ? 0 : 90 * US) + from, cb_slot(c, pad, 0, 0, from), g);
        if (noted)
            cb_barrier_enter(c, RING(0, 0), t + 100 * US, own, g, 4);
        cb_signal(c, RING(0, 0), t + 100 * US + 1, own, g);
        for (uint32_t from = 0; from < 4; from++)
            cb_pass(c, RING(0, 0), t + 100 * US + 10 + from, cb_slot(c, pad, 0, 0, from), g, g);
        if (noted)
            cb_barrier_leave(c, RING(0, 0), t + 100 * US + 20, own, g, 4, 0);
    }
    case_end_writers(c, 4, 1, t);
    judged j = judge(c);
    found(&j, XSA_UNFAIRNESS, !noted);
    assert_true(about(starved(&j, 0, 3)->median_ns, 100 * US)); /* told all the same */
    judged_free(&j);
}

static void test_early_at_a_barrier_is_not_served_late(void **state) {
    (void)state;
    early_at_a_barrier(true);
    early_at_a_barrier(false);
}

/* One signal of rank 2 is not looked at while rank 1 is served again and again. */
static void ignored(uint32_t services, bool wanted) {
    cb *c = case_begin(3, 1, 1);
    uint32_t pad = cb_pad(c, "ask", "", "", 1, 3, 0), busy = cb_slot(c, pad, 0, 0, 1), alone = cb_slot(c, pad, 0, 0, 2);
    cb_plan_writer(c, pad, XS_PLAN_COLUMN);
    uint64_t t = 2000;
    for (uint32_t i = 1; i <= services + 1; i++, t += 1000) {
        cb_signal(c, RING(1, 0), t, busy, i);
        cb_pass(c, RING(0, 0), t + 100, busy, i, i);
        if (i == 1)
            cb_signal(c, RING(2, 0), t + 200, alone, 1);
    }
    cb_pass(c, RING(0, 0), t, alone, 1, 1);
    case_end_writers(c, 3, 1, t + 1000);
    judged j = judge(c);
    found(&j, XSA_UNFAIRNESS, wanted);
    if (wanted)
        expect_first(&j, XSA_UNFAIRNESS, XSA_WARNING, "rank 0 ask[col=2]", 0, 0);
    assert_int_equal(starved(&j, 0, 2)->longest_bypass, services);
    assert_true(starved(&j, 0, 1)->longest_bypass <= 1);
    judged_free(&j);
}

/* Of two that ask, one is never looked at: half of them is served. */
static void test_peer_that_is_never_served(void **state) {
    (void)state;
    cb *c = case_begin(3, 1, 1);
    uint32_t pad = cb_pad(c, "ask", "", "", 1, 3, 0), busy = cb_slot(c, pad, 0, 0, 1), alone = cb_slot(c, pad, 0, 0, 2);
    cb_plan_writer(c, pad, XS_PLAN_COLUMN);
    cb_signal(c, RING(2, 0), 1500, alone, 1);
    for (uint32_t i = 1; i <= 10; i++) {
        cb_signal(c, RING(1, 0), 2000 + i * 1000, busy, i);
        cb_pass(c, RING(0, 0), 2100 + i * 1000, busy, i, i);
    }
    case_end_writers(c, 3, 1, 20000);
    judged j = judge(c);
    const xsa_starved *never = starved(&j, 0, 2);
    assert_int_equal(never->waits, 0);
    assert_int_equal(never->max_ns, 20000 - 1500);
    assert_int_equal(never->longest_bypass, 10);
    assert_true(never->jain > 0.499 && never->jain < 0.501);
    judged_free(&j);
}

static void test_signal_that_is_not_looked_at(void **state) {
    (void)state;
    ignored(16, true);
    ignored(15, false);
}

/* At a slot that several wait for, rank 1 is passed by. */
static void overtaken(uint32_t times, bool lost, bool wanted) {
    cb *c = case_begin(3, 1, 1);
    uint32_t slot = cb_slot(c, cb_pad(c, "turn", "", "", 1, 1, XS_PAD_SHARED | XS_PAD_NO_DATA), 0, 0, 0);
    uint64_t t = 3000, start = cb_next(c, RING(1, 0));
    cb_wait_start(c, RING(1, 0), 2000, slot, 1000, 0);
    if (lost)
        cb_lose(c, RING(1, 0), start, cb_next(c, RING(1, 0)) - 1, XS_LOSS_OVERWRITTEN);
    for (uint32_t i = 1; i <= times; i++, t += 1000) {
        cb_wait_start(c, RING(2, 0), t, slot, i, i - 1);
        cb_signal(c, RING(0, 0), t + 10, slot, i);
        cb_wait_end(c, RING(2, 0), t + 20, slot, i, XS_RESULT_OK, 9);
    }
    cb_signal(c, RING(0, 0), t, slot, 1000);
    cb_wait_end(c, RING(1, 0), t + 10, slot, 1000, XS_RESULT_OK, 99);
    case_end_writers(c, 3, 1, t + 1000);
    judged j = judge(c);
    found(&j, XSA_UNFAIRNESS, wanted);
    if (wanted)
        assert_int_equal(finding_of(&j, XSA_UNFAIRNESS)->rank, 1);
    if (!lost) {
        assert_int_equal(starved(&j, 1, XSR_NONE)->longest_bypass, times + 1); /* and the hand-over to itself */
        assert_int_equal(starved(&j, 2, XSR_NONE)->longest_bypass, 1);
        assert_int_equal(starved(&j, 1, XSR_NONE)->finding != XSR_NONE, wanted);
    }
    judged_free(&j);
}

static void test_wait_that_others_pass_by(void **state) {
    (void)state;
    overtaken(16, false, true);
    overtaken(13, false, false); /* the hand-over to itself counts as two */
    overtaken(16, true, false);  /* since when it waits is lost */
}

/* ---- readiness: eight signals an epoch, seven of them at `at` of 1000, the last at its end ---- */

static void readiness(uint32_t epochs, uint32_t late_epochs, uint32_t signals, uint64_t at, uint64_t pause,
                      bool wanted) {
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "done", "", "", 1, 8, XS_PAD_NO_DATA);
    uint64_t t = 2000;
    for (uint32_t e = 1; e <= epochs; e++) {
        cb_epoch(c, RING(1, 0), t, e);
        for (uint32_t i = 0; i < signals; i++)
            cb_signal(c, RING(1, 0),
                      t +
                          (i + 1 == signals   ? 100 * US
                           : e <= late_epochs ? at
                                              : 10 * US) +
                          i % 2,
                      cb_slot(c, pad, 0, 0, i), e);
        t += 100 * US + pause;
    }
    case_end_writers(c, 2, 1, t);
    judged j = judge(c);
    found(&j, XSA_READINESS_COLLAPSE, wanted);
    if (wanted) {
        assert_int_equal(finding_of(&j, XSA_READINESS_COLLAPSE)->owes_rank, 1);
        assert_true(finding_of(&j, XSA_READINESS_COLLAPSE)->evidence_count > 0);
    }
    judged_free(&j);
}

static void test_signals_at_the_end_of_their_epochs(void **state) {
    (void)state;
    readiness(3, 3, 8, 82900, 100, true); /* (7 * 0.829 + 1) / 8 = 0.850 and a little */
    readiness(3, 3, 8, 82800, 100, false);
    readiness(2, 2, 8, 99000, 100, false); /* so many epochs, */
    readiness(3, 3, 7, 99000, 100, false); /* so many signals in each, */
    readiness(4, 2, 8, 99000, 100, false); /* and most of the epochs */
    readiness(5, 3, 8, 99000, 100, true);
}

/* An epoch begins where it is entered, not where the one before ended. */
static void test_pause_between_epochs(void **state) {
    (void)state;
    readiness(4, 0, 8, 0, 100000 * US, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_that_is_not_that_of_delivery), cmocka_unit_test(test_order_over_epochs),
        cmocka_unit_test(test_peer_that_is_served_late),           cmocka_unit_test(test_signal_that_is_not_looked_at),
        cmocka_unit_test(test_early_at_a_barrier_is_not_served_late), cmocka_unit_test(test_a_few_late_looks_are_no_unfair_service),
        cmocka_unit_test(test_peer_that_is_never_served),          cmocka_unit_test(test_wait_that_others_pass_by),
        cmocka_unit_test(test_signals_at_the_end_of_their_epochs), cmocka_unit_test(test_pause_between_epochs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
