/* What a GPU and its links can do, as far as xs stands on it. Each measurement ends by itself. */
#include "cuda_probe.h"

#include <string.h>
#include <xs/record_access.h>

#define READS     100000u
#define LOOPS     20000u
#define THREADS   1024u /* of the store test, 16 bytes each */
#define STORES    50000u
#define ADDS      100000u
#define FLAGS     (XS_PROBE_MAPPED / 2) /* of the add test, behind the counters */

static int attribute(const xs_cuda_bench *b, int which) {
    int value = 0;
    return b->cuda->device_attribute(&value, which, b->device) == CUDA_SUCCESS ? value : 0;
}

static int measure_step(xs_cuda_bench *b, xs_gpu_probe *p) {
    uint64_t out = (uintptr_t)b->mapped;
    uint32_t reads = READS;
    void *arguments[] = {&out, &reads};
    int rc = xs_cuda_bench_start(b, XS_PROBE_STEP, 1, 1, arguments);
    if (!rc) rc = xs_cuda_bench_wait(b);
    if (!rc) p->time_step_ns = *(volatile uint32_t *)(void *)b->mapped;
    return rc;
}

static int cycles(xs_cuda_bench *b, CUdeviceptr ring, uint32_t on, uint64_t *made) {
    uint64_t out = (uintptr_t)b->mapped + XS_PROBE_MAPPED - 128, at = ring;
    uint32_t loops = LOOPS;
    void *arguments[] = {&out, &at, &loops, &on};
    int rc = xs_cuda_bench_start(b, XS_PROBE_RECORD, 1, 1, arguments);
    if (!rc) rc = xs_cuda_bench_wait(b);
    if (!rc) *made = *(volatile uint64_t *)(void *)(b->mapped + XS_PROBE_MAPPED - 128);
    return rc;
}

/* Cycles that a record adds, 1/100. The first run warms up. */
static int measure_record(xs_cuda_bench *b, CUdeviceptr ring, uint32_t *x100) {
    uint64_t without = 0, with = 0;
    int rc = cycles(b, ring, 1, &with);
    if (!rc) rc = cycles(b, ring, 0, &without);
    if (!rc) rc = cycles(b, ring, 1, &with);
    *x100 = with > without ? (uint32_t)((with - without) * 100 / LOOPS) : 0;
    return rc;
}

static void look_at_slots(const xs_cuda_bench *b, uint64_t *reads, uint64_t *torn) {
    const xs_record *slots = (const xs_record *)(void *)b->mapped;
    for (uint32_t i = 0; i < THREADS; i++) {
        xs_record r;
        *torn += !xs_record_load(&slots[i], &r) || r.sequence != r.value || r.code_object != r.time || r.sequence != r.time;
    }
    *reads += THREADS;
}

static int measure_stores(xs_cuda_bench *b, uint32_t halves, uint64_t *reads, uint64_t *torn) {
    uint64_t slots = (uintptr_t)b->mapped;
    uint32_t count = STORES;
    void *arguments[] = {&slots, &count, &halves};
    memset(b->mapped, 0, THREADS * sizeof(xs_record));
    int rc = xs_cuda_bench_start(b, XS_PROBE_STORE, THREADS / 32, 32, arguments), ended = 0;
    if (rc) return rc;
    do look_at_slots(b, reads, torn);
    while (!(ended = xs_cuda_bench_ended(b)));
    return ended < 0 ? ended : 0;
}

/* Flags of adder i: says that it is there, and is let go. */
static uint32_t *flag(const xs_cuda_bench *b, uint32_t i, uint32_t go) {
    return (uint32_t *)(void *)(b->mapped + FLAGS + i * 256 + go * 128);
}

static int start_adds(xs_cuda_bench *b, const xs_cuda_bench *flags, uint32_t i, CUdeviceptr counter) {
    uint64_t at = counter, flags_at = (uintptr_t)flag(flags, i, 0);
    uint32_t count = ADDS;
    void *arguments[] = {&at, &flags_at, &count};
    __atomic_store_n(flag(flags, i, 0), 0, __ATOMIC_RELAXED);
    __atomic_store_n(flag(flags, i, 1), 0, __ATOMIC_RELAXED);
    return xs_cuda_bench_start(b, XS_PROBE_ADD, 1, 1, arguments);
}

static int is_there(xs_cuda_bench *b, const xs_cuda_bench *flags, uint32_t i) {
    int ended = 0;
    while (!__atomic_load_n(flag(flags, i, 0), __ATOMIC_ACQUIRE) && !(ended = xs_cuda_bench_ended(b))) {
    }
    return ended < 0 ? ended : 0;
}

static void let_go(const xs_cuda_bench *flags, uint32_t i) { __atomic_store_n(flag(flags, i, 1), 1, __ATOMIC_RELEASE); }

