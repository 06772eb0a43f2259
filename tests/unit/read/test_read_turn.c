/* Clocks that disagree by up to what is known of them, or by more: every wait is paired with the signal that it read, values that come again
 * included, and no event comes before what it followed from. */
#include "read_help.h"

#include <string.h>

enum { ROUNDS = 60, ROUND = 4000, H0 = 10000000, PRODUCER = 0, CONSUMER = 64 };

typedef enum protocol { RESET, FLIP, RISE } protocol; /* a flag that is set back; one that flips; a sequence */
typedef struct planted { uint32_t ready; protocol protocol; int64_t shift; uint32_t lost_round; } planted;

static uint64_t consumers(const planted *p, int64_t at) { return (uint64_t)(at + p->shift); }

static uint64_t value_of(const planted *p, uint32_t round) { return p->protocol == RISE ? round : p->protocol == FLIP ? round % 2 : 1; }

/* The producer signals once the round before is acknowledged; the consumer sees it 500 ns later. */
static void play_round(cb *c, const planted *p, uint32_t ack, uint32_t round) {
    int64_t at = H0 + (int64_t)round * ROUND;
    if (round > 1)
        cb_pass(c, PRODUCER, (uint64_t)at, ack, round - 1, round - 1);
    if (round == p->lost_round)
        cb_skip_records(c, PRODUCER, 1, XS_LOSS_OVERWRITTEN);
    else
        cb_signal(c, PRODUCER, (uint64_t)at + 1000, p->ready, value_of(p, round));
    cb_pass(c, CONSUMER, consumers(p, at + 1500), p->ready, value_of(p, round), value_of(p, round));
    if (p->protocol == RESET)
        cb_reset(c, CONSUMER, consumers(p, at + 2000), p->ready, 0, 1);
    cb_signal(c, CONSUMER, consumers(p, at + 2500), ack, round);
}

static void play(const char *path, planted *p, uint64_t bound) {
    uint64_t end = H0 + (uint64_t)(ROUNDS + 2) * ROUND;
    cb *c = cb_begin(path);
    cb_process(c, 0, 2, 2);
    uint32_t ready_pad = cb_pad(c, "ready", "", "", 1, 1, 0), ack_pad = cb_pad(c, "ack", "", "", 1, 1, 0);
    p->ready = cb_slot(c, ready_pad, 1, 0, 0);
    cb_ring_device(c, PRODUCER, 0);
    cb_ring_device(c, CONSUMER, 1);
    for (uint32_t device = 0; device < 2; device++) { /* the clocks agree, but nobody knows it */
        cb_device_clock(c, device, H0 - 1000000, H0 - 1000000, 2 * bound);
        cb_device_clock(c, device, end, end, 2 * bound);
    }
    cb_writer_begin(c, PRODUCER, H0, 0, 0, 1);
    cb_writer_begin(c, CONSUMER, consumers(p, H0), 0, 0, 1);
    for (uint32_t round = 1; round <= ROUNDS; round++)
        play_round(c, p, cb_slot(c, ack_pad, 0, 0, 0), round);
    cb_writer_end(c, PRODUCER, end - 1000);
    cb_writer_end(c, CONSUMER, consumers(p, (int64_t)end - 1000));
    cb_flush_at(c, end + 1000000);
    assert_int_equal(cb_end(c), 0);
}

/* The n-th signal of a rank, from 1. */
static uint64_t signal_of(const told *t, uint32_t rank, uint32_t number) {
    for (size_t i = 0; i < t->event_count; i++)
        if (t->events[i].kind == XS_EV_SIGNAL && t->events[i].rank == rank && --number == 0)
            return t->events[i].id;
    return XSR_NO_ID;
}

