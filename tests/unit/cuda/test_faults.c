/* Kernels that spoil their context, never end, or never start; and a driver that started before xs. */
#include <time.h>

#include "cuda_test.h"
#include "world.h"

FAKE_KERNEL(meet, sizeof(struct meet_args), 0);

static void ends_badly(const void *opaque, const xs_handle *xs) { (void)opaque, (void)xs; }
FAKE_KERNEL(ends_badly, 0, CUDA_ERROR_ILLEGAL_ADDRESS);

static int let_go; /* the only thing that ends a hanging kernel: not even an abort does */
static void hangs(const void *opaque, const xs_handle *xs) {
    (void)opaque, (void)xs;
    while (!__atomic_load_n(&let_go, __ATOMIC_ACQUIRE)) xs_host_poll_failed(&let_go, 100000, 0);
}
FAKE_KERNEL(hangs, 0, 0);

static void waits_for_abort(const void *opaque, const xs_handle *xs) {
    (void)opaque;
    static const uint64_t never;
    test_wait(xs, &never, 1);
}
FAKE_KERNEL(waits_for_abort, 0, 0);

static xs_world *made(xs_config config) {
    xs_world *world = NULL;
    int rc = xs_world_create(&config, &world);
    if (rc) fail_msg("%s: %s", xs_strerror(rc), xs_error_detail());
    return world;
}

static void expect_the_fault(int rc) {
    assert_int_equal(rc, XS_E_SYSTEM);
    if (!strstr(xs_error_detail(), "kernel ends_badly (launch 1, ranks 0 to 0) on GPU 0: CUDA_ERROR_ILLEGAL_ADDRESS"))
        fail_msg("%s", xs_error_detail());
}

static void a_fault_names_its_kernel_and_stays(void **state) {
    (void)state;
    xs_world *world = made(cuda_config(1));
    struct meet_args args = {.value = 1};
    uint64_t value;
    assert_int_equal(xs_pad_create(world, "meet", 1, 1, 0, &args.pad), 0);
    assert_true(cuda_launch(world, &ends_badly_gpu, 1, 0, 0, NULL, 0) > 0);
    expect_the_fault(xs_sync(world));
    expect_the_fault(xs_sync(world));
    expect_the_fault(cuda_launch(world, &meet_gpu, 1, 0, 0, &args, sizeof args));
    expect_the_fault(xs_slot_read(world, &args.pad, 0, 0, 0, &value));
    expect_the_fault(xs_pad_create(world, "another", 1, 1, 0, &args.pad));
    xs_world_destroy(world);
    assert_int_equal(fake_live_all(), 0);
}

/* The others of its world wait for what it will never send. */
static void a_fault_of_one_gpu_ends_all_ranks(void **state) {
    (void)state;
    xs_config config = cuda_config(3);
    config.cpu_ranks = "2";
    xs_world *world = made(config);
    assert_true(cuda_launch(world, &waits_for_abort_gpu, 1, 1, 1, NULL, 0) > 0);
    assert_true(cuda_launch(world, &waits_for_abort_gpu, 1, 2, 1, NULL, 0) > 0);
    assert_true(cuda_launch(world, &ends_badly_gpu, 1, 0, 1, NULL, 0) > 0);
    assert_int_equal(xs_sync(world), XS_E_SYSTEM);
    assert_non_null(strstr(xs_error_detail(), "kernel ends_badly"));
    assert_int_equal(xs_aborted_reason(world), XS_E_SYSTEM);
    xs_world_destroy(world);
    assert_int_equal(fake_live_all(), 0);
}

/* The GPU still writes to it after the world is gone. */
static void what_a_hanging_kernel_uses_is_kept(void **state) {
    (void)state;
    xs_config config = cuda_config(1);
    config.wait_ns = 1000000;
    xs_world *world = made(config);
    char *region = world->region;
    let_go = 0;
    assert_true(cuda_launch(world, &hangs_gpu, 1, 0, 0, NULL, 0) > 0);
    assert_int_equal(xs_sync(world), XS_E_TIMEOUT);
    assert_int_equal(xs_world_destroy(world), XS_E_TIMEOUT);
    assert_true(fake->live[FAKE_REGISTERED] == 1 && fake->live[FAKE_STREAMS] == 3);
    assert_int_equal(((xs_region_header *)region)->magic, XS_REGION_MAGIC);
    __atomic_store_n(&let_go, 1, __ATOMIC_RELEASE);
}

