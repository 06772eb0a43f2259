/* Residency, streams, and what is reported of launches. */
#include "harness.h"

typedef struct residents {
    uint32_t now, most, starts;
    uint32_t started[64]; /* block of the grid, in order of start */
} residents;

static void resident_kernel(void *argument) {
    residents *r = argument;
    r->started[r->starts++] = h_self()->block;
    r->now++;
    r->most = r->now > r->most ? r->now : r->most;
    h_work(1000 + 100 * h_block());
    r->now--;
}

static void residency_is_kept_and_used(void **state) {
    (void)state;
    for (uint32_t residency = 1; residency <= 5; residency++) {
        residents r = {0, 0, 0, {0}};
        harness h;
        harness_open(&h, 2, residency);
        h.world.config.residency = residency;
        harness_launch(&h, resident_kernel, &r, 0, 0, 8, 32);
        assert_int_equal(harness_sync(&h), 0);
        assert_int_equal(r.most, residency);
        assert_int_equal(r.starts, 16);
        harness_close(&h);
    }
}

/* With one at a time: block 0 of each rank, then block 1 of each, and so on. */
static void lowest_block_of_any_rank_first(void **state) {
    (void)state;
    residents r = {0, 0, 0, {0}};
    harness h;
    harness_open(&h, 2, 5);
    h.world.config.residency = 1;
    harness_launch(&h, resident_kernel, &r, 0, 0, 8, 32);
    assert_int_equal(harness_sync(&h), 0);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(r.started[i], i / 2 + i % 2 * 8);
    harness_close(&h);
}

static void all_are_resident_by_default(void **state) {
    (void)state;
    residents r = {0, 0, 0, {0}};
    assert_int_equal(harness_run(4, 1, resident_kernel, &r, 16, 32), 0);
    assert_int_equal(r.most, 64);
}

static void identity_kernel(void *argument) {
    uint8_t *seen = argument;
    const xs_host_thread *self = h_self();
    assert_int_equal(self->blocks, 6);
    assert_int_equal(self->warps, 3);
    assert_true(self->block < 6 && self->warp < 3);
    seen[self->block * 3 + self->warp]++;
}

static void every_warp_of_every_block_runs_once(void **state) {
    (void)state;
    uint8_t seen[18] = {0};
    assert_int_equal(harness_run(2, 1, identity_kernel, seen, 3, 65), 0);
    for (int i = 0; i < 18; i++)
        assert_int_equal(seen[i], 1);
}

typedef struct stream {
    uint32_t at, log[64];
    uint64_t work;
} stream;

static void stream_kernel(void *argument) {
    stream *s = argument;
    h_work(s->work);
    s->log[s->at++] = h_rank();
}

static uint64_t slot;
static void wait_kernel(void *argument) {
    (void)argument;
    assert_int_equal(h_wait(&slot, 1, 0), 0);
}
static void signal_kernel(void *argument) {
    (void)argument;
    h_signal(&slot, 1, XS_SCOPE_SYS);
}

static void wait_stuck_kernel(void *argument) {
    (void)argument;
    assert_int_equal(h_wait(&slot, 1, 0), XS_RESULT_ABORTED);
}

static void one_rank_in_order_others_beside(void **state) {
    (void)state;
    harness h;
    stream slow = {0, {0}, 5000}, fast = {0, {0}, 10};
    harness_open(&h, 2, 1);
    harness_launch(&h, stream_kernel, &slow, 0, 1, 2, 32); /* 0: rank 0 */
    harness_launch(&h, stream_kernel, &fast, 0, 1, 2, 32); /* 1: rank 0, behind 0 */
    harness_launch(&h, stream_kernel, &fast, 1, 1, 2, 32); /* 2: rank 1, beside both */
    assert_int_equal(harness_sync(&h), 0);
    assert_true(harness_launches[1].begin >= harness_launches[0].end);
    assert_true(harness_launches[2].end < harness_launches[0].end);
    assert_int_equal(fast.log[0], 1);
    assert_int_equal(fast.log[3], 0);
    harness_close(&h);
}

