/* One run of one fault: a world, its set-up, its launches, what came of it. */
#include "fault.h"

#include <string.h>

/* On `sim` time is virtual; on real machines a bound must outlast the scheduler, or twins would give up too. */
static uint64_t bound_of(const fault_run *run, const fault_options *o) {
    if (o->bound_ns)
        return o->bound_ns;
    if (strcmp(xs_world_scheduler(run->world), "threads") == 0)
        return o->twin ? 20000000000ull : 1000000000ull;
    return run->cuda ? 50000000ull : 20000000ull;
}

static uint64_t pick64(uint64_t asked, uint64_t own, uint64_t otherwise) { return asked ? asked : own ? own : otherwise; }
static uint32_t pick(uint32_t asked, uint32_t own, uint32_t otherwise) { return (uint32_t)pick64(asked, own, otherwise); }

/* The fault with its defaults in place of zeros. */
static fault complete(const fault *given) {
    fault f = *given;
    f.ranks = pick(0, f.ranks, 2);
    f.grid = pick(0, f.grid, 1);
    f.block_threads = pick(0, f.block_threads, 32);
    f.rings = pick(0, f.rings, 64);
    return f;
}

static int open_world(const fault *f, const fault_options *o, xs_world **world) {
    xs_config config = {.size = sizeof config,
                        .version = 1,
                        .backend = o->backend,
                        .scheduler = o->scheduler,
                        .ranks = f->ranks,
                        .residency = f->residency,
                        .seed = o->seed,
                        .rings = f->rings,
                        .ring_records = f->rings > 64 ? 64 : 1024,
                        .shared_bytes = 16u << 20,
                        .capture = o->capture,
                        .cpu_ranks = f->cuda.cpu_ranks,
                        .green = f->cuda.green,
                        .start_ns = f->cuda.start_ns ? f->cuda.start_ns : 2000000000u,
                        .wait_ns = o->wait_ns ? o->wait_ns : 60000000000u,
                        .cupti = -1}; /* the judgement does not rest on it, and a world without it is made sooner */
    return xs_world_create(&config, world);
}

static void fill_args(fault_run *run, const fault_options *o) {
    const fault *f = run->fault;
    struct fault_args *a = &run->args;
    a->fault = !o->twin;
    a->rounds = pick(o->rounds, f->rounds, 12);
    a->words = pick(o->words, f->words, 64);
    a->work_ns = pick64(o->work_ns, run->cuda && f->cuda.work_ns ? f->cuda.work_ns : f->work_ns, 20000);
    if (!o->work_ns)
        a->work_ns *= pick(o->slower, strcmp(xs_world_scheduler(run->world), "threads") == 0 ? 10 : 1, 1); /* long against what the operating system's scheduler does between two threads */
    a->pollers = pick(o->pollers, run->cuda && f->cuda.pollers ? f->cuda.pollers : f->pollers, 1);
    a->late_ns = pick64(o->late_ns, f->late_ns, 0);
    a->bound_ns = bound_of(run, o);
    a->writers = f->rings;
    a->emulate = !run->cuda;
    a->depth = 2;
    a->seed = o->seed;
    a->blocks = f->grid;
    a->role_produce = (uint32_t)xs_role(run->world, "produce");
    a->role_consume = (uint32_t)xs_role(run->world, "consume");
    a->name_batch = (uint32_t)xs_mark_name(run->world, "batch");
    a->name_stale = (uint32_t)xs_mark_name(run->world, "first stale element");
}

static void look_for_stale(const fault_run *run, fault_result *result) {
    uint32_t stale[FAULT_ROUNDS_MAX];
    for (uint32_t rank = 0; run->args.stale.base && rank < run->fault->ranks; rank++) {
        if (xs_buffer_read(run->world, &run->args.stale, rank, 0, stale, sizeof stale) < 0)
            return;
        for (uint32_t round = 0; round < FAULT_ROUNDS_MAX; round++) {
            if (stale[round] != 0 && result->stale_rounds++ == 0)
                result->stale_round = round + 1, result->stale_index = stale[round] - 1;
        }
    }
}

static int run_in(const fault *f, const fault_options *o, xs_world *world, fault_result *result) {
    fault_run run = {.world = world, .fault = f, .cuda = strcmp(xs_world_backend(world), "cuda") == 0};
    fill_args(&run, o);
    fault_pad(&run, &run.args.start, "start", 1, f->ranks, 0);
    fault_writer(&run, &run.args.start, XS_PLAN_ANY, 0, XS_PLAN_ANY, XS_PLAN_COLUMN, 0);
    if (f->setup)
        f->setup(&run);
    if (f->launch)
        f->launch(&run);
    else
        fault_launch(&run, 0, 0, 0);
    if (run.error < 0)
        return run.error;
    result->error = xs_sync(world);
    if (result->error == XS_E_MEMORY) /* it was not run: a host without room is no fault of the kernel */
        return result->error;
    look_for_stale(&run, result);
    return 0;
}

int fault_execute(const fault *given, const fault_options *o, fault_result *result) {
    fault f = complete(given);
    xs_world *world;
    *result = (fault_result){0};
    int rc = open_world(&f, o, &world);
    if (rc < 0)
        return rc;
    rc = run_in(&f, o, world, result);
    int ended = xs_world_destroy(world); /* of a world whose GPU is spoiled it tells that again */
    return rc < 0 || result->error < 0 ? rc : ended;
}

const fault *fault_find(const char *name) {
    for (uint32_t i = 0; i < fault_count; i++)
        if (strcmp(fault_table[i]->name, name) == 0)
            return fault_table[i];
    return NULL;
}
