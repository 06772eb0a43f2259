/* Each primitive guards plain memory here. `tsan_primitives CASE` must be clean under ThreadSanitizer; with a broken twin
 * (CASE.what) the sanitizer must report a race, which is how we know that it looks. The twins are built from core, with one
 * order, fence or join taken out. What this cannot see: scopes, other processes, devices. */
#include "kernel_test.h"
#include <stdio.h>

enum { WARPS = 3, ROUNDS = 30, DEPTH = 2 };
static xs_pad pad, counters;
static xs_channel channel;
static uint64_t payload[DEPTH][64]; /* what is guarded */
static _Thread_local volatile uint64_t sink;
static const char *broken; /* what is taken out; "" in the clean case */

static bool without(const char *what) { return !strcmp(broken, what); }
static void put(uint64_t seq, uint32_t i) { payload[seq % DEPTH][i * 8] = seq; }
static void get(uint64_t seq, uint32_t i) { sink = payload[seq % DEPTH][i * 8]; }

/* ---- twins: like the primitive, less what `broken` names ---- */

static void store(xs_writer *w, xs_slot slot, uint64_t seq) {
    if (without("release"))
        xs_core_store(w, slot, seq, XS_RELAXED, XS_SCOPE_SYS);
    else
        xs_core_store(w, slot, seq, XS_RELEASE, XS_SCOPE_SYS);
}
static int await(xs_writer *w, xs_slot slot, uint64_t seq) {
    return without("acquire") ? xs_core_wait(w, slot, seq, XS_CMP_GE, XS_RELAXED, XS_SCOPE_SYS, xs_unbounded())
                              : xs_core_wait(w, slot, seq, XS_CMP_GE, XS_ACQUIRE, XS_SCOPE_SYS, xs_unbounded());
}

/* ---- cases: rank 0 produces, rank 1 consumes and acknowledges, so that payload may be overwritten ---- */

static void acknowledge(xs_writer *w, uint32_t rank, uint64_t seq) {
    if (rank == 1)
        xs_signal_slot(w, &pad, 0, 0, 1, seq);
    else
        xs_wait_slot(w, &pad, 0, 1, seq);
}

static void case_slot(xs_writer *w, uint32_t rank, uint32_t warp, uint64_t seq) {
    if (warp)
        return;
    if (rank == 0) {
        put(seq, 0);
        if (broken[0])
            store(w, xs_slot_at(&pad, 1, 0, 0), seq);
        else
            xs_signal_slot(w, &pad, 1, 0, 0, seq);
    } else {
        if (broken[0])
            await(w, xs_own_slot(w, &pad, 0, 0), seq);
        else
            xs_wait_slot(w, &pad, 0, 0, seq);
        get(seq, 0);
    }
    acknowledge(w, rank, seq);
}

static void case_release(xs_writer *w, uint32_t rank, uint32_t warp, uint64_t seq) {
    if (warp)
        return;
    if (rank == 0) {
        put(seq, 0);
        if (without("release_fence"))
            xs_core_store_fenced(w, xs_slot_at(&pad, 1, 0, 0), seq, XS_SCOPE_SYS, XS_FENCE_NONE);
        else
            xs_pub_release(w, xs_slot_at(&pad, 1, 0, 0), seq);
    } else {
        xs_wait_ge_bounded(w, xs_own_slot(w, &pad, 0, 0), seq, xs_unbounded());
        if (!without("acquire_fence"))
            xs_acq_fence(w);
        get(seq, 0);
    }
    acknowledge(w, rank, seq);
}

static void case_elect(xs_writer *w, uint32_t rank, uint32_t warp, uint64_t seq) {
    if (rank == 0) {
        put(seq, warp);
        if (without("acq_rel")) {
            xs_slot slot = xs_own_slot(w, &counters, 0, 0);
            if (xs_core_add(w, slot, 1, (seq - 1) * WARPS, WARPS, XS_RELAXED, XS_SCOPE_GPU) + 1 == seq * WARPS)
                xs_signal_slot(w, &pad, 1, 0, 0, seq);
        } else if (without("release")) {
            if (xs_elect(w, &counters, 0, 0, 1, seq * WARPS, WARPS))
                store(w, xs_slot_at(&pad, 1, 0, 0), seq);
        } else {
            xs_elect_and_publish(w, &counters, 0, 0, 1, seq * WARPS, WARPS, &pad, 1, 0, 0, seq);
        }
        acknowledge(w, 0, seq); /* every warp waits for the one acknowledgement */
    } else if (warp == 0) {
        xs_wait_slot(w, &pad, 0, 0, seq);
        for (uint32_t i = 0; i < WARPS; i++)
            get(seq, i);
        acknowledge(w, 1, seq);
    }
}

