/* An application for tests of recording: app COUNTERS-FILE RECORDS PACE-NS END
 *   END  end       destroys its world
 *        exit      exits without
 *        kill:MS   is killed (SIGKILL) MS milliseconds after its first two writers have begun
 *        hang:MS   its writers wait for what never comes, then as kill:MS
 *        give-up   its writers wait for 20 ms, then it is killed after 300
 *        fork      forks a child that exits at once, then destroys its world
 * Ranks, capture and so on by environment. Exits with 0, or with the negated xs_error. The counters file has a word a
 * block (2 blocks a rank), then, at word 63, 1 when the application came to its end. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <xs/xs.h>

#include "app.kernel.h"

#define WORDS 64
#define BLOCKS 2

static uint64_t *map_counters(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, WORDS * sizeof(uint64_t)))
        return NULL;
    void *map = mmap(NULL, WORDS * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return map == MAP_FAILED ? NULL : map;
}

typedef struct killing {
    uint64_t ms;
    const uint64_t *counters;
} killing;

static void *killer(void *user) {
    const killing *k = user;
    uint64_t ms = k->ms;
    struct timespec poll = {0, 1000000};
    while (!__atomic_load_n(&k->counters[0], __ATOMIC_RELAXED) || !__atomic_load_n(&k->counters[1], __ATOMIC_RELAXED))
        nanosleep(&poll, NULL);
    struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&t, NULL);
    kill(getpid(), SIGKILL);
    return NULL;
}

static void kill_later(const char *end, const uint64_t *counters) {
    static killing k;
    pthread_t thread;
    const char *colon = strchr(end, ':');
    k = (killing){colon ? strtoull(colon + 1, NULL, 10) : 300, counters};
    if (pthread_create(&thread, NULL, killer, &k))
        abort();
}

static int child_exits(void) {
    int status;
    pid_t child = fork();
    if (child == 0)
        exit(3);
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3;
}

static int run(xs_world *world, char **argv, uint64_t *counters) {
    const char *end = argv[4];
    struct app_args args = {.counters = counters, .records = strtoull(argv[2], NULL, 10)};
    args.pace_ns = (uint32_t)strtoul(argv[3], NULL, 10);
    args.hang = !strncmp(end, "hang", 4) || !strcmp(end, "give-up");
    args.bound_ns = !strcmp(end, "give-up") ? 20000000 : 0;
    int rc = xs_pad_create(world, "never", 1, 1, 0, &args.pad);
    args.role = (uint32_t)xs_role(world, "writer");
    args.mark = (uint32_t)xs_mark_name(world, "tick");
    if (rc < 0)
        return rc;
    if (!strncmp(end, "kill", 4) || args.hang)
        kill_later(end, counters + BLOCKS * xs_world_first_rank(world));
    if (!strcmp(end, "fork") && !child_exits())
        return XS_E_SYSTEM;
    xs_launch_config config = {.size = sizeof config, .grid = BLOCKS, .block = 32};
    rc = xs_launch(world, &app_kernel, &config, &args, sizeof args);
    if (rc < 0)
        return rc;
    rc = xs_sync(world);
    if (args.hang && !rc)
        pause();
    return rc;
}

int main(int argc, char **argv) {
    if (argc < 5)
        return 64;
    uint64_t *counters = map_counters(argv[1]);
    xs_world *world;
    xs_config config = {.size = sizeof config, .version = 1};
    int rc = counters ? xs_world_create(&config, &world) : XS_E_SYSTEM;
    if (!rc) {
        rc = run(world, argv, counters);
        if (strcmp(argv[4], "exit")) {
            int stopped = xs_world_destroy(world);
            rc = rc ? rc : stopped;
        }
    }
    if (rc < 0)
        fprintf(stderr, "app: %s: %s\n", xs_strerror(rc), xs_error_detail());
    if (counters)
        counters[WORDS - 1] = 1;
    exit(rc < 0 ? -rc : 0);
}
