/* Samples of a GPU's clock: what goes into the journal, between launches and while a kernel runs. */
#include <time.h>

#include "cuda_test.h"
#include "world.h"

#define AHEAD 777000 /* the fake device's clock against the host's */

typedef struct samples {
    uint32_t count;
    int64_t least, most; /* device - host */
    uint64_t bracket, step;
} samples;

static samples journalled(const xs_world *world) {
    const xs_region_header *h = (const xs_region_header *)world->region;
    const xs_journal_entry *entries = (const xs_journal_entry *)(const void *)(world->region + h->journal_offset);
    samples s = {.least = INT64_MAX, .most = INT64_MIN};
    for (uint64_t i = 0; i < h->journal_entries; i++) {
        const xs_journal_entry *e = &entries[i];
        if (!__atomic_load_n(&e->sequence, __ATOMIC_ACQUIRE) || e->kind != XS_JOURNAL_CLOCK || !e->a) continue;
        int64_t ahead = (int64_t)(e->d - e->c);
        s.count++;
        s.least = ahead < s.least ? ahead : s.least;
        s.most = ahead > s.most ? ahead : s.most;
        s.bracket = e->e;
        s.step = e->f;
    }
    return s;
}

static xs_world *made(int32_t clock) {
    xs_world *world = NULL;
    xs_config config = cuda_config(1);
    config.clock = clock;
    int rc = xs_world_create(&config, &world);
    if (rc) fail_msg("%s: %s", xs_strerror(rc), xs_error_detail());
    return world;
}

static void a_sample_is_bracketed_and_tells_the_step(void **state) {
    (void)state;
    fake->quick_clock = 0; /* ask again and again, so that differences are seen */
    xs_world *world = made(-1);
    samples s = journalled(world);
    assert_int_equal(s.count, 1);
    assert_true(s.bracket > 0 && s.bracket < 1000000000);
    assert_int_equal(s.step, 1);
    assert_true(llabs(s.least - AHEAD) <= (int64_t)s.bracket);
    assert_int_equal(xs_world_destroy(world), 0);
    fake->quick_clock = 1;
}

static void a_planted_error_is_in_the_sample(void **state) {
    (void)state;
    fake->quick_clock = 0; /* its brackets would not hold the truth */
    setenv("XS_TEST_CLOCK_OFFSET_NS", "5000000000", 1);
    xs_world *world = made(-1);
    unsetenv("XS_TEST_CLOCK_OFFSET_NS");
    samples s = journalled(world);
    assert_true(llabs(s.least - (AHEAD - 5000000000ll)) <= (int64_t)s.bracket);
    assert_int_equal(xs_world_destroy(world), 0);
    fake->quick_clock = 1;
}

/* Nobody launches and nobody waits: the clock is asked all the same. */
static void the_clock_is_asked_while_nothing_is_launched(void **state) {
    (void)state;
    struct timespec nap = {0, 10000000};
    xs_world *world = made(1);
    for (int i = 0; i < 10000 && journalled(world).count < 3; i++) nanosleep(&nap, NULL);
    assert_true(journalled(world).count >= 3);
    assert_int_equal(xs_world_destroy(world), 0);
    assert_int_equal(fake_live_all(), 0);
}

static void off_means_between_launches_alone(void **state) {
    (void)state;
    struct timespec nap = {1, 300000000};
    xs_world *world = made(-1);
    nanosleep(&nap, NULL);
    assert_int_equal(journalled(world).count, 1);
    assert_int_equal(xs_sync(world), 0);
    assert_int_equal(journalled(world).count, 2);
    assert_int_equal(xs_world_destroy(world), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_is_bracketed_and_tells_the_step),
        cmocka_unit_test(a_planted_error_is_in_the_sample),
        cmocka_unit_test(the_clock_is_asked_while_nothing_is_launched),
        cmocka_unit_test(off_means_between_launches_alone),
    };
    fake_load();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
