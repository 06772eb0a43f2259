#include "harness.h"

uint32_t harness_passes;
void (*harness_on_pass)(void);
harness_times harness_launches[64];
uint32_t harness_launch_count;

static xs_host_thread *self;
static harness *open_now; /* one at a time */

/* What libxs gives to a scheduler. */
void xs_host_set_self(xs_host_thread *thread, const xs_scheduler *scheduler) {
    assert_true(thread == NULL || scheduler == &xs_scheduler_sim);
    self = thread;
}

void xs_launch_begun(xs_launch_order *order) {
    harness_launches[order->id % 64].begin = xs_scheduler_sim.host_now(open_now->state);
    order->begun = 1;
}

void xs_launch_ended(xs_launch_order *order) {
    harness_launches[order->id % 64].end = xs_scheduler_sim.host_now(open_now->state);
    harness_launches[order->id % 64].result = order->result;
    assert_int_equal(order->begun, 1);
    free((void *)order->kernel);
    free(order);
}

static void pass(void *state) {
    (void)state;
    harness_passes++;
    if (harness_on_pass)
        harness_on_pass();
}
const xs_collect_ops xs_collect = {.pass = pass};

void harness_open(harness *h, uint32_t ranks, uint64_t seed) {
    memset(h, 0, sizeof *h);
    h->world.config.ranks = h->world.config.local_ranks = ranks;
    h->world.config.seed = seed;
    h->world.abort_word = &h->abort;
    h->world.collect_state = h;
    harness_passes = harness_launch_count = 0;
    harness_on_pass = NULL;
    open_now = h;
    assert_int_equal(xs_scheduler_sim.open(&h->world, &h->state), 0);
}

void harness_wants_a_percentage(const char *name) {
    static const char *const bad[] = {"101", "-1", "x", "5x", " 5", "4294967297"};
    harness h = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        setenv(name, bad[i], 1);
        assert_int_equal(xs_scheduler_sim.open(&h.world, &h.state), XS_E_ARGUMENT);
        assert_non_null(strstr(xs_error_detail(), name));
    }
    unsetenv(name);
}

void harness_close(harness *h) {
    xs_scheduler_sim.close(h->state);
    open_now = NULL;
}

typedef struct call {
    harness_kernel *kernel;
    void *argument;
} call;

static void entry(const void *args, const xs_handle *handle) {
    const call *c = args;
    (void)handle;
    c->kernel(c->argument);
}

void harness_launch(harness *h, harness_kernel *kernel, void *argument, uint32_t first, uint32_t ranks, uint32_t grid, uint32_t block) {
    struct {
        xs_kernel kernel;
        call call;
    } *made = calloc(1, sizeof *made);
    xs_launch_order *order = calloc(1, sizeof *order);
    assert_true(made && order);
    made->kernel.host = entry;
    made->call = (call){kernel, argument};
    order->kernel = &made->kernel;
    order->args = &made->call;
    order->id = harness_launch_count++;
    order->config = (xs_launch_config){sizeof order->config, grid, block, first, ranks, 64};
    order->handle.rank = first;
    order->handle.blocks = grid;
    assert_int_equal(xs_scheduler_sim.launch(h->state, order), 0);
}

int harness_sync(harness *h) {
    int result = xs_scheduler_sim.sync(h->state);
    assert_null(self);
    return result;
}

int harness_run(uint32_t ranks, uint64_t seed, harness_kernel *kernel, void *argument, uint32_t grid, uint32_t block) {
    harness h;
    harness_open(&h, ranks, seed);
    harness_launch(&h, kernel, argument, 0, 0, grid, block);
    int result = harness_sync(&h);
    harness_close(&h);
    return result;
}

static const xs_sim_part *part(void) { return ((xs_sim_fibre *)self->scheduler)->block->part; }

xs_host_thread *h_self(void) { return self; }
uint32_t h_rank(void) { return part()->order->order->handle.rank + self->block / part()->order->order->handle.blocks; }
uint32_t h_block(void) { return self->block % part()->order->order->handle.blocks; }
uint64_t h_now(void) { return xs_scheduler_sim.now(self); }
void h_step(void) { xs_scheduler_sim.step(self); }
void h_work(uint64_t ns) { xs_scheduler_sim.work(self, ns); }
int h_aborted(void) { return __atomic_load_n(&open_now->abort, __ATOMIC_RELAXED) != 0; }
void h_store(void *to, uint64_t value) { xs_scheduler_sim.store(self, to, &value, sizeof value); }
int h_barrier(uint32_t id, uint32_t count) { return xs_scheduler_sim.block_barrier(self, id, count); }

uint64_t h_load(const void *from) {
    uint64_t value;
    xs_scheduler_sim.load(self, &value, from, sizeof value);
    return value;
}

void h_signal(uint64_t *slot, uint64_t value, uint32_t scope) {
    if (scope != XS_SCOPE_NONE)
        xs_scheduler_sim.release(self, scope);
    xs_scheduler_sim.step(self);
    __atomic_store_n(slot, value, __ATOMIC_RELAXED);
}

uint64_t h_add(uint64_t *slot, uint64_t value, uint32_t scope) {
    if (scope != XS_SCOPE_NONE)
        xs_scheduler_sim.release(self, scope);
    xs_scheduler_sim.step(self);
    return __atomic_fetch_add(slot, value, __ATOMIC_RELAXED);
}

uint64_t h_read(const uint64_t *slot) {
    xs_scheduler_sim.step(self);
    return __atomic_load_n(slot, __ATOMIC_RELAXED);
}

int h_wait_relaxed(const uint64_t *slot, uint64_t need, uint64_t ns) {
    uint64_t start = h_now();
    uint32_t back_off = 0;
    while (h_read(slot) < need) {
        if (h_aborted())
            return XS_RESULT_ABORTED;
        if (ns && h_now() - start >= ns)
            return XS_RESULT_TIMEOUT;
        xs_scheduler_sim.poll_failed(self, slot, back_off, ns != 0);
        back_off = back_off == 0 ? 32 : back_off < 1000 ? 2 * back_off : back_off;
    }
    return 0;
}

void h_acquire(uint32_t scope) { xs_scheduler_sim.acquire(self, scope); }

int h_wait(const uint64_t *slot, uint64_t need, uint64_t ns) {
    int result = h_wait_relaxed(slot, need, ns);
    if (result == 0)
        h_acquire(XS_SCOPE_SYS);
    return result;
}
