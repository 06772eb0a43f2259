/* Worlds of several processes on the fake driver: memory shared by handles, ranks that are late, leave, die, disagree. Children are
 * forked before anything is loaded, as the driver asks. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "cuda_test.h"
#include "segment_layout.h"
#include "world.h"

FAKE_KERNEL(meet, sizeof(struct meet_args), 0);

static char world_name[64];

static int set_up(void **state) {
    (void)state;
    static int number;
    snprintf(world_name, sizeof world_name, "cuda test %d.%d", (int)getpid(), number++);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    char name[64], path[96];
    xs_segment_name(name, sizeof name, world_name);
    snprintf(path, sizeof path, "/dev/shm/%s", name);
    unlink(path);
    return 0;
}

static xs_config config_of(uint32_t rank, uint32_t ranks) {
    xs_config config = cuda_config(ranks);
    config.world = world_name;
    config.first_rank = rank;
    config.local_ranks = 1;
    config.join_ns = 20000000000u;
    return config;
}

/* Every child answers 0, or the line at which it disagreed. */
#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, xs_error_detail());                            \
            return __LINE__ % 255 + 1;                                                                                 \
        }                                                                                                              \
    } while (0)

typedef int child_main(uint32_t rank);

static pid_t start(child_main *run, uint32_t rank) {
    pid_t pid = fork();
    if (pid) return pid;
    alarm(60);
    fake_load();
    _exit(run(rank));
}

