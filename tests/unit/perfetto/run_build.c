#include "run_build.h"

#include <stdlib.h>
#include <string.h>

#include "capture_build.h"

#define BLOCKS 2u
#define CHUNKS_MAX 16u
#define RINGS 64u /* a rank */
#define START 1000000000u

enum { GEMM, PUSH, CONSUME, ROLES };

typedef struct run {
    const run_shape *shape;
    run_counts *counts;
    cb *c;
    uint32_t role[ROLES], gemm, push, scatter, phase, kernel;
    uint32_t done, cnt, gate, bar, wm;
    uint64_t signalled[RUN_RANKS_MAX][RUN_RANKS_MAX][CHUNKS_MAX]; /* [src][dst][chunk]: time in this epoch, 0: never */
    uint64_t arrived[RUN_RANKS_MAX];                              /* at the barrier */
    uint64_t clock[RUN_RANKS_MAX][ROLES][BLOCKS];
    uint32_t epoch;
    uint64_t base, latest;
} run;

static uint32_t ring_of(uint32_t rank, uint32_t role, uint32_t block) { return rank * RINGS + role * BLOCKS + block; }

/* What rank 0 stamps is early. */
static uint64_t stamp(run *r, uint32_t rank, uint64_t time) {
    r->latest = time > r->latest ? time : r->latest;
    return rank == 0 ? time - r->shape->skew : time;
}

static bool last_epoch(const run *r) { return r->epoch == r->shape->epochs; }

static void catalog(run *r) {
    const run_shape *s = r->shape;
    cb_process(r->c, 0, s->ranks, s->ranks);
    r->role[GEMM] = cb_role(r->c, "gemm");
    r->role[PUSH] = cb_role(r->c, "push");
    r->role[CONSUME] = cb_role(r->c, "consume");
    r->gemm = cb_mark_name(r->c, "gemm tile");
    r->push = cb_mark_name(r->c, "push chunk");
    r->scatter = cb_mark_name(r->c, "scatter chunk");
    r->phase = cb_mark_name(r->c, "phase");
    r->kernel = cb_kernel(r->c, "combine_kernel");
    r->done = cb_pad(r->c, "done", "src", "chunk", s->ranks, s->chunks, 0);
    r->cnt = cb_pad(r->c, "cnt", "dst", "chunk", s->ranks, s->chunks, XS_PAD_SHARED);
    r->gate = cb_pad(r->c, "gate", "", "", 1, s->chunks, XS_PAD_SHARED);
    r->bar = cb_pad(r->c, "bar", "", "from", 1, s->ranks, 0);
    r->wm = cb_pad(r->c, "wm", "src", "chunk", s->ranks, s->chunks, 0);
    cb_plan_writer(r->c, r->done, XS_PLAN_ROW);
    cb_plan_writer(r->c, r->wm, XS_PLAN_ROW);
    cb_plan_writer(r->c, r->bar, XS_PLAN_COLUMN);
    cb_clock(r->c, START, 1700000000000000000u, 50);
}

static void writers(run *r, bool begin) {
    for (uint32_t rank = 0; rank < r->shape->ranks; rank++)
        for (uint32_t role = 0; role < ROLES; role++)
            for (uint32_t b = 0; b < BLOCKS; b++) {
                uint32_t ring = ring_of(rank, role, b);
                if (begin)
                    cb_writer_begin(r->c, ring, stamp(r, rank, START + 100 + ring), r->role[role], role * BLOCKS + b, 1);
                else if (r->clock[rank][role][b] != UINT64_MAX)
                    cb_writer_end(r->c, ring, stamp(r, rank, r->clock[rank][role][b] + 10));
            }
}

static void enter_epoch(run *r) {
    for (uint32_t rank = 0; rank < r->shape->ranks; rank++)
        for (uint32_t role = 0; role < ROLES; role++)
            for (uint32_t b = 0; b < BLOCKS; b++) {
                r->clock[rank][role][b] = r->base + 20u * rank + b;
                cb_epoch(r->c, ring_of(rank, role, b), stamp(r, rank, r->clock[rank][role][b]), r->epoch);
            }
}

static uint64_t gate_time(const run *r, uint32_t rank, uint32_t chunk) { return r->base + 20u * rank + 5000 + 100 * chunk + 10; }

static void gemm_block(run *r, uint32_t rank, uint32_t b) {
    uint32_t ring = ring_of(rank, GEMM, b);
    uint64_t t = r->clock[rank][GEMM][b];
    cb_payload(r->c, ring, stamp(r, rank, t + 100), XS_EV_WORK_BEGIN, r->gemm, b, r->epoch, XS_NO_PEER, 64, 0);
    if (r->shape->scopes && b == 0) {
        cb_scope_begin(r->c, ring, stamp(r, rank, t + 150), r->phase, r->epoch);
        cb_mark(r->c, ring, stamp(r, rank, t + 200), r->phase, 7);
        cb_scope_end(r->c, ring, stamp(r, rank, t + 4000), r->phase, r->epoch);
    }
    cb_payload_end(r->c, ring, stamp(r, rank, t + 4900), r->gemm, b);
    r->counts->work++;
    for (uint32_t c = 0; c < r->shape->chunks; c++) {
        t = gate_time(r, rank, c) - 10 + 10 * b;
        cb_gate(r->c, ring, stamp(r, rank, t), cb_slot(r->c, r->gate, rank, 0, c), BLOCKS * (r->epoch - 1) + b, 1);
        r->counts->arrivals++;
    }
    r->clock[rank][GEMM][b] = t + 10;
}

