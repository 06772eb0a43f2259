/* Kernels: a thread a block, all or nothing on a device that holds so many. */
#include <sched.h>
#include <stdlib.h>
#include <time.h>
#include <xs/record_access.h>

#include "fake_internal.h"

static unsigned resident[FAKE_GPUS];

typedef struct fake_block {
    pthread_t thread;
    fake_op *op;
    unsigned index;
} fake_block;

/* What every block of a traced CUDA kernel does first (kernels/include/xs/started.h). */
static void say_started(const fake_op *op, unsigned index) {
    const xs_handle *xs = &op->handle;
    uint32_t rank = index / xs->blocks, block = index % xs->blocks, word = block % (xs->XS_RINGS * XS_RING_STARTED);
    xs_ring_header *ring = &xs->rings[rank * xs->XS_RINGS + word / XS_RING_STARTED];
    __atomic_store_n(&ring->started[word % XS_RING_STARTED], xs->launch, __ATOMIC_RELAXED);
}

static void *block_main(void *argument) {
    fake_block *block = argument;
    const fake_op *op = block->op;
    xs_host_thread self = {.block = block->index, .blocks = op->blocks, .warps = 1};
    op->function.enter(&self);
    say_started(op, block->index);
    op->function.kernel->host(op->args, &op->handle);
    op->function.enter(NULL);
    return NULL;
}

static void run_blocks(fake_op *op) {
    fake_block *blocks = calloc(op->blocks, sizeof *blocks);
    for (unsigned i = 0; i < op->blocks; i++) {
        blocks[i].op = op;
        blocks[i].index = i;
        if (pthread_create(&blocks[i].thread, NULL, block_main, &blocks[i])) abort();
    }
    for (unsigned i = 0; i < op->blocks; i++) pthread_join(blocks[i].thread, NULL);
    free(blocks);
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + fake_cuda.clock_offset;
}

/* The words of a mailbox as cuda_clock.c lays them out. */
static void run_clock(const fake_op *op) {
    char *box = (char *)(uintptr_t)op->numbers[0];
    __atomic_store_n((uint32_t *)(void *)(box + 140), 1, __ATOMIC_RELAXED);
    for (uint32_t round = 1; round <= op->numbers[1]; round++) {
        while (__atomic_load_n((uint32_t *)(void *)box, __ATOMIC_ACQUIRE) < round) sched_yield();
        __atomic_store_n((uint64_t *)(void *)(box + 128), now(), __ATOMIC_RELAXED);
        if (fake_cuda.quick_clock) break;
    }
    __atomic_store_n((uint32_t *)(void *)(box + 136), 1, __ATOMIC_RELEASE);
}

static void run_step(const fake_op *op) { *(volatile uint32_t *)(uintptr_t)op->numbers[0] = 32; }

static void run_record(const fake_op *op) { *(volatile uint64_t *)(uintptr_t)op->numbers[0] = op->numbers[2] * (op->numbers[3] ? 545 : 529); }

static void run_store(const fake_op *op) {
    xs_record *slots = (xs_record *)(uintptr_t)op->numbers[0];
    for (uint32_t n = 1; n <= op->numbers[1] / 16; n++)
        for (unsigned i = 0; i < op->blocks; i++) {
            uint64_t half = (uint64_t)n << 32 | n, *words = (uint64_t *)(void *)&slots[i];
            if (op->numbers[2]) {
                __atomic_store_n(&words[0], half, __ATOMIC_RELAXED);
                __atomic_store_n(&words[1], half, __ATOMIC_RELAXED);
            } else xs_record_put(&slots[i], n, n, n, n);
        }
}

/* As over a link without atomics, where the fake is told so: read, add, write. */
static void run_add(const fake_op *op) {
    uint64_t *counter = (uint64_t *)(uintptr_t)op->numbers[0];
    uint32_t *flags = (uint32_t *)(uintptr_t)op->numbers[1];
    __atomic_store_n(flags, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(flags + 32, __ATOMIC_ACQUIRE)) sched_yield();
    for (uint64_t i = 0; i < op->numbers[2]; i++) {
        if (fake_cuda.host_native_atomic) __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
        else __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    }
}

static void run_claims(const fake_op *op) {
    __atomic_fetch_and((uint64_t *)(uintptr_t)op->numbers[0], op->numbers[1], __ATOMIC_RELEASE);
}

static void run_builtin(const fake_op *op) {
    static void (*const runs[FAKE_BUILTINS])(const fake_op *) = {run_clock, run_step, run_record, run_store, run_add, run_claims};
    runs[op->function.builtin - 1](op);
}

void fake_run_kernel(CUstream stream, fake_op *op) {
    int device = stream->context->device, builtin = op->function.builtin;
    unsigned room = fake_cuda.processors * fake_cuda.blocks_a_processor;
    while (!builtin && resident[device] + op->blocks > room && !stream->context->fault) pthread_cond_wait(&fake_changed, &fake_lock);
    if (stream->context->fault) return;
    resident[device] += builtin ? 0 : op->blocks;
    pthread_mutex_unlock(&fake_lock);
    if (builtin) run_builtin(op);
    else run_blocks(op);
    pthread_mutex_lock(&fake_lock);
    resident[device] -= builtin ? 0 : op->blocks;
    if (!builtin && op->function.fault) __atomic_store_n(&stream->context->fault, op->function.fault, __ATOMIC_RELEASE);
    pthread_cond_broadcast(&fake_changed);
}
