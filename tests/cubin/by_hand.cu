/* The kernels of primitives.cu, written by hand: no xs header. The machine code of both must be equal, so that xs costs
 * nothing where tracing is off. Only the layouts of the arguments are those of xs (handle.h). */
#include <stddef.h>
#include <stdint.h>

struct lookout {
    uint32_t aborted, time; /* what was seen of the abort word, and when */
};
struct handle {
    const void *not_used[5];
    const uint32_t *abort;
    struct lookout *lookout;
    uint64_t *not_used_as_well;
    uint32_t not_used_either[4];
    uint32_t rank, ranks, blocks, launch;
};
struct pad {
    void *const *base;
    uint32_t first, rows, columns, row_stride, column_stride, flags;
};
struct pad_args {
    pad slots, counters;
    uint32_t row, column, peer, expected;
    uint64_t rounds;
};
struct channel {
    pad sequence, batch, credit;
    uint32_t producer, depth;
    uint64_t consumers;
};
struct channel_args {
    channel ring;
    uint64_t *out;
    uint64_t rounds;
};

#define KERNEL(name, args_type) \
    extern "C" __global__ void name(const __grid_constant__ args_type args, const __grid_constant__ handle xs)
#define FN static __device__ __forceinline__

FN uint64_t *slot(const pad &p, uint32_t owner, uint32_t row, uint32_t column) {
    return (uint64_t *)((char *)p.base[owner] + (uint64_t)row * p.row_stride + (uint64_t)column * p.column_stride);
}
FN uint32_t self(const handle &xs) { return xs.rank + blockIdx.x / xs.blocks; }
FN uint64_t *own_slot(const handle &xs, const pad &p, uint32_t row, uint32_t column) { return slot(p, self(xs), row, column); }
FN uint32_t lane() {
    uint32_t lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    return lane;
}
FN void store_release_sys(uint64_t *at, uint64_t v) { asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(at), "l"(v) : "memory"); }
FN void store_relaxed_sys(uint64_t *at, uint64_t v) { asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(at), "l"(v)); }
FN uint64_t load_acquire_sys(const uint64_t *at) {
    uint64_t v;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(at) : "memory");
    return v;
}
FN uint64_t load_acquire_gpu(const uint64_t *at) {
    uint64_t v;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(at) : "memory");
    return v;
}
FN uint64_t load_relaxed_sys(const uint64_t *at) {
    uint64_t v;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(v) : "l"(at));
    return v;
}
FN uint32_t load_relaxed_sys_u32(const uint32_t *at) {
    uint32_t v;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(v) : "l"(at));
    return v;
}
FN uint32_t load_relaxed_gpu_u32(const uint32_t *at) {
    uint32_t v;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(at));
    return v;
}
FN void store_relaxed_gpu_u32(uint32_t *at, uint32_t v) { asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(v)); }
FN uint32_t cas_relaxed_gpu_u32(uint32_t *at, uint32_t expected, uint32_t desired) {
    uint32_t old;
    asm volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;" : "=r"(old) : "l"(at), "r"(expected), "r"(desired));
    return old;
}
FN uint64_t add_acq_rel_gpu(uint64_t *at, uint64_t v) {
    uint64_t old;
    asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;" : "=l"(old) : "l"(at), "l"(v) : "memory");
    return old;
}
#if __CUDA_ARCH__ >= 900 && (__CUDACC_VER_MAJOR__ > 12 || (__CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ >= 8))
FN void fence_acquire_sys() { asm volatile("fence.acquire.sys;" ::: "memory"); }
FN void fence_release_sys() { asm volatile("fence.release.sys;" ::: "memory"); }
#else
FN void fence_acquire_sys() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }
FN void fence_release_sys() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }
#endif
FN uint64_t load_volatile(const uint64_t *at) {
    uint64_t v;
    asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(v) : "l"(at) : "memory");
    return v;
}
FN uint32_t now_low() {
    uint32_t ns;
    asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(ns));
    return ns;
}

