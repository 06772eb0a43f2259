/* Rings of a GPU: claimed in its memory, seen by the host in their headers, freed when their writers left them behind. */
#include <time.h>
#include <xs/ring_access.h>

#include "claims.kernel.h"
#include "cuda_test.h"
#include "world.h"

enum { RINGS = 64 };

static struct CUfunc_st function = {&claims_kernel, xs_host_enter, 0, 0};
static const xs_cuda_entry entry = {&function, fake_resolve};
static xs_kernel kernel;

static xs_world *made(uint32_t ranks, const char *placement) {
    xs_config config = cuda_config(ranks);
    xs_world *world = NULL;
    config.rings = RINGS;
    config.placement = placement;
    kernel = claims_kernel;
    kernel.cuda = &entry;
    if (xs_world_create(&config, &world)) fail_msg("%s", xs_error_detail());
    return world;
}

static xs_ring_header *header_of(const xs_world *world, uint32_t ring) {
    const xs_region_header *h = xs_region(world);
    return (xs_ring_header *)(void *)(world->region + h->ring_headers_offset + ring * h->ring_header_stride);
}

static uint32_t busy_rings(const xs_world *world) {
    uint32_t busy = 0;
    for (uint32_t ring = 0; ring < xs_region(world)->ranks * RINGS; ring++)
        busy += __atomic_load_n(&header_of(world, ring)->busy, __ATOMIC_ACQUIRE);
    return busy;
}

static uint64_t no_rings(const xs_world *world) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < xs_region(world)->ranks; i++) sum += xs_region_control(xs_region(world))[i].no_ring;
    return sum;
}

static uint64_t region_bits(const xs_world *world) {
    const uint64_t *groups = (const uint64_t *)(const void *)(world->region + xs_region(world)->groups_offset);
    uint64_t any = 0;
    for (uint32_t i = 0; i < xs_region(world)->ranks; i++) any |= __atomic_load_n(&groups[i], __ATOMIC_ACQUIRE);
    return any;
}

static void nap(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); }

/* Rank 1 is a CPU thread: it claims in the region. */
static void gpus_claim_in_their_own_memory(void **state) {
    (void)state;
    xs_config config = cuda_config(3);
    xs_world *world = NULL;
    uint32_t gate = 0;
    struct claims_args args = {2, 2, &gate};
    config.rings = RINGS;
    config.cpu_ranks = "1";
    kernel = claims_kernel;
    kernel.cuda = &entry;
    assert_int_equal(xs_world_create(&config, &world), 0);
    const uint64_t *groups = (const uint64_t *)(const void *)(world->region + xs_region(world)->groups_offset);
    assert_true(cuda_launch(world, &kernel, 1, 0, 0, &args, sizeof args) > 0);
    while (busy_rings(world) != 6) nap();
    for (uint32_t rank = 0; rank < 3; rank++) {
        int cpu = rank == 1;
        assert_true((world->claims[rank] == NULL) == cpu);
        assert_int_equal(__atomic_load_n(&groups[rank], __ATOMIC_RELAXED), cpu ? 3 : 0);
        if (!cpu) assert_int_equal(__atomic_load_n(world->claims[rank], __ATOMIC_RELAXED), 3);
        assert_true(xs_ring_taken(&groups[rank], 0, header_of(world, rank * RINGS)));
        assert_false(xs_ring_taken(&groups[rank], 2, header_of(world, rank * RINGS + 2)));
    }
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    assert_int_equal(xs_sync(world), 0);
    assert_int_equal(busy_rings(world), 0);
    assert_int_equal(*world->claims[0] | *world->claims[2] | region_bits(world), 0);
    assert_int_equal(xs_world_destroy(world), 0);
    assert_int_equal(fake_live_all(), 0);
}

static void leave_all_behind(xs_world *world) {
    struct claims_args args = {RINGS, 3, NULL};
    assert_true(cuda_launch(world, &kernel, 1, 0, 0, &args, sizeof args) > 0);
    assert_int_equal(xs_sync(world), 0);
    while (busy_rings(world)) nap(); /* of placed rings the copier frees them, a little later, and says so last */
    for (uint32_t rank = 0; rank < xs_region(world)->ranks; rank++)
        while (__atomic_load_n(&world->given_back[rank], __ATOMIC_ACQUIRE) != ~7ull) nap();
}

