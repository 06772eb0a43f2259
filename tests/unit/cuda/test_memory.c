/* One process on the fake driver: memory, launches, residency, and every driver call that can fail. */
#include "cuda_test.h"
#include "cuda_state.h"

FAKE_KERNEL(meet, sizeof(struct meet_args), 0);

static void ranks_of_several_gpus_meet(void **state) {
    (void)state;
    xs_config config = cuda_config(5);
    xs_world *world = NULL;
    assert_int_equal(xs_world_create(&config, &world), 0);
    assert_string_equal(xs_world_backend(world), "cuda");
    struct meet_args args = {.value = 7};
    xs_buffer buffer;
    assert_int_equal(xs_pad_create(world, "meet", 1, 5, 0, &args.pad), 0);
    assert_int_equal(xs_buffer_create(world, "rows", 100, &buffer), 0);
    assert_true(cuda_launch(world, &meet_gpu, 2, 0, 0, &args, sizeof args) > 0);
    assert_int_equal(xs_sync(world), 0);
    for (uint32_t owner = 0; owner < 5; owner++)
        for (uint32_t column = 0; column < 5; column++) {
            uint64_t value = 0;
            assert_int_equal(xs_slot_read(world, &args.pad, owner, 0, column, &value), 0);
            assert_int_equal(value, 7);
        }
    char in[100] = "payload", out[100] = "";
    assert_int_equal(xs_buffer_write(world, &buffer, 3, 0, in, sizeof in), 0);
    assert_int_equal(xs_buffer_read(world, &buffer, 3, 0, out, sizeof out), 0);
    assert_string_equal(out, "payload");
    assert_int_equal(xs_slot_write(world, &args.pad, 2, 0, 1, 99), 0);
    uint64_t value = 0;
    assert_int_equal(xs_slot_read(world, &args.pad, 2, 0, 1, &value), 0);
    assert_int_equal(value, 99);
    assert_int_equal(xs_world_destroy(world), 0);
    assert_int_equal(fake_live_all(), 0);
}

static void memory_is_zero_when_it_is_given_out(void **state) {
    (void)state;
    xs_config config = cuda_config(2);
    xs_world *world = NULL;
    xs_pad pad;
    assert_int_equal(xs_world_create(&config, &world), 0);
    assert_int_equal(xs_pad_create(world, "zero", 1, 2, 0, &pad), 0);
    for (uint32_t owner = 0; owner < 2; owner++)
        for (uint32_t column = 0; column < 2; column++) assert_int_equal(*cuda_slot(&pad, owner, column), 0);
    assert_int_equal(xs_world_destroy(world), 0);
}

/* Ranks 0 and 1 are on one GPU: their launches must run at the same time, and each behind its own earlier one. */
static void launches_of_other_ranks_run_at_once(void **state) {
    (void)state;
    fake->gpus = 1;
    xs_config config = cuda_config(2);
    xs_world *world = NULL;
    assert_int_equal(xs_world_create(&config, &world), 0);
    struct meet_args args;
    assert_int_equal(xs_pad_create(world, "meet", 1, 2, 0, &args.pad), 0);
    for (args.value = 1; args.value <= 20; args.value++)
        for (uint32_t rank = 0; rank < 2; rank++)
            assert_true(cuda_launch(world, &meet_gpu, 1, rank, 1, &args, sizeof args) > 0);
    for (args.value = 21; args.value <= 30; args.value++) /* and both together behind these */
        assert_true(cuda_launch(world, &meet_gpu, 1, 0, 2, &args, sizeof args) > 0);
    assert_int_equal(xs_sync(world), 0);
    uint64_t value = 0;
    assert_int_equal(xs_slot_read(world, &args.pad, 0, 0, 1, &value), 0);
    assert_int_equal(value, 30);
    assert_int_equal(xs_world_destroy(world), 0);
    fake->gpus = 2;
}

static uint32_t launches_begun(const xs_world *world) {
    const xs_region_header *h = xs_region(world);
    const xs_journal_entry *entries = (const xs_journal_entry *)(world->region + h->journal_offset);
    uint32_t begun = 0;
    for (uint64_t i = 0; i < h->journal_entries; i++) begun += entries[i].kind == XS_JOURNAL_LAUNCH_BEGIN;
    return begun;
}

