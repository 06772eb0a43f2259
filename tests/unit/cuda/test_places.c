/* Which rank runs where, CPU threads beside GPU ranks, and counters that both would add to. */
#include "cuda_driver.h"
#include "cuda_test.h"
#include "world.h"

FAKE_KERNEL(meet, sizeof(struct meet_args), 0);

static xs_world *made(xs_config config) {
    xs_world *world = NULL;
    int rc = xs_world_create(&config, &world);
    if (rc) fail_msg("%s: %s", xs_strerror(rc), xs_error_detail());
    return world;
}

static void rings_name_the_clock_of_their_rank(void **state) {
    (void)state;
    xs_config config = cuda_config(5);
    config.cpu_ranks = "1,4";
    xs_world *world = made(config);
    const int expected[] = {0, -1, 0, 1, -1};
    for (uint32_t r = 0; r < 5; r++) assert_int_equal(xs_world_device(world, r), expected[r]);
    assert_int_equal(xs_world_destroy(world), 0);
    assert_int_equal(fake_live_all(), 0);
}

static void devices_are_taken_in_the_order_given(void **state) {
    (void)state;
    fake->gpus = 4;
    xs_config config = cuda_config(4);
    config.devices = "3,1";
    xs_world *world = made(config);
    const int expected[] = {3, 3, 1, 1};
    for (uint32_t r = 0; r < 4; r++) assert_int_equal(xs_world_device(world, r), expected[r]);
    assert_int_equal(xs_world_destroy(world), 0);
    fake->gpus = 2;
}

static void ranks_that_are_not_here_run_on_no_gpu(void **state) {
    (void)state;
    xs_world *world = made(cuda_config(2));
    assert_int_equal(xs_world_device(world, 2), -1);
    assert_int_equal(xs_world_device(world, UINT32_MAX), -1);
    assert_int_equal(xs_world_device(NULL, 0), -1);
    assert_int_equal(xs_world_destroy(world), 0);
    xs_config config = {.size = sizeof config, .version = 1, .backend = "host", .ranks = 1};
    world = made(config);
    assert_int_equal(xs_world_device(world, 0), -1);
    assert_int_equal(xs_world_destroy(world), 0);
}

static CUcontext current(void) {
    CUcontext context = NULL;
    xs_cuda_load()->context_get(&context);
    return context;
}

/* All that xs does on GPUs it does on contexts of its choice. */
static void what_the_caller_had_current_stays_current(void **state) {
    (void)state;
    struct meet_args args;
    uint64_t value;
    xs_config config = cuda_config(4);
    config.placement = "device";
    const xs_cuda_driver *cuda = xs_cuda_load();
    CUcontext own;
    assert_int_equal(cuda->context_retain(&own, 0), CUDA_SUCCESS); /* ranks 2 and 3 are on the other */
    assert_int_equal(cuda->context_set(own), CUDA_SUCCESS);
    xs_world *world = made(config);
    assert_ptr_equal(current(), own);
    assert_int_equal(xs_pad_create(world, "meet", 1, 4, 0, &args.pad), 0);
    assert_ptr_equal(current(), own);
    assert_int_equal(xs_slot_write(world, &args.pad, 3, 0, 0, 0), 0);
    assert_int_equal(xs_slot_read(world, &args.pad, 3, 0, 0, &value), 0);
    assert_ptr_equal(current(), own);
    args.value = 1;
    assert_true(cuda_launch(world, &meet_gpu, 2, 0, 0, &args, sizeof args) > 0);
    assert_ptr_equal(current(), own);
    assert_int_equal(xs_sync(world), 0);
    assert_ptr_equal(current(), own);
    assert_int_equal(xs_world_destroy(world), 0);
    assert_ptr_equal(current(), own);
    assert_int_equal(cuda->context_set(NULL), CUDA_SUCCESS);
    assert_int_equal(cuda->context_release(0), CUDA_SUCCESS);
    assert_int_equal(fake_live_all(), 0);
}

