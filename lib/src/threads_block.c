/* A block: its threads start together or not at all, join at barriers that leave on abort, share zeroed memory. */
#include <stdlib.h>
#include <string.h>

#include "threads.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define STACK_BYTES (1u << 20) /* instrumented frames are larger */
#else
#define STACK_BYTES (256u << 10)
#endif

static threads_warp *warp_of(xs_host_thread *self) { return self->scheduler; }

/* Blocks until all threads of the block exist; 0: one could not be made. */
static int pass_gate(threads_block *block) {
    pthread_mutex_lock(&block->lock);
    while (block->gate == GATE_SHUT) pthread_cond_wait(&block->changed, &block->lock);
    int open = block->gate == GATE_OPEN;
    pthread_mutex_unlock(&block->lock);
    return open;
}

static void tell_over(threads_block *block) {
    threads_state *state = block->run->state;
    if (__atomic_sub_fetch(&block->running, 1, __ATOMIC_ACQ_REL)) return;
    pthread_mutex_lock(&state->lock);
    block->over = 1;
    state->resident--;
    pthread_cond_broadcast(&state->changed);
    pthread_mutex_unlock(&state->lock);
}

static void *warp_main(void *argument) {
    threads_warp *warp = argument;
    if (!pass_gate(warp->block)) return NULL;
    const xs_launch_order *order = warp->block->run->order;
    xs_host_set_self(&warp->self, &xs_scheduler_threads);
    if (!setjmp(warp->leave)) order->kernel->host(order->args, &order->handle);
    xs_host_set_self(NULL, NULL);
    tell_over(warp->block);
    return NULL;
}

static void open_gate(threads_block *block, uint32_t gate) {
    pthread_mutex_lock(&block->lock);
    block->gate = gate;
    pthread_cond_broadcast(&block->changed);
    pthread_mutex_unlock(&block->lock);
}

static int create_threads(threads_block *block) {
    pthread_attr_t attr;
    if (pthread_attr_init(&attr)) return XS_E_MEMORY;
    int failed = pthread_attr_setstacksize(&attr, STACK_BYTES);
    while (!failed && block->created < block->run->warps) {
        threads_warp *warp = &block->warps[block->created];
        failed = pthread_create(&warp->thread, &attr, warp_main, warp);
        if (!failed) block->created++;
    }
    pthread_attr_destroy(&attr);
    return failed ? XS_E_SYSTEM : 0;
}

static void *zeroed(uint64_t bytes) {
    uint64_t whole = (bytes + 128) & ~(uint64_t)127;
    void *memory = aligned_alloc(128, whole);
    if (memory) memset(memory, 0, whole);
    return memory;
}

static threads_block *make(threads_run *run, uint32_t index) {
    threads_block *block = calloc(1, sizeof *block + run->warps * sizeof(threads_warp));
    if (!block) return NULL;
    uint64_t dynamic = run->order->config.shared_bytes;
    if (dynamic && !(block->dynamic = zeroed(dynamic))) {
        free(block);
        return NULL;
    }
    block->run = run;
    block->running = run->warps;
    pthread_mutex_init(&block->lock, NULL);
    pthread_cond_init(&block->changed, NULL);
    for (uint32_t w = 0; w < run->warps; w++) {
        threads_warp *warp = &block->warps[w];
        warp->block = block;
        warp->self =
            (xs_host_thread){.block = index, .blocks = run->total, .warp = w, .warps = run->warps, .scheduler = warp};
    }
    return block;
}

int threads_block_start(threads_run *run, uint32_t index, threads_block **block) {
    threads_block *made = make(run, index);
    if (!made) return XS_E_MEMORY;
    int rc = create_threads(made);
    open_gate(made, rc ? GATE_CANCELLED : GATE_OPEN);
    if (rc) threads_block_join(made);
    else *block = made;
    return rc;
}

void threads_block_join(threads_block *block) {
    for (uint32_t i = 0; i < block->created; i++) pthread_join(block->warps[i].thread, NULL);
    for (threads_shared *s = block->shared, *next; s; s = next) {
        next = s->next;
        free(s->memory);
        free(s);
    }
    pthread_cond_destroy(&block->changed);
    pthread_mutex_destroy(&block->lock);
    free(block->dynamic);
    free(block);
}

void threads_block_wake(threads_block *block) {
    pthread_mutex_lock(&block->lock);
    pthread_cond_broadcast(&block->changed);
    pthread_mutex_unlock(&block->lock);
}

/* Who waits when the world aborts is woken by the run's runner (xs_abort may be called in a signal handler and wakes
 * nobody). */
int threads_block_barrier(xs_host_thread *self, uint32_t id, uint32_t count) {
    threads_block *block = warp_of(self)->block;
    xs_world *world = block->run->state->world;
    uint32_t need = count ? (count + 31) / 32 : self->warps;
    if (id >= XS_BLOCK_BARRIERS) {
        xs_abort(world, XS_E_ARGUMENT);
        return XS_RESULT_ABORTED;
    }
    pthread_mutex_lock(&block->lock);
    uint32_t generation = block->barrier[id].generation;
    if (++block->barrier[id].arrived >= need) {
        block->barrier[id].arrived = 0;
        block->barrier[id].generation++;
        pthread_cond_broadcast(&block->changed);
    }
    while (block->barrier[id].generation == generation && !xs_world_abort_error(world))
        pthread_cond_wait(&block->changed, &block->lock);
    int left = block->barrier[id].generation == generation;
    pthread_mutex_unlock(&block->lock);
    return left ? XS_RESULT_ABORTED : 0;
}

static threads_shared *find_shared(threads_block *block, const void *key) {
    threads_shared *s = block->shared;
    while (s && s->key != key) s = s->next;
    return s;
}

static threads_shared *add_shared(threads_block *block, const void *key, size_t bytes) {
    threads_shared *s = malloc(sizeof *s);
    if (!s || !(s->memory = zeroed(bytes))) {
        free(s);
        return NULL;
    }
    s->key = key;
    s->next = block->shared;
    block->shared = s;
    return s;
}

/* A kernel cannot be told that there is no memory: the world aborts and this thread leaves the kernel. */
void *threads_block_shared(xs_host_thread *self, const void *key, size_t bytes) {
    threads_warp *warp = warp_of(self);
    threads_block *block = warp->block;
    pthread_mutex_lock(&block->lock);
    threads_shared *s = find_shared(block, key);
    if (!s) s = add_shared(block, key, bytes);
    pthread_mutex_unlock(&block->lock);
    if (s) return s->memory;
    xs_abort(block->run->state->world, XS_E_MEMORY);
    longjmp(warp->leave, 1);
}

void *threads_block_dynamic(xs_host_thread *self) { return warp_of(self)->block->dynamic; }
