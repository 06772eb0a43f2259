#include "fake_host.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <xs/record_access.h>

enum { KEYS = 8, PADS = 16 };

typedef struct block {
    pthread_mutex_t lock; /* a lock for each block: it must order nothing between blocks */
    uint32_t turn, arrived;
    const void *key[KEYS];
    void *shared[KEYS];
} block;

_Thread_local fake_counts fake_count;
_Thread_local xs_host_thread fake_self = {0, 1, 0, 1, NULL};
_Thread_local void (*fake_poll_hook)(void);

static struct {
    xs_control control;
    uint64_t groups[FAKE_RANKS];
    xs_ring_header rings[FAKE_RANKS * FAKE_RINGS];
    xs_status_line lines[FAKE_RANKS * FAKE_RINGS * FAKE_LINES] __attribute__((aligned(128)));
} region __attribute__((aligned(128)));
static char *records;
static uint32_t records_stride, capacity;
static uint64_t ticks;
static uint32_t abort_word;
static block blocks[FAKE_RANKS];
static void *pads[PADS];
static uint32_t pad_count;

static void *must(void *memory) {
    if (!memory)
        abort();
    return memory;
}

void fake_reset(uint32_t ring_records) {
    memset(&region, 0, sizeof region);
    region.control.started = XS_STARTED | XS_STARTED_PAYLOAD;
    region.control.rank_last = region.control.block_last = UINT32_MAX;
    region.control.epoch_last = UINT64_MAX;
    capacity = ring_records;
    records_stride = ring_records * (uint32_t)sizeof(xs_record);
    free(records);
    size_t bytes = ((size_t)records_stride * FAKE_RANKS * FAKE_RINGS + 63) / 64 * 64;
    records = must(aligned_alloc(64, bytes));
    memset(records, 0, bytes);
    for (uint32_t i = 0; i < FAKE_RANKS * FAKE_RINGS; i++)
        region.rings[i].capacity = ring_records;
    ticks = 0x500000000ull;
    abort_word = 0;
    for (uint32_t i = 0; i < pad_count; i++)
        free(pads[i]);
    pad_count = 0;
}

xs_handle fake_handle(uint32_t ranks) {
    xs_handle xs;
    memset(&xs, 0, sizeof xs);
    xs.control = &region.control;
    xs.groups = region.groups;
    xs.rings = region.rings;
    xs.status = region.lines;
    xs.records = records;
    xs.abort = &abort_word;
    xs.ring_shift = (uint32_t)__builtin_ctz(capacity);
    xs.ring_mask = capacity - 1;
    xs.XS_RINGS = FAKE_RINGS;
    xs.lines_per_ring = FAKE_LINES;
    xs.ranks = ranks;
    xs.blocks = 1;
    xs.launch = 7;
    return xs;
}

void fake_set_time(uint64_t ns) { __atomic_store_n(&ticks, ns, __ATOMIC_RELAXED); }
void fake_abort(uint32_t reason) { __atomic_store_n(&abort_word, reason, __ATOMIC_RELAXED); }
xs_control *fake_control(void) { return &region.control; }
xs_ring_header *fake_ring(uint32_t ring) { return &region.rings[ring]; }

int fake_record_load(uint32_t ring, uint32_t slot, xs_record *record) {
    uint32_t near = ((uint32_t)__atomic_load_n(&region.rings[ring].next, __ATOMIC_RELAXED) & ~(capacity - 1)) + slot;
    const xs_record *at = (const xs_record *)(const void *)(records + (size_t)ring * records_stride) + slot;
    return xs_slot_load(XS_RECORD_WORDS, at, (uint32_t)__builtin_ctz(capacity), near, record);
}

int fake_part_load(uint32_t ring, uint32_t line, uint32_t part, xs_record *copy) {
    return xs_part_load(XS_RECORD_WORDS, (const xs_record *)(const void *)&region.lines[ring * FAKE_LINES + line] + part, copy);
}

enum { KEPT = 64 };
static xs_record *next_copy(void) {
    static _Thread_local xs_record copies[KEPT];
    static _Thread_local uint32_t used;
    return &copies[used++ % KEPT];
}

const xs_record *fake_record(uint32_t ring, uint32_t slot) {
    xs_record *copy = next_copy();
    while (!fake_record_load(ring, slot, copy)) continue;
    return copy;
}

const xs_record *fake_overflow(uint32_t ring) {
    xs_record *copy = next_copy();
    while (!xs_overflow_load(XS_RECORD_WORDS, &region.rings[ring].overflow, copy)) continue;
    return copy;
}

const xs_status_line *fake_line(uint32_t ring, uint32_t line) {
    static _Thread_local xs_record copies[KEPT / 8][8];
    static _Thread_local uint32_t used;
    xs_record *copy = copies[used++ % (KEPT / 8)];
    for (uint32_t part = 0; part < 8; part++)
        while (!fake_part_load(ring, line, part, &copy[part])) continue;
    return (const xs_status_line *)(const void *)copy;
}

uint64_t *fake_group(uint32_t rank) { return &region.groups[rank]; }

