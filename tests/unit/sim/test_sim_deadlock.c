/* A deadlock is found by definition: when it is one, and only then. */
#include "harness.h"

#include <stdlib.h>

typedef struct pair {
    uint64_t slot[64];
    int results[64];
    uint32_t ended;
    uint64_t ns; /* bound of the waits */
} pair;

static void wait_for_each_other(void *argument) {
    pair *p = argument;
    uint32_t me = h_rank();
    p->results[me] = h_wait(&p->slot[me], 1, p->ns);
    if (p->results[me] == 0)
        h_signal(&p->slot[1 - me], 1, XS_SCOPE_SYS);
    p->ended++;
}

static uint32_t *abort_word;
static uint32_t abort_seen_in_pass = 99;
static void look_at_abort(void) { abort_seen_in_pass = *abort_word; }

static void two_that_wait_for_each_other(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        harness h;
        pair p = {{0}, {0}, 0, 0};
        harness_open(&h, 2, seed);
        abort_word = &h.abort;
        harness_on_pass = look_at_abort;
        abort_seen_in_pass = 99;
        harness_launch(&h, wait_for_each_other, &p, 0, 0, 1, 32);
        assert_int_equal(harness_sync(&h), XS_E_DEADLOCK);
        assert_int_equal(h.abort, -XS_E_DEADLOCK);
        assert_int_equal(abort_seen_in_pass, 0); /* the collector saw the open waits, before anybody gave up */
        assert_int_equal(harness_launches[0].result, XS_E_DEADLOCK);
        assert_int_equal(p.ended, 2);
        assert_int_equal(p.results[0], XS_RESULT_ABORTED);
        assert_int_equal(p.results[1], XS_RESULT_ABORTED);
        harness_close(&h);
    }
}

static void bounded_waits_are_none(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        pair p = {{0}, {0}, 0, 3000000};
        assert_int_equal(harness_run(2, seed, wait_for_each_other, &p, 1, 32), 0);
        assert_int_equal(p.results[0] == XS_RESULT_TIMEOUT || p.results[1] == XS_RESULT_TIMEOUT, 1);
    }
}

static void slow_supplier(void *argument) {
    pair *p = argument;
    if (h_rank() == 0) {
        h_work(20000000); /* 20 ms; the others poll every us or so */
        h_signal(&p->slot[0], 1, XS_SCOPE_SYS);
        p->results[0] = 0;
    } else {
        p->results[h_rank()] = h_wait(&p->slot[0], 1, 0);
    }
}

static void a_slow_supplier_is_none(void **state) {
    (void)state;
    pair p = {{0}, {1, 1, 1}, 0, 0};
    assert_int_equal(harness_run(3, 1, slow_supplier, &p, 1, 32), 0);
    for (int r = 0; r < 3; r++)
        assert_int_equal(p.results[r], 0);
}

/* Waits that always fail some times, and are always satisfied: progress by relaxed stores alone. */
static void ping_pong(void *argument) {
    pair *p = argument;
    uint32_t me = h_rank();
    for (uint64_t round = 1; round <= 2000; round++) {
        h_signal(&p->slot[1 - me], round, XS_SCOPE_NONE);
        assert_int_equal(h_wait(&p->slot[me], round, 0), 0);
        if (round % 10 == 0) /* the other's polls see nothing new for long */
            for (int i = 0; i < 500; i++)
                h_step();
    }
}

static void ping_pong_is_none(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        pair p = {{0}, {0}, 0, 0};
        assert_int_equal(harness_run(2, seed, ping_pong, &p, 1, 32), 0);
    }
}

/* Polls all open slots in turn, as a barrier over all ranks does; `twice` polls the first one again at the end of each turn. */
static int wait_for_all(uint64_t *slot, uint32_t count, int twice) {
    for (;;) {
        const uint64_t *open = NULL;
        for (uint32_t i = 0; i < count; i++)
            if (h_read(&slot[i]) < 1) {
                open = open ? open : &slot[i];
                xs_scheduler_sim.poll_failed(h_self(), &slot[i], 0, 0);
            }
        if (!open)
            return 0;
        if (h_aborted())
            return XS_RESULT_ABORTED;
        if (twice)
            xs_scheduler_sim.poll_failed(h_self(), open, 100, 0);
    }
}

typedef struct barrier {
    uint64_t slot[40];
    uint32_t ranks, away; /* the last `away` ranks do not come */
    int twice, late;
    int results[40];
} barrier;

static void barrier_kernel(void *argument) {
    barrier *b = argument;
    uint32_t me = h_rank();
    if (me >= b->ranks - b->away && !b->late)
        return;
    if (me >= b->ranks - b->away)
        h_work(500000);
    h_signal(&b->slot[me], 1, XS_SCOPE_SYS);
    b->results[me] = wait_for_all(b->slot, b->ranks, b->twice);
}

static void waits_polled_in_turn(void **state) {
    (void)state;
    for (uint32_t ranks = 2; ranks <= 40; ranks += 19)
        for (uint32_t away = 0; away <= 2 && away < ranks; away++)
            for (int variant = 0; variant < 4; variant++) {
                barrier b = {{0}, ranks, away, variant % 2, variant / 2, {0}};
                int stuck = away && !b.late;
                assert_int_equal(harness_run(ranks, 7, barrier_kernel, &b, 1, 32), stuck ? XS_E_DEADLOCK : 0);
                for (uint32_t r = 0; r < ranks - away; r++)
                    assert_int_equal(b.results[r], stuck ? XS_RESULT_ABORTED : 0);
            }
}

static void missing_warp(void *argument) {
    int *results = argument;
    if (h_self()->warp != 2)
        results[h_self()->warp] = h_barrier(0, 128);
}