static void more_blocks_than_the_gpu_holds_are_refused(void **state) {
    (void)state;
    xs_config config = cuda_config(1);
    xs_world *world = NULL;
    assert_int_equal(xs_world_create(&config, &world), 0);
    struct meet_args args = {.value = 1};
    assert_int_equal(xs_pad_create(world, "meet", 1, 1, 0, &args.pad), 0);
    assert_int_equal(cuda_launch(world, &meet_gpu, 9, 0, 0, &args, sizeof args), XS_E_NOT_RESIDENT);
    assert_non_null(strstr(xs_error_detail(), "holds 8 at once"));
    assert_int_equal(launches_begun(world), 0); /* what was refused is in no trace */
    assert_true(cuda_launch(world, &meet_gpu, 8, 0, 0, &args, sizeof args) > 0);
    assert_int_equal(xs_sync(world), 0);
    assert_int_equal(xs_world_destroy(world), 0);
}

static xs_world *of_green_ranks(uint32_t ranks) {
    xs_config config = cuda_config(ranks);
    xs_world *world = NULL;
    config.green = 1;
    assert_int_equal(xs_world_create(&config, &world), 0);
    return world;
}

static void a_rank_may_have_a_part_of_its_gpu(void **state) {
    (void)state;
    fake->gpus = 1;
    xs_world *world = of_green_ranks(2);
    struct meet_args args = {.value = 1};
    assert_int_equal(xs_pad_create(world, "meet", 1, 2, 0, &args.pad), 0);
    assert_int_equal(fake->live[FAKE_GREEN], 2);
    assert_int_equal(cuda_launch(world, &meet_gpu, 5, 1, 1, &args, sizeof args), XS_E_NOT_RESIDENT);
    assert_non_null(strstr(xs_error_detail(), "holds 4 at once"));
    assert_true(cuda_launch(world, &meet_gpu, 4, 0, 1, &args, sizeof args) > 0);
    assert_true(cuda_launch(world, &meet_gpu, 4, 1, 1, &args, sizeof args) > 0);
    args.value = 2;
    assert_true(cuda_launch(world, &meet_gpu, 4, 0, 0, &args, sizeof args) > 0); /* both ranks: the whole GPU, behind those */
    assert_int_equal(xs_sync(world), 0);
    assert_int_equal(xs_world_destroy(world), 0);
    assert_int_equal(fake_live_all(), 0);
    fake->gpus = 2;
}

static int staying; /* not 0: kernels stay */
static void stays(const void *opaque, const xs_handle *xs) {
    (void)opaque, (void)xs;
    while (__atomic_load_n(&staying, __ATOMIC_ACQUIRE)) xs_host_poll_failed(&staying, 100000, 0);
}
FAKE_KERNEL(stays, 0, 0);

/* Nobody asked: kernels of several ranks run side by side if they fit into parts, and none is refused that would fit without. */
static void parts_are_used_where_a_launch_fits(void **state) {
    (void)state;
    fake->gpus = 1;
    xs_config config = cuda_config(2);
    xs_world *world = NULL;
    assert_int_equal(xs_world_create(&config, &world), 0);
    const xs_cuda_state *cuda = xs_cuda_state_of(world);
    assert_int_equal(fake->live[FAKE_GREEN], 2);
    __atomic_store_n(&staying, 1, __ATOMIC_RELEASE);
    assert_true(cuda_launch(world, &stays_gpu, 4, 0, 1, NULL, 0) > 0);
    assert_ptr_equal(cuda->parts->stream, cuda->ranks[0].share);
    assert_true(cuda_launch(world, &stays_gpu, 1, 1, 1, NULL, 0) > 0);
    assert_ptr_equal(cuda->parts->stream, cuda->ranks[1].share);
    assert_true(cuda_launch(world, &stays_gpu, 5, 1, 1, NULL, 0) > 0); /* too large for a part */
    assert_ptr_equal(cuda->parts->stream, cuda->ranks[1].stream);
    assert_true(cuda_launch(world, &stays_gpu, 1, 0, 2, NULL, 0) > 0); /* both ranks */
    assert_ptr_equal(cuda->parts->stream, cuda->ranks[0].stream);
    __atomic_store_n(&staying, 0, __ATOMIC_RELEASE);
    assert_int_equal(xs_sync(world), 0);
    assert_int_equal(xs_world_destroy(world), 0);
    config.green = -1;
    assert_int_equal(xs_world_create(&config, &world), 0);
    assert_int_equal(fake->live[FAKE_GREEN], 0);
    assert_int_equal(xs_world_destroy(world), 0);
    assert_int_equal(fake_live_all(), 0);
    fake->gpus = 2;
}

