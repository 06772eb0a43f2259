/* A world of several processes: shared pads, abort everywhere, killed members, stale memory, contradictions. Children
 * are forked from a process that has no world and no thread. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "lib_test.h"
#include "segment_layout.h"
#include "world.h"

static char world_name[64];

static int set_up(void **state) {
    (void)state;
    static int number;
    snprintf(world_name, sizeof world_name, "test %d.%d", (int)getpid(), number++);
    return 0;
}

static const char *segment_path(void) {
    static char path[96];
    char name[64];
    xs_segment_name(name, sizeof name, world_name);
    snprintf(path, sizeof path, "/dev/shm/%s", name);
    return path;
}

static int exists(const char *path) { return !access(path, F_OK); }

/* Some tests leave a world for a rank that never comes. */
static int tear_down(void **state) {
    (void)state;
    unlink(segment_path());
    return 0;
}

static xs_config config_of(uint32_t rank, uint32_t ranks) {
    xs_config config = test_config(ranks);
    config.world = world_name;
    config.first_rank = rank;
    config.local_ranks = 1;
    config.shared_bytes = 1 << 20;
    return config;
}

static xs_world *join(uint32_t rank, uint32_t ranks) {
    xs_config config = config_of(rank, ranks);
    xs_world *world = NULL;
    return xs_world_create(&config, &world) ? NULL : world;
}

/* Every child answers 0, or the line at which it disagreed. */
#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) return __LINE__;                                                                             \
    } while (0)

typedef int child_main(uint32_t rank, uint32_t ranks);

static pid_t start(child_main *run, uint32_t rank, uint32_t ranks) {
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int line = run(rank, ranks);
        if (line) fprintf(stderr, "rank %u disagreed at line %d: %s\n", rank, line, xs_error_detail());
        _exit(line != 0);
    }
    return pid;
}

