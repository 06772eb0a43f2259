/* Launches on the threads scheduler: identities, arguments, residency, order, barriers, shared memory, aborts, the
 * journal. */
#include <xs/ring_access.h>

#include "lib_test.h"
#include "world.h"

static xs_launch_config config_of(uint32_t grid, uint32_t block) {
    return (xs_launch_config){.size = sizeof(xs_launch_config), .grid = grid, .block = block};
}

static int launch(xs_world *world, const xs_kernel *kernel, uint32_t grid, uint32_t block, const void *args) {
    xs_launch_config config = config_of(grid, block);
    return xs_launch(world, kernel, &config, args, kernel->args_bytes);
}

/* --- who runs --- */
typedef struct seen_args {
    uint32_t *count; /* [rank][block][warp] */
    uint32_t blocks, warps;
} seen_args;

static void seen_kernel(const void *opaque, const xs_handle *xs) {
    const seen_args *args = opaque;
    const xs_host_thread *self = xs_host_self();
    uint32_t rank = xs->rank + self->block / xs->blocks, block = self->block % xs->blocks;
    __atomic_fetch_add(&args->count[(rank * args->blocks + block) * args->warps + self->warp], 1, __ATOMIC_RELAXED);
}
static const xs_kernel seen = TEST_KERNEL(seen_kernel, sizeof(seen_args));

static void every_warp_of_every_block_runs_once(void **state) {
    (void)state;
    xs_world *world = test_world(3);
    uint32_t count[3 * 5 * 2] = {0};
    seen_args args = {count, 5, 2};
    assert_int_equal(launch(world, &seen, 5, 33, &args), 1); /* 33 threads are two warps */
    memset(&args, 0xff, sizeof args);                        /* the arguments were copied */
    assert_int_equal(xs_sync(world), 0);
    for (int i = 0; i < 30; i++) assert_int_equal(count[i], 1);
    xs_launch_config some = config_of(5, 64);
    some.first_rank = 1;
    some.ranks = 2;
    args = (seen_args){count, 5, 2};
    assert_int_equal(xs_launch(world, &seen, &some, &args, sizeof args), 2);
    assert_int_equal(xs_sync(world), 0);
    for (int i = 0; i < 30; i++) assert_int_equal(count[i], i < 10 ? 1 : 2);
    assert_int_equal(xs_world_destroy(world), 0);
}

static void bad_launches(void **state) {
    (void)state;
    xs_world *world = test_world(2);
    seen_args args = {0};
    xs_launch_config c = config_of(1, 32);
    assert_int_equal(xs_launch(world, NULL, &c, &args, sizeof args), XS_E_ARGUMENT);
    assert_int_equal(xs_launch(world, &seen, NULL, &args, sizeof args), XS_E_ARGUMENT);
    assert_int_equal(xs_launch(world, &seen, &c, &args, sizeof args - 1), XS_E_ARGUMENT);
    assert_int_equal(xs_launch(world, &seen, &c, NULL, sizeof args), XS_E_ARGUMENT);
    assert_int_equal(launch(world, &seen, 0, 32, &args), XS_E_ARGUMENT);
    assert_int_equal(launch(world, &seen, 1, 1025, &args), XS_E_ARGUMENT);
    assert_int_equal(launch(world, &seen, UINT32_MAX, 32, &args), XS_E_ARGUMENT);
    c.first_rank = 1;
    c.ranks = 2;
    assert_int_equal(xs_launch(world, &seen, &c, &args, sizeof args), XS_E_ARGUMENT);
    const xs_kernel nowhere = {.name = "nowhere", .args_bytes = sizeof args};
    assert_int_equal(launch(world, &nowhere, 1, 32, &args), XS_E_UNSUPPORTED);
    assert_int_equal(xs_sync(world), 0);
    assert_int_equal(xs_world_destroy(world), 0);
}

/* --- waiting for one another --- */
typedef struct chain_args {
    xs_pad pad;
} chain_args;

/* Each block waits for the one before it: hundreds of waiting threads at once. */
static void chain_kernel(const void *opaque, const xs_handle *xs) {
    const chain_args *args = opaque;
    uint32_t block = xs_host_self()->block;
    if (block && test_wait(xs, test_slot(&args->pad, 0, 0, block - 1), 1)) return;
    __atomic_store_n(test_slot(&args->pad, 0, 0, block), 1, __ATOMIC_RELEASE);
}
static const xs_kernel chain = TEST_KERNEL(chain_kernel, sizeof(chain_args));