static void a_block_barrier_that_nobody_completes(void **state) {
    (void)state;
    int results[4] = {0};
    assert_int_equal(harness_run(1, 1, missing_warp, results, 1, 128), XS_E_DEADLOCK);
    assert_int_equal(results[0], XS_RESULT_ABORTED);
    assert_int_equal(results[3], XS_RESULT_ABORTED);
}

static void barrier_behind_wait(void *argument) {
    pair *p = argument;
    if (h_self()->warp == 0)
        p->results[0] = h_wait(&p->slot[0], 1, 0);
    p->results[h_self()->warp] = h_barrier(0, 96);
}

static void a_block_that_joins_behind_a_stuck_wait(void **state) {
    (void)state;
    pair p = {{0}, {0}, 0, 0};
    assert_int_equal(harness_run(1, 1, barrier_behind_wait, &p, 1, 96), XS_E_DEADLOCK);
    for (int w = 0; w < 3; w++)
        assert_int_equal(p.results[w], XS_RESULT_ABORTED);
}

static void chain_kernel(void *argument) {
    pair *p = argument;
    uint32_t me = h_block(), last = p->ended;
    if (me == last)
        h_signal(&p->slot[me], 1, XS_SCOPE_SYS);
    else if (h_wait(&p->slot[me + 1], 1, 0) == 0)
        h_signal(&p->slot[me], 1, XS_SCOPE_SYS);
}

/* Block 0 waits for block 1 and so on; with all resident that is fine, with half of them it never ends. */
static void blocks_that_never_become_resident(void **state) {
    (void)state;
    for (uint32_t residency = 0; residency <= 8; residency += 4) {
        harness h;
        pair p = {{0}, {0}, 7, 0};
        harness_open(&h, 1, 2);
        h.world.config.residency = residency;
        harness_launch(&h, chain_kernel, &p, 0, 0, 8, 32);
        assert_int_equal(harness_sync(&h), residency == 4 ? XS_E_DEADLOCK : 0);
        harness_close(&h);
    }
}

static void deaf_kernel(void *argument) {
    uint64_t *slot = argument;
    while (h_read(slot) == 0)
        xs_scheduler_sim.poll_failed(h_self(), slot, 100, 0);
}

static void after_kernel(void *argument) { *(uint64_t *)argument = 5; }

/* A kernel that does not look at the abort is given up, with its stack, and the world goes on to its end. */
static void kernels_that_do_not_listen(void **state) {
    (void)state;
    harness h;
    uint64_t slot = 0, after = 0;
    harness_open(&h, 2, 1);
    harness_launch(&h, deaf_kernel, &slot, 0, 0, 3, 64);
    harness_launch(&h, after_kernel, &after, 0, 0, 1, 32);
    assert_int_equal(harness_sync(&h), XS_E_DEADLOCK);
    assert_int_equal(after, 5);
    harness_close(&h);
}

static void long_wait(void *argument) {
    pair *p = argument;
    if (h_rank() == 0)
        h_work(5000000000ull);
    else
        p->results[1] = h_wait(&p->slot[0], 1, 0);
}

static void the_worlds_bound_on_waits(void **state) {
    (void)state;
    harness h;
    pair p = {{0}, {0}, 0, 0};
    harness_open(&h, 2, 1);
    h.world.config.wait_ns = 1000000;
    harness_launch(&h, long_wait, &p, 0, 0, 1, 32);
    assert_int_equal(harness_sync(&h), XS_E_TIMEOUT);
    assert_int_equal(h.abort, -XS_E_TIMEOUT);
    assert_int_equal(p.results[1], XS_RESULT_ABORTED);
    harness_close(&h);
}

typedef struct plain {
    uint64_t value;
    uint64_t slot;
} plain;

/* The awaited word is payload: stored plainly, held back, its writer stuck in a block barrier until the reader answers. */
static void plain_flag(void *argument) {
    plain *p = argument;
    if (h_rank() == 0) {
        if (h_self()->warp == 0) {
            h_store(&p->value, 1);
            h_barrier(0, 64);
        } else {
            assert_int_equal(h_wait(&p->slot, 1, 0), 0);
            h_barrier(0, 64);
        }
    } else if (h_self()->warp == 0) {
        while (h_load(&p->value) == 0)
            xs_scheduler_sim.poll_failed(h_self(), &p->value, 0, 0);
        h_signal(&p->slot, 1, XS_SCOPE_SYS);
    }
}

static void held_stores_are_let_go_first(void **state) {
    (void)state;
    setenv("XS_SIM_HOLD", "100", 1);
    for (uint64_t seed = 0; seed < 50; seed++) {
        plain p = {0, 0};
        assert_int_equal(harness_run(2, seed, plain_flag, &p, 1, 64), 0);
    }
    unsetenv("XS_SIM_HOLD");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_that_wait_for_each_other),
        cmocka_unit_test(bounded_waits_are_none),
        cmocka_unit_test(a_slow_supplier_is_none),
        cmocka_unit_test(ping_pong_is_none),
        cmocka_unit_test(waits_polled_in_turn),
        cmocka_unit_test(a_block_barrier_that_nobody_completes),
        cmocka_unit_test(a_block_that_joins_behind_a_stuck_wait),
        cmocka_unit_test(blocks_that_never_become_resident),
        cmocka_unit_test(kernels_that_do_not_listen),
        cmocka_unit_test(the_worlds_bound_on_waits),
        cmocka_unit_test(held_stores_are_let_go_first),
    };
    return cmocka_run_group_tests_name("sim: deadlock", tests, NULL, NULL);
}
