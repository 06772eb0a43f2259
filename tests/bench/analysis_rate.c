/* The analysis over captures of growing size: linear, and in memory that does not grow with events. Each size is judged in a process of its
 * own, so that its peak memory is its own; what the mapped capture and the reader's index take is told beside it.
 *
 *     bench_analysis_rate [--plan ENTRIES] [MILLIONS ...]     default 1 3 10; captures in /dev/shm
 *
 * --plan: as many chunks as it takes for a plan of that many entries, some of one slot, some of a slot of each rank. Memory is not judged then: it
 * grows with slots, and up to a point with the signals that each of them has had.
 *
 * Bar: 10 million events in at most 60 s on two cores; peak memory of 10 million at most 1.5 times that of 1 million (anonymous memory). */
#include "timing.h"

#include <capture_build.h>

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xs/analyse.h>

#define RANKS 4u
#define PUSHERS 4u
#define EVENTS_A_CHUNK (PUSHERS * 3 + 4)

static uint32_t chunks = 16, planned; /* entries of the plan; 0: one, of all of `done` */

typedef struct made { cb *c; uint32_t done, count, room, write, read; uint64_t time; } made;

static uint32_t ring(uint32_t rank, uint32_t block) { return rank * 64 + block; }

/* Rank r's pushers write their parts of chunk k for rank d, the last to arrive signals; rank d waits, reads, and gives it back. */
static void hand_over(made *m, uint64_t i) {
    uint32_t r = (uint32_t)(i % RANKS), k = (uint32_t)(i / RANKS % chunks), d = (r + 1) % RANKS;
    uint64_t round = i / (RANKS * chunks) + 1, t = m->time += 4000;
    uint32_t slot = cb_slot(m->c, m->done, d, r, k), counter = cb_slot(m->c, m->count, r, 0, k), room = cb_slot(m->c, m->room, r, 0, k);
    cb_wait_start(m->c, ring(d, PUSHERS), t + 10, slot, round, round - 1);
    for (uint32_t p = 0; p < PUSHERS; p++) {
        uint64_t at = t + 100 + p * 300;
        if (round > 1)
            cb_pass(m->c, ring(r, p), at, room, round - 1, round - 1);
        cb_payload(m->c, ring(r, p), at + 10, XS_EV_WRITE_BEGIN, m->write, k, (uint32_t)round, d, 16, 1024);
        cb_payload_end(m->c, ring(r, p), at + 200, m->write, k);
        cb_arrive_full(m->c, ring(r, p), at + 210, counter, (round - 1) * PUSHERS + p, 1, PUSHERS, (uint32_t)(round * PUSHERS));
    }
    cb_watermark(m->c, ring(r, PUSHERS - 1), t + 1300, slot, round, 64);
    cb_wait_end(m->c, ring(d, PUSHERS), t + 1500, slot, round, 0, 5);
    cb_payload(m->c, ring(d, PUSHERS), t + 1600, XS_EV_READ_BEGIN, m->read, k, (uint32_t)round, r, 64, 4096);
    cb_payload_end(m->c, ring(d, PUSHERS), t + 1900, m->read, k);
    cb_signal(m->c, ring(d, PUSHERS), t + 2000, room, round);
}

/* Who writes each chunk of each rank, and who gives it back. */
#define ENTRIES_A_CHUNK (2 * RANKS)
static void plan_chunk(const made *m, uint32_t k, xs_plan_entry *e) {
    for (uint32_t r = 0; r < RANKS; r++) {
        *e++ = (xs_plan_entry){.kind = XS_PLAN_WRITER, .pad_first = cb_pad_first(m->c, m->done), .owner = XS_PLAN_ANY, .row = r, .column = k, .epoch = UINT64_MAX, .a = r};
        *e++ = (xs_plan_entry){.kind = XS_PLAN_WRITER, .pad_first = cb_pad_first(m->c, m->room), .owner = r, .column = k, .epoch = UINT64_MAX, .a = (r + 1) % RANKS};
    }
}

static void plan_chunks(const made *m) {
    xs_plan_entry *all = calloc(planned + 1u, sizeof *all);
    for (uint32_t k = 0; all && k < chunks; k++)
        plan_chunk(m, k, &all[k * ENTRIES_A_CHUNK]);
    if (all)
        cb_plan(m->c, all, planned);
    free(all);
}

