/* How many records a second the collector keeps, with none lost: paced writers that only emit, one collector, a capture on
 * tmpfs. The bar: 25 million, median of five, after a warm-up, into a preallocated capture. Beside it: nothing preallocated.
 *
 *   collect_rate [million records a second] [seconds a run] [folder]          exit 1: below the bar, or records were lost */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collector.h"
#include "frames.h"
#include "synthetic.h"

#define WRITERS 8
#define RUNS 5
#define RING 65536u
#define BURST_NS 500000u
#define BAR 25.0

typedef struct job {
    char *region;
    uint32_t ring;
    double per_second;
    double seconds;
    uint64_t emitted;
} job;

static uint64_t now_boot(void *user) {
    (void)user;
    return synthetic_now();
}

/* Bursts, so that the rate is exact whatever the thread's luck with the scheduler. */
static void *write_paced(void *user) {
    job *j = user;
    synthetic_writer w = synthetic_begin(j->region, j->ring, XS_OVERWRITE);
    uint64_t begin = synthetic_now(), end = begin + (uint64_t)(j->seconds * 1e9), at;
    while ((at = synthetic_now()) < end) {
        uint64_t due = (uint64_t)((double)(at - begin) * j->per_second / 1e9);
        /* A thread that was not run for long does not make up for it at once: that would be another rate. */
        uint64_t most = (uint64_t)(j->per_second * BURST_NS * 4 / 1e9);
        for (uint64_t n = due - j->emitted < most ? due - j->emitted : most; n; n--, j->emitted++)
            synthetic_emit(&w, XS_OVERWRITE, (uint32_t)at);
        struct timespec pause = {0, BURST_NS};
        nanosleep(&pause, NULL);
    }
    synthetic_end(&w);
    return NULL;
}

typedef struct outcome {
    double kept_per_second, busy;
    uint64_t emitted, lost;
} outcome;

static double thread_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           ((double)usage.ru_utime.tv_usec + (double)usage.ru_stime.tv_usec) / 1e6;
}

/* Collects until the writers have ended. */
static void collect(xs_collector *collector, pthread_t *threads) {
    int running = WRITERS;
    while (running) {
        if (xs_collector_pass(collector) < RING / 4) {
            struct timespec pause = {0, 200000};
            nanosleep(&pause, NULL);
        }
        if (!pthread_tryjoin_np(threads[running - 1], NULL))
            running--;
    }
}

static void count(const char *path, job *jobs, outcome *o) {
    static frames f;
    memset(&f, 0, sizeof f);
    if (frames_read(&f, path) || f.wrong) {
        fprintf(stderr, "collect_rate: %s\n", f.wrong ? f.what : "no capture");
        exit(2);
    }
    uint64_t kept = 0;
    for (uint32_t i = 0; i < WRITERS; i++) {
        kept += f.rings[i].kept;
        o->lost += f.rings[i].lost;
        o->emitted += jobs[i].emitted;
    }
    if (kept + o->lost != o->emitted) {
        fprintf(stderr, "collect_rate: kept and lost are not what was emitted\n");
        exit(2);
    }
    o->kept_per_second = (double)kept;
}

static outcome run(const char *folder, double millions, double seconds, int preallocated) {
    outcome o = {0};
    char name[256], path[260];
    snprintf(name, sizeof name, "%s/xs-rate-%d", folder, (int)getpid());
    xs_capture_options file = {.name = name};
    if (preallocated)
        file.preallocate = (uint64_t)(millions * 1e6 * seconds * 1.2) * sizeof(xs_record) + (16u << 20);
    xs_capture *capture;
    xs_collector *collector;
    xs_collected *collected;
    char *region = synthetic_region(1, 64, RING);
    int rc = xs_capture_open(&file, &capture);
    if (rc) {
        fprintf(stderr, "collect_rate: %s: %s\n", xs_strerror(rc), xs_error_detail());
        exit(2);
    }
    snprintf(path, sizeof path, "%s", xs_capture_path(capture));
    xs_collector_options options = {.capture = capture, .now = now_boot};
    if (xs_collector_create(&options, &collector) ||
        xs_collector_add(collector, region, synthetic_of(region)->total_bytes, 0, &collected))
        exit(2);
    job jobs[WRITERS];
    pthread_t threads[WRITERS];
    uint64_t begin = synthetic_now();
    double used = thread_seconds();
    for (uint32_t i = 0; i < WRITERS; i++) {
        jobs[i] = (job){region, i, millions * 1e6 / WRITERS, seconds, 0};
        if (pthread_create(&threads[i], NULL, write_paced, &jobs[i]))
            exit(2);
    }
    collect(collector, threads);
    xs_frame_end end = {.clean = 1, .exit_status = -1};
    xs_collector_end(collector, collected, &end);
    double took = (double)(synthetic_now() - begin) / 1e9;
    o.busy = (thread_seconds() - used) / took;
    if (xs_collector_close(collector))
        exit(2);
    count(path, jobs, &o);
    o.kept_per_second /= took;
    unlink(path);
    free(region);
    return o;
}

static int by_rate(const void *a, const void *b) {
    double x = ((const outcome *)a)->kept_per_second, y = ((const outcome *)b)->kept_per_second;
    return x < y ? -1 : x > y;
}

/* The median run; *lost: of all five. */
static outcome median(const char *folder, double millions, double seconds, int preallocated, uint64_t *lost) {
    outcome all[RUNS];
    *lost = 0;
    run(folder, millions, seconds / 4, preallocated); /* warm-up */
    for (int i = 0; i < RUNS; i++) {
        all[i] = run(folder, millions, seconds, preallocated);
        *lost += all[i].lost;
    }
    qsort(all, RUNS, sizeof all[0], by_rate);
    return all[RUNS / 2];
}

int main(int argc, char **argv) {
    double millions = argc > 1 ? atof(argv[1]) : 27, seconds = argc > 2 ? atof(argv[2]) : 1;
    const char *folder = argc > 3 ? argv[3] : "/dev/shm";
    static const char *const names[] = {"grows", "preallocated"};
    int below = 0;
    printf("capture        asked M/s   kept M/s   lost of 5 runs   collector busy\n");
    for (int preallocated = 1; preallocated >= 0; preallocated--) {
        uint64_t lost;
        outcome o = median(folder, millions, seconds, preallocated, &lost);
        printf("%-13s  %9.1f  %9.1f  %15llu  %13.0f %%\n", names[preallocated], millions, o.kept_per_second / 1e6,
               (unsigned long long)lost, o.busy * 100);
        if (preallocated)
            below = o.lost > 0 || o.kept_per_second < BAR * 1e6;
    }
    return below;
}