static int status_of(pid_t pid) {
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void run_all(child_main *run, uint32_t ranks) {
    pid_t pids[8];
    for (uint32_t r = 0; r < ranks; r++) pids[r] = start(run, r, ranks);
    int failed = 0;
    for (uint32_t r = 0; r < ranks; r++) failed |= status_of(pids[r]);
    assert_int_equal(failed, 0);
}

/* --- everybody signals everybody, in kernels --- */
typedef struct all_args {
    xs_pad pad;
    xs_buffer buffer;
    uint32_t rounds;
} all_args;

static void all_kernel(const void *opaque, const xs_handle *xs) {
    const all_args *args = opaque;
    uint32_t me = xs->rank;
    for (uint32_t round = 1; round <= args->rounds; round++) {
        for (uint32_t to = 0; to < xs->ranks; to++) {
            XS_BUFFER_AT(args->buffer, uint32_t, to)[me * 1024 + round] = 1000 * me + round;
            __atomic_store_n(test_slot(&args->pad, to, 0, me), round, __ATOMIC_RELEASE);
        }
        for (uint32_t from = 0; from < xs->ranks; from++) {
            if (test_wait(xs, test_slot(&args->pad, me, 0, from), round)) return;
            if (XS_BUFFER_AT(args->buffer, uint32_t, me)[from * 1024 + round] != 1000 * from + round) abort();
        }
    }
}
static const xs_kernel all = TEST_KERNEL(all_kernel, sizeof(all_args));

static int signal_all(uint32_t rank, uint32_t ranks) {
    xs_world *world = join(rank, ranks);
    EXPECT(world);
    EXPECT(xs_world_first_rank(world) == rank && xs_world_local_ranks(world) == 1 && xs_world_ranks(world) == ranks);
    all_args args = {.rounds = 100};
    EXPECT(!xs_pad_create(world, "all", 1, ranks, 0, &args.pad));
    EXPECT(args.pad.first == 1 + ranks * ranks); /* the same number in every process */
    EXPECT(!xs_buffer_create(world, "rows", ranks * 4096, &args.buffer));
    xs_launch_config config = {.size = sizeof config, .grid = 1, .block = 32};
    EXPECT(xs_launch(world, &all, &config, &args, sizeof args) == 1);
    EXPECT(!xs_sync(world));
    EXPECT(!xs_world_destroy(world));
    return 0;
}

static void two_processes(void **state) {
    (void)state;
    run_all(signal_all, 2);
    assert_false(exists(segment_path())); /* the last one has unlinked it */
}

static void four_processes(void **state) {
    (void)state;
    for (int i = 0; i < 5; i++) run_all(signal_all, 4); /* again under the same name */
    assert_false(exists(segment_path()));
}

/* --- one aborts, all leave --- */
static void stuck_kernel(const void *opaque, const xs_handle *xs) {
    const all_args *args = opaque;
    test_wait(xs, test_slot(&args->pad, xs->rank, 0, 0), UINT64_MAX);
}
static const xs_kernel stuck = TEST_KERNEL(stuck_kernel, sizeof(all_args));

static int abort_from_rank_0(uint32_t rank, uint32_t ranks) {
    xs_world *world = join(rank, ranks);
    EXPECT(world);
    all_args args = {.rounds = 0};
    xs_pad here;
    EXPECT(!xs_pad_create(world, "never", 1, 1, 0, &args.pad));
    EXPECT(!xs_pad_create(world, "here", 1, ranks, 0, &here));
    xs_launch_config config = {.size = sizeof config, .grid = 2, .block = 64};
    EXPECT(xs_launch(world, &stuck, &config, &args, sizeof args) == 1);
    EXPECT(!xs_slot_write(world, &here, 0, 0, rank, 1));
    for (uint32_t r = 0; rank == 0 && r < ranks; r++)
        for (uint64_t there = 0; !there; usleep(1000)) EXPECT(!xs_slot_read(world, &here, 0, 0, r, &there));
    if (rank == 0) EXPECT(!xs_abort(world, XS_E_PEER_DEAD));
    EXPECT(xs_sync(world) == XS_E_PEER_DEAD);
    EXPECT(!xs_world_destroy(world));
    return 0;
}

static void abort_reaches_every_process(void **state) {
    (void)state;
    run_all(abort_from_rank_0, 4);
}

static int abort_and_leave(uint32_t rank, uint32_t ranks) {
    xs_world *world = join(rank, ranks);
    EXPECT(world && !xs_abort(world, XS_E_TIMEOUT));
    return xs_world_destroy(world);
}

static int find_it_aborted(uint32_t rank, uint32_t ranks) {
    xs_world *world = join(rank, ranks);
    EXPECT(world && xs_aborted_reason(world) == XS_E_TIMEOUT);
    return xs_world_destroy(world);
}

/* Else it would wait in a world of its own for ever. */
static void a_late_rank_finds_the_world_aborted(void **state) {
    (void)state;
    assert_int_equal(status_of(start(abort_and_leave, 0, 2)), 0);
    assert_int_equal(status_of(start(find_it_aborted, 1, 2)), 0);
    assert_false(exists(segment_path()));
}

/* --- a fast rank leaves before a slow one has come --- */
static int leave_a_message(uint32_t rank, uint32_t ranks) {
    xs_world *world = join(rank, ranks);
    xs_pad pad;
    EXPECT(world && !xs_pad_create(world, "message", 1, 1, 0, &pad));
    EXPECT(!xs_slot_write(world, &pad, 1 - rank, 0, 0, 40 + rank));
    return xs_world_destroy(world);
}

static int find_the_message(uint32_t rank, uint32_t ranks) {
    xs_world *world = join(rank, ranks);
    xs_pad pad;
    uint64_t value = 0;
    EXPECT(world && !xs_pad_create(world, "message", 1, 1, 0, &pad));
    EXPECT(!xs_slot_read(world, &pad, rank, 0, 0, &value));
    EXPECT(value == 40);
    return xs_world_destroy(world);
}

static void a_slow_rank_finds_what_a_fast_one_left(void **state) {
    (void)state;
    assert_int_equal(status_of(start(leave_a_message, 0, 2)), 0);
    assert_true(exists(segment_path()));
    assert_int_equal(status_of(start(find_the_message, 1, 2)), 0);
    assert_false(exists(segment_path()));
}

/* --- killed members --- */
static int message_and_die(uint32_t rank, uint32_t ranks) {
    xs_world *world = join(rank, ranks);
    xs_pad pad;
    EXPECT(world && !xs_pad_create(world, "message", 1, 1, 0, &pad));
    EXPECT(!xs_slot_write(world, &pad, 1 - rank, 0, 0, 99));
    kill(getpid(), SIGKILL);
    return __LINE__;
}

static int find_nothing(uint32_t rank, uint32_t ranks) {
    xs_world *world = join(rank, ranks);
    xs_pad pad;
    uint64_t value = 1;
    EXPECT(world && !xs_pad_create(world, "message", 1, 1, 0, &pad));
    EXPECT(!xs_slot_read(world, &pad, rank, 0, 0, &value));
    EXPECT(value == 0);
    return xs_world_destroy(world);
}

static void memory_of_dead_processes_is_replaced(void **state) {
    (void)state;
    assert_true(WIFSIGNALED(status_of(start(message_and_die, 0, 2))));
    assert_int_equal(status_of(start(find_nothing, 1, 2)), 0);
    assert_int_equal(status_of(start(find_nothing, 0, 2)), 0);
}

/* Dies while it holds the lock: the others go on. */
static int die_with_the_lock(uint32_t rank, uint32_t ranks) {
    xs_config config = config_of(rank, ranks);
    xs_world *world = NULL;
    EXPECT(!xs_world_create(&config, &world));
    segment_control *control = (segment_control *)((char *)world->abort_word - offsetof(segment_control, abort_word));
    EXPECT(!xs_segment_lock(control));
    kill(getpid(), SIGKILL);
    return __LINE__;
}

static void a_killed_holder_of_the_lock_wedges_nobody(void **state) {
    (void)state;
    xs_world *world = join(1, 3); /* alive all the time, so that the memory is kept */
    assert_non_null(world);
    xs_pad pad;
    assert_true(WIFSIGNALED(status_of(start(die_with_the_lock, 0, 3))));
    assert_int_equal(xs_pad_create(world, "after", 1, 1, 0, &pad), 0);
    assert_int_equal(status_of(start(die_with_the_lock, 0, 3)) & 0x7f,
                     SIGKILL); /* the dead one's rank can be taken again */
    assert_int_equal(xs_world_destroy(world), 0);
}

/* --- contradictions --- */
static void ranks_are_taken_once(void **state) {
    (void)state;
    xs_world *world = join(0, 2), *other = NULL;
    assert_non_null(world);
    xs_config config = config_of(0, 2);
    assert_int_equal(xs_world_create(&config, &other), XS_E_ARGUMENT);
    config = config_of(1, 3);
    assert_int_equal(xs_world_create(&config, &other), XS_E_SHAPE);
    config = config_of(1, 2);
    config.shared_bytes = 2 << 20;
    assert_int_equal(xs_world_create(&config, &other), XS_E_SHAPE);
    assert_int_equal(xs_world_destroy(world), 0);
}

/* Two members in one process stand for two processes. */
static void the_order_of_creation_must_agree(void **state) {
    (void)state;
    xs_world *a = join(0, 2), *b = join(1, 2);
    assert_true(a && b);
    xs_pad pad;
    xs_buffer buffer;
    assert_int_equal(xs_pad_create(a, "p", 2, 3, 0, &pad), 0);
    assert_int_equal(xs_pad_create(b, "q", 2, 3, 0, &pad), XS_E_SHAPE); /* another name */
    assert_int_equal(xs_pad_create(b, "p", 3, 2, 0, &pad), XS_E_SHAPE); /* another shape */
    assert_int_equal(xs_pad_create(b, "p", 2, 3, XS_PAD_WIDE, &pad), XS_E_SHAPE);
    assert_int_equal(xs_buffer_create(b, "p", 6 * 128, &buffer), XS_E_SHAPE);
    assert_int_equal(xs_pad_create(b, "p", 2, 3, 0, &pad), 0);
    static uint64_t word[2];
    void *base[2] = {&word[0], &word[1]};
    xs_adopt adopt = {.size = sizeof adopt, .rows = 1, .columns = 1, .width = 64, .base = base};
    assert_int_equal(xs_pad_adopt(a, "own", &adopt, &pad), 0); /* adopted pads have their place in it too */
    assert_int_equal(xs_pad_create(b, "r", 1, 1, 0, &pad), XS_E_SHAPE);
    assert_int_equal(xs_pad_adopt(b, "own", &adopt, &pad), 0);
    assert_int_equal(xs_world_destroy(a), 0);
    assert_int_equal(xs_world_destroy(b), 0);
}

static void shared_bytes_run_out(void **state) {
    (void)state;
    xs_world *world = join(0, 2);
    assert_non_null(world);
    xs_buffer buffer;
    assert_int_equal(xs_buffer_create(world, "too much", 2 << 20, &buffer), XS_E_MEMORY);
    assert_non_null(strstr(xs_error_detail(), "shared_bytes"));
    assert_int_equal(xs_buffer_create(world, "fits", 512 << 10, &buffer), 0);
    assert_int_equal(xs_world_destroy(world), 0);
}

/* In containers /dev/shm often has 64 MB. What does not fit is refused there, where a kernel would have got a SIGBUS,
 * and what fits goes on. */
static int in_a_small_dev_shm(uint32_t rank, uint32_t ranks) {
    if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        mount("xs-test", "/dev/shm", "tmpfs", 0, "size=64m"))
        return 0; /* not root */
    xs_config config = config_of(rank, ranks);
    config.shared_bytes = 256 << 20;
    xs_world *world;
    xs_buffer large, small;
    static char bytes[1 << 20];
    EXPECT(!xs_world_create(&config, &world));
    EXPECT(xs_buffer_create(world, "large", 128 << 20, &large) == XS_E_MEMORY);
    EXPECT(strstr(xs_error_detail(), "no room in /dev/shm"));
    EXPECT(!xs_buffer_create(world, "small", sizeof bytes, &small));
    EXPECT(!xs_buffer_write(world, &small, rank, 0, bytes, sizeof bytes));
    EXPECT(!xs_world_destroy(world));
    EXPECT(!umount2("/dev/shm", MNT_DETACH) && !mount("xs-test", "/dev/shm", "tmpfs", 0, "size=4k"));
    EXPECT(xs_world_create(&config, &world) == XS_E_MEMORY); /* not even its control block */
    EXPECT(strstr(xs_error_detail(), "no room in /dev/shm"));
    return 0;
}