static void blocks_that_find_no_room_are_not_resident(void **state) {
    (void)state;
    fake->gpus = 1;
    xs_config config = cuda_config(2);
    config.start_ns = 50000000;
    xs_world *world = made(config);
    assert_true(cuda_launch(world, &waits_for_abort_gpu, 5, 0, 1, NULL, 0) > 0);
    while (xs_region_started(world, 0, 1, 5, 1) < 5) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_true(cuda_launch(world, &waits_for_abort_gpu, 4, 1, 1, NULL, 0) > 0); /* 8 fit */
    assert_int_equal(xs_sync(world), XS_E_NOT_RESIDENT);
    if (!strstr(xs_error_detail(), "kernel waits_for_abort: 0 of 4 blocks have started on GPU 0 within 50 ms")) fail_msg("%s", xs_error_detail());
    assert_int_equal(xs_aborted_reason(world), XS_E_NOT_RESIDENT);
    xs_world_destroy(world);
    fake->gpus = 2;
}

static void *let_go_later(void *start_ns) {
    uint64_t ns = *(const uint64_t *)start_ns + 1000000000;
    nanosleep(&(struct timespec){(time_t)(ns / 1000000000), (long)(ns % 1000000000)}, NULL);
    __atomic_store_n(&let_go, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Behind another launch of the same rank is not "no room". */
static void a_launch_behind_a_slow_one_may_wait(void **state) {
    (void)state;
    xs_config config = cuda_config(1);
    config.start_ns = 4000000000; /* enough for a thread to start, on a busy machine too */
    xs_world *world = made(config);
    let_go = 0;
    struct meet_args args = {.value = 1};
    assert_int_equal(xs_pad_create(world, "meet", 1, 1, 0, &args.pad), 0);
    assert_true(cuda_launch(world, &hangs_gpu, 1, 0, 0, NULL, 0) > 0);
    while (xs_region_started(world, 0, 1, 1, 1) < 1) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    assert_true(cuda_launch(world, &meet_gpu, 1, 0, 0, &args, sizeof args) > 0);
    pthread_t waker;
    assert_int_equal(pthread_create(&waker, NULL, let_go_later, &config.start_ns), 0);
    int rc = xs_sync(world);
    pthread_join(waker, NULL);
    assert_int_equal(rc, 0);
    assert_int_equal(xs_world_destroy(world), 0);
}

static void streams_beyond_the_connections_are_refused(void **state) {
    (void)state;
    fake->gpus = 1;
    fake->processors = 64;
    xs_world *world = made(cuda_config(40));
    int rc = 1, launched = 0;
    for (uint32_t r = 0; r < 40 && rc > 0; r++, launched += rc > 0) rc = cuda_launch(world, &waits_for_abort_gpu, 1, r, 1, NULL, 0);
    assert_int_equal(launched, 30); /* and two for copies */
    assert_int_equal(rc, XS_E_UNSUPPORTED);
    assert_non_null(strstr(xs_error_detail(), "CUDA_DEVICE_MAX_CONNECTIONS allows 32"));
    xs_abort(world, XS_E_ABORTED);
    assert_int_equal(xs_sync(world), XS_E_ABORTED);
    xs_world_destroy(world);
    fake->gpus = 2;
    fake->processors = 4;
}

static void the_environment_is_set_before_the_driver_starts(void **state) {
    (void)state;
    assert_string_equal(getenv("CUDA_DEVICE_MAX_CONNECTIONS"), "32");
    assert_string_equal(getenv("CUDA_MODULE_LOADING"), "EAGER");
}

int main(void) {
    fake_load();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_names_its_kernel_and_stays),
        cmocka_unit_test(a_fault_of_one_gpu_ends_all_ranks),
        cmocka_unit_test(blocks_that_find_no_room_are_not_resident),
        cmocka_unit_test(a_launch_behind_a_slow_one_may_wait),
        cmocka_unit_test(streams_beyond_the_connections_are_refused),
        cmocka_unit_test(the_environment_is_set_before_the_driver_starts),
        cmocka_unit_test(what_a_hanging_kernel_uses_is_kept), /* last: what it leaves stays */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
