/* Pairing against a naive reference over all events, on random small traces; and the edges that it must find. */
#include "read_help.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 3, RANKS = 4, STEPS = 300 };

static uint32_t below(uint32_t n) { return (uint32_t)rand() % n; }

/* Each slot has one writer (rank 0 .. 2 for slots 0 .. 2), whose value rises by 1 or 2; ranks wait for what comes. */
static void random_trace(const char *path, unsigned number) {
    srand(number);
    cb *c = cb_begin(path);
    cb_process(c, 0, RANKS, RANKS);
    uint32_t pad = cb_pad(c, "done", "", "chunk", 1, SLOTS, 0);
    uint64_t value[SLOTS] = {0}, at = 1000;
    struct { int waits; uint32_t slot; uint64_t need, since; } rank[RANKS] = {0};
    for (uint32_t r = 0; r < RANKS; r++)
        cb_writer_begin(c, 64 * r, at, 0, 0, 0);
    for (int i = 0; i < STEPS; i++) {
        at += below(3) ? below(40) : 0; /* ties are frequent */
        uint32_t r = below(RANKS), s = below(SLOTS), object = cb_slot(c, pad, 0, 0, s);
        if (rank[r].waits) {
            object = cb_slot(c, pad, 0, 0, rank[r].slot);
            if (value[rank[r].slot] >= rank[r].need)
                cb_wait_end(c, 64 * r, at, object, value[rank[r].slot], 0, 3), rank[r].waits = 0;
            else if (below(12) == 0)
                cb_wait_end(c, 64 * r, at, object, value[rank[r].slot], 1, 3), rank[r].waits = 0;
        } else if (r == s && below(2)) {
            value[s] += 1 + below(2);
            cb_signal(c, 64 * r, at, object, value[s]);
        } else {
            uint64_t about = value[s] + below(4), need = about > 1 ? about - 1 : 1;
            if (value[s] >= need) {
                cb_pass(c, 64 * r, at, object, value[s], need);
            } else {
                cb_wait_start(c, 64 * r, at, object, need, value[s]);
                rank[r].waits = 1, rank[r].slot = s, rank[r].need = need;
            }
        }
        if (below(30) == 0)
            cb_flush(c);
    }
    assert_int_equal(cb_end(c), 0);
}

/* The reference: for each end, search all signals of the slot from the front. */
static void check_wait(const told *t, const xsr_wait *w) {
    const xsr_event *read = NULL, *first = NULL;
    if (w->open) {
        assert_int_equal(w->reads_from.reason, XSR_REASON_OPEN);
        assert_int_equal(w->released_by.reason, XSR_REASON_OPEN);
        return;
    }
    for (size_t i = 0; i < t->event_count; i++) {
        const xsr_event *e = &t->events[i];
        if (e->kind != XS_EV_SIGNAL || e->slot != w->slot || e->time > w->end)
            continue;
        if (e->value == w->observed)
            read = e;
        if (!first && e->value >= w->need)
            first = e;
    }
    assert_int_equal(w->reads_from.reason, read ? XSR_REASON_FOUND : XSR_REASON_INITIAL);
    assert_int_equal(w->reads_from.event, read ? read->id : XSR_NO_ID);
    if (w->result != XS_RESULT_OK)
        assert_int_equal(w->released_by.reason, XSR_REASON_OPEN);
    else
        assert_int_equal(w->released_by.event, first->id);
    if (w->result == XS_RESULT_OK)
        assert_int_equal(w->lag_ns, w->end - first->time);
}

/* Starts and ends by the reference: the newest start of that ring and slot before the end. */
static void check_starts(const told *t, const xsr_wait *w) {
    uint64_t start = XSR_NO_ID, last = w->open ? UINT64_MAX : w->id;
    for (size_t i = 0; i < t->event_count && t->events[i].id < last; i++) {
        const xsr_event *e = &t->events[i];
        if (e->kind == XS_EV_WAIT_START && e->slot == w->slot && e->rank == w->rank)
            start = e->id;
    }
    assert_int_equal(w->passed ? XSR_NO_ID : start, w->start_event);
}

static void check_signals(const told *t) {
    size_t released = 0, wanted = 0;
    for (size_t i = 0; i < t->signal_count; i++)
        for (uint32_t k = 0; k < t->signals[i].released_count; k++, released++) {
            const xsr_wait *w = NULL;
            for (size_t n = 0; n < t->wait_count && !w; n++)
                w = t->waits[n].id == t->signals[i].released[k] ? &t->waits[n] : NULL;
            assert_non_null(w);
            assert_int_equal(w->released_by.event, t->signals[i].event.id);
        }
    for (size_t n = 0; n < t->wait_count; n++)
        wanted += t->waits[n].released_by.event != XSR_NO_ID;
    assert_int_equal(released, wanted);
}