/* Back-off after `reads` reads: 16 at once, then 16 each with sleeps of 32, 64 .. 16384 ns, then 20 us. */
FN uint32_t stage_of(uint32_t reads) {
    uint32_t stage = reads / 16;
    return stage < 11 ? stage : 11;
}
FN uint32_t sleep_of(uint32_t stage) { return stage == 0 ? 0 : stage < 11 ? 16u << stage : 20000; }
FN void pause(uint32_t reads) {
    uint32_t ns = sleep_of(stage_of(reads));
    if (ns)
        asm volatile("nanosleep.u32 %0;" ::"r"(ns));
}
FN uint32_t next(uint32_t reads) { return reads == UINT32_MAX ? reads - 15 : reads + 1; }
enum { OK, TIMEOUT, PEER_DEAD, ABORTED };
FN uint32_t fetch(const handle &xs) {
    uint32_t reason = load_relaxed_sys_u32(xs.abort);
    if (reason)
        store_relaxed_gpu_u32(&xs.lookout->aborted, reason);
    return reason;
}
/* Read in the GPU's own memory; of those who find it 20 us old one asks the host for all. */
FN uint32_t aborted(const handle &xs) {
    lookout *l = xs.lookout;
    uint32_t reason = load_relaxed_gpu_u32(&l->aborted), last = load_relaxed_gpu_u32(&l->time);
    if (reason)
        return reason;
    uint32_t now = now_low();
    if (now - last < 20000 || cas_relaxed_gpu_u32(&l->time, last, now) != last)
        return 0;
    return fetch(xs);
}
/* Every 16 reads. */
FN int check_abort(const handle &xs, uint32_t reads) {
    if (reads % 16)
        return OK;
    return aborted(xs) != 0 ? ABORTED : OK;
}

#define WAIT(load, check)                                                                    \
    uint32_t result, reads = 1;                                                              \
    for (;;) {                                                                               \
        result = check;                                                                      \
        if (result != OK)                                                                    \
            break;                                                                           \
        pause(reads);                                                                        \
        seen = load(at);                                                                     \
        if (seen >= need)                                                                    \
            break;                                                                           \
        reads = next(reads);                                                                 \
    }                                                                                        \
    return (int)result
FN int wait_acquire_sys(const handle &xs, const uint64_t *at, uint64_t need) {
    uint64_t seen = load_acquire_sys(at);
    if (seen >= need)
        return OK;
    WAIT(load_acquire_sys, check_abort(xs, reads));
}
FN int wait_acquire_gpu(const handle &xs, const uint64_t *at, uint64_t need) {
    uint64_t seen = load_acquire_gpu(at);
    if (seen >= need)
        return OK;
    WAIT(load_acquire_gpu, check_abort(xs, reads));
}

KERNEL(signal_slot, pad_args) {
    if (lane() == 0)
        _Pragma("unroll 1")
        for (uint64_t seq = 1; seq <= args.rounds; seq++)
            store_release_sys(slot(args.slots, args.peer, args.row, args.column), seq);
}

KERNEL(wait_slot, pad_args) {
    if (lane() == 0)
        _Pragma("unroll 1")
        for (uint64_t seq = 1; seq <= args.rounds; seq++)
            if (wait_acquire_sys(xs, own_slot(xs, args.slots, args.row, args.column), seq))
                break;
}

KERNEL(pub_release, pad_args) {
    if (lane() == 0)
        _Pragma("unroll 1")
        for (uint64_t seq = 1; seq <= args.rounds; seq++) {
            uint64_t *at = slot(args.slots, args.peer, args.row, args.column);
            fence_release_sys();
            store_relaxed_sys(at, seq);
        }
}

FN int check_time(const handle &xs, uint32_t reads, uint32_t start, uint32_t ns) {
    return now_low() - start >= ns ? TIMEOUT : check_abort(xs, reads);
}
FN int wait_relaxed_bounded(const handle &xs, const uint64_t *at, uint64_t need, uint32_t ns) {
    uint64_t seen = load_relaxed_sys(at);
    if (seen >= need)
        return OK;
    uint32_t start = now_low();
    WAIT(load_relaxed_sys, check_time(xs, reads, start, ns));
}
KERNEL(wait_ge_bounded, pad_args) {
    if (lane() == 0)
        _Pragma("unroll 1")
        for (uint64_t seq = 1; seq <= args.rounds; seq++) {
            if (wait_relaxed_bounded(xs, own_slot(xs, args.slots, args.row, args.column), seq, 1000000))
                break;
            fence_acquire_sys();
        }
}