static void case_watermark(xs_writer *w, uint32_t rank, uint32_t warp, uint64_t seq) {
    if (warp)
        return;
    if (rank == 0) {
        put(seq, 0);
        if (without("release"))
            store(w, xs_slot_at(&pad, 1, 0, 0), seq);
        else
            xs_watermark_advance(w, &pad, 1, 0, seq, 64);
    } else {
        while (xs_watermark_prefix(&pad, 1, 0, seq, 0) < 1)
            xs_host_poll_failed(NULL, 0, 0);
        if (!without("wait")) /* the prefix only looks */
            xs_watermark_wait(w, &pad, 0, 0, seq);
        get(seq, 0);
    }
    acknowledge(w, rank, seq);
}

static void case_gate(xs_writer *w, uint32_t rank, uint32_t warp, uint64_t seq) {
    if (rank)
        return;
    if (warp) {
        put(seq, warp);
        if (without("release"))
            xs_core_add(w, xs_own_slot(w, &counters, 0, 0), 1, 0, 0, XS_RELAXED, XS_SCOPE_GPU);
        else
            xs_gate_arrive(w, &counters, 0, 0, 1);
        xs_wait_slot(w, &pad, 0, 0, seq);
    } else {
        if (without("acquire"))
            await(w, xs_own_slot(w, &counters, 0, 0), seq * (WARPS - 1));
        else
            xs_gate_wait(w, &counters, 0, 0, seq * (WARPS - 1));
        for (uint32_t i = 1; i < WARPS; i++)
            get(seq, i);
        xs_signal_slot(w, &pad, 0, 0, 0, seq);
    }
}

/* barrier_all from its parts. */
static void barrier(xs_writer *w, uint64_t seq) {
    uint32_t self = xs_handle_rank(w->xs);
    if (!without("join"))
        xs_block_join();
    if (xs_block_leads()) {
        if (!without("fence")) {
            xs_barrier_signal(w, &pad, seq);
        } else {
            for (uint32_t rank = 0; rank < pad.columns; rank++)
                xs_core_store(w, xs_slot_at(&pad, rank, 0, self), seq, XS_RELAXED, XS_SCOPE_SYS);
        }
        for (uint32_t rank = 0; rank < pad.columns; rank++)
            await(w, xs_own_slot(w, &pad, 0, rank), seq);
    }
    if (!without("second_join"))
        xs_block_join();
    else if (!xs_block_leads()) /* goes on when the signal is there, but not joined with who acquired it */
        for (uint32_t rank = 0; rank < pad.columns; rank++)
            while (xs_ordered_load(xs_own_slot(w, &pad, 0, rank).at, XS_RELAXED, XS_SCOPE_SYS, 64) < seq)
                xs_host_poll_failed(NULL, 0, 0);
}

static void case_barrier(xs_writer *w, uint32_t rank, uint32_t warp, uint64_t seq) {
    put(seq, rank * WARPS + warp);
    if (broken[0])
        barrier(w, seq);
    else
        xs_barrier_all(w, &pad, seq, xs_unbounded());
    for (uint32_t i = 0; i < 2 * WARPS; i++)
        get(seq, i);
}

/* The channel's stores without their fence; its wait, credit and credit wait with weaker orders. */
static void channel_store(xs_writer *w, uint64_t seq) {
    uint32_t column = xs_channel_column(&channel, seq);
    xs_ordered_store(xs_slot_at(&channel.batch, 1, 0, column).at, 9, XS_RELAXED, XS_SCOPE_SYS, 64);
    xs_core_store(w, xs_slot_at(&channel.sequence, 1, 0, column), seq, XS_RELAXED, XS_SCOPE_SYS);
}

static void channel_produce(xs_writer *w, uint32_t warp, uint64_t seq) {
    if (without("credit_acquire")) {
        xs_block_join();
        if (xs_block_leads() && seq > DEPTH)
            xs_core_wait(w, xs_own_slot(w, &channel.credit, 0, 1), seq - DEPTH, XS_CMP_GE, XS_RELAXED, XS_SCOPE_SYS, xs_unbounded());
        xs_block_join();
    } else {
        xs_publish_begin(w, &channel, seq, xs_unbounded());
    }
    put(seq, warp);
    if (without("fence")) {
        xs_block_join();
        if (xs_block_leads())
            channel_store(w, seq);
    } else if (without("join")) {
        if (xs_block_leads())
            xs_channel_store(w, &channel, seq, 9);
    } else {
        xs_publish(w, &channel, seq, 9);
    }
}

