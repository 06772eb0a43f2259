/* The room that a kernel takes on an SM, traced and plain: what limits it, and that the launch says so in the journal. */
#include "cuda_test.h"

#include "cuda_state.h"

/* An H200's. */
static const xs_cuda_sm sm = {.threads = 2048, .blocks = 32, .shared = 233472, .shared_a_block = 1024};

static void what_limits_is_told_apart(void **state) {
    (void)state;
    static const struct {
        uint32_t block, blocks;
        uint64_t shared;
        enum xs_room_limit limit;
    } cases[] = {{128, 9, 0, XS_ROOM_REGISTERS},      /* 52 registers, given as 56: 36 warps */
                 {128, 16, 0, XS_ROOM_THREADS},       /* 2 048 threads */
                 {100, 16, 0, XS_ROOM_THREADS},       /* counted in whole warps */
                 {32, 32, 0, XS_ROOM_BLOCKS},         /* 1 024 threads, but no more blocks */
                 {128, 7, 31 * 1024, XS_ROOM_SHARED}, /* 7 times 32 KiB of 228 */
                 {128, 7, 16, XS_ROOM_REGISTERS},     {1024, 2, 0, XS_ROOM_THREADS}, {1024, 1, 0, XS_ROOM_REGISTERS},
                 {1024, 1, 227 * 1024, XS_ROOM_SHARED}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (xs_cuda_room_limit(&sm, cases[i].block, cases[i].shared, cases[i].blocks) != cases[i].limit) fail_msg("case %zu", i);
}

FAKE_KERNEL(meet, sizeof(struct meet_args), 0);
static struct CUfunc_st plain_function;

static xs_launch_room launched_as(xs_config config, const xs_kernel *kernel) {
    xs_world *world = NULL;
    if (xs_world_create(&config, &world)) fail_msg("%s", xs_error_detail());
    struct meet_args args = {.value = 1};
    assert_int_equal(xs_pad_create(world, "meet", 1, 2, 0, &args.pad), 0);
    int id = cuda_launch(world, kernel, 1, 0, 2, &args, sizeof args);
    assert_true(id > 0);
    assert_int_equal(xs_sync(world), 0);
    const xs_region_header *h = xs_region(world);
    const xs_journal_entry *entries = (const xs_journal_entry *)(const void *)(world->region + h->journal_offset);
    xs_launch_room room;
    memset(&room, 255, sizeof room);
    for (uint64_t i = 0; i < h->journal_entries; i++)
        if (entries[i].kind == XS_JOURNAL_LAUNCH_BEGIN && entries[i].a == (uint32_t)id) memcpy(&room, &entries[i].g, sizeof room);
    assert_int_equal(xs_world_destroy(world), 0);
    return room;
}

static xs_launch_room launched(const xs_kernel *kernel) { return launched_as(cuda_config(2), kernel); }

static int resolve_nothing(const void *function, void **cufunction) {
    (void)function, (void)cufunction;
    return 98; /* cudaErrorInvalidDeviceFunction: not compiled for this GPU */
}

static void the_launch_says_what_tracing_takes(void **state) {
    (void)state;
    xs_cuda_entry plain = {&plain_function, fake_resolve};
    xs_kernel kernel = meet_gpu;
    meet_function.blocks = 9, meet_function.registers = 52, meet_function.local = 24;
    plain_function.blocks = 16, plain_function.registers = 32, plain_function.local = 8;
    kernel.twin = 1, kernel.plain = &plain;
    xs_launch_room room = launched(&kernel);
    assert_int_equal(room.blocks, 9);
    assert_int_equal(room.plain_blocks, 16);
    assert_int_equal(room.registers, 52);
    assert_int_equal(room.plain_registers, 32);
    assert_int_equal(room.limit, XS_ROOM_REGISTERS);
    assert_int_equal(room.local, 16);
}

/* Linked by hand, not compiled for this GPU, or by an older compiler's structure: what is known is said, and nothing else. */
static void an_unknown_twin_is_not_made_up(void **state) {
    (void)state;
    xs_cuda_entry plain = {&plain_function, resolve_nothing};
    xs_kernel kernels[3] = {meet_gpu, meet_gpu, meet_gpu};
    kernels[1].twin = 1;
    kernels[2].twin = 1, kernels[2].plain = &plain;
    meet_function.blocks = 9, meet_function.registers = 52, meet_function.local = 24;
    for (int i = 0; i < 3; i++) {
        xs_launch_room room = launched(&kernels[i]);
        assert_true(room.blocks == 9 && room.registers == 52 && room.local == 24);
        assert_true(room.plain_blocks == 0 && room.plain_registers == 0);
    }
}

static int runs, plain_runs; /* blocks */
static void traced_form(const void *args, const xs_handle *xs) {
    __atomic_add_fetch(&runs, 1, __ATOMIC_RELAXED);
    meet(args, xs);
}
static void plain_form(const void *args, const xs_handle *xs) {
    __atomic_add_fetch(&plain_runs, 1, __ATOMIC_RELAXED);
    meet(args, xs);
}
FAKE_KERNEL(traced_form, sizeof(struct meet_args), 0);
FAKE_KERNEL(plain_form, sizeof(struct meet_args), 0);

/* While tracing is stopped, where that is asked for and the twin can run; else as ever. */
static void a_stopped_launch_runs_the_twin(void **state) {
    (void)state;
    xs_cuda_entry nowhere = {&plain_function, resolve_nothing};
    static const struct {
        int asked, start, twin, plain; /* twin 2: not compiled for this GPU */
    } cases[] = {{1, -1, 1, 1}, {0, -1, 1, 0}, {-1, -1, 1, 0}, {1, 1, 1, 0}, {1, -1, 0, 0}, {1, -1, 2, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        xs_config config = cuda_config(2);
        config.plain_stopped = cases[i].asked, config.trace_start = cases[i].start;
        xs_kernel kernel = traced_form_gpu;
        kernel.twin = cases[i].twin != 0;
        kernel.plain = cases[i].twin == 2 ? &nowhere : plain_form_gpu.cuda;
        runs = plain_runs = 0;
        xs_launch_room room = launched_as(config, &kernel);
        if (runs != (cases[i].plain ? 0 : 2) || plain_runs != (cases[i].plain ? 2 : 0) || room.untraced != cases[i].plain)
            fail_msg("case %zu: %d blocks traced, %d plain, told %d", i, runs, plain_runs, room.untraced);
    }
}

static void a_driver_that_cannot_tell_says_nothing(void **state) {
    (void)state;
    meet_function.registers = 0;
    xs_launch_room room = launched(&meet_gpu), nothing = {0};
    assert_memory_equal(&room, &nothing, sizeof room);
}

int main(void) {
    fake_load();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_limits_is_told_apart),
        cmocka_unit_test(the_launch_says_what_tracing_takes),
        cmocka_unit_test(an_unknown_twin_is_not_made_up),
        cmocka_unit_test(a_stopped_launch_runs_the_twin),
        cmocka_unit_test(a_driver_that_cannot_tell_says_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