static void hundreds_of_waiting_threads_make_progress(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    chain_args args;
    assert_int_equal(xs_pad_create(world, "chain", 1, 300, 0, &args.pad), 0);
    assert_true(launch(world, &chain, 300, 32, &args) > 0);
    assert_int_equal(xs_sync(world), 0);
    uint64_t value;
    assert_int_equal(xs_slot_read(world, &args.pad, 0, 0, 299, &value), 0);
    assert_int_equal(value, 1);
    assert_int_equal(xs_world_destroy(world), 0);
}

/* --- residency --- */
typedef struct resident_args {
    uint32_t *now, *most, *ran;
    uint32_t together; /* the first blocks wait until so many run at once */
} resident_args;

static void resident_kernel(const void *opaque, const xs_handle *xs) {
    const resident_args *args = opaque;
    uint32_t now = __atomic_add_fetch(args->now, 1, __ATOMIC_RELAXED),
             most = __atomic_load_n(args->most, __ATOMIC_RELAXED);
    while (now > most && !__atomic_compare_exchange_n(args->most, &most, now, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
    while (__atomic_load_n(args->most, __ATOMIC_RELAXED) < args->together && !__atomic_load_n(xs->abort, __ATOMIC_RELAXED))
        xs_host_poll_failed(args->most, 20000, 0);
    xs_host_work(2000000);
    __atomic_fetch_sub(args->now, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(args->ran, 1, __ATOMIC_RELAXED);
}
static const xs_kernel resident = TEST_KERNEL(resident_kernel, sizeof(resident_args));

static void no_more_blocks_than_the_residency(void **state) {
    (void)state;
    for (uint32_t residency = 1; residency <= 3; residency++) {
        xs_config config = test_config(2);
        config.residency = residency;
        xs_world *world;
        assert_int_equal(xs_world_create(&config, &world), 0);
        uint32_t now = 0, most = 0, ran = 0;
        resident_args args = {&now, &most, &ran, residency};
        assert_true(launch(world, &resident, 10, 32, &args) > 0);
        assert_int_equal(xs_sync(world), 0);
        assert_int_equal(ran, 20);
        assert_int_equal(most, residency);
        assert_int_equal(xs_world_destroy(world), 0);
    }
}

/* --- launches of the same ranks one after another, of different ranks together --- */
typedef struct order_args {
    uint32_t *turn;
    uint32_t mine;
    uint32_t *wrong;
} order_args;

static void order_kernel(const void *opaque, const xs_handle *xs) {
    (void)xs;
    const order_args *args = opaque;
    if (__atomic_load_n(args->turn, __ATOMIC_ACQUIRE) != args->mine)
        __atomic_fetch_add(args->wrong, 1, __ATOMIC_RELAXED);
    xs_host_work(1000000);
    __atomic_store_n(args->turn, args->mine + 1, __ATOMIC_RELEASE);
}
static const xs_kernel order = TEST_KERNEL(order_kernel, sizeof(order_args));

static void launches_of_a_rank_follow_one_another(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    uint32_t turn = 0, wrong = 0;
    for (uint32_t i = 0; i < 20; i++) {
        order_args args = {&turn, i, &wrong};
        assert_int_equal(launch(world, &order, 1, 32, &args), (int)i + 1);
    }
    assert_int_equal(xs_sync(world), 0);
    assert_int_equal(wrong, 0);
    assert_int_equal(turn, 20);
    assert_int_equal(xs_world_destroy(world), 0);
}

typedef struct pair_args {
    xs_pad pad;
    uint32_t me, peer;
} pair_args;

static void pair_kernel(const void *opaque, const xs_handle *xs) {
    const pair_args *args = opaque;
    __atomic_store_n(test_slot(&args->pad, args->peer, 0, 0), 1, __ATOMIC_RELEASE);
    test_wait(xs, test_slot(&args->pad, args->me, 0, 0), 1);
}
static const xs_kernel pair = TEST_KERNEL(pair_kernel, sizeof(pair_args));

static void launches_of_different_ranks_run_together(void **state) {
    (void)state;
    xs_world *world = test_world(2);
    pair_args args;
    assert_int_equal(xs_pad_create(world, "pair", 1, 1, 0, &args.pad), 0);
    for (uint32_t r = 0; r < 2; r++) { /* each waits for the other */
        args.me = r;
        args.peer = 1 - r;
        xs_launch_config c = config_of(1, 32);
        c.first_rank = r;
        c.ranks = 1;
        assert_true(xs_launch(world, &pair, &c, &args, sizeof args) > 0);
    }
    assert_int_equal(xs_sync(world), 0);
    assert_int_equal(xs_world_destroy(world), 0);
}

/* --- inside a block --- */
typedef struct block_args {
    uint32_t rounds;
    uint32_t *wrong, *left;
    uint32_t stay_away; /* the last warp does not come to the last barrier */
    uint32_t *arrived;  /* how many others are about to come to it */
} block_args;

static const char key_a, key_b;

/* Plain memory between barriers: a sanitizer sees it if a barrier orders nothing. */
static void block_kernel(const void *opaque, const xs_handle *xs) {
    (void)xs;
    const block_args *args = opaque;
    const xs_host_thread *self = xs_host_self();
    uint32_t *sum = xs_host_shared(&key_a, self->warps * sizeof *sum), *other = xs_host_shared(&key_b, 64);
    char *dynamic = xs_host_shared_dynamic();
    if (sum == other || ((uintptr_t)sum | (uintptr_t)dynamic) % 128 || other[15] || dynamic[99])
        __atomic_fetch_add(args->wrong, 1, __ATOMIC_RELAXED);
    for (uint32_t round = 1; round <= args->rounds; round++) {
        sum[self->warp] = round;
        if (xs_host_block_barrier(round % 16, 0)) return;
        for (uint32_t w = 0; w < self->warps; w++)
            if (sum[w] != round) __atomic_fetch_add(args->wrong, 1, __ATOMIC_RELAXED);
        if (xs_host_block_barrier(0, 32 * self->warps)) return;
    }
    if (args->stay_away && self->warp == self->warps - 1) return;
    if (args->arrived) __atomic_fetch_add(args->arrived, 1, __ATOMIC_RELAXED);
    if (args->stay_away && xs_host_block_barrier(3, 0) == XS_RESULT_ABORTED)
        __atomic_fetch_add(args->left, 1, __ATOMIC_RELAXED);
}
static const xs_kernel block = TEST_KERNEL(block_kernel, sizeof(block_args));

static int launch_blocks(xs_world *world, const block_args *args) {
    xs_launch_config c = config_of(3, 128);
    c.shared_bytes = 100;
    return xs_launch(world, &block, &c, args, sizeof *args);
}

static void barriers_join_and_order(void **state) {
    (void)state;
    xs_world *world = test_world(2);
    uint32_t wrong = 0, left = 0;
    block_args args = {200, &wrong, &left, 0, NULL};
    assert_true(launch_blocks(world, &args) > 0);
    assert_int_equal(xs_sync(world), 0);
    assert_int_equal(wrong, 0);
    assert_int_equal(xs_world_destroy(world), 0);
}

static void barriers_leave_on_abort(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    uint32_t wrong = 0, left = 0;
    uint32_t arrived = 0;
    block_args args = {1, &wrong, &left, 1, &arrived};
    assert_true(launch_blocks(world, &args) > 0);
    while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < 3 * 3) usleep(1000);
    assert_int_equal(xs_abort(world, XS_E_PEER_DEAD), 0);
    assert_int_equal(xs_abort(world, XS_E_TIMEOUT), 0); /* the first reason stays */
    assert_int_equal(xs_sync(world), XS_E_PEER_DEAD);
    assert_int_equal(left, 3 * 3);
    assert_int_equal(xs_aborted_reason(world), XS_E_PEER_DEAD);
    assert_int_equal(launch_blocks(world, &args), XS_E_ABORTED);
    assert_int_equal(xs_world_destroy(world), 0);
}

static void part_kernel(const void *opaque, const xs_handle *xs) {
    (void)xs;
    const block_args *args = opaque;
    uint32_t warp = xs_host_self()->warp;
    /* two halves of the block at barriers of their own, many times: they do not disturb each other */
    for (uint32_t i = 0; i < args->rounds * (1 + warp / 2); i++)
        if (xs_host_block_barrier(1 + warp / 2, 64)) __atomic_fetch_add(args->wrong, 1, __ATOMIC_RELAXED);
}
static const xs_kernel part = TEST_KERNEL(part_kernel, sizeof(block_args));

static void barriers_of_parts_of_a_block(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    uint32_t wrong = 0, left = 0;
    block_args args = {100, &wrong, &left, 0, NULL};
    assert_true(launch(world, &part, 2, 128, &args) > 0);
    assert_int_equal(xs_sync(world), 0);
    assert_int_equal(wrong, 0);
    assert_int_equal(xs_world_destroy(world), 0);
}

static void strange_kernel(const void *opaque, const xs_handle *xs) {
    (void)xs;
    const block_args *args = opaque;
    if (xs_host_block_barrier(16, 0) == XS_RESULT_ABORTED) __atomic_fetch_add(args->left, 1, __ATOMIC_RELAXED);
}
static const xs_kernel strange = TEST_KERNEL(strange_kernel, sizeof(block_args));

static void a_barrier_that_does_not_exist(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    uint32_t left = 0;
    block_args args = {1, &left, &left, 0, NULL};
    assert_true(launch(world, &strange, 1, 64, &args) > 0);
    assert_int_equal(xs_sync(world), XS_E_ARGUMENT);
    assert_int_equal(left, 2);
    assert_int_equal(xs_world_destroy(world), 0);
}

/* --- bounds --- */
static void a_launch_that_takes_too_long_aborts_the_world(void **state) {
    (void)state;
    xs_config config = test_config(1);
    config.wait_ns = 3000000000; /* for what ends by itself, and for the stuck one to come to its barrier, on a busy machine too */
    xs_world *world;
    assert_int_equal(xs_world_create(&config, &world), 0);
    pair_args quick = {.me = 0, .peer = 0};
    assert_int_equal(xs_pad_create(world, "pair", 1, 1, 0, &quick.pad), 0);
    assert_true(launch(world, &pair, 1, 32, &quick) > 0); /* this one ends by itself */
    assert_int_equal(xs_sync(world), 0);
    uint32_t wrong = 0, left = 0;
    block_args stuck = {0, &wrong, &left, 1, NULL};
    uint64_t start = xs_host_now();
    xs_launch_config c = config_of(1, 64);
    c.shared_bytes = 100;
    assert_true(xs_launch(world, &block, &c, &stuck, sizeof stuck) > 0);
    assert_int_equal(xs_sync(world), XS_E_TIMEOUT);
    assert_true(xs_host_now() - start >= config.wait_ns);
    assert_int_equal(left, 1);
    assert_int_equal(xs_world_destroy(world), 0);
}

/* Blocks that did not start because the world was aborted before are not run. */
static void abort_with_blocks_waiting_for_a_place(void **state) {
    (void)state;
    xs_config config = test_config(1);
    config.residency = 1;
    xs_world *world;
    assert_int_equal(xs_world_create(&config, &world), 0);
    uint32_t wrong = 0, left = 0;
    uint32_t arrived = 0;
    block_args args = {0, &wrong, &left, 1, &arrived};
    assert_true(launch_blocks(world, &args) > 0);
    while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < 3) usleep(1000);
    assert_int_equal(xs_abort(world, XS_E_ABORTED), 0);
    assert_int_equal(xs_sync(world), XS_E_ABORTED);
    assert_int_equal(left, 3); /* of the first block alone */
    assert_int_equal(xs_world_destroy(world), 0);
}

/* --- what is written down --- */
static const xs_journal_entry *find_entry(const xs_world *world, uint32_t kind, uint32_t launch_id) {
    const xs_region_header *h = xs_region(world);
    const xs_journal_entry *e = (const xs_journal_entry *)(world->region + h->journal_offset);
    for (uint64_t i = 0; i < h->journal_entries; i++)
        if (e[i].sequence && e[i].kind == kind && e[i].a == launch_id) return &e[i];
    return NULL;
}

static void launches_are_journalled(void **state) {
    (void)state;
    xs_world *world = test_world(2);
    uint32_t now = 0, most = 0, ran = 0;
    resident_args args = {&now, &most, &ran, 0};
    uint64_t before = xs_host_now();
    int id = launch(world, &resident, 3, 40, &args);
    assert_int_equal(id, 1);
    assert_int_equal(xs_sync(world), 0);
    const xs_journal_entry *begin = find_entry(world, XS_JOURNAL_LAUNCH_BEGIN, 1),
                           *end = find_entry(world, XS_JOURNAL_LAUNCH_END, 1);
    assert_non_null(begin);
    assert_non_null(end);
    assert_int_equal(begin->b, 1); /* the kernel's name id */
    assert_int_equal(begin->d, 3);
    assert_int_equal(begin->e, 40);
    assert_true(begin->f == (0 | 2ull << 32));
    assert_true(before <= begin->c && begin->c + 2000000 <= end->c && end->c <= xs_host_now());
    assert_int_equal(end->d, 0);
    assert_int_equal(xs_world_destroy(world), 0);
}

static void launches_of_others(void **state) {
    (void)state;
    xs_world *world = test_world(2);
    xs_handle xs;
    assert_int_equal(xs_handle_begin(world, "mine", 1, 4, 64, &xs), 1);
    assert_int_equal(xs.rank, 1);
    assert_int_equal(xs.blocks, 4);
    assert_int_equal(xs.launch, 1);
    xs_host_thread self = {.block = 2, .blocks = 4, .warp = 1, .warps = 2};
    xs_host_enter(&self);
    assert_ptr_equal(xs_host_self(), &self);
    assert_int_equal(xs_host_block_barrier(0, 0), 0);
    xs_host_enter(NULL);
    assert_null(xs_host_self());
    /* a writer that never gave its ring back */
    xs_ring_owner_store(XS_RECORD_WORDS, &xs.rings[3], 0, &(xs_ring_owner){.first = 1, .launch = 1});
    xs.rings[3].owners = 1;
    xs.rings[3].busy = 1;
    *xs.groups = 1u << 3;
    assert_int_equal(xs_handle_end(world, &xs), 0);
    assert_int_equal(*xs.groups, 0);
    assert_non_null(find_entry(world, XS_JOURNAL_LAUNCH_BEGIN, 1));
    assert_non_null(find_entry(world, XS_JOURNAL_LAUNCH_END, 1));
    assert_int_equal(xs_handle_begin(world, "mine", 2, 4, 64, &xs), XS_E_ARGUMENT);
    xs_handle foreign = {0};
    assert_int_equal(xs_handle_end(world, &foreign), XS_E_ARGUMENT);
    assert_int_equal(xs_world_destroy(world), 0);
}

/* A kernel that takes a ring and goes without giving it back. */
static void careless_kernel(const void *args, const xs_handle *xs) {
    (void)args;
    uint64_t bit = 1ull << xs_host_self()->block;
    __atomic_fetch_or(xs->groups, bit, __ATOMIC_ACQ_REL);
    xs_ring_header *ring = &xs->rings[xs_host_self()->block];
    xs_ring_owner_store(XS_RECORD_WORDS, ring, 0, &(xs_ring_owner){.first = ring->next, .launch = xs->launch});
    ring->busy = 1;
    __atomic_store_n(&ring->owners, 1, __ATOMIC_RELEASE);
    xs_record *records = (xs_record *)(xs->records + ((uint64_t)xs_host_self()->block << xs->ring_shift) * sizeof(xs_record));
    for (uint32_t s = 1; s <= 7; s++) 
        xs_slot_put(XS_RECORD_WORDS, &records[s & xs->ring_mask], xs->ring_shift, s, XS_HEAD(XS_CODE_MARK, 1), s, s);
}
static const xs_kernel careless = TEST_KERNEL(careless_kernel, 0);

/* Its records would be read as what they are not. */
static void kernels_of_another_form_are_refused(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    for (uint32_t words = 0; words <= 2; words++) {
        xs_kernel kernel = careless;
        kernel.traced = words;
        int rc = launch(world, &kernel, 1, 32, NULL);
        if (words && words != XS_RECORD_WORDS) {
            assert_int_equal(rc, XS_E_UNSUPPORTED);
            assert_non_null(strstr(xs_error_detail(), words == 2 ? "compiled with XS_RECORD_WORDS=2" : "compiled with XS_RECORD_WORDS=1"));
        } else assert_true(rc > 0);
        assert_int_equal(xs_sync(world), 0);
    }
    assert_int_equal(xs_world_destroy(world), 0);
}

static void rings_are_free_after_the_launch(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    assert_int_equal(launch(world, &careless, 5, 32, NULL), 1);
    assert_int_equal(xs_sync(world), 0);
    xs_handle xs;
    xs_region_handle(world, 0, 1, 1, &xs);
    assert_int_equal(*xs.groups, 0);
    for (int i = 0; i < 5; i++) assert_int_equal(xs.rings[i].next, 8);
    assert_int_equal(xs.rings[5].next, 1);
    assert_int_equal(xs_world_destroy(world), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_warp_of_every_block_runs_once),
        cmocka_unit_test(bad_launches),
        cmocka_unit_test(hundreds_of_waiting_threads_make_progress),
        cmocka_unit_test(no_more_blocks_than_the_residency),
        cmocka_unit_test(launches_of_a_rank_follow_one_another),
        cmocka_unit_test(launches_of_different_ranks_run_together),
        cmocka_unit_test(barriers_join_and_order),
        cmocka_unit_test(barriers_leave_on_abort),
        cmocka_unit_test(barriers_of_parts_of_a_block),
        cmocka_unit_test(a_barrier_that_does_not_exist),
        cmocka_unit_test(a_launch_that_takes_too_long_aborts_the_world),
        cmocka_unit_test(abort_with_blocks_waiting_for_a_place),
        cmocka_unit_test(launches_are_journalled),
        cmocka_unit_test(launches_of_others),
        cmocka_unit_test(kernels_of_another_form_are_refused),
        cmocka_unit_test(rings_are_free_after_the_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