static void like_the_reference(void **state) {
    (void)state;
    size_t waits = 0;
    for (unsigned number = 1; number <= 200; number++) {
        const char *path = help_path("random.xs");
        random_trace(path, number);
        told t;
        assert_int_equal(help_read(path, &t, NULL), 0);
        size_t ends = 0, starts = 0, over = 0, open = 0, signals = 0;
        for (size_t i = 0; i < t.event_count; i++) {
            ends += t.events[i].kind == XS_EV_WAIT_END || t.events[i].kind == XS_EV_PASS;
            starts += t.events[i].kind == XS_EV_WAIT_START;
            over += t.events[i].kind == XS_EV_WAIT_END;
            signals += t.events[i].kind == XS_EV_SIGNAL;
        }
        for (size_t i = 0; i < t.wait_count; i++) {
            check_wait(&t, &t.waits[i]);
            check_starts(&t, &t.waits[i]);
            open += t.waits[i].open;
        }
        assert_int_equal(t.wait_count, ends + open);
        assert_int_equal(open, starts - over);
        assert_int_equal(t.signal_count, signals);
        check_signals(&t);
        waits += t.wait_count;
        help_free(&t);
    }
    assert_true(waits > 200 * 20);
}

/* A history shorter than what waits look back to says OLD, and never names the wrong signal. */
static void short_history(void **state) {
    (void)state;
    const char *path = help_path("history.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 2, 2);
    uint32_t pad = cb_pad(c, "done", "", "", 1, 1, 0), slot = cb_slot(c, pad, 1, 0, 0);
    for (uint64_t i = 1; i <= 100; i++)
        cb_signal(c, 0, 1000 + i, slot, i);
    for (uint64_t need = 1; need <= 100; need++)
        cb_pass(c, 64, 2000 + need, slot, 100, need);
    assert_int_equal(cb_end(c), 0);
    xsr_options options = {.size = sizeof options, .keep_signals = 10};
    xsr_reader *reader;
    const char *why;
    assert_int_equal(xsr_open(&path, 1, &options, &reader, &why), 0);
    told t;
    assert_int_equal(help_run(reader, &t), 0);
    assert_int_equal(t.wait_count, 100);
    assert_int_equal(t.signal_count, 100);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(t.waits[i].reads_from.value, 100);
        assert_int_equal(t.waits[i].released_by.reason, i < 90 ? XSR_REASON_OLD : XSR_REASON_FOUND);
        if (i >= 90)
            assert_int_equal(t.waits[i].released_by.value, i + 1);
    }
    help_free(&t);
    xsr_close(reader);
}

/* The signal's stamp may lie a little behind the end of its wait where clocks differ by a tick. */
static void late_stamp(void **state) {
    (void)state;
    const char *path = help_path("late.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 2, 2);
    uint32_t pad = cb_pad(c, "done", "", "", 1, 1, 0), slot = cb_slot(c, pad, 0, 0, 0);
    cb_clock(c, 100, 200, 50);
    cb_pass(c, 0, 1000, slot, 1, 1);
    cb_signal(c, 64, 1020, slot, 1);
    cb_pass(c, 0, 3000000, slot, 2, 2);
    cb_signal(c, 64, 9000000, slot, 2);
    assert_int_equal(cb_end(c), 0);
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    assert_int_equal(t.waits[0].reads_from.reason, XSR_REASON_FOUND);
    assert_int_equal(t.waits[0].lag_ns, -20);
    assert_int_equal(t.waits[1].reads_from.reason, XSR_REASON_LOST); /* 6 ms is no clock error */
    help_free(&t);
}

/* Packed arrivals become absolute, however the merge orders them within an epoch. */
static void elections(void **state) {
    (void)state;
    const char *path = help_path("elect.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 1, 1);
    uint32_t pad = cb_pad(c, "count", "", "", 1, 1, XS_PAD_SHARED), slot = cb_slot(c, pad, 0, 0, 0);
    uint32_t out = cb_pad(c, "done", "", "", 1, 1, 0);
    for (uint64_t epoch = 1; epoch <= 30; epoch++) {
        uint32_t expected = 3 + epoch % 4;
        for (uint32_t i = 0; i < expected; i++) {
            cb_epoch(c, i, 1000 * epoch, epoch);
            cb_arrive(c, i, 1000 * epoch + 100 - 7 * (i % 3), slot, i, 1, expected);
        }
        cb_signal(c, expected - 1, 1000 * epoch + 200, cb_slot(c, out, 0, 0, 0), epoch);
    }
    assert_int_equal(cb_end(c), 0);
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    uint64_t base = 0, epoch = 1, seen = 0;
    for (size_t i = 0; i < t.event_count; i++) {
        const xsr_event *e = &t.events[i];
        if (e->kind != XS_EV_ARRIVE)
            continue;
        uint32_t expected = 3 + epoch % 4;
        assert_true(e->value >= base && e->value < base + expected);
        assert_int_equal(e->further[1], base + expected);
        if (++seen == expected)
            base += expected, epoch++, seen = 0;
    }
    size_t elected = 0;
    for (size_t i = 0; i < t.signal_count; i++)
        if (t.signals[i].event.kind == XS_EV_SIGNAL)
            elected += t.signals[i].elected_by != XSR_NO_ID;
    assert_int_equal(elected, 30);
    help_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(like_the_reference), cmocka_unit_test(short_history), cmocka_unit_test(late_stamp), cmocka_unit_test(elections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
