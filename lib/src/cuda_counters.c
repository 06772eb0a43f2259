/* Counters (shared pads: elections, gates) that several sides add to. An atomic add is one only among those for whom
 * the link to the memory carries atomics: a GPU's add to host memory without them is a read, an add and a write, and
 * another's add between is lost (facts: 7 of 10 between an H200 and a CPU). So a plan that has several sides add to
 * one counter is refused there, unless the pad says that it is meant. */
#include "cuda_state.h"

/* CPU threads are one side, each GPU is one. Ranks of other processes: by the kind alone, each a side of its own. */
static int side_of(const xs_world *world, uint64_t rank) {
    const xs_cuda_state *state = xs_cuda_state_of(world);
    if (state->on_cpu[rank]) return XS_CUDA_CPU;
    if (xs_cuda_is_local(world, (uint32_t)rank)) return xs_cuda_rank_of(world, (uint32_t)rank)->device;
    return (int)(state->device_count + rank);
}

static int is_here(const xs_cuda_state *state, int side) { return side >= 0 && side < (int)state->device_count; }

/* Whether adds from `a` and `b` to one word of this world's memory count, as far as this process can know. */
static int both_count(const xs_world *world, int a, int b) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    if (a == b) return 1;
    if (state->cpu_ranks) { /* all memory is the host's */
        int gpu = is_here(state, a) ? a : b;
        return !is_here(state, gpu) ||
               xs_cuda_attribute(state, state->devices[gpu].device, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
    }
    int native = 1;
    if (is_here(state, a) && is_here(state, b))
        state->cuda->peer_attribute(&native, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED, state->devices[a].device,
                                    state->devices[b].device);
    return native;
}

static const char *kind(const xs_world *world, uint64_t rank) {
    return xs_cuda_state_of(world)->on_cpu[rank] ? "CPU" : "GPU";
}

static int check_ranks(const xs_world *world, const char *pad, uint64_t a, uint64_t b) {
    if (both_count(world, side_of(world, a), side_of(world, b))) return 0;
    return xs_fail(XS_E_UNSUPPORTED,
                   "counter \"%s\": rank %u (%s) and rank %u (%s) both add to one slot, and the link between them has "
                   "no native atomics: "
                   "counts would be lost (XS_PAD_UNSAFE_COUNTER allows it)",
                   pad, (unsigned)a, kind(world, a), (unsigned)b, kind(world, b));
}

/* A writer that varies with the slot may be any rank. */
static int check_writers(const xs_world *world, const char *pad, const uint64_t writer[2]) {
    uint32_t ranks = world->config.ranks;
    int rc = 0;
    if (writer[0] == writer[1]) return 0;
    for (uint32_t a = 0; a < ranks && !rc; a++)
        for (uint32_t b = 0; b < ranks && !rc; b++)
            if ((writer[0] >= ranks || writer[0] == a) && (writer[1] >= ranks || writer[1] == b) && a != b)
                rc = check_ranks(world, pad, a, b);
    return rc;
}

static int is_counter(const xs_named_pad *pad) {
    return pad && pad->pad.flags & XS_PAD_SHARED && !(pad->pad.flags & XS_PAD_UNSAFE_COUNTER);
}

/* Against all before that add to a slot of this entry, in any epoch (plan_check.c made them known). */
static int check_entry(const xs_world *world, uint32_t entry) {
    const xs_objects *o = xs_objects_of(world);
    const xs_plan_index *x = &o->plan_index;
    const xs_plan_entry *e = &o->plan[entry];
    const xs_named_pad *named = e->kind == XS_PLAN_WRITER ? xs_pad_by_first(world, e->pad_first) : NULL;
    uint32_t pattern = xs_plan_pattern(e);
    int rc = 0;
    for (uint32_t others = is_counter(named) ? x->patterns[XS_PLAN_AS_ADDER] : 0; others && !rc; others &= others - 1) {
        uint32_t other = (uint32_t)__builtin_ctz(others), left_out = xs_plan_left_out(XS_PLAN_AS_ADDER, other, pattern);
        uint32_t at = xs_plan_index_find(x, XS_PLAN_AS_ADDER, other, left_out, e);
        uint64_t writer[2];
        for (; at != XS_PLAN_NO_NODE && !rc; at = x->nodes[at].next)
            if (x->nodes[at].entry < entry &&
                xs_plan_writers(&named->pad, world->config.ranks, e, &o->plan[x->nodes[at].entry], writer))
                rc = check_writers(world, named->name, writer);
    }
    return rc;
}

int xs_cuda_plan_check(xs_world *world, uint32_t count) {
    const xs_objects *o = xs_objects_of(world);
    int rc = 0;
    for (uint32_t i = 0; i < count && !rc; i++) rc = check_entry(world, o->plan_count + i);
    return rc;
}