/* Else the second launch would find no ring; and what it finds goes on where the first ended. */
static void what_is_left_behind_is_free_for_the_next(const char *placement) {
    xs_world *world = made(2, placement);
    for (uint32_t launch = 1; launch <= 4; launch++) {
        leave_all_behind(world);
        assert_int_equal(no_rings(world), 0);
        for (uint32_t ring = 0; ring < 2 * RINGS; ring++) {
            assert_int_equal(header_of(world, ring)->owners, launch);
            assert_int_equal(header_of(world, ring)->next, 1 + launch * (ring % RINGS < 3 ? 5 : 3)); /* begin takes 3, end 2 */
        }
        for (uint32_t rank = 0; rank < 2; rank++) {
            assert_true(*world->claims[rank] == ~7ull); /* until the next launch */
            assert_true(world->given_back[rank] == ~7ull);
        }
    }
    assert_int_equal(region_bits(world), 0);
    assert_int_equal(xs_world_destroy(world), 0);
    assert_int_equal(fake_live_all(), 0);
}

static void mapped_rings_left_behind_are_free_for_the_next_launch(void **state) {
    (void)state;
    what_is_left_behind_is_free_for_the_next("mapped");
}

static void placed_rings_left_behind_are_free_for_the_next_launch(void **state) {
    (void)state;
    what_is_left_behind_is_free_for_the_next("device");
}

/* Who gets a handle may launch without xs: the rings are free before. Those of a rank that nobody asked for wait. */
static void rings_left_behind_are_free_for_a_handle(void **state) {
    (void)state;
    xs_world *world = made(2, "mapped");
    xs_handle handle;
    leave_all_behind(world);
    assert_true(xs_handle_begin(world, "mine", 1, 1, 32, &handle) > 0);
    assert_ptr_equal(handle.groups, world->claims[1]);
    assert_int_equal(*handle.groups, 0);
    assert_true(*world->claims[0] == ~7ull);
    assert_int_equal(xs_handle_end(world, &handle), 0);
    assert_int_equal(xs_world_destroy(world), 0);
    assert_int_equal(fake_live_all(), 0);
}

/* A launch that still runs has its rings: nothing that is freed beside it touches them. */
static void freeing_disturbs_no_launch_that_runs(void **state) {
    (void)state;
    xs_world *world = made(1, "mapped");
    uint32_t gate = 0;
    struct claims_args careless = {10, 0, NULL}, staying = {20, 20, &gate};
    assert_true(cuda_launch(world, &kernel, 1, 0, 0, &careless, sizeof careless) > 0);
    assert_int_equal(xs_sync(world), 0);
    assert_true(world->given_back[0] == 0x3ff);
    uint64_t kept = world->given_back[0];
    __atomic_store_n(&world->given_back[0], 0, __ATOMIC_RELAXED); /* freed late, while the next one runs */
    assert_true(cuda_launch(world, &kernel, 1, 0, 0, &staying, sizeof staying) > 0);
    while (busy_rings(world) != 20) nap();
    assert_int_equal(__atomic_load_n(world->claims[0], __ATOMIC_RELAXED), (1u << 30) - 1);
    __atomic_store_n(&world->given_back[0], kept, __ATOMIC_RELAXED);
    assert_true(cuda_launch(world, &kernel, 1, 0, 0, &careless, sizeof careless) > 0); /* behind it on the stream */
    assert_int_equal(busy_rings(world), 20);
    __atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
    assert_int_equal(xs_sync(world), 0);
    assert_int_equal(no_rings(world), 0);
    assert_true(*world->claims[0] == 0x3ff && world->given_back[0] == 0x3ff);
    assert_int_equal(xs_world_destroy(world), 0);
    assert_int_equal(fake_live_all(), 0);
}

int main(void) {
    fake_load();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_claim_in_their_own_memory),
        cmocka_unit_test(mapped_rings_left_behind_are_free_for_the_next_launch),
        cmocka_unit_test(placed_rings_left_behind_are_free_for_the_next_launch),
        cmocka_unit_test(rings_left_behind_are_free_for_a_handle),
        cmocka_unit_test(freeing_disturbs_no_launch_that_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