FN int elected(const handle &xs, const pad &p, uint32_t row, uint32_t column, uint32_t weight, uint64_t target) {
    return add_acq_rel_gpu(own_slot(xs, p, row, column), weight) + weight == target;
}
FN int elect_and_publish(const handle &xs, const pad &counters, uint32_t crow, uint32_t ccolumn, uint32_t weight, uint64_t target,
                         uint32_t expected, const pad &p, uint32_t peer, uint32_t row, uint32_t column, uint64_t seq) {
    if (expected == 0 || !elected(xs, counters, crow, ccolumn, weight, target))
        return 0;
    store_release_sys(slot(p, peer, row, column), seq);
    return 1;
}
KERNEL(elect, pad_args) {
    if (lane() == 0)
        _Pragma("unroll 1")
        for (uint64_t seq = 1; seq <= args.rounds; seq++)
            elect_and_publish(xs, args.counters, args.row, 0, 1, seq * args.expected, args.expected, args.slots, args.peer, args.row,
                              args.column, seq);
}

FN int elected_warp(const handle &xs, const pad &p, uint32_t row, uint32_t column, uint64_t target) {
    uint32_t active = __activemask();
    __syncwarp(active);
    return lane() == (uint32_t)__ffs((int)active) - 1 && elected(xs, p, row, column, (uint32_t)__popc(active), target);
}
KERNEL(elect_warp, pad_args) {
    _Pragma("unroll 1")
    for (uint64_t seq = 1; seq <= args.rounds; seq++)
        if (elected_warp(xs, args.counters, args.row, 0, seq * args.expected))
            store_release_sys(slot(args.slots, args.peer, args.row, args.column), seq);
}

FN int wait_expected_sys(const handle &xs, const pad &p, uint32_t row, uint32_t column, uint64_t need, uint32_t expected) {
    const uint64_t *at = own_slot(xs, p, row, column);
    if (expected == 0)
        return OK;
    return wait_acquire_sys(xs, at, need);
}
KERNEL(wait_expected, pad_args) {
    if (lane() == 0)
        _Pragma("unroll 1")
        for (uint64_t seq = 1; seq <= args.rounds; seq++)
            if (wait_expected_sys(xs, args.slots, args.row, args.column, seq, args.expected))
                break;
}

KERNEL(watermark_advance, pad_args) {
    if (lane() == 0)
        _Pragma("unroll 1")
        for (uint64_t seq = 1; seq <= args.rounds; seq++)
            store_release_sys(slot(args.slots, args.peer, self(xs), args.column), seq);
}

KERNEL(watermark_wait, pad_args) {
    if (lane() == 0)
        _Pragma("unroll 1")
        for (uint32_t chunk = 0; chunk < args.slots.columns; chunk++)
            if (wait_acquire_sys(xs, own_slot(xs, args.slots, args.peer, chunk), args.rounds))
                break;
}

KERNEL(gate_arrive, pad_args) {
    if (lane() == 0)
        _Pragma("unroll 1")
        for (uint64_t i = 1; i <= args.rounds; i++)
            asm volatile("red.release.gpu.global.add.u64 [%0], %1;" ::"l"(own_slot(xs, args.counters, args.row, args.column)), "l"(1ull)
                         : "memory");
}

KERNEL(gate_wait, pad_args) {
    if (lane() == 0)
        _Pragma("unroll 1")
        for (uint64_t target = 1; target <= args.rounds; target++)
            if (wait_acquire_gpu(xs, own_slot(xs, args.counters, args.row, args.column), target))
                break;
}