static void what_cannot_be_divided_is_shared(void **state) {
    (void)state;
    fake->gpus = 1;
    xs_world *world = of_green_ranks(3); /* 4 processors in groups of 2 are no 3 groups */
    assert_int_equal(fake->live[FAKE_GREEN], 0);
    assert_int_equal(xs_world_destroy(world), 0);
    fake->green_alignment = 0;
    world = of_green_ranks(2);
    assert_int_equal(fake->live[FAKE_GREEN], 0);
    assert_int_equal(xs_world_destroy(world), 0);
    fake->green_alignment = 2;
    fake->gpus = 2;
    assert_int_equal(fake_live_all(), 0);
}

static void gpus_without_peer_access_are_refused(void **state) {
    (void)state;
    fake->peer_access = 0;
    xs_config config = cuda_config(2);
    xs_world *world = NULL;
    assert_int_equal(xs_world_create(&config, &world), XS_E_UNSUPPORTED);
    assert_non_null(strstr(xs_error_detail(), "GPU 0 cannot reach the memory of GPU 1"));
    fake->peer_access = 1;
    assert_int_equal(fake_live_all(), 0);
}

/* All of a life; what fails must be said, and nothing may be left. */
static int one_life(void) {
    xs_config config = cuda_config(3);
    xs_world *world = NULL;
    config.green = 1;
    int rc = xs_world_create(&config, &world), destroyed;
    if (rc) return rc;
    struct meet_args args = {.value = 1};
    xs_buffer buffer;
    uint64_t value = 0;
    rc = xs_pad_create(world, "meet", 1, 3, 0, &args.pad);
    if (!rc) rc = xs_buffer_create(world, "rows", 100, &buffer);
    if (!rc) rc = cuda_launch(world, &meet_gpu, 1, 0, 0, &args, sizeof args);
    if (rc > 0) rc = xs_sync(world);
    if (!rc) rc = xs_slot_read(world, &args.pad, 0, 0, 2, &value);
    if (!rc) assert_int_equal(value, 1);
    destroyed = xs_world_destroy(world);
    return rc ? rc : destroyed;
}

static void the_nth_driver_call_fails_with(CUresult error) {
    uint64_t failed_lives = 0;
    fake->fail_with = error;
    for (uint64_t n = 1;; n++) {
        fake->fail_at = fake->calls + n;
        int rc = one_life();
        uint64_t reached = fake->calls >= fake->fail_at;
        fake->fail_at = 0;
        failed_lives += rc < 0;
        if (fake_live_all()) fail_msg("call %llu: %lld things are left", (unsigned long long)n, (long long)fake_live_all());
        if (!reached) {
            assert_int_equal(rc, 0);
            assert_true(n > 100 && failed_lives > 50);
            return;
        }
    }
}

static void every_driver_call_may_fail(void **state) {
    (void)state;
    the_nth_driver_call_fails_with(2);
}

int main(void) {
    fake_load();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranks_of_several_gpus_meet),
        cmocka_unit_test(memory_is_zero_when_it_is_given_out),
        cmocka_unit_test(launches_of_other_ranks_run_at_once),
        cmocka_unit_test(more_blocks_than_the_gpu_holds_are_refused),
        cmocka_unit_test(a_rank_may_have_a_part_of_its_gpu),
        cmocka_unit_test(parts_are_used_where_a_launch_fits),
        cmocka_unit_test(what_cannot_be_divided_is_shared),
        cmocka_unit_test(gpus_without_peer_access_are_refused),
        cmocka_unit_test(every_driver_call_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
