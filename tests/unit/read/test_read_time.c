/* 64-bit times and values from 32-bit words. */
#include "read_help.h"

#include <stdlib.h>

#define S 1000000000ull

typedef struct plan { cb *c; uint32_t slot; } plan;

static plan begin(const char *path, uint32_t flags) {
    cb *c = cb_begin(path);
    assert_non_null(c);
    cb_process(c, 0, 2, 2);
    uint32_t pad = cb_pad(c, "done", "", "", 1, 1, flags);
    return (plan){c, cb_slot(c, pad, 1, 0, 0)};
}

/* A collector that looks every second: whatever the silence, every time is exact. */
static void silences(void **state) {
    (void)state;
    static const uint64_t gaps[] = {1, S, 4294967295ull, 4294967296ull, 5 * S, 10 * S, 43 * S, 100 * S};
    const char *path = help_path("silence.xs");
    plan p = begin(path, 0);
    uint64_t at = 3 * S, look = 3 * S, times[8];
    cb_writer_begin(p.c, 0, at, 0, 0, 0);
    for (size_t i = 0; i < 8; i++) {
        times[i] = at += gaps[i];
        for (; look < at; look += S)
            cb_flush_at(p.c, look);
        cb_signal(p.c, 0, at, p.slot, i + 1);
    }
    cb_flush_at(p.c, look);
    assert_int_equal(cb_end(p.c), 0);
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    assert_int_equal(t.event_count, 9);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(t.events[i + 1].time, times[i]);
        assert_false(t.events[i + 1].time_modulo);
    }
    help_free(&t);
}

/* The same with rings that are dumped at the end: LOOK frames alone bound the times. */
static void looks_of_a_dump(void **state) {
    (void)state;
    const char *path = help_path("dump.xs");
    plan p = begin(path, 0);
    cb_no_looks(p.c);
    for (uint64_t i = 0; i < 30; i++) {
        cb_signal(p.c, 0, (2 + 7 * i) * S + S / 2, p.slot, i + 1);
        for (uint64_t k = 0; k < 7; k++)
            cb_look(p.c, 0, i + 1, (3 + 7 * i + k) * S);
    }
    cb_flush_at(p.c, 300 * S);
    assert_int_equal(cb_end(p.c), 0);
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    assert_int_equal(t.event_count, 30);
    for (uint64_t i = 0; i < 30; i++) {
        assert_int_equal(t.events[i].time, (2 + 7 * i) * S + S / 2);
        assert_int_equal(t.events[i].time_modulo, false);
    }
    help_free(&t);
}

/* Nobody looked: what cannot be known is said to be so, and never told as exact and wrong. */
static void nobody_looked(void **state) {
    (void)state;
    const char *path = help_path("crash.xs");
    plan p = begin(path, 0);
    cb_no_looks(p.c);
    uint64_t times[200], at = 5 * S;
    srand(7);
    for (size_t i = 0; i < 200; i++) {
        at += i % 20 == 19 ? 9 * S : (uint64_t)(rand() % 1000000);
        times[i] = at;
        if (i % 10 == 0)
            cb_epoch(p.c, 0, at, i + 1);
        else
            cb_signal(p.c, 0, at, p.slot, i);
    }
    cb_flush_at(p.c, at + 3600 * S);
    assert_int_equal(cb_end(p.c), 0);
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    assert_int_equal(t.event_count, 200);
    size_t exact = 0;
    for (size_t i = 0; i < 200; i++) {
        const xsr_event *e = &t.events[i];
        assert_int_equal((uint32_t)e->time, (uint32_t)times[i]);
        if (!e->time_modulo)
            assert_int_equal(e->time, times[i]);
        exact += !e->time_modulo;
    }
    assert_true(exact >= 20 + 80); /* events of two records, and those between two of them that lie within a wrap */
    help_free(&t);
}

static void values_unwrap(void **state) {
    (void)state;
    const char *path = help_path("unwrap.xs");
    plan p = begin(path, 0);
    uint64_t value = 1, values[100];
    cb_writer_begin(p.c, 0, 1000, 0, 0, 0);
    for (size_t i = 0; i < 100; i++) {
        values[i] = value;
        cb_signal(p.c, 0, 2000 + i, p.slot, value);
        value += i % 3 ? 0x7fffffffull : 5; /* steps below half the range, far beyond 32 bits in all */
    }
    assert_int_equal(cb_end(p.c), 0);
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(t.events[i + 1].value, values[i]);
    help_free(&t);
}

/* The end of a wait holds all 64 bits of what it saw, but for slots of 32 bits, which wrap. */
static void waits_set_right(void **state) {
    (void)state;
    const char *path = help_path("right.xs");
    plan p = begin(path, 0);
    cb_writer_begin(p.c, 64, 1000, 0, 0, 0);
    cb_wait_end(p.c, 64, 1500, p.slot, 0x700000005, 0, 3);
    cb_signal(p.c, 64, 1600, p.slot, 0x700000006);
    assert_int_equal(cb_end(p.c), 0);
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    assert_int_equal(t.events[1].value, 0x700000005);
    assert_int_equal(t.events[2].value, 0x700000006);
    help_free(&t);
    p = begin(path, XS_PAD_32);
    cb_signal(p.c, 0, 1000, p.slot, 0xfffffff0);
    cb_signal(p.c, 0, 1100, p.slot, 0x10);
    cb_wait_end(p.c, 64, 1500, p.slot, 0x10, 0, 3);
    assert_int_equal(cb_end(p.c), 0);
    assert_int_equal(help_read(path, &t, NULL), 0);
    assert_int_equal(t.events[0].value, 0xfffffff0);
    assert_int_equal(t.events[1].value, 0x100000010);
    assert_int_equal(t.events[2].value, 0x100000010);
    assert_int_equal(t.waits[0].reads_from.reason, XSR_REASON_FOUND);
    help_free(&t);
}

static void wide_values_are_whole(void **state) {
    (void)state;
    const char *path = help_path("wide.xs");
    plan p = begin(path, XS_PAD_WIDE);
    static const uint64_t values[] = {0x0001000000000007, 0x0002000000000003, 0x0001000000000008, 0xffffffffffffffff};
    for (size_t i = 0; i < 4; i++)
        cb_signal_wide(p.c, 0, 1000 + i, p.slot, values[i]);
    assert_int_equal(cb_end(p.c), 0);
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(t.events[i].value, values[i]);
    help_free(&t);
}

/* 8-bit sequences: the 64-bit sequence of the frame counts. */
static void narrow_sequences(void **state) {
    (void)state;
    const char *path = help_path("narrow.xs");
    cb *c = cb_begin(path);
    xs_region_header region = cb_region(0, 1, 1);
    region.sequence_bits = 8;
    cb_process_as(c, &region);
    for (uint64_t i = 0; i < 1000; i++) {
        cb_mark(c, 0, 1000 + i, 1, (uint32_t)i);
        if (i % 100 == 99)
            cb_flush(c);
    }
    assert_int_equal(cb_end(c), 0);
    told t;
    assert_int_equal(help_read(path, &t, NULL), 0);
    assert_int_equal(t.event_count, 1000);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(t.events[i].sequence, i + 1);
    help_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silences), cmocka_unit_test(looks_of_a_dump), cmocka_unit_test(nobody_looked), cmocka_unit_test(values_unwrap),
        cmocka_unit_test(waits_set_right), cmocka_unit_test(wide_values_are_whole), cmocka_unit_test(narrow_sequences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