/* Waits for the columns first + i of one row, i being the bits of `open`, polled in turn. */
struct columns {
    const pad *p;
    uint32_t owner, row, first;
    uint64_t open, need;
};
FN void poll_first(columns *c) {
    uint64_t open = c->open;
    _Pragma("unroll 1")
    for (uint32_t i = 0; i < 64 && open >> i; i++) {
        if (!(open >> i & 1))
            continue;
        if (load_acquire_sys(slot(*c->p, c->owner, c->row, c->first + i)) >= c->need)
            c->open &= ~(1ull << i);
    }
}
FN void poll_open(columns *c) {
    _Pragma("unroll 1")
    for (uint32_t i = 0; i < 64 && c->open >> i; i++) {
        if (!(c->open >> i & 1))
            continue;
        if (load_acquire_sys(slot(*c->p, c->owner, c->row, c->first + i)) >= c->need)
            c->open &= ~(1ull << i);
    }
}
FN int wait_columns(const handle &xs, columns c) {
    poll_first(&c);
    uint32_t reads = 1, result = OK;
    if (c.open) {
        while (c.open && (result = check_abort(xs, reads)) == OK) {
            pause(reads);
            reads = next(reads);
            poll_open(&c);
        }
    }
    return (int)result;
}

FN uint32_t thread() { return threadIdx.x; }
FN bool leads() { return thread() == 0; }
struct cell { uint64_t value; int32_t result, reserved; };
/* What thread 0 decided, for the whole block. */
FN int share(const cell *from, uint64_t *value) {
    __syncthreads();
    if (value)
        *value = from->value;
    return from->result;
}

FN void signal_all(const handle &xs, const pad &p, uint64_t seq) {
    uint32_t me = self(xs);
    fence_release_sys();
    _Pragma("unroll 1")
    for (uint32_t rank = 0; rank < p.columns; rank++)
        store_relaxed_sys(slot(p, rank, 0, me), seq);
}
FN int wait_all(const handle &xs, const pad &p, uint64_t seq) {
    int result = OK;
    _Pragma("unroll 1")
    for (uint32_t first = 0; first < p.columns && result == OK; first += 64) {
        uint32_t left = p.columns - first;
        columns c = {&p, self(xs), 0, first, left < 64 ? (1ull << left) - 1 : ~0ull, seq};
        result = wait_columns(xs, c);
    }
    return result;
}
FN int barrier(const handle &xs, const pad &p, uint64_t seq) {
    __shared__ cell shared;
    __syncthreads();
    if (leads()) {
        signal_all(xs, p, seq);
        shared.result = wait_all(xs, p, seq);
    }
    return share(&shared, NULL);
}

KERNEL(barrier_all, pad_args) {
    _Pragma("unroll 1")
    for (uint64_t seq = 1; seq <= args.rounds; seq++)
        if (barrier(xs, args.slots, seq))
            break;
}

FN bool consumes(const channel &c, uint32_t rank) {
    return c.credit.columns > 64 ? rank != c.producer : (c.consumers >> (rank & 63) & 1) != 0;
}
FN uint64_t consumers(const channel &c, uint32_t first) {
    uint64_t bits = 0;
    _Pragma("unroll 1")
    for (uint32_t i = 0; i < 64 && first + i < c.credit.columns; i++)
        bits |= (uint64_t)consumes(c, first + i) << i;
    return bits;
}
FN uint32_t column_of(const channel &c, uint64_t seq) { return (uint32_t)(seq % c.depth); }

FN int wait_credit(const handle &xs, const channel &c, uint64_t seq) {
    int result = OK;
    _Pragma("unroll 1")
    for (uint32_t first = 0; seq > c.depth && first < c.credit.columns && result == OK; first += 64) {
        columns credit = {&c.credit, c.producer, 0, first, consumers(c, first), seq - c.depth};
        result = wait_columns(xs, credit);
    }
    return result;
}
FN int publish_begin(const handle &xs, const channel &c, uint64_t seq) {
    __shared__ cell shared;
    __syncthreads();
    if (leads())
        shared.result = wait_credit(xs, c, seq);
    return share(&shared, NULL);
}
FN void publish_all(const channel &c, uint64_t seq, uint64_t batch) {
    uint32_t column = column_of(c, seq), ranks = c.credit.columns;
    _Pragma("unroll 1")
    for (uint32_t rank = 0; rank < ranks; rank++)
        if (consumes(c, rank))
            store_relaxed_sys(slot(c.batch, rank, 0, column), batch);
    fence_release_sys();
    _Pragma("unroll 1")
    for (uint32_t rank = 0; rank < ranks; rank++)
        if (consumes(c, rank))
            store_relaxed_sys(slot(c.sequence, rank, 0, column), seq);
}

