/* sim behind the public API, with real primitives and their events: same seed, same region; right for many seeds; a deadlock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "relay.kernel.h"
#include "world.h"

typedef struct outcome {
    int result;
    uint32_t stale, ended;
    char *events; /* ring headers, status lines and records */
    size_t bytes;
} outcome;

static outcome relay_run(uint64_t seed, uint32_t stuck, int keep) {
    xs_config config = {.size = sizeof config, .version = 1, .backend = "host", .scheduler = "sim", .ranks = 3, .seed = seed,
                        .ring_records = 256, .rings = 64};
    outcome o = {0, 0, 0, NULL, 0};
    struct relay_args args = {.rounds = 6, .stuck = stuck, .stale = &o.stale, .ended = &o.ended};
    xs_launch_config launch = {.size = sizeof launch, .grid = 2, .block = 64};
    xs_world *world;
    assert_int_equal(xs_world_create(&config, &world), 0);
    assert_int_equal(xs_pad_create(world, "done", 1, 2, 0, &args.done), 0);
    assert_int_equal(xs_pad_create(world, "counters", 1, 3, XS_PAD_SHARED, &args.counters), 0);
    assert_int_equal(xs_buffer_create(world, "rows", 2 * RELAY_WORDS * 8, &args.rows), 0);
    assert_true(xs_launch(world, &relay_kernel, &launch, &args, sizeof args) > 0);
    o.result = xs_sync(world);
    if (keep) {
        const xs_region_header *region = xs_region(world);
        o.bytes = region->catalog_offset - region->ring_headers_offset;
        o.events = malloc(o.bytes);
        assert_non_null(o.events);
        memcpy(o.events, world->region + region->ring_headers_offset, o.bytes);
    }
    xs_world_destroy(world);
    return o;
}

static void same_seed_same_events(void **state) {
    (void)state;
    uint32_t others = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        outcome a = relay_run(seed, 0, 1), b = relay_run(seed, 0, 1), c = relay_run(seed + 1000, 0, 1);
        assert_int_equal(a.bytes, b.bytes);
        assert_memory_equal(a.events, b.events, a.bytes);
        others += memcmp(a.events, c.events, a.bytes) != 0;
        free(a.events);
        free(b.events);
        free(c.events);
    }
    assert_int_equal(others, 10);
}

static void right_for_many_seeds(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        outcome o = relay_run(seed, 0, 0);
        assert_int_equal(o.result, 0);
        assert_int_equal(o.stale, 0);
        assert_int_equal(o.ended, 3 * 2 * 2);
    }
}

static void a_signal_that_never_comes(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        outcome o = relay_run(seed, 1, 0);
        assert_int_equal(o.result, XS_E_DEADLOCK);
        assert_int_equal(o.ended, 3 * 2 * 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_seed_same_events),
        cmocka_unit_test(right_for_many_seeds),
        cmocka_unit_test(a_signal_that_never_comes),
    };
    return cmocka_run_group_tests_name("sim: worlds", tests, NULL, NULL);
}
