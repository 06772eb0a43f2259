/* What is recorded: start, stop, filters, their environment; forked children; the probe. */
#include <signal.h>
#include <sys/wait.h>

#include "lib_test.h"
#include "world.h"

static const xs_control *control_of(const xs_world *world) { return xs_region_control(xs_region(world)); }

static void start_and_stop(void **state) {
    (void)state;
    xs_config config = test_config(1);
    config.trace_start = -1;
    config.payload = -1;
    xs_world *world;
    assert_int_equal(xs_world_create(&config, &world), 0);
    assert_int_equal(control_of(world)->started, 0);
    assert_int_equal(xs_trace_start(world), 0);
    assert_int_equal(control_of(world)->started, XS_STARTED);
    assert_int_equal(xs_trace_stop(world), 0);
    assert_int_equal(control_of(world)->started, 0);
    assert_int_equal(world->journal_next, 4); /* each switch is in the journal, and a clock pair */
    xs_world_destroy(world);
}

static const xs_journal_entry *newest_of_journal(const xs_world *world) {
    const xs_region_header *h = xs_region(world);
    return (const xs_journal_entry *)(world->region + h->journal_offset) + ((world->journal_next - 1) & (h->journal_entries - 1));
}

static void filters(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    xs_filter filter = {sizeof filter, 1, 2, 3, 4, 5, 6}, bad = filter;
    assert_int_equal(xs_trace_filter(world, &filter), 0);
    const xs_control *c = control_of(world);
    assert_true(c->rank_first == 1 && c->rank_last == 2 && c->block_first == 3 && c->block_last == 4);
    assert_true(c->epoch_first == 5 && c->epoch_last == 6);
    bad.rank_first = 9;
    assert_int_equal(xs_trace_filter(world, &bad), XS_E_ARGUMENT);
    assert_int_equal(xs_trace_filter(world, NULL), XS_E_ARGUMENT);
    assert_int_equal(c->rank_first, 1);
    assert_int_equal(c->started, XS_STARTED | XS_STARTED_PAYLOAD | XS_STARTED_FILTERED); /* else no writer would look */
    assert_int_equal(newest_of_journal(world)->kind, XS_JOURNAL_TRACE_STATE);
    assert_int_equal(newest_of_journal(world)->a, c->started); /* else readers would miss what was left out */
    assert_int_equal(xs_trace_stop(world), 0);
    assert_int_equal(c->started, XS_STARTED_FILTERED);
    xs_filter open = {sizeof open, 0, UINT32_MAX, 0, UINT32_MAX, 0, UINT64_MAX};
    assert_int_equal(xs_trace_filter(world, &open), 0);
    assert_int_equal(xs_trace_start(world), 0);
    assert_int_equal(c->started, XS_STARTED | XS_STARTED_PAYLOAD);
    xs_world_destroy(world);
}

/* A GPU's warps would take turns at the control's words. */
static void every_ring_has_its_window(void **state) {
    (void)state;
    xs_world *world = test_world(3);
    xs_filter filter = {sizeof filter, 1, 2, 3, 4, 5, 6};
    const xs_region_header *h = xs_region(world);
    for (int step = 0; step < 4; step++) {
        if (step == 1) assert_int_equal(xs_trace_stop(world), 0);
        if (step == 2) assert_int_equal(xs_trace_filter(world, &filter), 0);
        if (step == 3) assert_int_equal(xs_trace_start(world), 0);
        for (uint32_t i = 0; i < h->ranks * h->rings_per_rank; i++) {
            const xs_ring_header *ring = (const xs_ring_header *)(const void *)(world->region + h->ring_headers_offset + i * h->ring_header_stride);
            assert_memory_equal(&ring->window, control_of(world) + i / h->rings_per_rank, sizeof ring->window);
        }
    }
    xs_world_destroy(world);
}

static void filters_from_the_environment(void **state) {
    (void)state;
    setenv("XS_FILTER_RANKS", "2-3", 1);
    setenv("XS_FILTER_BLOCKS", "7", 1);
    setenv("XS_FILTER_EPOCHS", "100-200", 1);
    xs_world *world = test_world(1);
    const xs_control *c = control_of(world);
    assert_true(c->rank_first == 2 && c->rank_last == 3 && c->block_first == 7 && c->block_last == 7);
    assert_true(c->epoch_first == 100 && c->epoch_last == 200);
    xs_world_destroy(world);
    setenv("XS_FILTER_EPOCHS", "200-100", 1);
    assert_int_equal(xs_world_create(NULL, &world), XS_E_ARGUMENT);
    assert_non_null(strstr(xs_error_detail(), "XS_FILTER_EPOCHS=200-100"));
    unsetenv("XS_FILTER_RANKS");
    unsetenv("XS_FILTER_BLOCKS");
    unsetenv("XS_FILTER_EPOCHS");
}