static int make(const char *path, uint64_t events) {
    made m = {.c = cb_begin(path), .time = 100000};
    if (!m.c)
        return XS_E_MEMORY;
    cb_process(m.c, 0, RANKS, RANKS);
    uint32_t push = cb_role(m.c, "push"), consume = cb_role(m.c, "consume");
    m.write = cb_mark_name(m.c, "push chunk");
    m.read = cb_mark_name(m.c, "scatter chunk");
    m.done = cb_pad(m.c, "done", "src", "chunk", RANKS, chunks, 0);
    m.count = cb_pad(m.c, "count", "", "chunk", 1, chunks, XS_PAD_SHARED);
    m.room = cb_pad(m.c, "room", "", "chunk", 1, chunks, 0);
    if (planned)
        plan_chunks(&m);
    else
        cb_plan_writer(m.c, m.done, XS_PLAN_ROW);
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t b = 0; b <= PUSHERS; b++)
            cb_writer_begin_at(m.c, ring(r, b), 1000 + r, b < PUSHERS ? push : consume, b, 1, r, 0, 0, 1);
    for (uint64_t i = 0; i < events / EVENTS_A_CHUNK; i++) {
        hand_over(&m, i);
        if (i % 1024 == 1023)
            cb_flush(m.c);
    }
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t b = 0; b <= PUSHERS; b++)
            cb_writer_end(m.c, ring(r, b), m.time + 9000);
    return cb_end(m.c);
}

typedef struct counted { xsr_sink sink; uint64_t events; } counted;
static int count(xsr_sink *sink, const xsr_event *e) {
    (void)e;
    ((counted *)sink)->events++;
    return 0;
}

/* Anonymous memory in MiB: mapped captures are not counted. */
static double anonymous(void) {
    char line[256];
    double kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %lf kB", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib / 1024;
}

static double pass(xsr_reader *reader, xsr_sink **sinks, uint32_t n, int *rc) {
    double start = now();
    *rc = xsr_run(reader, sinks, n);
    return now() - start;
}

/* A line of the table; 0 if the run was right. */
static int judge(const char *path, double *seconds, double *mib) {
    xsr_reader *reader;
    const char *error = NULL;
    counted c = {.sink = {.name = "count", .event = count}};
    xsr_sink *sinks[2] = {&c.sink, NULL};
    int rc = xsr_open(&path, 1, NULL, &reader, &error), bare_rc = 0;
    if (rc || xsa_open(NULL, &sinks[1]))
        return 1;
    double bare = pass(reader, sinks, 1, &bare_rc);
    c.events = 0;
    double before = anonymous(), took = pass(reader, sinks, 2, &rc), used = anonymous();
    const xsa_result *r = xsa_result_of(sinks[1]);
    printf("%12" PRIu64 " %8.2f s %8.2f s %10.2f M/s %9.1f MiB (%.1f before) %6u errors %3u unknown\n", c.events, bare, took, (double)c.events / took / 1e6, used, before,
           r ? r->errors : 999, r ? r->unknown : 999);
    for (uint32_t i = 0; r && i < r->finding_count && i < 3; i++)
        printf("    %s %s\n", r->findings[i].id, r->findings[i].text);
    *seconds = took;
    *mib = used;
    rc = rc || bare_rc || !r || r->errors;
    xsa_close(sinks[1]);
    xsr_close(reader);
    return rc;
}

typedef struct outcome { double seconds, mib; int wrong; } outcome;

static outcome in_child(const char *path) {
    outcome o = {.wrong = 1};
    int pipes[2];
    fflush(stdout);
    if (pipe(pipes))
        return o;
    pid_t child = fork();
    if (child == 0) {
        o.wrong = judge(path, &o.seconds, &o.mib);
        fflush(stdout);
        _exit(write(pipes[1], &o, sizeof o) != sizeof o);
    }
    int status;
    if (read(pipes[0], &o, sizeof o) != sizeof o || waitpid(child, &status, 0) < 0)
        o.wrong = 1;
    close(pipes[0]);
    close(pipes[1]);
    return o;
}

int main(int argc, char **argv) {
    if (argc > 2 && !strcmp(argv[1], "--plan")) {
        chunks = (uint32_t)atoi(argv[2]) / ENTRIES_A_CHUNK;
        planned = chunks * ENTRIES_A_CHUNK;
        argc -= 2, argv += 2;
    }
    static const char *const usual[] = {"1", "3", "10"};
    const char *const *sizes = argc > 1 ? (const char *const *)argv + 1 : usual;
    int n = argc > 1 ? argc - 1 : 3, wrong = 0;
    char path[64];
    snprintf(path, sizeof path, "/dev/shm/xs_analysis_rate_%d.xs", (int)getpid());
    outcome first = {0}, last = {0};
    printf("%12s %10s %10s %14s %13s\n", "events", "reader", "judged", "rate", "memory");
    for (int i = 0; i < n; i++) {
        double millions = atof(sizes[i]);
        wrong |= make(path, (uint64_t)(millions * 1e6)) != 0;
        last = in_child(path);
        first = i ? first : last;
        wrong |= last.wrong;
        unlink(path);
    }
    bool slow = n == 3 && argc == 1 && last.seconds > 60, grows = n > 1 && !planned && last.mib > 1.5 * first.mib;
    printf("%s%s%s\n", wrong ? "FAIL: an error, or a finding in a run that is right\n" : "", slow ? "FAIL: slower than the bar\n" : "", grows ? "FAIL: memory grows" : "");
    if (!wrong && !slow && !grows)
        puts("PASS");
    return wrong || slow || grows;
}