KERNEL(publish, channel_args) {
    _Pragma("unroll 1")
    for (uint64_t seq = 1; seq <= args.rounds; seq++) {
        if (publish_begin(xs, args.ring, seq))
            break;
        __syncthreads();
        if (leads())
            publish_all(args.ring, seq, 100);
    }
}

FN uint64_t batch_of(const channel &c, uint32_t rank, uint64_t seq) { return load_relaxed_sys(slot(c.batch, rank, 0, column_of(c, seq))); }
FN int take(const handle &xs, const channel &c, uint64_t seq, uint64_t *batch) {
    __shared__ cell shared;
    *batch = 0;
    __syncthreads();
    if (leads()) {
        uint64_t *at = own_slot(xs, c.sequence, 0, column_of(c, seq));
        shared.result = wait_acquire_sys(xs, at, seq);
        shared.value = shared.result == OK ? batch_of(c, self(xs), seq) : 0;
    }
    return share(&shared, batch);
}
FN int try_take(const handle &xs, const channel &c, uint64_t seq, uint64_t *batch) {
    __shared__ cell shared;
    __syncthreads();
    if (leads()) {
        uint64_t *at = own_slot(xs, c.sequence, 0, column_of(c, seq));
        shared.result = load_acquire_sys(at) >= seq;
        shared.value = shared.result ? batch_of(c, self(xs), seq) : 0;
    }
    return share(&shared, batch) == 1;
}
FN int give_back(const handle &xs, const channel &c, uint64_t seq) {
    __syncthreads();
    if (leads()) {
        uint32_t me = self(xs);
        store_release_sys(slot(c.credit, c.producer, 0, me), seq);
    }
    return OK;
}

KERNEL(consume, channel_args) {
    _Pragma("unroll 1")
    for (uint64_t seq = 1; seq <= args.rounds; seq++) {
        uint64_t batch;
        if (take(xs, args.ring, seq, &batch))
            break;
        args.out[thread()] = batch;
        give_back(xs, args.ring, seq);
    }
}

KERNEL(try_consume, channel_args) {
    _Pragma("unroll 1")
    for (uint64_t seq = 1; seq <= args.rounds; seq++) {
        uint64_t batch;
        if (try_take(xs, args.ring, seq, &batch)) {
            args.out[thread()] = batch;
            give_back(xs, args.ring, seq);
        }
    }
}

KERNEL(heartbeat, pad_args) {
    if (lane() == 0)
        _Pragma("unroll 1")
        for (uint64_t beat = 1; beat <= args.rounds && aborted(xs) == 0; beat++) {
            uint32_t me = self(xs);
            for (uint32_t rank = 0; rank < args.slots.columns; rank++)
                store_relaxed_sys(slot(args.slots, rank, 0, me), beat);
        }
}

KERNEL(kernel_abort, pad_args) {
    if (lane() != 0)
        return;
    uint32_t *word = (uint32_t *)xs.abort;
    uint32_t first = load_relaxed_sys_u32(word);
    if (first == 0)
        asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(word), "r"(4) : "memory");
    store_relaxed_gpu_u32(&xs.lookout->aborted, first ? first : 4);
}

KERNEL(block_sync, pad_args) {
    _Pragma("unroll 1")
    for (uint64_t i = 1; i <= args.rounds; i++)
        asm volatile("barrier.sync %0, %1;" ::"r"(1), "r"(256) : "memory");
}

KERNEL(bus_flush, pad_args) {
    if (lane() == 0)
        _Pragma("unroll 1")
        for (uint64_t seq = 1; seq <= args.rounds; seq++) {
            store_release_sys(slot(args.slots, args.peer, args.row, args.column), seq);
            const uint64_t *at = slot(args.slots, args.peer, args.row, args.column);
            (void)load_volatile(at);
        }
}