static void a_handle_is_for_the_gpu_of_its_rank(void **state) {
    (void)state;
    xs_handle handle;
    xs_world *world = made(cuda_config(2)); /* one a GPU */
    const xs_cuda_driver *cuda = xs_cuda_load();
    CUcontext contexts[2];
    for (int gpu = 0; gpu < 2; gpu++) {
        assert_int_equal(cuda->context_retain(&contexts[gpu], gpu), 0);
        assert_int_equal(xs_world_device(world, (uint32_t)gpu), gpu);
    }
    cuda->context_set(contexts[0]);
    assert_true(xs_handle_begin(world, "mine", 0, 1, 32, &handle) > 0);
    assert_int_equal(xs_handle_begin(world, "mine", 1, 1, 32, &handle), XS_E_ARGUMENT);
    assert_non_null(strstr(xs_error_detail(), "rank 1 lives on GPU 1"));
    cuda->context_set(contexts[1]);
    assert_true(xs_handle_begin(world, "mine", 1, 1, 32, &handle) > 0);
    cuda->context_set(NULL); /* the runtime will choose */
    assert_true(xs_handle_begin(world, "mine", 1, 1, 32, &handle) > 0);
    for (int gpu = 0; gpu < 2; gpu++) assert_int_equal(cuda->context_release(gpu), 0);
    assert_int_equal(xs_world_destroy(world), 0);
    assert_int_equal(fake_live_all(), 0);
}

static void places_that_make_no_sense_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *devices, *cpu, *words;
    } cases[] = {{"0,0", NULL, "twice"},       {"2", NULL, "expected GPUs from 0 to 1"}, {"x", NULL, "expected numbers of GPUs"},
                 {NULL, "3", "from 0 to 2"},   {NULL, "0-2", "every rank is a CPU thread"}, {NULL, "1-0", "expected ranks"},
                 {"0-", NULL, "expected numbers of GPUs"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        xs_config config = cuda_config(3);
        config.devices = cases[i].devices;
        config.cpu_ranks = cases[i].cpu;
        xs_world *world = NULL;
        assert_true(xs_world_create(&config, &world) < 0);
        if (!strstr(xs_error_detail(), cases[i].words)) fail_msg("case %zu: %s", i, xs_error_detail());
    }
    assert_int_equal(fake_live_all(), 0);
}

/* It would be taken for what it is not: runs that repeat. */
static void sim_on_cuda_is_refused(void **state) {
    (void)state;
    for (int by_variable = 0; by_variable < 2; by_variable++) {
        xs_config config = cuda_config(2);
        config.scheduler = by_variable ? NULL : "sim";
        if (by_variable) setenv("XS_SCHEDULER", "sim", 1);
        xs_world *world = NULL;
        assert_int_equal(xs_world_create(&config, &world), XS_E_UNSUPPORTED);
        unsetenv("XS_SCHEDULER");
        assert_null(world);
        if (!strstr(xs_error_detail(), "\"sim\"") || !strstr(xs_error_detail(), "\"cuda\"")) fail_msg("%s", xs_error_detail());
    }
    assert_int_equal(fake_live_all(), 0);
    assert_int_equal(xs_world_destroy(made(cuda_config(2))), 0);
}

static void cpu_and_gpu_ranks_meet_in_one_launch(void **state) {
    (void)state;
    xs_config config = cuda_config(4);
    config.cpu_ranks = "1,3";
    xs_world *world = made(config);
    struct meet_args args;
    assert_int_equal(xs_pad_create(world, "meet", 1, 4, 0, &args.pad), 0);
    for (args.value = 1; args.value <= 50; args.value++)
        assert_true(cuda_launch(world, &meet_gpu, 2, 0, 0, &args, sizeof args) > 0);
    assert_int_equal(xs_sync(world), 0);
    uint64_t value = 0;
    assert_int_equal(xs_slot_read(world, &args.pad, 3, 0, 0, &value), 0);
    assert_int_equal(value, 50);
    assert_int_equal(xs_world_destroy(world), 0);
    assert_int_equal(fake_live_all(), 0);
}

static void never_signalled(const void *opaque, const xs_handle *xs) {
    const struct meet_args *args = opaque;
    test_wait(xs, cuda_slot(&args->pad, xs->rank, 0), 1000);
}
FAKE_KERNEL(never_signalled, sizeof(struct meet_args), 0);

