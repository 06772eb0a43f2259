/* Old loads: a reader without its acquire sees old payload behind a new flag for some seeds, the right form for none. */
#include "harness.h"

#include <stdlib.h>

#define WORDS 32u /* 4 cache lines */
#define ROUNDS 4u

typedef struct message {
    _Alignas(64) uint64_t payload[WORDS];
    _Alignas(64) uint64_t flag, second, back, shown;
    uint32_t acquire; /* of the reader */
    uint32_t release; /* of who hands on */
    uint32_t write_release; /* of the writer; 0: SYS */
    int join;         /* the block joins behind its one wait */
    uint32_t steps;   /* between the reader's acquire and its loads: held stores go on to memory */
    uint32_t stale;   /* words that a reader found old */
    uint32_t wrong;   /* what no memory model allows */
} message;

static void write_all(message *m, uint64_t round) {
    for (uint32_t i = 0; i < WORDS; i++)
        h_store(&m->payload[i], round * 100 + i);
}

static void read_all(message *m, uint64_t round) {
    for (uint32_t i = 0; i < WORDS; i++) {
        uint64_t have = h_load(&m->payload[i]);
        m->stale += have != round * 100 + i;
        m->wrong += have > round * 100 + i || (have && have % 100 != i);
    }
}

/* Seeds of `seeds` for which a reader saw something old. */
static uint32_t bites(harness_kernel *kernel, const message *form, uint32_t ranks, uint32_t grid, uint32_t block, uint64_t seeds) {
    uint32_t bitten = 0;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        message m = *form;
        assert_int_equal(harness_run(ranks, seed, kernel, &m, grid, block), 0);
        bitten += m.stale != 0;
        assert_int_equal(m.wrong, 0);
    }
    return bitten;
}

/* The writer waits, with an acquire, before it writes again. */
static void write_rounds(message *m) {
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        write_all(m, round);
        h_signal(&m->flag, round, m->write_release ? m->write_release : XS_SCOPE_SYS);
        assert_int_equal(h_wait(&m->back, round, 0), 0);
    }
}

static void read_rounds(message *m) {
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        assert_int_equal(h_wait_relaxed(&m->flag, round, 0), 0);
        h_acquire(m->acquire);
        for (uint32_t i = 0; i < m->steps; i++)
            h_step();
        read_all(m, round);
        h_signal(&m->back, round, XS_SCOPE_SYS);
    }
}

static void two_ranks(void *argument) {
    if (h_rank() == 0)
        write_rounds(argument);
    else
        read_rounds(argument);
}

static void two_blocks(void *argument) {
    if (h_block() == 0)
        write_rounds(argument);
    else
        read_rounds(argument);
}

static void two_warps(void *argument) {
    if (h_self()->warp == 0)
        write_rounds(argument);
    else
        read_rounds(argument);
}

static void flag_without_acquire(void **state) {
    (void)state;
    uint32_t bitten = bites(two_ranks, &(message){.acquire = XS_SCOPE_NONE}, 2, 1, 32, 100);
    print_message("no acquire: %u of 100 seeds\n", bitten);
    assert_true(bitten >= 20);
    assert_int_equal(bites(two_ranks, &(message){.acquire = XS_SCOPE_SYS}, 2, 1, 32, 1000), 0);
}

static void acquire_of_too_small_a_scope(void **state) {
    (void)state;
    assert_true(bites(two_ranks, &(message){.acquire = XS_SCOPE_GPU}, 2, 1, 32, 100) >= 20);
    assert_true(bites(two_blocks, &(message){.acquire = XS_SCOPE_CTA}, 1, 2, 32, 100) >= 20);
    assert_true(bites(two_warps, &(message){.acquire = XS_SCOPE_NONE}, 1, 1, 64, 100) >= 20);
    assert_int_equal(bites(two_blocks, &(message){.acquire = XS_SCOPE_GPU}, 1, 2, 32, 1000), 0);
    assert_int_equal(bites(two_warps, &(message){.acquire = XS_SCOPE_CTA}, 1, 1, 64, 1000), 0);
}

