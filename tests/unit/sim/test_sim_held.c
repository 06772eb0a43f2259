/* Held stores: a fault of order bites for some seeds, the right form never fails. */
#include "harness.h"

#include <stdlib.h>

#define WORDS 32u /* 4 cache lines */

typedef struct message {
    _Alignas(64) uint64_t payload[WORDS];
    _Alignas(64) uint64_t flag, counter, counter2;
    uint32_t scope;  /* of the signal's release */
    uint32_t arrive; /* of the arrivals' release */
    int join;        /* the block joins before its one signal */
    uint32_t stale;  /* words that the reader found old */
} message;

static void write_part(message *m, uint32_t part, uint32_t parts) {
    for (uint32_t i = part; i < WORDS; i += parts)
        h_store(&m->payload[i], i + 1);
}

static void read_all(message *m) {
    assert_int_equal(h_wait(&m->flag, 1, 0), 0);
    for (uint32_t i = 0; i < WORDS; i++)
        m->stale += h_load(&m->payload[i]) != i + 1;
}

/* Seeds of `seeds` for which the reader saw something stale. */
static uint32_t bites(harness_kernel *kernel, const message *form, uint32_t ranks, uint32_t grid, uint32_t block, uint64_t seeds) {
    uint32_t bitten = 0;
    for (uint64_t seed = 0; seed < seeds; seed++) {
        message m = *form;
        assert_int_equal(harness_run(ranks, seed, kernel, &m, grid, block), 0);
        bitten += m.stale != 0;
        for (uint32_t i = 0; i < WORDS; i++) /* all is there in the end */
            assert_int_equal(m.payload[i], i + 1);
    }
    return bitten;
}

/* Rank 0 writes and signals, rank 1 reads. */
static void one_writer(void *argument) {
    message *m = argument;
    if (h_rank() == 1) {
        read_all(m);
    } else {
        write_part(m, 0, 1);
        h_signal(&m->flag, 1, m->scope);
    }
}

static void flag_without_release(void **state) {
    (void)state;
    uint32_t bitten = bites(one_writer, &(message){.scope = XS_SCOPE_NONE}, 2, 1, 32, 100);
    print_message("no release: %u of 100 seeds\n", bitten);
    assert_true(bitten >= 10);
    assert_int_equal(bites(one_writer, &(message){.scope = XS_SCOPE_SYS}, 2, 1, 32, 1000), 0);
}

static void release_of_too_small_a_scope(void **state) {
    (void)state;
    uint32_t cta = bites(one_writer, &(message){.scope = XS_SCOPE_CTA}, 2, 1, 32, 100);
    uint32_t gpu = bites(one_writer, &(message){.scope = XS_SCOPE_GPU}, 2, 1, 32, 100);
    print_message("across ranks, cta: %u, gpu: %u of 100 seeds\n", cta, gpu);
    assert_true(cta >= 10 && gpu >= 10);
}

/* Block 0 of the rank writes, block 1 of the same rank reads. */
static void inside_rank(void *argument) {
    message *m = argument;
    if (h_block() == 1) {
        read_all(m);
    } else {
        write_part(m, 0, 1);
        h_signal(&m->flag, 1, m->scope);
    }
}

static void gpu_scope_is_enough_inside_a_rank(void **state) {
    (void)state;
    uint32_t cta = bites(inside_rank, &(message){.scope = XS_SCOPE_CTA}, 1, 2, 32, 100);
    print_message("inside a rank, cta: %u of 100 seeds\n", cta);
    assert_true(cta >= 10);
    assert_int_equal(bites(inside_rank, &(message){.scope = XS_SCOPE_GPU}, 1, 2, 32, 1000), 0);
}

/* Four warps write, warp 0 signals for all. */
static void block_writes(void *argument) {
    message *m = argument;
    if (h_rank() == 1) {
        if (h_self()->warp == 0)
            read_all(m);
        return;
    }
    write_part(m, h_self()->warp, 4);
    if (m->join)
        assert_int_equal(h_barrier(0, 128), 0);
    else if (h_add(&m->counter, 1, XS_SCOPE_NONE) != 3)
        return;
    if (!m->join || h_self()->warp == 0)
        h_signal(&m->flag, 1, XS_SCOPE_SYS);
}

static void one_warp_signals_for_its_block(void **state) {
    (void)state;
    uint32_t bitten = bites(block_writes, &(message){.join = 0}, 2, 1, 128, 100);
    print_message("without the block's join: %u of 100 seeds\n", bitten);
    assert_true(bitten >= 10);
    assert_int_equal(bites(block_writes, &(message){.join = 1}, 2, 1, 128, 1000), 0);
}

/* Four blocks of rank 0 write and arrive; the last one signals, for all. */
static void elected(void *argument) {
    message *m = argument;
    if (h_rank() == 1) {
        if (h_block() == 0 && h_self()->warp == 0)
            read_all(m);
        return;
    }
    write_part(m, h_self()->block * 2 + h_self()->warp, 8);
    assert_int_equal(h_barrier(0, 64), 0);
    if (h_self()->warp == 0 && h_add(&m->counter, 1, m->arrive) == 3)
        h_signal(&m->flag, 1, XS_SCOPE_SYS);
}