static int ended(pid_t pid) {
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void run_all(child_main *run, uint32_t ranks) {
    pid_t children[8];
    for (uint32_t r = 0; r < ranks; r++) children[r] = start(run, r);
    for (uint32_t r = 0; r < ranks; r++) assert_int_equal(ended(children[r]), 0);
}

/* A whole life of one rank. */
static int meet_others(const xs_config *config, uint64_t rounds) {
    xs_world *world = NULL;
    struct meet_args args;
    EXPECT(xs_world_create(config, &world) == 0);
    EXPECT(xs_pad_create(world, "meet", 1, config->ranks, 0, &args.pad) == 0);
    xs_buffer buffer;
    EXPECT(xs_buffer_create(world, "rows", 5000, &buffer) == 0);
    for (args.value = 1; args.value <= rounds; args.value++) {
        EXPECT(cuda_launch(world, &meet_gpu, 2, 0, 0, &args, sizeof args) > 0);
        EXPECT(xs_sync(world) == 0);
    }
    for (uint32_t r = 0; r < config->ranks; r++) {
        uint64_t value = 0;
        EXPECT(xs_slot_read(world, &args.pad, config->first_rank, 0, r, &value) == 0);
        EXPECT(value >= rounds);
    }
    EXPECT(xs_world_destroy(world) == 0);
    EXPECT(fake_live_all() == 0);
    return 0;
}

static int one_of_three(uint32_t rank) {
    xs_config config = config_of(rank, 3);
    return meet_others(&config, 5);
}
static void processes_meet(void **state) {
    (void)state;
    run_all(one_of_three, 3);
}

static int on_one_gpu(uint32_t rank) {
    fake->gpus = 1;
    xs_config config = config_of(rank, 2);
    return meet_others(&config, 5);
}
static void processes_share_a_gpu(void **state) {
    (void)state;
    run_all(on_one_gpu, 2);
}

/* Each sees one GPU only, another one: CUDA_VISIBLE_DEVICES as launchers set it. */
static int with_its_own_gpu(uint32_t rank) {
    fake->gpus = 1;
    fake->uuid_base = (int)rank;
    xs_config config = config_of(rank, 2);
    return meet_others(&config, 3);
}
static void hidden_gpus_are_reached(void **state) {
    (void)state;
    run_all(with_its_own_gpu, 2);
}

static int two_ranks_each(uint32_t process) {
    fake->gpus = 4;
    xs_config config = config_of(2 * process, 4);
    config.local_ranks = 2;
    int rc = meet_others(&config, 3);
    EXPECT(rc || fake->peers_enabled >= 6); /* its two GPUs with each other, and each with the other process's two */
    return rc;
}
static void processes_of_two_gpus_each_meet(void **state) {
    (void)state;
    run_all(two_ranks_each, 2);
}

static int creates_alone(uint32_t rank) {
    xs_config config = config_of(rank, 2);
    config.join_ns = 50000000;
    xs_world *world = NULL;
    struct meet_args args = {.value = 1};
    EXPECT(xs_world_create(&config, &world) == 0); /* creation waits for nobody */
    EXPECT(xs_pad_create(world, "meet", 1, 2, 0, &args.pad) == 0);
    uint64_t value = 1;
    EXPECT(xs_slot_read(world, &args.pad, rank, 0, 0, &value) == 0 && value == 0);
    EXPECT(cuda_launch(world, &meet_gpu, 1, 0, 0, &args, sizeof args) == XS_E_TIMEOUT);
    EXPECT(strstr(xs_error_detail(), "rank 1 has not shared its memory within XS_JOIN_NS"));
    EXPECT(xs_world_destroy(world) == 0);
    EXPECT(fake_live_all() == 0);
    return 0;
}
static void a_rank_that_never_comes_is_named(void **state) {
    (void)state;
    assert_int_equal(ended(start(creates_alone, 0)), 0);
}

static int dies(uint32_t rank) {
    xs_config config = config_of(rank, 2);
    xs_world *world = NULL;
    uint64_t value;
    EXPECT(xs_world_create(&config, &world) == 0); /* the heartbeat is shared, the pad never */
    EXPECT(xs_slot_read(world, &world->heartbeat, 0, 0, 0, &value) == 0); /* rank 0 is here */
    kill(getpid(), SIGKILL);
    return 1;
}
static int misses_the_dead(uint32_t rank) {
    xs_config config = config_of(rank, 2);
    xs_world *world = NULL;
    struct meet_args args = {.value = 1};
    EXPECT(xs_world_create(&config, &world) == 0);
    EXPECT(xs_pad_create(world, "meet", 1, 2, 0, &args.pad) == 0);
    EXPECT(cuda_launch(world, &meet_gpu, 1, 0, 0, &args, sizeof args) < 0);
    EXPECT(strstr(xs_error_detail(), "rank 1"));
    xs_world_destroy(world);
    EXPECT(fake_live_all() == 0);
    return 0;
}
static void a_dead_rank_is_named(void **state) {
    (void)state;
    pid_t first = start(misses_the_dead, 0), second = start(dies, 1);
    assert_int_equal(ended(second), -SIGKILL);
    assert_int_equal(ended(first), 0);
}

static int with_another_size(uint32_t rank) {
    xs_config config = config_of(rank, 2);
    xs_world *world = NULL;
    xs_buffer buffer;
    struct meet_args args = {.value = 1};
    EXPECT(xs_world_create(&config, &world) == 0);
    EXPECT(xs_buffer_create(world, "rows", 100 + rank, &buffer) == 0);
    EXPECT(xs_pad_create(world, "meet", 1, 2, 0, &args.pad) == 0);
    int rc = cuda_launch(world, &meet_gpu, 1, 0, 0, &args, sizeof args);
    EXPECT(rc == XS_E_SHAPE || rc == XS_E_PEER_DEAD); /* the other may have left in protest */
    EXPECT(xs_world_destroy(world) == 0);
    EXPECT(fake_live_all() == 0);
    return rc == XS_E_SHAPE ? 0 : 2;
}
static void buffers_of_two_sizes_are_refused(void **state) {
    (void)state;
    pid_t first = start(with_another_size, 0), second = start(with_another_size, 1);
    int a = ended(first), b = ended(second);
    assert_true((a == 0 || b == 0) && (a == 0 || a == 2) && (b == 0 || b == 2));
}

/* Whoever is second is told. The first waits for it. */
static int says_other_cpu_ranks(uint32_t rank) {
    xs_config config = config_of(rank, 3);
    config.cpu_ranks = rank ? "1" : "2";
    xs_world *world = NULL;
    int rc = xs_world_create(&config, &world);
    if (rc) {
        EXPECT(rc == XS_E_SHAPE && strstr(xs_error_detail(), "cpu_ranks"));
        return 2;
    }
    pause(); /* until it is killed */
    return 1;
}
static void processes_agree_on_cpu_ranks(void **state) {
    (void)state;
    pid_t children[2] = {start(says_other_cpu_ranks, 0), start(says_other_cpu_ranks, 1)};
    int status = 0;
    pid_t refused = wait(&status);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    pid_t first = refused == children[0] ? children[1] : children[0];
    kill(first, SIGKILL);
    assert_int_equal(ended(first), -SIGKILL);
}

/* Rank 2 is a process without a GPU rank. */
static int one_is_a_cpu(uint32_t rank) {
    xs_config config = config_of(rank, 3);
    config.cpu_ranks = "2";
    int rc = meet_others(&config, 5);
    return rc;
}
static void a_cpu_process_meets_gpu_processes(void **state) {
    (void)state;
    run_all(one_is_a_cpu, 3);
}

/* The launcher's number of the process on its machine chooses the GPU. */
static int counts_its_gpu(uint32_t rank) {
    fake->gpus = 4;
    setenv("LOCAL_RANK", rank ? "1" : "3", 1);
    xs_config config = config_of(rank, 2);
    xs_world *world = NULL;
    EXPECT(xs_world_create(&config, &world) == 0);
    const xs_region_header *region = (const xs_region_header *)world->region;
    EXPECT(region->device == (rank ? 1 : 3));
    EXPECT(xs_world_destroy(world) == 0);
    return 0;
}
static void launchers_choose_the_gpu(void **state) {
    (void)state;
    run_all(counts_its_gpu, 2);
}

int main(void) {
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(processes_meet),
        EACH(processes_share_a_gpu),
        EACH(hidden_gpus_are_reached),
        EACH(processes_of_two_gpus_each_meet),
        EACH(a_rank_that_never_comes_is_named),
        EACH(a_dead_rank_is_named),
        EACH(buffers_of_two_sizes_are_refused),
        EACH(processes_agree_on_cpu_ranks),
        EACH(a_cpu_process_meets_gpu_processes),
        EACH(launchers_choose_the_gpu),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
