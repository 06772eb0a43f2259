/* marks NAME=VALUE...: a paced or unpaced load of records, and every way for it to end.
 *   mode=overwrite|discard  ranks=N  grid=N (0: as many blocks as are resident at once)  block=THREADS  launches=N  streams=N
 *   records=N (a warp)  pace=NS  fault=trap|address|misaligned|assert
 *   end=end      destroys its world       end=exit   exits without        abort:MS   all wait, the host aborts
 *       leave:N  _exit in mid-kernel, once every warp has written N marks     kill:N  SIGKILL to itself, likewise
 *       wait     all wait, until the library gives up
 * Prints what the kernels counted in memory of their own. */
#include <pthread.h>

#include "gpu_test.h"
#include "marks.h"
#include "open_waits.h"
#include <xs/xs.h>

#include <world.h>

XS_KERNEL_DECLARE(marks_overwrite)
XS_KERNEL_DECLARE(marks_discard)

static uint32_t ranks = 1, grid = 4, block = 128, launches = 1, streams;
static const char *mode = "overwrite", *fault = "", *end = "end";
static struct marks_args args = {.records = 1000};

static int option(const char *text) {
    static const struct {
        const char *name;
        uint32_t *value;
    } numbers[] = {{"ranks", &ranks}, {"grid", &grid}, {"block", &block}, {"launches", &launches}, {"streams", &streams}, {"pace", &args.pace_ns}};
    const char *value = strchr(text, '=');
    if (!value)
        return -1;
    size_t length = (size_t)(value++ - text);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strlen(numbers[i].name) == length && !strncmp(text, numbers[i].name, length))
            return *numbers[i].value = (uint32_t)strtoul(value, NULL, 0), 0;
    if (!strncmp(text, "records=", 8))
        return args.records = strtoull(value, NULL, 0), 0;
    const char **words = !strncmp(text, "mode=", 5) ? &mode : !strncmp(text, "fault=", 6) ? &fault : !strncmp(text, "end=", 4) ? &end : NULL;
    return words ? *words = value, 0 : -1;
}

static uint32_t fault_of(const char *name) {
    static const char *const names[] = {"", "trap", "address", "misaligned", "assert"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i]))
            return i;
    exit(64);
}

static const xs_kernel *kernel(void) { return !strcmp(mode, "discard") ? &marks_discard_kernel : &marks_overwrite_kernel; }
static uint32_t warps(void) { return block / XS_WARP; }

/* As many blocks as the GPU holds at once. */
static uint32_t full_grid(void) {
    int blocks, processors;
    GPU_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel()->cuda->function, (int)block, 0));
    GPU_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    return (uint32_t)(blocks * processors);
}

/* How far a launch has come, as the host sees it: a run that leaves no record says by this which stage was missing. */
typedef struct stages {
    uint32_t started, busy, owners, begun, least; /* blocks; rings; owners of rings; warps with a mark; the fewest marks of a warp */
    uint64_t taken;                               /* records that the collector took */
} stages;

static stages look(const xs_world *world) {
    const xs_region_header *h = xs_region(world);
    stages s = {.started = xs_region_started(world, 0, ranks, grid, 1), .least = UINT32_MAX};
    for (uint32_t i = 0; i < h->ranks * h->rings_per_rank; i++) {
        const xs_ring_header *ring = (const xs_ring_header *)(const void *)(world->region + h->ring_headers_offset + i * h->ring_header_stride);
        s.busy += __atomic_load_n(&ring->busy, __ATOMIC_RELAXED);
        s.owners += __atomic_load_n(&ring->owners, __ATOMIC_RELAXED);
        s.taken += __atomic_load_n(&ring->consumed, __ATOMIC_RELAXED);
    }
    for (uint32_t i = 0; i < ranks * grid * warps(); i++) {
        uint32_t marks = __atomic_load_n(&args.progress[i], __ATOMIC_RELAXED);
        s.begun += marks != 0;
        s.least = marks < s.least ? marks : s.least;
    }
    return s;
}

