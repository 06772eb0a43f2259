/* graph_replay graph|streams [REPLAYS [CHAINS [CAPTURE]]]: kernels that share a handle are told apart by CUPTI.
 *
 * CHAINS ping-pongs between two ranks, each side a kernel on a stream of its own, all at the same time, REPLAYS times
 * (100): as one CUDA graph that is replayed, or launched anew on the same streams. Every kernel writes which round it
 * is into its trace, and CUPTI numbers the launches: after the run the capture is read, and each writer must have been
 * put into the kernel of its own round. */
#include <xs/read.h>
#include <xs/xs.h>

#include "gpu_test.h"
#include "replay.kernel.h"

#define MOST_CHAINS 8
#define RANKS 2
#define HITS 4

typedef struct node {
    int device;
    struct replay_args args;
    xs_handle handle;
    cudaStream_t stream;
} node;

typedef struct run {
    xs_world *world;
    uint32_t replays, chains, nodes;
    node node[RANKS * MOST_CHAINS];
    cudaEvent_t fork, join[RANKS * MOST_CHAINS];
} run;

static void launch_all(run *r) {
    const xs_cuda_entry *entry = replay_kernel.cuda;
    for (uint32_t i = 0; i < r->nodes; i++) {
        void *arguments[] = {&r->node[i].args, &r->node[i].handle};
        GPU_CHECK(cudaSetDevice(r->node[i].device));
        GPU_CHECK(
            cudaLaunchKernel(entry->function, (dim3){1, 1, 1}, (dim3){32, 1, 1}, arguments, 0, r->node[i].stream));
    }
}

/* All nodes fork off the first stream and join it again: none waits for another. */
static cudaGraphExec_t make_graph(run *r) {
    cudaGraph_t graph;
    cudaGraphExec_t made;
    cudaStream_t first = r->node[0].stream;
    GPU_CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    GPU_CHECK(cudaEventRecord(r->fork, first));
    for (uint32_t i = 1; i < r->nodes; i++)
        GPU_CHECK(cudaStreamWaitEvent(r->node[i].stream, r->fork, 0));
    launch_all(r);
    for (uint32_t i = 1; i < r->nodes; i++) {
        GPU_CHECK(cudaEventRecord(r->join[i], r->node[i].stream));
        GPU_CHECK(cudaStreamWaitEvent(first, r->join[i], 0));
    }
    GPU_CHECK(cudaStreamEndCapture(first, &graph));
    GPU_CHECK(cudaGraphInstantiate(&made, graph, 0));
    GPU_CHECK(cudaGraphDestroy(graph));
    return made;
}

static void open_run(run *r, const char *capture) {
    xs_config config = {.size = sizeof config, .version = 1, .backend = "cuda", .ranks = RANKS, .capture = capture};
    XS_CHECK(xs_world_create(&config, &r->world));
    struct replay_args args = {.hits = HITS, .lengthen = 3000};
    XS_CHECK(xs_pad_create(r->world, "ball", r->chains, RANKS, 0, &args.ball));
    XS_CHECK(xs_pad_labels(r->world, &args.ball, "chain", "from"));
    XS_CHECK(xs_buffer_create(r->world, "rounds", 8 * MOST_CHAINS, &args.rounds));
    XS_CHECK((int)(args.role = (uint32_t)xs_role(r->world, "player")));
    r->nodes = RANKS * r->chains;
    GPU_CHECK(cudaSetDevice(xs_world_device(r->world, 0)));
    GPU_CHECK(cudaEventCreateWithFlags(&r->fork, cudaEventDisableTiming));
    for (uint32_t i = 0; i < r->nodes; i++) {
        r->node[i].args = args;
        r->node[i].args.chain = i / RANKS;
        r->node[i].device = xs_world_device(r->world, i % RANKS);
        GPU_CHECK(cudaSetDevice(r->node[i].device));
        GPU_CHECK(cudaStreamCreateWithFlags(&r->node[i].stream, cudaStreamNonBlocking));
        GPU_CHECK(cudaEventCreateWithFlags(&r->join[i], cudaEventDisableTiming));
        XS_CHECK(xs_handle_begin(r->world, "replay", i % RANKS, 1, 32, &r->node[i].handle));
    }
}

static void wait_for_all(const run *r) {
    for (uint32_t i = 0; i < r->nodes; i++)
        GPU_CHECK(cudaStreamSynchronize(r->node[i].stream));
}

static void play(run *r, int as_graph) {
    cudaGraphExec_t graph = as_graph ? make_graph(r) : NULL;
    for (uint32_t i = 0; i < r->replays; i++) {
        if (graph)
            GPU_CHECK(cudaGraphLaunch(graph, r->node[0].stream));
        else
            launch_all(r);
        if (i % 25 == 24)
            wait_for_all(r);
    }
    wait_for_all(r);
    for (uint32_t i = 0; i < r->nodes; i++)
        XS_CHECK(xs_handle_end(r->world, &r->node[i].handle));
    if (graph)
        GPU_CHECK(cudaGraphExecDestroy(graph));
    XS_CHECK(xs_world_destroy(r->world));
}

/* ---- the capture ---- */

typedef struct rounds {
    xsr_sink sink;
    uint64_t *of;
    uint32_t room;
} rounds; /* of each writer */