/* Stores that the block or the rank held when its reader acquired reach memory later. */
static void released_inside_and_held(void **state) {
    (void)state;
    message blocks = {.acquire = XS_SCOPE_GPU, .write_release = XS_SCOPE_GPU, .steps = 100};
    message warps = {.acquire = XS_SCOPE_CTA, .write_release = XS_SCOPE_CTA, .steps = 100};
    assert_int_equal(bites(two_blocks, &blocks, 1, 2, 32, 1000), 0);
    assert_int_equal(bites(two_warps, &warps, 1, 1, 64, 1000), 0);
}

/* Rank 0 writes; of rank 1's block warp 0 waits and warp 1 reads. */
static void one_waits_for_its_block(void *argument) {
    message *m = argument;
    if (h_rank() == 0) {
        if (h_self()->warp == 0)
            write_rounds(m);
        return;
    }
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        if (h_self()->warp == 0) {
            assert_int_equal(h_wait(&m->flag, round, 0), 0);
            h_signal(&m->second, round, XS_SCOPE_NONE);
        }
        if (m->join)
            assert_int_equal(h_barrier(0, 0), 0);
        if (h_self()->warp == 1) {
            assert_int_equal(h_wait_relaxed(&m->second, round, 0), 0);
            read_all(m, round);
            h_signal(&m->back, round, XS_SCOPE_SYS);
        }
    }
}

static void one_warp_waits_for_its_block(void **state) {
    (void)state;
    assert_int_equal(bites(one_waits_for_its_block, &(message){.join = 1}, 2, 1, 64, 1000), 0);
    assert_true(bites(one_waits_for_its_block, &(message){.join = 0}, 2, 1, 64, 100) >= 20);
}

/* Rank 0 writes, block 0 of rank 1 acquires, and hands on to block 1 of its rank at GPU scope. */
static void handed_on(void *argument) {
    message *m = argument;
    if (h_rank() == 0) {
        if (h_block() == 0)
            write_rounds(m);
        return;
    }
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        if (h_block() == 0) {
            assert_int_equal(h_wait(&m->flag, round, 0), 0);
            h_signal(&m->second, round, m->release);
        } else {
            assert_int_equal(h_wait_relaxed(&m->second, round, 0), 0);
            h_acquire(XS_SCOPE_GPU);
            read_all(m, round);
            h_signal(&m->back, round, XS_SCOPE_SYS);
        }
    }
}

static void what_was_acquired_is_handed_on(void **state) {
    (void)state;
    assert_int_equal(bites(handed_on, &(message){.release = XS_SCOPE_GPU}, 2, 2, 32, 1000), 0);
    assert_true(bites(handed_on, &(message){.release = XS_SCOPE_NONE}, 2, 2, 32, 100) >= 20);
}

/* Two ranks write words of the same lines in turn; each must always find its own, and the other's never fall. No acquires. */
static void own_and_rising(void *argument) {
    message *m = argument;
    uint64_t seen[WORDS] = {0};
    for (uint64_t round = 1; round <= 20; round++) {
        for (uint32_t i = 0; i < WORDS; i++) {
            if (i % 2 == h_rank())
                h_store(&m->payload[i], round);
            uint64_t have = h_load(&m->payload[i]);
            m->wrong += i % 2 == h_rank() ? have != round : have < seen[i];
            m->stale += have != round;
            seen[i] = have;
        }
        h_step();
    }
}

/* Two ranks write one word, unordered: behind its own store each finds that one, or one of the other's that is no older than it has seen. */
static void one_word_of_two(void *argument) {
    message *m = argument;
    uint64_t others = 0;
    for (uint64_t round = 1; round <= 40; round++) {
        uint64_t own = round * 2 + h_rank();
        h_store(&m->payload[0], own);
        for (int i = 0; i < 3; i++) {
            uint64_t have = h_load(&m->payload[0]);
            m->wrong += have % 2 == h_rank() ? have != own : have < others;
            others = have % 2 == h_rank() ? others : have;
            h_step();
        }
    }
}

static void own_stores_are_seen_and_nothing_goes_back(void **state) {
    (void)state;
    (void)bites(own_and_rising, &(message){0}, 2, 1, 32, 300);
    (void)bites(one_word_of_two, &(message){0}, 2, 1, 32, 300);
}

