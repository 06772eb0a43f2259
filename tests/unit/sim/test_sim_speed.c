/* Scheduling points a second, printed; nothing is asserted about time. */
#include "harness.h"

#include <time.h>

/* The thread sanitizer's own switch costs microseconds, more with more fibres. */
#if defined(__SANITIZE_THREAD__)
#define POINTS 20000u
#define FIBRES 128u
#else
#define POINTS 2000000u
#define FIBRES 2048u
#endif

static void step_kernel(void *argument) {
    uint32_t steps = *(const uint32_t *)argument;
    for (uint32_t i = 0; i < steps; i++)
        h_step();
}

typedef struct hold {
    _Alignas(64) uint64_t data[16][32];
    uint64_t slot[16];
    uint32_t rounds;
} hold;

/* Payload, signal, wait: what examples do. */
static void exchange_kernel(void *argument) {
    hold *h = argument;
    uint32_t me = h_rank();
    for (uint32_t round = 1; round <= h->rounds; round++) {
        for (uint32_t i = 0; i < 32; i += 8)
            h_store(&h->data[me][i], round);
        h_signal(&h->slot[me], round, XS_SCOPE_SYS);
        assert_int_equal(h_wait(&h->slot[(me + 1) % 16], round, 0), 0);
    }
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void measure(const char *what, harness_kernel *kernel, void *argument, uint32_t ranks, uint32_t grid) {
    harness h;
    harness_open(&h, ranks, 1);
    harness_launch(&h, kernel, argument, 0, 0, grid, 32);
    double start = seconds();
    assert_int_equal(harness_sync(&h), 0);
    double took = seconds() - start;
    uint64_t points = ((xs_sim *)h.state)->points;
    print_message("%-28s %5u fibres %9llu points %7.2f M/s\n", what, ranks * grid, (unsigned long long)points,
                  (double)points / took * 1e-6);
    assert_true(points > 0);
    harness_close(&h);
}

static void points_a_second(void **state) {
    (void)state;
    for (uint32_t fibres = 2; fibres <= FIBRES; fibres *= 4) {
        uint32_t steps = POINTS / fibres;
        measure("steps", step_kernel, &steps, 2, fibres / 2);
    }
#if !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    uint32_t steps = 25; /* a step costs what the caches ask, not what the number of fibres does */
    measure("steps", step_kernel, &steps, 2, 40000);
#endif
    static hold h;
    h.rounds = POINTS / 400;
    measure("payload, signal, wait", exchange_kernel, &h, 16, 1);
}

static void seeds_a_second(void **state) {
    (void)state;
    double start = seconds();
    uint32_t steps = 50;
    for (uint64_t seed = 0; seed < 200; seed++)
        assert_int_equal(harness_run(4, seed, step_kernel, &steps, 8, 64), 0);
    print_message("worlds of 64 fibres, 50 steps: %.0f a second\n", 200 / (seconds() - start));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(points_a_second), cmocka_unit_test(seeds_a_second)};
    return cmocka_run_group_tests_name("sim: speed", tests, NULL, NULL);
}