/* GPU and CPU add to one word of host memory at once. */
static int measure_host_adds(xs_cuda_bench *b, xs_gpu_probe *p) {
    uint64_t *counter = (uint64_t *)(void *)b->mapped;
    *counter = 0;
    int rc = start_adds(b, b, 0, (uintptr_t)counter);
    if (!rc) rc = is_there(b, b, 0);
    let_go(b, 0);
    if (rc) return rc;
    uint64_t mine = 0;
    int ended = 0;
    while (!(ended = xs_cuda_bench_ended(b)))
        for (int i = 0; i < 1000; i++, mine++) __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
    if (ended < 0) return ended;
    p->host_adds = mine + ADDS;
    p->host_adds_lost = p->host_adds - __atomic_load_n(counter, __ATOMIC_RELAXED);
    return 0;
}

static int measure(xs_cuda_bench *b, xs_gpu_probe *p) {
    int rc = measure_step(b, p);
    if (!rc) rc = measure_record(b, (uintptr_t)b->mapped, &p->record_mapped_x100);
    if (!rc) rc = measure_record(b, b->memory, &p->record_device_x100);
    if (!rc) rc = measure_stores(b, 0, &p->store16_reads, &p->store16_torn);
    if (!rc) rc = measure_stores(b, 1, &p->control_reads, &p->control_torn);
    return rc ? rc : measure_host_adds(b, p);
}

int xs_probe_gpu(uint32_t device, xs_gpu_probe *probe) {
    xs_cuda_bench bench;
    int version = 0;
    xs_fail_clear();
    if (!probe || probe->size < sizeof *probe) return xs_fail(XS_E_ARGUMENT, "xs_gpu_probe.size is not set");
    *probe = (xs_gpu_probe){.size = sizeof *probe, .device = device};
    XS_CUDA_KEEP_CALLER(xs_cuda_load());
    int rc = xs_cuda_bench_open(&bench, (int)device);
    if (!rc) {
        bench.cuda->device_name(probe->name, sizeof probe->name, bench.device);
        bench.cuda->driver_version(&version);
        probe->driver = (uint32_t)version;
        probe->processors = (uint32_t)attribute(&bench, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
        probe->host_native_atomics = (uint32_t)attribute(&bench, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
        probe->cooperative = (uint32_t)attribute(&bench, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
        rc = measure(&bench, probe);
    }
    xs_cuda_bench_close(&bench);
    return rc;
}

static int enable_peer(xs_cuda_bench *from, const xs_cuda_bench *to) {
    from->cuda->context_set(from->context);
    CUresult result = from->cuda->enable_peer(to->context, 0);
    return result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
               ? 0
               : xs_cuda_bench_check(from, result, "cuCtxEnablePeerAccess");
}

/* Both add to one word of the second's memory at once; it is read by a copy. */
static int measure_peer_adds(xs_cuda_bench *from, xs_cuda_bench *to, xs_peer_probe *p) {
    uint64_t sum = 0;
    int rc = enable_peer(from, to);
    if (!rc) rc = start_adds(from, to, 0, to->memory);
    if (!rc) rc = start_adds(to, to, 1, to->memory);
    if (!rc) rc = is_there(from, to, 0);
    if (!rc) rc = is_there(to, to, 1);
    let_go(to, 0);
    let_go(to, 1);
    if (!rc) rc = xs_cuda_bench_wait(from);
    if (!rc) rc = xs_cuda_bench_wait(to);
    if (!rc)
        rc = xs_cuda_bench_check(to, to->cuda->copy((uintptr_t)&sum, to->memory, sizeof sum, to->stream),
                                 "cuMemcpyAsync");
    if (!rc) rc = xs_cuda_bench_wait(to);
    p->adds = rc ? 0 : 2ull * ADDS;
    p->adds_lost = rc ? 0 : p->adds - sum;
    return rc;
}

static int probe_pair(xs_cuda_bench *from, xs_cuda_bench *to, xs_peer_probe *p) {
    int access = 0, native = 0;
    int rc = xs_cuda_bench_check(from, from->cuda->can_access_peer(&access, from->device, to->device),
                                 "cuDeviceCanAccessPeer");
    if (!rc && access)
        rc = xs_cuda_bench_check(from,
                                 from->cuda->peer_attribute(&native, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
                                                            from->device, to->device),
                                 "cuDeviceGetP2PAttribute");
    p->access = (uint32_t)access;
    p->native_atomics = (uint32_t)native;
    return rc || !access ? rc : measure_peer_adds(from, to, p);
}

int xs_probe_peer(uint32_t from, uint32_t to, xs_peer_probe *probe) {
    xs_cuda_bench a, b = {0};
    xs_fail_clear();
    if (!probe || probe->size < sizeof *probe || from == to)
        return xs_fail(XS_E_ARGUMENT, "xs_peer_probe: no size, or one GPU alone");
    *probe = (xs_peer_probe){.size = sizeof *probe, .from = from, .to = to};
    XS_CUDA_KEEP_CALLER(xs_cuda_load());
    int rc = xs_cuda_bench_open(&a, (int)from);
    if (!rc) rc = xs_cuda_bench_open(&b, (int)to);
    if (!rc) rc = probe_pair(&a, &b, probe);
    xs_cuda_bench_close(&a);
    xs_cuda_bench_close(&b);
    return rc;
}