/* Each rank waits once a round, for what the other one signalled in it. */
static void assert_rounds(const told *t, uint32_t from) {
    uint32_t round[2] = {0};
    assert_int_equal(t->wait_count, 2 * ROUNDS - 1);
    for (size_t i = 0; i < t->wait_count; i++) {
        const xsr_wait *w = &t->waits[i];
        uint32_t number = ++round[w->rank];
        if (number < from)
            continue;
        assert_int_equal(w->reads_from.reason, XSR_REASON_FOUND);
        assert_int_equal(w->reads_from.event, signal_of(t, !w->rank, number));
        assert_true(w->reads_from.event < w->id);
    }
}

static uint32_t clock_faults(const xsr_model *m) {
    uint32_t faults = 0;
    for (uint32_t i = 0; i < m->note_count; i++)
        faults += strstr(m->notes[i], "clock fault") != NULL;
    return faults;
}

/* 2: both clocks may be off by so much, in opposite ways. */
static void what_was_read_is_found_within_the_bound(void **state) {
    (void)state;
    static const int64_t bounds[] = {100, 1000, 3300, 10000, 100000};
    for (int kind = RESET; kind <= RISE; kind++)
        for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
            for (int64_t part = -4; part <= 4; part++) {
                planted p = {.protocol = (protocol)kind, .shift = 2 * bounds[i] * part / 4};
                told t;
                play(help_path("turn.xs"), &p, (uint64_t)bounds[i]);
                xsr_reader *reader = help_open(help_path("turn.xs"));
                assert_int_equal(help_run(reader, &t), 0);
                assert_rounds(&t, 1);
                assert_int_equal(clock_faults(xsr_model_of(reader)), 0);
                help_free(&t);
                xsr_close(reader);
            }
}

/* Stamps say of the first rounds what cannot be; then it is known how far clocks are apart. */
static void beyond_the_bound_it_is_told_and_learned(void **state) {
    (void)state;
    for (int kind = RESET; kind <= RISE; kind++)
        for (int64_t shift = -20000; shift <= 20000; shift += 40000) {
            planted p = {.protocol = (protocol)kind, .shift = shift};
            told t;
            play(help_path("beyond.xs"), &p, 500);
            xsr_reader *reader = help_open(help_path("beyond.xs"));
            assert_int_equal(help_run(reader, &t), 0);
            if (kind == RISE) /* values that come once tell by themselves */
                assert_rounds(&t, ROUNDS / 2);
            const xsr_model *m = xsr_model_of(reader);
            assert_int_equal(clock_faults(m), 1);
            for (uint32_t i = 0; i < m->clock_count && clock_faults(m); i++)
                if (m->clocks[i].device >= 0)
                    assert_true(m->clocks[i].bound_ns >= 15000);
            help_free(&t);
            xsr_close(reader);
        }
}

/* Nobody is waited for beyond what clocks leave open, and no other signal is taken for it. */
static void a_lost_signal_is_not_another_one(void **state) {
    (void)state;
    for (int kind = RESET; kind <= RISE; kind++)
        for (int64_t shift = -1500; shift <= 1500; shift += 500) {
            planted p = {.protocol = (protocol)kind, .shift = shift, .lost_round = ROUNDS / 2};
            told t;
            play(help_path("lost.xs"), &p, 1000);
            assert_int_equal(help_read(help_path("lost.xs"), &t, NULL), 0);
            assert_int_equal(t.wait_count, 2 * ROUNDS - 1);
            for (size_t i = 0; i < t.wait_count; i++) {
                const xsr_wait *w = &t.waits[i];
                uint32_t round = (uint32_t)((w->end - p.shift - H0) / ROUND); /* waits without a signal are told later */
                if (w->rank == 1 && round == p.lost_round)
                    assert_int_not_equal(w->reads_from.reason, XSR_REASON_FOUND);
                else if (w->rank == 1 && w->reads_from.reason == XSR_REASON_FOUND)
                    assert_int_equal(w->reads_from.event, signal_of(&t, 0, round - (round > p.lost_round)));
            }
            help_free(&t);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_was_read_is_found_within_the_bound),
                                       cmocka_unit_test(beyond_the_bound_it_is_told_and_learned),
                                       cmocka_unit_test(a_lost_signal_is_not_another_one)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
