/* Choice and clock: same seed same run, time monotone and causal, everybody gets on. */
#include "harness.h"

#define RANKS 4u
#define ROUNDS 20u

typedef struct ring {
    uint64_t slot[RANKS];
    uint64_t log[4 * RANKS * ROUNDS]; /* who signalled, when */
    uint32_t logged;
} ring;

/* Every rank signals its right neighbour and waits for its left one. */
static void ring_kernel(void *argument) {
    ring *r = argument;
    uint32_t me = h_rank();
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        h_work(100 + 10 * me);
        r->log[r->logged++] = me;
        r->log[r->logged++] = h_now();
        h_signal(&r->slot[(me + 1) % RANKS], round, XS_SCOPE_SYS);
        assert_int_equal(h_wait(&r->slot[me], round, 0), 0);
    }
}

static uint64_t ring_run(uint64_t seed, ring *r) {
    harness h;
    memset(r, 0, sizeof *r);
    harness_open(&h, RANKS, seed);
    harness_launch(&h, ring_kernel, r, 0, 0, 1, 32);
    assert_int_equal(harness_sync(&h), 0);
    uint64_t trace = ((xs_sim *)h.state)->trace;
    assert_int_equal(r->logged, 2 * RANKS * ROUNDS);
    harness_close(&h);
    return trace;
}

static void same_seed_same_run(void **state) {
    (void)state;
    static ring first, second;
    for (uint64_t seed = 0; seed < 50; seed++) {
        uint64_t trace = ring_run(seed, &first);
        assert_int_equal(trace, ring_run(seed, &second));
        assert_memory_equal(&first, &second, sizeof first);
    }
}

static void other_seed_other_run(void **state) {
    (void)state;
    static ring r;
    uint64_t traces[50];
    uint32_t equal = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        traces[seed] = ring_run(seed, &r);
        for (uint64_t before = 0; before < seed; before++)
            equal += traces[before] == traces[seed];
    }
    assert_int_equal(equal, 0);
}

typedef struct order {
    uint32_t at, who[8];
} order;

static void order_kernel(void *argument) {
    order *o = argument;
    h_step();
    o->who[o->at++] = h_rank();
}

/* All 24 orders in which four equal ranks can come are reached. */
static void seeds_reach_every_order(void **state) {
    (void)state;
    uint8_t seen[256] = {0};
    uint32_t orders = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        order o = {0, {0}};
        harness_run(4, seed, order_kernel, &o, 1, 32);
        uint32_t code = o.who[0] | o.who[1] << 2 | o.who[2] << 4 | o.who[3] << 6;
        orders += !seen[code];
        seen[code] = 1;
    }
    assert_int_equal(orders, 24);
}

typedef struct clocks {
    uint64_t last, signal_stamp, wait_stamp;
    uint64_t slot;
} clocks;

static void clock_kernel(void *argument) {
    clocks *c = argument;
    for (int i = 0; i < 200; i++) {
        h_step();
        uint64_t now = h_now();
        assert_true(now >= c->last);
        c->last = now;
    }
    if (h_rank() == 0) {
        c->signal_stamp = h_now();
        h_signal(&c->slot, 1, XS_SCOPE_SYS);
    } else if (h_rank() == 1) {
        h_wait(&c->slot, 1, 0);
        c->wait_stamp = h_now();
        assert_true(c->signal_stamp >= SIM_TIME_START);
        assert_true(c->signal_stamp <= c->wait_stamp);
    }
}

static void time_never_goes_back(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        clocks c = {0, 0, 0, 0};
        assert_int_equal(harness_run(3, seed, clock_kernel, &c, 2, 64), 0);
    }
}

typedef struct spans {
    uint64_t end[8];
} spans;

static void span_kernel(void *argument) {
    spans *s = argument;
    for (int i = 0; i < 100; i++)
        h_work(h_rank() == 2 ? 10000 : 1000);
    s->end[h_rank()] = h_now();
}