/* The same in the GPU's own memory, by a copy beside the kernel: more there than in mapped memory means that stores are on their way. */
static void say_device(xs_world *world) {
    uint32_t begun = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t r = 0; r < ranks; r++)
        for (uint32_t i = 0; i < grid * warps(); i++) {
            marks_count c;
            XS_CHECK(xs_buffer_read(world, &args.counts, r, i * sizeof c, &c, sizeof c));
            begun += c.written != 0;
            least = c.written < least ? c.written : least;
        }
    printf("in the GPU's own memory: %u warps have marks, %llu at least\n", begun, (unsigned long long)least);
}

static void say_stages(const char *when, const stages *s, double begin) {
    printf("%s, %.3f s after the launch returned: %u of %u blocks said that they started, %u of %u rings are busy, %u owners, "
           "%u warps have marks, %u at least, %llu records were taken by the collector\n",
           when, gpu_test_seconds() - begin, s->started, ranks * grid, s->busy, ranks * grid * warps(), s->owners, s->begun, s->least,
           (unsigned long long)s->taken);
}

/* A first launch may take as long as it likes: what is waited for is what the warps have done. */
static void wait_for_marks(xs_world *world, uint32_t wanted) {
    double begin = gpu_test_seconds();
    gpu_test_sleep_ms(50);
    stages s = look(world), before = s;
    say_stages("early", &s, begin);
    say_device(world);
    for (; s.least < wanted && gpu_test_seconds() - begin < (gpu_test_on_host() ? 250 : 25); s = look(world)) {
        if (!before.begun && s.begun)
            say_stages("the first mark", &s, begin);
        before = s;
        gpu_test_sleep_ms(1);
    }
    say_stages(s.least < wanted ? "NOT ENOUGH MARKS" : "in mid-kernel", &s, begin);
    if (s.least < wanted)
        say_device(world);
    printf("ends at %lld ms\n", (long long)time(NULL) * 1000);
    fflush(stdout);
    if (s.least < wanted)
        _exit(3);
}

static void *end_later(void *user) {
    xs_world *world = user;
    unsigned number = (unsigned)atoi(strchr(end, ':') + 1);
    if (args.progress)
        wait_for_marks(world, number);
    while (args.waits && gpu_test_on_host() && open_waits(world, NULL, NULL) < ranks * grid * warps())
        gpu_test_sleep_ms(1); /* threads come when the machine lets them */
    if (!strncmp(end, "leave", 5))
        _exit(0);
    if (!strncmp(end, "kill", 4))
        kill(getpid(), SIGKILL);
    gpu_test_sleep_ms(number);
    xs_abort(world, XS_E_ABORTED);
    return NULL;
}

/* Memory that kernels write and the host reads meanwhile. */
static uint32_t *make_progress(const xs_world *world) {
    void *memory = NULL;
    size_t bytes = (size_t)ranks * grid * warps() * sizeof(uint32_t);
    if (strcmp(xs_world_backend(world), "cuda"))
        memory = calloc(1, bytes);
    else
        GPU_CHECK(cudaHostAlloc(&memory, bytes, cudaHostAllocMapped | cudaHostAllocPortable));
    EXPECT(memory, "no memory");
    memset(memory, 0, bytes);
    return memory;
}

static void create(xs_world *world) {
    XS_CHECK(xs_pad_create(world, "never", 1, 1, 0, &args.never));
    XS_CHECK(xs_buffer_create(world, "counts", (uint64_t)grid * warps() * sizeof(marks_count), &args.counts));
    int role = xs_role(world, "writer"), mark = xs_mark_name(world, "tick");
    XS_CHECK(role);
    XS_CHECK(mark);
    args.role = (uint32_t)role, args.mark = (uint32_t)mark;
    args.fault = fault_of(fault), args.fault_at = args.records / 2;
    args.waits = !strncmp(end, "abort", 5) || !strcmp(end, "wait");
    if (!strncmp(end, "leave", 5) || !strncmp(end, "kill", 4))
        args.progress = make_progress(world);
}