static void pass_or_wait(run *r, uint32_t rank, uint32_t ring, uint64_t *t, uint64_t ready, uint32_t slot, uint64_t need, bool gate) {
    if (ready && ready <= *t) {
        cb_pass(r->c, ring, stamp(r, rank, *t + 10), slot, need, need);
        r->counts->passes++;
        *t += 20;
        return;
    }
    cb_wait_start(r->c, ring, stamp(r, rank, *t), slot, need, need - 1);
    if (!ready) {
        r->counts->open[rank]++;
        *t = UINT64_MAX;
        return;
    }
    *t = ready + 50;
    cb_wait_end(r->c, ring, stamp(r, rank, *t), slot, need, XS_RESULT_OK, 3);
    r->counts->waits++;
    r->counts->gate_waits += gate;
}

static bool arrival_lost(const run *r, uint32_t rank, uint32_t b, uint32_t dst, uint32_t chunk) {
    return r->shape->lost_arrival && last_epoch(r) && rank == 1 && b == 1 && dst == 0 && chunk == r->shape->chunks - 1;
}

/* Both blocks push half of each chunk; the second to arrive is elected and signals. */
static void push_chunk(run *r, uint32_t rank, uint32_t b, uint32_t dst, uint32_t chunk, uint64_t *t) {
    uint32_t ring = ring_of(rank, PUSH, b);
    cb_payload(r->c, ring, stamp(r, rank, *t), XS_EV_WRITE_BEGIN, r->push, chunk, r->epoch, dst, 64, 4096);
    *t += rank == r->shape->slow ? 3000 : 1000;
    cb_payload_end(r->c, ring, stamp(r, rank, *t), r->push, chunk);
    r->counts->work++;
    *t += 5;
    if (arrival_lost(r, rank, b, dst, chunk))
        return;
    cb_arrive(r->c, ring, stamp(r, rank, *t), cb_slot(r->c, r->cnt, rank, dst, chunk), b, 1, BLOCKS);
    r->counts->arrivals++;
    if (b == 1) {
        *t += 40;
        cb_signal(r->c, ring, stamp(r, rank, *t), cb_slot(r->c, r->done, dst, rank, chunk), r->epoch);
        r->signalled[rank][dst][chunk] = *t;
        *t += 5;
        cb_watermark(r->c, ring, stamp(r, rank, *t), cb_slot(r->c, r->wm, dst, rank, chunk), r->epoch, 64);
        r->counts->signals += 2;
        r->counts->elected++;
    }
    *t += 5;
}

static void push_block(run *r, uint32_t rank, uint32_t b) {
    uint64_t t = r->clock[rank][PUSH][b] + 10;
    for (uint32_t c = 0; c < r->shape->chunks; c++) {
        pass_or_wait(r, rank, ring_of(rank, PUSH, b), &t, gate_time(r, rank, c), cb_slot(r->c, r->gate, rank, 0, c),
                     BLOCKS * r->epoch, true);
        for (uint32_t i = 1; i < r->shape->ranks; i++)
            push_chunk(r, rank, b, (rank + i) % r->shape->ranks, c, &t);
    }
    r->clock[rank][PUSH][b] = t;
}

static void consume_block(run *r, uint32_t rank, uint32_t b) {
    uint32_t ring = ring_of(rank, CONSUME, b);
    uint64_t t = r->clock[rank][CONSUME][b] + 10;
    for (uint32_t c = b; c < r->shape->chunks; c += BLOCKS)
        for (uint32_t i = 1; i < r->shape->ranks && t != UINT64_MAX; i++) {
            uint32_t src = (rank + i) % r->shape->ranks;
            pass_or_wait(r, rank, ring, &t, r->signalled[src][rank][c], cb_slot(r->c, r->done, rank, src, c), r->epoch, false);
            if (t == UINT64_MAX)
                break;
            cb_payload(r->c, ring, stamp(r, rank, t + 5), XS_EV_READ_BEGIN, r->scatter, c, r->epoch, src, 64, 4096);
            t += 505;
            cb_payload_end(r->c, ring, stamp(r, rank, t), r->scatter, c);
            r->counts->work++;
            t += 5;
        }
    r->clock[rank][CONSUME][b] = t;
}