static int keep_round(xsr_sink *sink, const xsr_event *e) {
    rounds *r = (rounds *)sink;
    if (e->kind != XS_EV_EPOCH || e->writer == XSR_NONE)
        return 0;
    if (e->writer >= r->room) {
        uint32_t room = 2 * e->writer + 64;
        r->of = realloc(r->of, room * sizeof *r->of);
        if (!r->of)
            return XS_E_MEMORY;
        memset(r->of + r->room, 0, (room - r->room) * sizeof *r->of);
        r->room = room;
    }
    r->of[e->writer] = e->epoch;
    return 0;
}

/* The how many-th launch of its place (graph node, or stream) a kernel is, by begin: the rounds of a place follow each
 * other. */
static uint64_t number_of(const xsr_model *m, uint32_t kernel) {
    const xsr_activity *k = &m->activities[kernel];
    uint64_t number = 1;
    for (uint32_t i = 0; i < kernel; i++) {
        const xsr_activity *a = &m->activities[i];
        number += a->kind == XS_ACTIVITY_KERNEL && a->name == k->name && a->graph_node == k->graph_node &&
                  (k->graph_node || a->stream == k->stream);
    }
    return number;
}

static uint32_t count_kernels(const xsr_model *m) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->activity_count; i++)
        count += m->activities[i].kind == XS_ACTIVITY_KERNEL && m->activities[i].name != XSR_NONE &&
                 strcmp(m->names[m->activities[i].name].text, "replay") == 0;
    return count;
}

static void check(const xsr_model *m, const rounds *told, const run *r) {
    uint32_t expected = r->replays * r->nodes, kernels = count_kernels(m), right = 0, wrong = 0, nowhere = 0,
             crowded = 0;
    for (uint32_t i = 0; i < m->writer_count; i++) {
        const xsr_writer *w = &m->writers[i];
        if (w->kernel == XSR_NONE) {
            nowhere++;
            continue;
        }
        crowded += m->activities[w->kernel].writers != 1;
        if (i < told->room && told->of[i] == number_of(m, w->kernel))
            right++;
        else
            wrong++;
    }
    printf("%u launches of %u kernels; CUPTI told of %u, %u writers: %u in the kernel of their round, %u in another, "
           "%u in none, %u share one\n",
           r->replays, r->nodes, kernels, m->writer_count, right, wrong, nowhere, crowded);
    for (uint32_t i = 0; i < m->note_count; i++)
        printf("note: %s\n", m->notes[i]);
    for (uint32_t i = 0; i < m->clock_count; i++)
        if (m->clocks[i].device >= 0)
            printf("clock: step %lld, residual %lld, bound %lld ns\n", (long long)m->clocks[i].step_ns,
                   (long long)m->clocks[i].residual_ns, (long long)m->clocks[i].bound_ns);
    EXPECT(kernels == expected && m->writer_count == expected, "expected %u kernels and as many writers", expected);
    EXPECT(right == expected && crowded == 0, "not all were told apart");
    puts("PASS");
}

static void read_back(const char *capture, const run *r) {
    rounds told = {.sink = {.name = "rounds", .event = keep_round}};
    xsr_sink *sinks[] = {&told.sink};
    xsr_reader *reader = NULL;
    const char *why = "";
    int rc = xsr_open(&capture, 1, NULL, &reader, &why);
    if (rc == 0)
        rc = xsr_run(reader, sinks, 1);
    EXPECT(rc == 0, "%s: %s", capture, why);
    const xsr_model *m = xsr_model_of(reader);
    const xsr_cupti *c = &m->processes[0].cupti;
    printf("CUPTI %s %s, version %u\n", xsr_cupti_name(c->state), c->why, c->version);
    if (c->state != XS_CUPTI_ENDED && c->state != XS_CUPTI_ON && c->state != XS_CUPTI_LOST) {
        puts("skipped: without CUPTI there is nothing to tell apart by");
        exit(77);
    }
    check(m, &told, r);
    xsr_close(reader);
    free(told.of);
}

int main(int argc, char **argv) {
    static run r = {.replays = 100, .chains = 2};
    char own[64];
    const char *capture = own;
    gpu_test_begin(60);
    if (argc < 2 || (strcmp(argv[1], "graph") != 0 && strcmp(argv[1], "streams") != 0))
        return fprintf(stderr, "usage: graph_replay graph|streams [REPLAYS [CHAINS [CAPTURE]]]\n"), 64;
    gpu_test_need();
    if (argc > 2)
        r.replays = (uint32_t)atoi(argv[2]);
    if (argc > 3)
        r.chains = (uint32_t)atoi(argv[3]);
    EXPECT(r.replays > 0 && r.chains > 0 && r.chains <= MOST_CHAINS, "REPLAYS from 1, CHAINS from 1 to %d",
           MOST_CHAINS);
    snprintf(own, sizeof own, "/tmp/xs_replay_%d.xs", (int)getpid());
    if (argc > 4)
        capture = argv[4];
    open_run(&r, capture);
    play(&r, strcmp(argv[1], "graph") == 0);
    read_back(capture, &r);
    if (capture == own)
        unlink(own);
    return 0;
}