/* Prints the sums over all warps; returns how many waits ended otherwise than by an abort. */
static uint64_t report(xs_world *world) {
    uint64_t marks = 0, unrecorded = 0, writers = 0, without = 0, not_aborted = 0;
    for (uint32_t r = 0; r < ranks; r++)
        for (uint32_t i = 0; i < grid * warps(); i++) {
            marks_count c;
            XS_CHECK(xs_buffer_read(world, &args.counts, r, i * sizeof c, &c, sizeof c));
            uint64_t without_ring = c.marks / args.records - c.has_ring;
            marks += c.has_ring * args.records, unrecorded += without_ring * args.records;
            writers += c.has_ring, without += without_ring;
            not_aborted += c.result != XS_RESULT_ABORTED;
        }
    printf("marks %llu unrecorded %llu writers %llu without %llu .\n", (unsigned long long)marks, (unsigned long long)unrecorded,
           (unsigned long long)writers, (unsigned long long)without);
    return not_aborted;
}

/* Launches of the user's own, on streams of its own: xs gives the handles. */
static void run_streams(xs_world *world) {
    cudaStream_t stream[16];
    xs_handle *handles = calloc(launches, sizeof *handles);
    EXPECT(streams <= 16 && handles && ranks == 1, "streams");
    for (uint32_t i = 0; i < streams; i++)
        GPU_CHECK(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
    for (uint32_t i = 0; i < launches; i++) {
        XS_CHECK(xs_handle_begin(world, "marks on a stream", 0, grid, block, &handles[i]));
        void *arguments[] = {&args, &handles[i]};
        dim3 blocks = {grid, 1, 1}, threads = {block, 1, 1};
        GPU_CHECK(cudaLaunchKernel(kernel()->cuda->function, blocks, threads, arguments, 0, stream[i % streams]));
    }
    GPU_CHECK(cudaDeviceSynchronize());
    for (uint32_t i = 0; i < launches; i++)
        XS_CHECK(xs_handle_end(world, &handles[i]));
    for (uint32_t i = 0; i < streams; i++)
        GPU_CHECK(cudaStreamDestroy(stream[i]));
    free(handles);
}

static int run_launches(xs_world *world) {
    xs_launch_config config = {.size = sizeof config, .grid = grid, .block = block};
    for (uint32_t i = 0; i < launches; i++)
        XS_CHECK(xs_launch(world, kernel(), &config, &args, sizeof args));
    pthread_t thread;
    if (strchr(end, ':') && pthread_create(&thread, NULL, end_later, world))
        return XS_E_SYSTEM;
    return xs_sync(world);
}

/* What the end asked for must have led to. */
static void judge(xs_world *world, int synced, double took) {
    if (args.fault) {
        printf("the error came after %.3f s: %s: %s\n", took, xs_strerror(synced), xs_error_detail());
        EXPECT(synced < 0, "the fault went unseen");
        (void)xs_world_destroy(world);
        fflush(stdout);
        _exit(7);
    }
    if (args.waits) {
        int wanted = strcmp(end, "wait") ? XS_E_ABORTED : XS_E_TIMEOUT;
        xs_launch_config config = {.size = sizeof config, .grid = grid, .block = block};
        EXPECT(synced == wanted, "xs_sync: %s, not %s", xs_errname(synced), xs_errname(wanted));
        printf("gave up %.3f s after the launch\n", took);
        EXPECT(xs_launch(world, kernel(), &config, &args, sizeof args) == XS_E_ABORTED, "a world that is over takes launches");
        uint64_t not_aborted = report(world);
        EXPECT(not_aborted == 0, "%llu waits did not end as aborted", (unsigned long long)not_aborted);
        return;
    }
    XS_CHECK(synced);
    report(world);
}

int main(int argc, char **argv) {
    gpu_test_begin(50);
    for (int i = 1; i < argc; i++)
        if (option(argv[i])) {
            fprintf(stderr, "marks: '%s'? see the head of marks.c\n", argv[i]);
            return 64;
        }
    if (!grid)
        grid = full_grid();
    uint32_t rings = (grid * warps() + 63) / 64 * 64;
    xs_config config = {.size = sizeof config, .version = 1, .ranks = ranks, .rings = getenv("XS_RINGS") ? 0 : rings};
    xs_world *world;
    XS_CHECK(xs_world_create(&config, &world));
    create(world);
    double begin = gpu_test_seconds();
    int synced = 0;
    if (streams)
        run_streams(world);
    else
        synced = run_launches(world);
    judge(world, synced, gpu_test_seconds() - begin);
    if (!strcmp(end, "exit"))
        exit(0);
    XS_CHECK(xs_world_destroy(world));
    return 0;
}