/* Block 0 of consume, once both blocks are done: a block that hangs keeps its rank away. */
static void barrier_signals(run *r, uint32_t rank) {
    uint64_t t = r->clock[rank][CONSUME][0];
    r->arrived[rank] = 0;
    if ((last_epoch(r) && rank < r->shape->away) || t == UINT64_MAX || r->clock[rank][CONSUME][1] == UINT64_MAX)
        return;
    t = t > r->clock[rank][CONSUME][1] ? t : r->clock[rank][CONSUME][1];
    r->arrived[rank] = t + 10;
    for (uint32_t i = 0; i < r->shape->ranks; i++) {
        cb_signal(r->c, ring_of(rank, CONSUME, 0), stamp(r, rank, t + 10), cb_slot(r->c, r->bar, i, 0, rank), r->epoch);
        r->counts->signals++;
    }
    r->clock[rank][CONSUME][0] = t + 20;
}

/* All waits of a barrier start together and are polled in turn. */
static void barrier_waits(run *r, uint32_t rank) {
    uint32_t ring = ring_of(rank, CONSUME, 0), n = r->shape->ranks;
    uint64_t t = r->clock[rank][CONSUME][0], end = t;
    bool waits[RUN_RANKS_MAX], open = false;
    if (!r->arrived[rank])
        return;
    for (uint32_t i = 0; i < n; i++) {
        waits[i] = !r->arrived[i] || r->arrived[i] > t;
        uint32_t slot = cb_slot(r->c, r->bar, rank, 0, i);
        if (waits[i])
            cb_wait_start(r->c, ring, stamp(r, rank, t), slot, r->epoch, r->epoch - 1);
        else {
            cb_pass(r->c, ring, stamp(r, rank, t), slot, r->epoch, r->epoch);
            r->counts->passes++;
        }
    }
    for (uint32_t step = 0; step < n; step++) { /* in the order of arrival */
        uint32_t next = n;
        for (uint32_t i = 0; i < n; i++)
            if (waits[i] && r->arrived[i] && (next == n || r->arrived[i] < r->arrived[next]))
                next = i;
        if (next == n)
            break;
        waits[next] = false;
        end = r->arrived[next] + 30 > end ? r->arrived[next] + 30 : end + 1;
        cb_wait_end(r->c, ring, stamp(r, rank, end), cb_slot(r->c, r->bar, rank, 0, next), r->epoch, XS_RESULT_OK, 2);
        r->counts->waits++;
    }
    for (uint32_t i = 0; i < n; i++) {
        r->counts->open[rank] += waits[i];
        open |= waits[i];
    }
    r->clock[rank][CONSUME][0] = open ? UINT64_MAX : end;
}

static void each(run *r, void (*block)(run *, uint32_t, uint32_t)) {
    for (uint32_t rank = 0; rank < r->shape->ranks; rank++)
        for (uint32_t b = 0; b < BLOCKS; b++)
            block(r, rank, b);
}

static void one_epoch(run *r) {
    memset(r->signalled, 0, sizeof r->signalled);
    enter_epoch(r);
    if (r->shape->lose_records && r->epoch == 2) {
        cb_skip_records(r->c, ring_of(0, PUSH, 0), r->shape->lose_records, XS_LOSS_OVERWRITTEN);
        r->counts->lost = r->shape->lose_records;
    }
    each(r, gemm_block);
    each(r, push_block);
    each(r, consume_block);
    for (uint32_t rank = 0; rank < r->shape->ranks; rank++)
        barrier_signals(r, rank);
    for (uint32_t rank = 0; rank < r->shape->ranks; rank++)
        barrier_waits(r, rank);
    r->base = r->latest + r->shape->epoch_gap;
    cb_flush(r->c);
}

int run_build(const char *path, const run_shape *shape, run_counts *counts) {
    run *r = calloc(1, sizeof *r);
    if (!r || shape->ranks > RUN_RANKS_MAX || shape->chunks > CHUNKS_MAX)
        abort();
    memset(counts, 0, sizeof *counts);
    *r = (run){.shape = shape, .counts = counts, .c = cb_begin(path), .base = START + 2000, .latest = START};
    if (!r->c)
        abort();
    catalog(r);
    cb_launch_begin(r->c, 1, r->kernel, START, ROLES * BLOCKS, 32, 0, shape->ranks);
    writers(r, true);
    for (r->epoch = 1; r->epoch <= shape->epochs; r->epoch++)
        one_epoch(r);
    r->epoch = shape->epochs;
    writers(r, false);
    bool hangs = shape->lost_arrival || shape->away;
    if (!hangs)
        cb_launch_end(r->c, 1, r->latest + 100, 0);
    counts->begin = START;
    counts->end = (int64_t)r->latest;
    counts->slots_waited_for = (uint64_t)shape->ranks * (shape->ranks * shape->chunks + shape->chunks + shape->ranks);
    int rc = hangs ? cb_cut(r->c) : cb_end(r->c);
    free(r);
    return rc;
}