/* A launch on rank 0 may wait for one on rank 1 that was launched later. */
static void launches_of_two_ranks_may_wait_for_each_other(void **state) {
    (void)state;
    harness h;
    slot = 0;
    harness_open(&h, 2, 1);
    harness_launch(&h, wait_kernel, NULL, 0, 1, 1, 32);
    harness_launch(&h, signal_kernel, NULL, 1, 1, 1, 32);
    assert_int_equal(harness_sync(&h), 0);
    harness_close(&h);
}

/* On one rank it may not: the later one never starts. */
static void on_one_rank_that_is_a_deadlock(void **state) {
    (void)state;
    harness h;
    slot = 0;
    harness_open(&h, 2, 1);
    harness_launch(&h, wait_stuck_kernel, NULL, 0, 1, 1, 32);
    harness_launch(&h, signal_kernel, NULL, 0, 1, 1, 32);
    assert_int_equal(harness_sync(&h), XS_E_DEADLOCK);
    assert_int_equal(harness_launches[0].result, XS_E_DEADLOCK);
    assert_int_equal(harness_launches[1].result, 0); /* ran afterwards */
    assert_int_equal(slot, 1);
    harness_close(&h);
}

static void time_goes_on_across_launches(void **state) {
    (void)state;
    harness h;
    uint64_t before = SIM_TIME_START;
    stream s = {0, {0}, 1000};
    harness_open(&h, 1, 1);
    assert_int_equal(xs_scheduler_sim.host_now(h.state), SIM_TIME_START);
    for (uint32_t i = 0; i < 5; i++) {
        harness_launch(&h, stream_kernel, &s, 0, 0, 1, 32);
        assert_int_equal(harness_sync(&h), 0);
        assert_true(harness_launches[i].begin >= before);
        assert_true(harness_launches[i].end >= harness_launches[i].begin + 1000);
        before = harness_launches[i].end;
        assert_int_equal(xs_scheduler_sim.host_now(h.state), before);
    }
    assert_int_equal(harness_sync(&h), 0); /* nothing to do */
    harness_close(&h);
}

static void refused(harness *h, uint32_t first, uint32_t ranks, uint32_t grid, uint32_t block) {
    xs_kernel kernel = {.name = "refused", .host = NULL};
    xs_launch_order order = {.kernel = &kernel, .config = {sizeof order.config, grid, block, first, ranks, 0}};
    order.handle.rank = first;
    assert_int_equal(xs_scheduler_sim.launch(h->state, &order), XS_E_ARGUMENT);
}

static void nested_kernel(void *argument) {
    harness *h = argument;
    assert_int_equal(xs_scheduler_sim.sync(h->state), XS_E_BUSY);
}

static void bad_launches_are_refused(void **state) {
    (void)state;
    harness h;
    harness_open(&h, 2, 1);
    refused(&h, 0, 0, 1, 32); /* no host form */
    refused(&h, 0, 3, 1, 32);
    refused(&h, 2, 1, 1, 32);
    refused(&h, 0, 0, 0, 32);
    refused(&h, 0, 0, 1, 0);
    harness_launch(&h, nested_kernel, &h, 0, 1, 1, 32);
    assert_int_equal(harness_sync(&h), 0);
    harness_close(&h);
}

static void never_runs(const void *args, const xs_handle *handle) {
    (void)args;
    (void)handle;
    fail();
}

static void orders_never_synced_are_dropped(void **state) {
    (void)state;
    xs_kernel kernel = {.name = "never", .host = never_runs};
    xs_launch_order order = {.kernel = &kernel, .config = {sizeof order.config, 1, 32, 0, 0, 0}};
    harness h;
    harness_open(&h, 2, 1);
    assert_int_equal(xs_scheduler_sim.launch(h.state, &order), 0);
    harness_close(&h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(residency_is_kept_and_used),
        cmocka_unit_test(lowest_block_of_any_rank_first),
        cmocka_unit_test(all_are_resident_by_default),
        cmocka_unit_test(every_warp_of_every_block_runs_once),
        cmocka_unit_test(one_rank_in_order_others_beside),
        cmocka_unit_test(launches_of_two_ranks_may_wait_for_each_other),
        cmocka_unit_test(on_one_rank_that_is_a_deadlock),
        cmocka_unit_test(time_goes_on_across_launches),
        cmocka_unit_test(bad_launches_are_refused),
        cmocka_unit_test(orders_never_synced_are_dropped),
    };
    return cmocka_run_group_tests_name("sim: launches", tests, NULL, NULL);
}