/* One word, written by everybody in turn, by a ticket that is released and acquired: never old, whatever else is. */
static void by_ticket(void *argument) {
    message *m = argument;
    uint64_t turn = h_rank() * 2 + h_block();
    for (uint64_t round = 0; round < 5; round++) {
        assert_int_equal(h_wait(&m->flag, round * 4 + turn, 0), 0);
        m->stale += h_load(&m->payload[0]) != round * 4 + turn;
        h_store(&m->payload[0], round * 4 + turn + 1);
        h_signal(&m->flag, round * 4 + turn + 1, XS_SCOPE_SYS);
    }
}

/* Overwritten more often than is kept, behind a reader that acquires nothing: what it sees was there once. */
static void overwritten(void *argument) {
    message *m = argument;
    uint64_t before = 0;
    for (uint64_t i = 1; i <= 3000; i++) {
        if (h_rank() == 0) {
            h_store(&m->payload[0], i);
            h_step();
        } else if (i % 50 == 0) {
            uint64_t have = h_load(&m->payload[0]);
            m->wrong += have < before || have > 3000;
            before = have;
        } else {
            h_step();
        }
    }
}

static void many_writers_and_many_stores(void **state) {
    (void)state;
    assert_int_equal(bites(by_ticket, &(message){0}, 2, 2, 32, 500), 0);
    (void)bites(overwritten, &(message){0}, 2, 1, 32, 10);
}

/* The next launch sees what the one before wrote, with no acquire in it. */
static void launch_in_two(void *argument) {
    message *m = argument;
    if (h_rank() == 0 && m->shown == 0)
        write_all(m, 1);
    else if (h_rank() == 1 && m->shown == 1)
        read_all(m, 1);
}

static void a_launch_acquires(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        message m = {0};
        harness h;
        harness_open(&h, 2, seed);
        for (m.shown = 0; m.shown < 2; m.shown++) {
            harness_launch(&h, launch_in_two, &m, 0, 2, 1, 32);
            assert_int_equal(harness_sync(&h), 0);
        }
        harness_close(&h);
        assert_int_equal(m.stale, 0);
    }
}

static void same_seed_same_loads(void **state) {
    (void)state;
    uint32_t different = 0, last = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        message a = {.acquire = XS_SCOPE_NONE}, b = a;
        assert_int_equal(harness_run(2, seed, two_ranks, &a, 1, 32), 0);
        assert_int_equal(harness_run(2, seed, two_ranks, &b, 1, 32), 0);
        assert_int_equal(a.stale, b.stale);
        different += seed && a.stale != last;
        last = a.stale;
    }
    assert_true(different > 10);
}

static void the_environment_sets_how_many(void **state) {
    (void)state;
    setenv("XS_SIM_STALE", "0", 1);
    assert_int_equal(bites(two_ranks, &(message){.acquire = XS_SCOPE_NONE}, 2, 1, 32, 100), 0);
    setenv("XS_SIM_HOLD", "0", 1);
    setenv("XS_SIM_STALE", "100", 1);
    assert_true(bites(two_ranks, &(message){.acquire = XS_SCOPE_NONE}, 2, 1, 32, 100) >= 50);
    assert_int_equal(bites(two_ranks, &(message){.acquire = XS_SCOPE_SYS}, 2, 1, 32, 100), 0);
    unsetenv("XS_SIM_HOLD");
    harness_wants_a_percentage("XS_SIM_STALE");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flag_without_acquire),
        cmocka_unit_test(acquire_of_too_small_a_scope),
        cmocka_unit_test(released_inside_and_held),
        cmocka_unit_test(one_warp_waits_for_its_block),
        cmocka_unit_test(what_was_acquired_is_handed_on),
        cmocka_unit_test(own_stores_are_seen_and_nothing_goes_back),
        cmocka_unit_test(many_writers_and_many_stores),
        cmocka_unit_test(a_launch_acquires),
        cmocka_unit_test(same_seed_same_loads),
        cmocka_unit_test(the_environment_sets_how_many),
    };
    return cmocka_run_group_tests_name("sim: old loads", tests, NULL, NULL);
}
