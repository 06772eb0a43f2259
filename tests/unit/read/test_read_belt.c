/* Batches from one producer to several threads: all of them, in order, in bounded memory, failures passed on. */
#include "read_help.h"

#include "belt.h"

#include <errno.h>
#include <stdatomic.h>

#define BATCHES 4u
#define LANES 3u
#define SENT 5000u

typedef struct batch {
    uint64_t number;
    uint64_t square;
} batch;

typedef struct listener {
    atomic_uint_fast64_t heard;
    uint64_t wrong, fails_at; /* number of the batch that it fails at; 0: none */
    int result, number;
    uint32_t delay;
} listener;

static int hear(void *user, const void *bytes) {
    listener *l = user;
    const batch *b = bytes;
    for (volatile uint32_t i = 0; i < l->delay; i = i + 1)
        ;
    uint64_t heard = atomic_load(&l->heard);
    l->wrong += b->number != heard + 1 || b->square != b->number * b->number;
    atomic_store(&l->heard, heard + 1);
    if (b->number != l->fails_at)
        return 0;
    errno = l->number;
    return l->result;
}

static rd_belt *start(listener *all) {
    rd_consumer consumers[LANES];
    for (uint32_t i = 0; i < LANES; i++) {
        all[i].delay = 300 * i;
        consumers[i] = (rd_consumer){hear, &all[i]};
    }
    rd_belt *belt = NULL;
    assert_int_equal(rd_belt_start(&belt, BATCHES, sizeof(batch), consumers, LANES), 0);
    return belt;
}

static void give(rd_belt *belt, uint64_t number) {
    batch *b = rd_belt_take(belt);
    *b = (batch){number, number * number};
    rd_belt_send(belt, b);
}

static void all_in_order(void **state) {
    (void)state;
    listener all[LANES] = {0};
    rd_belt *belt = start(all);
    for (uint64_t n = 1; n <= SENT; n++) {
        batch *b = rd_belt_take(belt);
        for (uint32_t i = 0; i < LANES; i++) /* nobody is further behind than there are batches */
            assert_true(n - atomic_load(&all[i].heard) <= BATCHES);
        *b = (batch){n, n * n};
        rd_belt_send(belt, b);
    }
    assert_int_equal(rd_belt_stop(belt), 0);
    assert_int_equal(rd_belt_stop(belt), 0);
    for (uint32_t i = 0; i < LANES; i++) {
        assert_int_equal(all[i].heard, SENT);
        assert_int_equal(all[i].wrong, 0);
    }
    rd_belt_free(belt);
}

static void drained(void **state) {
    (void)state;
    listener all[LANES] = {0};
    rd_belt *belt = start(all);
    for (uint64_t n = 1; n <= 500; n++) {
        give(belt, n);
        if (n % 10)
            continue;
        rd_belt_drain(belt);
        for (uint32_t i = 0; i < LANES; i++)
            assert_int_equal(all[i].heard, n);
    }
    rd_belt_free(belt);
}

/* Batches that were taken first may be sent last: each table has one that is being filled. */
static void sent_out_of_order(void **state) {
    (void)state;
    listener all[LANES] = {0};
    rd_belt *belt = start(all);
    batch *held = rd_belt_take(belt);
    for (uint64_t n = 1; n <= 100; n++)
        give(belt, n);
    *held = (batch){101, 101 * 101};
    rd_belt_send(belt, held);
    assert_int_equal(rd_belt_stop(belt), 0);
    for (uint32_t i = 0; i < LANES; i++)
        assert_true(all[i].heard == 101 && all[i].wrong == 0);
    rd_belt_free(belt);
}

/* The earliest failure is told, whoever was faster; and nobody waits for ever for one that failed. */
static void earliest_failure(void **state) {
    (void)state;
    for (uint32_t round = 0; round < 50; round++) {
        listener all[LANES] = {{.fails_at = 40, .result = 4, .number = EIO},
                               {.fails_at = 20, .result = 5, .number = ENOSPC},
                               {.fails_at = 20, .result = 6, .number = EPERM}};
        rd_belt *belt = start(all);
        for (uint64_t n = 1; n <= 200; n++)
            give(belt, n);
        rd_belt_drain(belt);
        assert_true(rd_belt_failed(belt));
        errno = 0;
        assert_int_equal(rd_belt_stop(belt), 5);
        assert_int_equal(errno, ENOSPC);
        for (uint32_t i = 0; i < LANES; i++)
            assert_int_equal(all[i].wrong, 0);
        assert_true(all[0].heard >= 20 && all[1].heard == 20 && all[2].heard == 20);
        rd_belt_free(belt);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_in_order),
        cmocka_unit_test(drained),
        cmocka_unit_test(sent_out_of_order),
        cmocka_unit_test(earliest_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
