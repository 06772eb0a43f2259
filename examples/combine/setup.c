#include "setup.h"

/* Rows that each source sends each destination: random, some pairs nothing; skewed: two of three rows go to rank 0. */
static void make_routing(const example_options *o, uint32_t *rows) {
    for (uint32_t src = 0; src < o->ranks; src++)
        for (uint32_t dst = 0; dst < o->ranks; dst++) {
            uint32_t r = example_pattern(o->seed, src, dst, 77, 0);
            uint32_t most = o->skew && dst != 0 ? o->rows / (2 * o->ranks) : o->rows;
            rows[src * o->ranks + dst] = r % 5 == 0 ? 0 : r % (most + 1);
        }
}

static int create(xs_world *world, const example_options *o, struct combine_args *a, uint32_t warps) {
    uint64_t staging = (uint64_t)o->ranks * a->chunks * CHUNK * WORDS * 4;
    int e = 0;
    int failed = (e = xs_pad_create(world, "done", o->ranks, a->chunks, 0, &a->done)) < 0 ||
        (e = xs_pad_labels(world, &a->done, "src", "chunk")) < 0 ||
        (e = xs_pad_create(world, "cnt", o->ranks, a->chunks, XS_PAD_SHARED, &a->count)) < 0 ||
        (e = xs_pad_labels(world, &a->count, "dst", "chunk")) < 0 ||
        (e = xs_pad_create(world, "gate", 1, a->chunks, XS_PAD_SHARED, &a->gate)) < 0 ||
        (e = xs_pad_labels(world, &a->gate, "", "chunk")) < 0 ||
        (e = xs_pad_create(world, "finish", 1, 1, XS_PAD_SHARED, &a->finish)) < 0 ||
        (e = xs_pad_create(world, "bar", 1, o->ranks, 0, &a->bar)) < 0 ||
        (e = xs_pad_labels(world, &a->bar, "", "from")) < 0 || (e = xs_pad_create(world, "go", 1, 1, 0, &a->go)) < 0 ||
        (e = xs_buffer_create(world, "staging", staging, &a->staging)) < 0 ||
        (e = xs_buffer_create(world, "gathered", staging, &a->gathered)) < 0 ||
        (e = xs_buffer_create(world, "out", (uint64_t)a->chunks * CHUNK * WORDS * 4, &a->out)) < 0 ||
        (e = xs_buffer_create(world, "routing", (uint64_t)o->ranks * o->ranks * 4, &a->routing)) < 0 ||
        (e = xs_buffer_create(world, "counts", warps * sizeof(example_counts), &a->counts)) < 0;
    return failed ? e : 0;
}

static int name(xs_world *world, struct combine_args *a) {
    a->role_push = (uint32_t)xs_role(world, "push"), a->role_consume = (uint32_t)xs_role(world, "consume");
    a->role_gemm = (uint32_t)xs_role(world, "gemm");
    a->name_push = (uint32_t)xs_mark_name(world, "push chunk"), a->name_scatter = (uint32_t)xs_mark_name(world, "scatter chunk");
    int last = xs_mark_name(world, "gemm tile");
    a->name_gemm = (uint32_t)last;
    return last < 0 ? last : 0;
}

/* What the protocol promises: who signals, how many arrive. */
static int plan(xs_world *world, const example_options *o, const struct combine_args *a, const uint32_t *rows) {
    const xs_plan_entry fixed[] = {
        {XS_PLAN_WRITER, 0, a->done.first, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, XS_PLAN_ROW, a->role_push},
        {XS_PLAN_WRITER, 0, a->bar.first, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, XS_PLAN_COLUMN, a->role_gemm},
        {XS_PLAN_PARTICIPANTS, 0, a->bar.first, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, o->ranks, 0},
        {XS_PLAN_WRITER, 0, a->go.first, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, XS_PLAN_OWNER, a->role_gemm},
        {XS_PLAN_SIGNALS, 0, a->bar.first, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, 1, 0},
        {XS_PLAN_SIGNALS, 0, a->go.first, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, 1, 0},
        {XS_PLAN_ARRIVALS, 0, a->gate.first, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, o->ranks, 0},
        {XS_PLAN_ARRIVALS, 0, a->finish.first, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, a->gemm_blocks, 0},
    };
    int e = xs_plan_add(world, fixed, sizeof fixed / sizeof *fixed);
    for (uint32_t src = 0; src < o->ranks && e >= 0; src++)
        for (uint32_t dst = 0; dst < o->ranks && e >= 0; dst++)
            for (uint32_t chunk = 0; chunk < a->chunks && e >= 0; chunk++) {
                uint32_t n = rows[src * o->ranks + dst], before = chunk * CHUNK;
                n = n <= before ? 0 : n - before < CHUNK ? n - before : CHUNK;
                xs_plan_entry of_chunk[] = {
                    {XS_PLAN_SIGNALS, 0, a->done.first, dst, src, chunk, UINT64_MAX, n != 0, 0},
                    {XS_PLAN_ARRIVALS, 0, a->count.first, src, dst, chunk, UINT64_MAX, n, 0},
                };
                e = xs_plan_add(world, of_chunk, n ? 2 : 1); /* who arrives nowhere elects nobody: no signal */
            }
    return e;
}

int combine_setup(xs_world *world, const example_options *o, struct combine_args *a, uint32_t *rows, uint32_t warps) {
    make_routing(o, rows);
    int e = create(world, o, a, warps);
    uint32_t first = xs_world_first_rank(world);
    for (uint32_t r = first; e >= 0 && r < first + xs_world_local_ranks(world); r++)
        e = xs_buffer_write(world, &a->routing, r, 0, rows, (uint64_t)o->ranks * o->ranks * sizeof *rows);
    if (e >= 0)
        e = name(world, a);
    return e < 0 ? e : plan(world, o, a, rows);
}