xs_pad fake_pad(uint32_t first, uint32_t owners, uint32_t rows, uint32_t columns, uint32_t flags) {
    size_t copy = (size_t)rows * columns * 64;
    char *memory = must(aligned_alloc(64, owners * copy));
    void **base = must(calloc(owners, sizeof *base));
    if (pad_count + 2 > PADS)
        abort();
    memset(memory, 0, owners * copy);
    for (uint32_t i = 0; i < owners; i++)
        base[i] = memory + i * copy;
    pads[pad_count++] = memory;
    pads[pad_count++] = base;
    xs_pad pad = {base, first, rows, columns, columns * 64, 64, flags};
    return pad;
}

/* ---- host_thread.h ---- */

xs_host_thread *xs_host_self(void) { return &fake_self; }
void xs_host_enter(xs_host_thread *self) { (void)self; }
uint64_t xs_host_now(void) { return __atomic_add_fetch(&ticks, 16, __ATOMIC_RELAXED); }
void xs_host_step(void) { fake_count.steps++; }
void xs_host_work(uint64_t ns) { __atomic_add_fetch(&ticks, ns, __ATOMIC_RELAXED); }

void xs_host_poll_failed(const void *address, uint32_t ns, int bounded) {
    (void)address, (void)bounded;
    fake_count.polls_failed++;
    __atomic_add_fetch(&ticks, ns, __ATOMIC_RELAXED);
    if (fake_poll_hook)
        fake_poll_hook();
    else
        sched_yield();
}

/* Leaves on abort, as the real one: a thread that sees the abort behind one join does not come to the next. */
int xs_host_block_barrier(uint32_t id, uint32_t count) {
    (void)id, (void)count;
    block *b = &blocks[fake_self.block];
    uint32_t turn = __atomic_load_n(&b->turn, __ATOMIC_ACQUIRE);
    if (__atomic_add_fetch(&b->arrived, 1, __ATOMIC_ACQ_REL) == fake_self.warps) {
        __atomic_store_n(&b->arrived, 0, __ATOMIC_RELAXED);
        __atomic_add_fetch(&b->turn, 1, __ATOMIC_ACQ_REL);
    }
    while (fake_self.warps > 1 && __atomic_load_n(&b->turn, __ATOMIC_ACQUIRE) == turn) {
        if (__atomic_load_n(&abort_word, __ATOMIC_RELAXED))
            return XS_RESULT_ABORTED;
        sched_yield();
    }
    return __atomic_load_n(&abort_word, __ATOMIC_RELAXED) ? XS_RESULT_ABORTED : XS_RESULT_OK;
}

void *xs_host_shared(const void *key, size_t bytes) {
    block *b = &blocks[fake_self.block];
    pthread_mutex_lock(&b->lock);
    int i = 0;
    while (b->key[i] && b->key[i] != key)
        if (++i == KEYS)
            abort();
    if (!b->key[i]) {
        b->key[i] = key;
        b->shared[i] = must(calloc(1, bytes));
    }
    pthread_mutex_unlock(&b->lock);
    return b->shared[i];
}
void *xs_host_shared_dynamic(void) { return NULL; }

void xs_host_store(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
void xs_host_load(void *to, const void *from, size_t bytes) { memcpy(to, from, bytes); }
void xs_host_release(uint32_t scope) {
    fake_count.releases++;
    fake_count.release_scope = scope;
}
void xs_host_acquire(uint32_t scope) {
    fake_count.acquires++;
    fake_count.acquire_scope = scope;
}

/* ---- running ---- */

typedef struct start {
    uint32_t rank, ranks, warp, warps;
    void (*f)(uint32_t, uint32_t, void *);
    void *argument;
} start;

static void *thread_main(void *p) {
    const start *s = p;
    fake_self = (xs_host_thread){s->rank, s->ranks, s->warp, s->warps, NULL};
    s->f(s->rank, s->warp, s->argument);
    return NULL;
}

/* The main thread may have been a block of its own before, and may be one afterwards. */
static void forget_shared(block *b) {
    for (int k = 0; k < KEYS; k++) {
        free(b->shared[k]);
        b->key[k] = b->shared[k] = NULL;
    }
}

void fake_run(uint32_t ranks, uint32_t warps, void (*f)(uint32_t, uint32_t, void *), void *argument) {
    pthread_t thread[FAKE_RANKS * FAKE_WARPS];
    start starts[FAKE_RANKS * FAKE_WARPS];
    if (ranks > FAKE_RANKS || warps > FAKE_WARPS)
        abort();
    for (uint32_t r = 0; r < ranks; r++) {
        forget_shared(&blocks[r]);
        memset(&blocks[r], 0, sizeof blocks[r]);
        pthread_mutex_init(&blocks[r].lock, NULL);
    }
    for (uint32_t i = 0; i < ranks * warps; i++) {
        starts[i] = (start){i / warps, ranks, i % warps, warps, f, argument};
        if (pthread_create(&thread[i], NULL, thread_main, &starts[i]))
            abort();
    }
    for (uint32_t i = 0; i < ranks * warps; i++)
        pthread_join(thread[i], NULL);
    for (uint32_t r = 0; r < ranks; r++) {
        forget_shared(&blocks[r]);
    }
}