static void nothing_to_dump(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    if (!world->collect_state) assert_int_equal(xs_trace_dump(world, "why"), XS_E_UNSUPPORTED);
    xs_world_destroy(world);
}

static int in_child(xs_world *world) {
    xs_pad pad;
    uint64_t value;
    if (xs_pad_create(world, "p", 1, 1, 0, &pad) != XS_E_FORKED) return 1;
    if (xs_slot_read(world, &world->heartbeat, 0, 0, 0, &value) != XS_E_FORKED) return 2;
    if (xs_abort(world, 0) != XS_E_FORKED || xs_sync(world) != XS_E_FORKED || xs_trace_stop(world) != XS_E_FORKED)
        return 3;
    if (xs_role(world, "r") != XS_E_FORKED) return 4;
    xs_world *own;
    if (xs_world_create(NULL, &own)) return 5; /* a world of the child's own */
    if (xs_region(own)->pid != getpid()) return 6;
    if (xs_world_destroy(own)) return 7;
    return xs_world_destroy(world) == XS_E_FORKED ? 0 : 8;
}

static void a_forked_child_is_told(void **state) {
    (void)state;
    xs_world *world = test_world(2);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) _exit(in_child(world));
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    xs_pad pad;
    assert_int_equal(xs_pad_create(world, "p", 1, 1, 0, &pad), 0); /* the parent's world is as it was */
    assert_int_equal(control_of(world)->started, XS_STARTED | XS_STARTED_PAYLOAD);
    assert_int_equal(xs_region(world)->state, XS_REGION_LIVE);
    assert_int_equal(xs_world_destroy(world), 0);
}

static xs_world *handled;
static void on_signal(int number) {
    (void)number;
    xs_abort(handled, XS_E_TIMEOUT);
}

static void abort_in_a_signal_handler(void **state) {
    (void)state;
    handled = test_world(1);
    assert_int_equal(xs_aborted_reason(handled), 0);
    signal(SIGUSR2, on_signal);
    raise(SIGUSR2);
    signal(SIGUSR2, SIG_DFL);
    assert_int_equal(xs_aborted_reason(handled), XS_E_TIMEOUT);
    assert_int_equal(xs_sync(handled), XS_E_TIMEOUT);
    xs_world_destroy(handled);
}

static void the_machine_is_probed(void **state) {
    (void)state;
    xs_probe probe = {.size = sizeof probe};
    assert_int_equal(xs_probe_machine(&probe), 0);
    assert_true(probe.cpus >= 1);
    assert_true(probe.time_step_ns >= 1 && probe.time_step_ns < 1000000);
    assert_true(probe.record_ns_x100 > 0);
    assert_true(probe.memfd_limit >= 64 << 20);
    assert_int_equal(probe.recorder, 0);
    assert_true(probe.store16_reads > 100000 && probe.control_reads > 0);
    assert_int_equal(probe.store16_torn, 0);
    if (probe.cpus > 1) assert_true(probe.control_torn > 0); /* the test can see tears */
    assert_int_equal(probe.store16_whole, probe.control_torn > 0);
    xs_probe old = {.size = offsetof(xs_probe, store16_reads), .control_torn = 77};
    assert_int_equal(xs_probe_machine(&old), 0);
    assert_int_equal(old.control_torn, 77); /* beyond the caller's size: left alone */
    probe.size = 4;
    assert_int_equal(xs_probe_machine(&probe), XS_E_ARGUMENT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start_and_stop),
        cmocka_unit_test(filters),
        cmocka_unit_test(every_ring_has_its_window),
        cmocka_unit_test(filters_from_the_environment),
        cmocka_unit_test(nothing_to_dump),
        cmocka_unit_test(a_forked_child_is_told),
        cmocka_unit_test(abort_in_a_signal_handler),
        cmocka_unit_test(the_machine_is_probed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