static void the_elected_block_signals_for_all(void **state) {
    (void)state;
    uint32_t bitten = bites(elected, &(message){.arrive = XS_SCOPE_NONE}, 2, 4, 64, 100);
    print_message("relaxed arrivals: %u of 100 seeds\n", bitten);
    assert_true(bitten >= 10);
    assert_int_equal(bites(elected, &(message){.arrive = XS_SCOPE_GPU}, 2, 4, 64, 1000), 0);
}

static void own_kernel(void *argument) {
    message *m = argument;
    for (uint64_t round = 1; round <= 50; round++)
        for (uint32_t i = 0; i < WORDS; i++) {
            h_store(&m->payload[i], round);
            assert_int_equal(h_load(&m->payload[i]), round);
            if (i % 5 == 0)
                h_step();
            for (uint32_t j = 0; j < WORDS; j += 7)
                assert_int_equal(h_load(&m->payload[j]), j <= i ? round : round - 1);
        }
}

/* A thread sees its own stores, and one word never goes back to an older value: also not behind what its rank holds. */
static void own_stores_are_seen(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        message m = {.flag = 0};
        assert_int_equal(harness_run(1, seed, own_kernel, &m, 1, 32), 0);
        for (uint32_t i = 0; i < WORDS; i++)
            assert_int_equal(m.payload[i], 50);
    }
}

/* Two blocks take turns at one word under gpu scope: the later store wins, wherever the earlier one is held. */
static void turns_kernel(void *argument) {
    message *m = argument;
    for (uint64_t turn = 1; turn <= 40; turn++) {
        if (turn % 2 != h_block())
            continue;
        assert_int_equal(h_wait(&m->counter, turn - 1, 0), 0);
        assert_int_equal(h_load(&m->payload[0]), turn - 1);
        h_store(&m->payload[0], turn);
        h_signal(&m->counter, turn, XS_SCOPE_GPU);
    }
}

static void later_stores_win(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        message m = {.flag = 0};
        assert_int_equal(harness_run(1, seed, turns_kernel, &m, 2, 32), 0);
        assert_int_equal(m.payload[0], 40);
    }
}

typedef struct big {
    char from[20001], to[20032];
    uint32_t errors;
} big;

/* More than can be held, unaligned, across many lines, read back in odd pieces. */
static void big_kernel(void *argument) {
    big *b = argument;
    char piece[333];
    xs_scheduler_sim.store(h_self(), b->to + 13, b->from, sizeof b->from);
    for (size_t at = 0; at + sizeof piece <= sizeof b->from; at += 301) {
        xs_scheduler_sim.load(h_self(), piece, b->to + 13 + at, sizeof piece);
        b->errors += memcmp(piece, b->from + at, sizeof piece) != 0;
        h_step();
    }
    xs_scheduler_sim.store(h_self(), b->to, b->from, 0);
}

static void big_copies_arrive_whole(void **state) {
    (void)state;
    static big b;
    for (uint64_t seed = 0; seed < 20; seed++) {
        memset(&b, 0, sizeof b);
        for (size_t i = 0; i < sizeof b.from; i++)
            b.from[i] = (char)(i * 7 + i / 251 + seed);
        assert_int_equal(harness_run(1, seed, big_kernel, &b, 1, 32), 0);
        assert_int_equal(b.errors, 0);
        assert_memory_equal(b.to + 13, b.from, sizeof b.from);
    }
}

static void the_environment_sets_how_many(void **state) {
    (void)state;
    setenv("XS_SIM_HOLD", "0", 1);
    assert_int_equal(bites(one_writer, &(message){.scope = XS_SCOPE_NONE}, 2, 1, 32, 100), 0);
    setenv("XS_SIM_HOLD", "100", 1);
    assert_true(bites(one_writer, &(message){.scope = XS_SCOPE_NONE}, 2, 1, 32, 100) >= 50);
    assert_int_equal(bites(one_writer, &(message){.scope = XS_SCOPE_SYS}, 2, 1, 32, 100), 0);
    harness_wants_a_percentage("XS_SIM_HOLD");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flag_without_release),
        cmocka_unit_test(release_of_too_small_a_scope),
        cmocka_unit_test(gpu_scope_is_enough_inside_a_rank),
        cmocka_unit_test(one_warp_signals_for_its_block),
        cmocka_unit_test(the_elected_block_signals_for_all),
        cmocka_unit_test(own_stores_are_seen),
        cmocka_unit_test(later_stores_win),
        cmocka_unit_test(big_copies_arrive_whole),
        cmocka_unit_test(the_environment_sets_how_many),
    };
    return cmocka_run_group_tests_name("sim: held stores", tests, NULL, NULL);
}