static void a_dev_shm_of_64_mb_is_told(void **state) {
    (void)state;
    assert_int_equal(status_of(start(in_a_small_dev_shm, 0, 2)), 0);
}

/* Something else under the name: said, not used. */
static void foreign_files_are_refused(void **state) {
    (void)state;
    xs_world *world = join(0, 2);
    assert_non_null(world);
    segment_control *control = (segment_control *)((char *)world->abort_word - offsetof(segment_control, abort_word));
    xs_config config = config_of(1, 2);
    xs_world *other;
    control->version++;
    assert_int_equal(xs_world_create(&config, &other), XS_E_VERSION);
    control->version--;
    control->magic++;
    assert_int_equal(xs_world_create(&config, &other), XS_E_FORMAT);
    control->magic--;
    assert_int_equal(xs_world_destroy(world), 0);
    other = join(1, 2); /* the last one clears up */
    assert_int_equal(xs_world_destroy(other), 0);
}

static int joined[2]; /* a pipe: a child says that it has joined */

static int join_and_stay(uint32_t rank, uint32_t ranks) {
    EXPECT(join(rank, ranks) && write(joined[1], "", 1) == 1);
    for (;;) pause();
}

/* The memory of killed processes goes when the next world opens, whatever its name; that may be another program's. */
static void memory_that_nobody_asks_for_again_is_swept(void **state) {
    char old[96], byte;
    assert_int_equal(pipe(joined), 0);
    pid_t pid = start(join_and_stay, 0, 2);
    close(joined[1]);
    assert_int_equal(read(joined[0], &byte, 1), 1);
    close(joined[0]);
    strcpy(old, segment_path());
    assert_true(exists(old));
    kill(pid, SIGKILL);
    assert_true(WIFSIGNALED(status_of(pid)));
    set_up(state); /* another name */
    xs_world *world = join(0, 2);
    assert_non_null(world);
    assert_false(exists(old));
    assert_int_equal(xs_world_destroy(world), 0);
    assert_true(exists(segment_path())); /* kept for rank 1 */
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(two_processes),
        TEST(four_processes),
        TEST(abort_reaches_every_process),
        TEST(a_late_rank_finds_the_world_aborted),
        TEST(a_slow_rank_finds_what_a_fast_one_left),
        TEST(memory_of_dead_processes_is_replaced),
        TEST(a_killed_holder_of_the_lock_wedges_nobody),
        TEST(ranks_are_taken_once),
        TEST(the_order_of_creation_must_agree),
        TEST(shared_bytes_run_out),
        TEST(a_dev_shm_of_64_mb_is_told),
        TEST(foreign_files_are_refused),
        TEST(memory_that_nobody_asks_for_again_is_swept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