/* Eight ranks that work 0.1 ms each take 0.1 ms, not 0.8; the slow one takes ten times as long, alone. */
static void ranks_overlap_and_slow_is_slow(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        spans s;
        assert_int_equal(harness_run(8, seed, span_kernel, &s, 1, 32), 0);
        for (uint32_t r = 0; r < 8; r++) {
            uint64_t took = s.end[r] - SIM_TIME_START, works = r == 2 ? 1000000 : 100000;
            assert_in_range(took, works, works + works / 2);
        }
    }
}

static void count_kernel(void *argument) {
    uint64_t *counts = argument;
    for (int i = 0; i < 1000; i++) {
        h_step();
        counts[h_self()->block]++;
        uint64_t least = UINT64_MAX, most = 0;
        for (int b = 0; b < 16; b++) {
            least = counts[b] < least ? counts[b] : least;
            most = counts[b] > most ? counts[b] : most;
        }
        assert_true(most < 1000 ? most - least < 200 : 1); /* nobody is left behind */
    }
}

static void everybody_gets_on(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        uint64_t counts[16] = {0};
        assert_int_equal(harness_run(4, seed, count_kernel, counts, 4, 32), 0);
        for (int b = 0; b < 16; b++)
            assert_int_equal(counts[b], 1000);
    }
}

static void watch_the_clock(void *argument) {
    uint64_t *end = argument;
    uint64_t until = h_now() + 10000;
    while (h_now() < until)
        ;
    *end = h_now();
}

static void a_loop_on_the_clock_ends(void **state) {
    (void)state;
    uint64_t end = 0;
    assert_int_equal(harness_run(1, 3, watch_the_clock, &end, 1, 32), 0);
    assert_true(end >= SIM_TIME_START + 10000);
}

static void long_work(void *argument) {
    (void)argument;
    h_work(10000000000ull);
}

static uint64_t passes_at[64];
static harness *looked;
static void note_pass(void) { passes_at[harness_passes % 64] = xs_scheduler_sim.host_now(looked->state); }

/* 32-bit stamps wrap after 4.29 s: the collector must look at least once a second also while time jumps. */
static void collector_looks_while_nobody_runs(void **state) {
    (void)state;
    harness h;
    harness_open(&h, 1, 1);
    looked = &h;
    harness_on_pass = note_pass;
    harness_launch(&h, long_work, NULL, 0, 0, 1, 32);
    assert_int_equal(harness_sync(&h), 0);
    assert_in_range(harness_passes, 20, 60);
    for (uint32_t i = 2; i <= harness_passes; i++)
        assert_in_range(passes_at[i] - passes_at[i - 1], 1, 1000000000);
    harness_close(&h);
}

static void deep_kernel(void *argument) {
    volatile char frame[16384]; /* a quarter of a stack, across a switch */
    for (uint32_t i = 0; i < sizeof frame; i += 512)
        frame[i] = (char)(h_self()->block + i);
    h_step();
    double kept = h_self()->block * 0.5; /* callee-saved or spilled */
    h_step();
    for (uint32_t i = 0; i < sizeof frame; i += 512)
        assert_int_equal(frame[i], (char)(h_self()->block + i));
    *(double *)argument += kept;
}

static void stacks_are_kept_apart(void **state) {
    (void)state;
    double sum = 0;
    assert_int_equal(harness_run(2, 9, deep_kernel, &sum, 500, 32), 0);
    assert_true(sum == 0.5 * 999 * 1000 / 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_seed_same_run),
        cmocka_unit_test(other_seed_other_run),
        cmocka_unit_test(seeds_reach_every_order),
        cmocka_unit_test(time_never_goes_back),
        cmocka_unit_test(ranks_overlap_and_slow_is_slow),
        cmocka_unit_test(everybody_gets_on),
        cmocka_unit_test(a_loop_on_the_clock_ends),
        cmocka_unit_test(collector_looks_while_nobody_runs),
        cmocka_unit_test(stacks_are_kept_apart),
    };
    return cmocka_run_group_tests_name("sim: choice and clock", tests, NULL, NULL);
}
