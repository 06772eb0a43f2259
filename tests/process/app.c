/* An application for tests of recording: app COUNTERS-FILE RECORDS PACE-NS END
 *   END  end            destroys its world
 *        exit           exits without
 *        leaves         exits without, while its writers write
 *        told           destroys its world when word 62 of the counters is set
 *        kill:MS        is killed (SIGKILL) MS milliseconds after all writers of the world have made some records
 *        shuts:MS       the same, but closes its descriptors before these milliseconds, as the kernel does shortly before an end
 *        captured:PATH  is killed when the capture PATH holds as many
 *        cupti:PATH     is killed when the capture PATH says that CUPTI has delivered
 *        hang           its writers wait for what never comes, and it is killed when all do
 *        give-up:PATH   its writers wait for 20 ms, and it is killed when the capture PATH has a trigger
 *        abort:PATH     aborts its world when nothing waits, and is killed when the capture PATH has a trigger
 *        fail:PATH      the same, by a kernel
 *        fork           forks a child that exits at once, then destroys its world
 * Ranks, capture and so on by environment. Exits with 0, or with the negated xs_error. The counters file, one for all ranks, has
 * a word a block (2 blocks a rank), then, at word 63, 1 when the application came to its end. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xs/xs.h>

#include "forked_child.h"
#include "frames.h"
#include "open_waits.h"

#include "app.kernel.h"

#define WORDS 64
#define BLOCKS 2
#define SOME 100u /* records of a writer */

static uint64_t *map_counters(const char *path) {
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, WORDS * sizeof(uint64_t)))
        return NULL;
    void *map = mmap(NULL, WORDS * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return map == MAP_FAILED ? NULL : map;
}

typedef struct killing {
    const xs_world *world;
    const uint64_t *counters;
    const char *end, *path; /* what stands behind the colon */
    uint64_t records;       /* of a writer */
} killing;

static int starts(const char *end, const char *word) { return !strncmp(end, word, strlen(word)); }

static int timed(const char *end) { return starts(end, "kill") || starts(end, "shuts"); }

static int all_have(const xs_world *world, const uint64_t *counters, uint64_t records) {
    int all = 1;
    for (uint32_t i = 0; i < BLOCKS * xs_world_ranks(world); i++)
        all &= __atomic_load_n(&counters[i], __ATOMIC_RELAXED) >= records;
    return all;
}

static void delivered(void *user, const xs_frame *frame, const void *payload) {
    const xs_cupti_health *health = payload;
    if (frame->type == XS_FRAME_CUPTI && health->until > health->since)
        *(int *)user = 1;
}

/* What the capture holds so far, as far as it is whole. */
static int captured(const killing *k) {
    static frames f;
    uint64_t kept = 0;
    int by_cupti = 0;
    memset(&f, 0, sizeof f);
    f.any_value = 1;
    f.each = delivered;
    f.user = &by_cupti;
    if (frames_read(&f, k->path))
        return 0;
    for (uint32_t i = 0; i < FRAMES_RINGS; i++)
        kept += f.rings[i].kept;
    if (starts(k->end, "cupti"))
        return by_cupti && kept > BLOCKS * SOME;
    return !starts(k->end, "captured") ? f.counts[XS_FRAME_TRIGGER] > 0 : kept > BLOCKS * SOME;
}

static int due(const killing *k) {
    if (!strcmp(k->end, "hang"))
        return open_waits(k->world, NULL, NULL) == BLOCKS;
    return timed(k->end) ? all_have(k->world, k->counters, k->records < SOME ? k->records : SOME) : captured(k);
}

static void *killer(void *user) {
    const killing *k = user;
    while (!due(k))
        usleep(1000);
    if (starts(k->end, "shuts"))
        closefrom(STDERR_FILENO + 1);
    if (timed(k->end))
        usleep((useconds_t)(strtoul(k->path, NULL, 10) * 1000));
    kill(getpid(), SIGKILL);
    return NULL;
}

static void kill_later(const xs_world *world, const char *end, const uint64_t *counters, uint64_t records) {
    static killing k;
    pthread_t thread;
    const char *colon = strchr(end, ':');
    k = (killing){world, counters, end, colon ? colon + 1 : "", records};
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
    args.hang = !strcmp(end, "hang") || starts(end, "give-up");
    args.bound_ns = starts(end, "give-up") ? 20000000 : 0;
    int rc = xs_pad_create(world, "never", 1, 1, 0, &args.pad);
    args.role = (uint32_t)xs_role(world, "writer");
    args.mark = (uint32_t)xs_mark_name(world, "tick");
    if (rc < 0)
        return rc;
    args.fails = starts(end, "fail");
    int pauses = args.hang || args.fails || starts(end, "abort");
    if (timed(end) || starts(end, "captured") || starts(end, "cupti") || pauses)
        kill_later(world, end, counters, args.records);
    if (!strcmp(end, "fork") && !child_exits())
        return XS_E_SYSTEM;
    xs_launch_config config = {.size = sizeof config, .grid = BLOCKS, .block = 32};
    rc = xs_launch(world, &app_kernel, &config, &args, sizeof args);
    if (rc < 0)
        return rc;
    while (!strcmp(end, "leaves") && !all_have(world, counters, SOME))
        usleep(1000);
    if (!strcmp(end, "leaves"))
        exit(0);
    rc = xs_sync(world);
    if (starts(end, "abort") && !rc)
        rc = xs_abort(world, XS_E_ABORTED);
    if (pauses && (!rc || args.fails))
        pause();
    while (!strcmp(end, "told") && !__atomic_load_n(&counters[WORDS - 2], __ATOMIC_ACQUIRE))
        usleep(1000);
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