static void channel_consume(xs_writer *w, uint64_t seq) {
    uint64_t batch;
    if (without("acquire")) {
        xs_block_join();
        if (xs_block_leads())
            await(w, xs_own_slot(w, &channel.sequence, 0, xs_channel_column(&channel, seq)), seq);
        xs_block_join();
    } else {
        xs_consume(w, &channel, seq, &batch, xs_unbounded());
    }
    for (uint32_t i = 0; i < WARPS; i++)
        get(seq, i);
    if (without("credit_release")) {
        xs_block_join();
        if (xs_block_leads())
            xs_core_store(w, xs_slot_at(&channel.credit, 0, 0, 1), seq, XS_RELAXED, XS_SCOPE_SYS);
    } else {
        xs_consume_end(w, &channel, seq);
    }
}

static void case_channel(xs_writer *w, uint32_t rank, uint32_t warp, uint64_t seq) {
    if (rank == 0)
        channel_produce(w, warp, seq);
    else
        channel_consume(w, seq);
}

static void case_block(xs_writer *w, uint32_t rank, uint32_t warp, uint64_t seq) {
    if (rank)
        return;
    put(seq, warp);
    if (!without("sync"))
        xs_block_sync(w, 1, WARPS * 32);
    for (uint32_t i = 0; i < WARPS; i++)
        get(seq, i);
    xs_block_sync(w, 2, WARPS * 32);
}

/* Nothing is guarded: but many look at and set the same words. */
static void case_life(xs_writer *w, uint32_t rank, uint32_t warp, uint64_t seq) {
    if (warp == 0)
        xs_heartbeat(w, &pad, seq);
    xs_bound bound = xs_bound_heartbeat(w, &pad, 1 - rank, 1000000000);
    bound.polls = 20;
    xs_wait_slot_bounded(w, &counters, 0, 0, 1000, bound);
    xs_bus_flush(w, xs_slot_at(&pad, 1 - rank, 0, rank));
    if (seq == ROUNDS)
        xs_kernel_abort(w, 6);
    xs_aborted(w);
}

/* Rings and status lines against somebody who reads them all the time, and hand-over of rings. */
static void case_rings(xs_writer *w, uint32_t rank, uint32_t warp, uint64_t seq) {
    (void)w;
    if (rank == 0 && warp == 0) {
        for (uint32_t i = 0; i < 2 * FAKE_RINGS; i++) {
            xs_record record;
            for (uint32_t k = 0; k < 68; k++)
                sink = (uint64_t)fake_record_load(i, k, &record) + record.value;
            for (uint32_t part = 0; part < 8 * FAKE_LINES; part++)
                sink = (uint64_t)fake_part_load(i, part / 8, part % 8, &record) + record.time;
            sink = __atomic_load_n(&fake_ring(i)->next, __ATOMIC_ACQUIRE) + __atomic_load_n(&fake_ring(i)->owners, __ATOMIC_ACQUIRE);
        }
        return;
    }
    xs_writer own = xs_writer_begin(&handle, 0);
    for (uint32_t i = 0; i < 50; i++)
        xs_mark(&own, 1, (uint32_t)seq);
    xs_wait_slot_bounded(&own, &counters, 0, 0, 1000, (xs_bound){.polls = 40});
    xs_writer_end(&own);
}

typedef void one_round(xs_writer *w, uint32_t rank, uint32_t warp, uint64_t seq);
static const struct {
    const char *name;
    one_round *f;
} cases[] = {
    {"slot", case_slot},       {"release", case_release}, {"elect", case_elect}, {"watermark", case_watermark}, {"gate", case_gate},
    {"barrier", case_barrier}, {"channel", case_channel}, {"block", case_block}, {"life", case_life},           {"rings", case_rings},
};

static void rounds(uint32_t rank, uint32_t warp, void *argument) {
    one_round *const *f = argument;
    xs_writer w = xs_writer_begin(&handle, 0);
    for (uint64_t seq = 1; seq <= ROUNDS; seq++)
        (*f)(&w, rank, warp, seq);
    xs_writer_end(&w);
}

int main(int argc, char **argv) {
    const char *name = argc == 2 ? argv[1] : "", *dot = strchr(name, '.');
    size_t length = dot ? (size_t)(dot - name) : strlen(name);
    broken = dot ? dot + 1 : "";
    fake_reset(64);
    handle = fake_handle(2);
    pad = fake_pad(1000, 2, 1, 2, 0);
    counters = fake_pad(2000, 2, 1, 1, XS_PAD_SHARED);
    channel.sequence = fake_pad(3000, 2, 1, DEPTH, 0);
    channel.batch = fake_pad(4000, 2, 1, DEPTH, XS_PAD_NO_DATA);
    channel.credit = fake_pad(5000, 2, 1, 2, 0);
    channel.producer = 0, channel.depth = DEPTH, channel.consumers = 1 << 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strlen(cases[i].name) == length && !strncmp(cases[i].name, name, length)) {
            one_round *f = cases[i].f;
            fake_run(2, WARPS, rounds, &f);
            return 0;
        }
    fprintf(stderr, "usage: tsan_primitives CASE[.broken]\n");
    return 64;
}