static void both_sides_leave_on_an_abort(void **state) {
    (void)state;
    xs_config config = cuda_config(2);
    config.cpu_ranks = "1";
    config.wait_ns = 20000000;
    xs_world *world = made(config);
    struct meet_args args;
    assert_int_equal(xs_pad_create(world, "never", 1, 2, 0, &args.pad), 0);
    assert_true(cuda_launch(world, &never_signalled_gpu, 2, 0, 0, &args, sizeof args) > 0);
    assert_int_equal(xs_sync(world), XS_E_TIMEOUT);
    assert_int_equal(xs_world_destroy(world), 0);
    assert_int_equal(fake_live_all(), 0);
}

/* ---- counters ---- */

static int add_writers(xs_world *world, uint32_t flags, uint64_t first, uint64_t second) {
    xs_pad pad;
    char name[32];
    static int number;
    snprintf(name, sizeof name, "counter %d", number++);
    assert_int_equal(xs_pad_create(world, name, 1, 2, XS_PAD_SHARED | flags, &pad), 0);
    xs_plan_entry entries[2] = {{.kind = XS_PLAN_WRITER, .pad_first = pad.first, .owner = 0, .row = 0, .column = 0, .epoch = UINT64_MAX, .a = first},
                                {.kind = XS_PLAN_WRITER, .pad_first = pad.first, .owner = 0, .row = 0, .column = XS_PLAN_ANY, .epoch = UINT64_MAX, .a = second}};
    return xs_plan_add(world, entries, 2);
}

/* Ranks: 0 and 1 on one GPU, 2 on another, 3 on the CPU. */
static xs_world *mixed(void) {
    xs_config config = cuda_config(4);
    config.cpu_ranks = "3";
    return made(config);
}

static void counters_across_links_without_atomics_are_refused(void **state) {
    (void)state;
    xs_world *world = mixed();
    assert_int_equal(add_writers(world, 0, 0, 3), XS_E_UNSUPPORTED);
    assert_non_null(strstr(xs_error_detail(), "rank 3 (CPU) and rank 0 (GPU) both add to one slot"));
    assert_int_equal(add_writers(world, 0, 2, 0), XS_E_UNSUPPORTED); /* two GPUs, and the counter is in host memory */
    assert_int_equal(add_writers(world, 0, 0, 1), 0);                /* one GPU */
    assert_int_equal(add_writers(world, 0, 3, 3), 0);
    assert_int_equal(add_writers(world, 0, XS_PLAN_OWNER, XS_PLAN_OWNER), 0);
    assert_int_equal(add_writers(world, 0, XS_PLAN_OWNER, 3), XS_E_UNSUPPORTED);
    assert_int_equal(add_writers(world, XS_PAD_UNSAFE_COUNTER, 0, 3), 0);
    assert_int_equal(xs_world_destroy(world), 0);
}

static void counters_across_links_with_atomics_are_allowed(void **state) {
    (void)state;
    fake->host_native_atomic = 1;
    xs_world *world = mixed();
    assert_int_equal(add_writers(world, 0, 0, 3), 0);
    assert_int_equal(xs_world_destroy(world), 0);
    fake->host_native_atomic = 0;
}

static void counters_between_gpus_need_atomics_on_their_link(void **state) {
    (void)state;
    xs_world *world = made(cuda_config(2));
    assert_int_equal(add_writers(world, 0, 0, 1), 0);
    fake->peer_native_atomic = 0;
    assert_int_equal(add_writers(world, 0, 0, 1), XS_E_UNSUPPORTED);
    fake->peer_native_atomic = 1;
    assert_int_equal(xs_world_destroy(world), 0);
}

int main(void) {
    fake_load();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_name_the_clock_of_their_rank),
        cmocka_unit_test(devices_are_taken_in_the_order_given),
        cmocka_unit_test(ranks_that_are_not_here_run_on_no_gpu),
        cmocka_unit_test(what_the_caller_had_current_stays_current),
        cmocka_unit_test(a_handle_is_for_the_gpu_of_its_rank),
        cmocka_unit_test(places_that_make_no_sense_are_refused),
        cmocka_unit_test(sim_on_cuda_is_refused),
        cmocka_unit_test(cpu_and_gpu_ranks_meet_in_one_launch),
        cmocka_unit_test(both_sides_leave_on_an_abort),
        cmocka_unit_test(counters_across_links_without_atomics_are_refused),
        cmocka_unit_test(counters_across_links_with_atomics_are_allowed),
        cmocka_unit_test(counters_between_gpus_need_atomics_on_their_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
