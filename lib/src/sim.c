/* The sim scheduler's operations: xs_host_thread.h over fibres. What it promises is in sim.h. */
#include "sim.h"

#include <string.h>

#include "config.h"

/* From a percentage in the environment, 50 where it is not set, to a share of 2^16. */
static int chance(const char *name, uint32_t *share) {
    uint64_t percent = 50;
    int rc = xs_env_number(name, 0, 100, &percent);
    *share = (uint32_t)(percent * 65536 / 100);
    return rc < 0 ? rc : 0;
}

static int open_sim(xs_world *world, void **state) {
    const xs_config *config = &world->config;
    uint32_t hold, stale;
    int rc = chance("XS_SIM_HOLD", &hold);
    if (!rc)
        rc = chance("XS_SIM_STALE", &stale);
    if (rc)
        return rc;
    xs_sim *sim = calloc(1, sizeof *sim);
    if (!sim)
        return XS_E_MEMORY;
    sim->local_ranks = config->local_ranks ? config->local_ranks : 1;
    sim->hold = hold;
    sim->stale = stale;
    sim->ranks = calloc(sim->local_ranks, sizeof *sim->ranks);
    if (!sim->ranks || xs_sim_stale_open(sim, config->seed)) {
        free(sim->ranks);
        free(sim);
        return XS_E_MEMORY;
    }
    for (uint32_t r = 0; r < sim->local_ranks; r++)
        sim->ranks[r].tail = &sim->ranks[r].head;
    sim->world = world;
    sim_random_seed(&sim->random, config->seed);
    sim->now = SIM_TIME_START;
    sim->next_pass = SIM_TIME_START + SIM_PASS_NS;
    sim->round = 1;
    *state = sim;
    return 0;
}

/* Orders that were launched and never synced did not run. */
static void close_sim(void *state) {
    xs_sim *sim = state;
    for (xs_sim_order *o = sim->orders, *next; o; o = next) {
        next = o->next;
        free(o);
    }
    for (uint32_t r = 0; r < sim->local_ranks; r++)
        free(sim->ranks[r].held.at);
    xs_sim_free_fibres(sim);
    free(sim->heap.at);
    xs_sim_stale_close(sim);
    free(sim->ranks);
    free(sim);
}

static int launch(void *state, xs_launch_order *order) {
    xs_sim *sim = state;
    return sim->syncing ? XS_E_BUSY : xs_sim_queue(sim, order);
}

static int sync_all(void *state) {
    xs_sim *sim = state;
    return sim->syncing ? XS_E_BUSY : xs_sim_run(sim);
}

static xs_sim_fibre *fibre(xs_host_thread *self) { return self->scheduler; }

static void step(xs_host_thread *self) {
    xs_sim_fibre *f = fibre(self);
    uint64_t bits = sim_random(&f->sim->random);
    f->ops++;
    xs_sim_point(f, sim_cost(bits), bits);
}

static uint64_t now(xs_host_thread *self) {
    xs_sim_fibre *f = fibre(self);
    if (++f->reads > SIM_CLOCK_READS)
        step(self);
    return f->sim->now;
}

static void poll_failed(xs_host_thread *self, const void *address, uint32_t ns, int bounded) {
    xs_sim_fibre *f = fibre(self);
    uint64_t bits = sim_random(&f->sim->random);
    if (!bounded && address && xs_sim_watch_poll(f, address))
        f->sim->attention = 1;
    xs_sim_point(f, ns ? ns + (bits & 15) : sim_cost(bits), bits);
}

static void work(xs_host_thread *self, uint64_t ns) {
    xs_sim_fibre *f = fibre(self);
    xs_sim_watch_progress(f->sim);
    xs_sim_point(f, ns, sim_random(&f->sim->random));
}

static int block_barrier(xs_host_thread *self, uint32_t id, uint32_t count) {
    return xs_sim_barrier_join(fibre(self), id, count);
}

static void *shared(xs_host_thread *self, const void *key, size_t bytes) {
    return xs_sim_shared_get(fibre(self), key, bytes);
}

static void *shared_dynamic(xs_host_thread *self) { return xs_sim_shared_dynamic(fibre(self)); }

static void store(xs_host_thread *self, void *to, const void *from, size_t bytes) {
    xs_sim_watch_progress(fibre(self)->sim);
    xs_sim_store(fibre(self), to, from, bytes);
}

static void load(xs_host_thread *self, void *to, const void *from, size_t bytes) {
    xs_sim_load(fibre(self), to, from, bytes);
}

/* What is released is visible before the operation that carries the release, and others may run in between. */
static void release(xs_host_thread *self, uint32_t scope) {
    xs_sim_release(fibre(self), scope);
    step(self);
}

static void acquire(xs_host_thread *self, uint32_t scope) { xs_sim_acquire(fibre(self), scope); }

static uint64_t host_now(void *state) { return ((const xs_sim *)state)->now; }

const xs_scheduler xs_scheduler_sim = {
    .name = "sim",
    .open = open_sim,
    .close = close_sim,
    .launch = launch,
    .sync = sync_all,
    .now = now,
    .step = step,
    .poll_failed = poll_failed,
    .work = work,
    .block_barrier = block_barrier,
    .shared = shared,
    .shared_dynamic = shared_dynamic,
    .store = store,
    .load = load,
    .release = release,
    .acquire = acquire,
    .host_now = host_now,
};
