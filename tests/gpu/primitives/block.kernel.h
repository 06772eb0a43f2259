/* Primitives of whole blocks: barrier of all ranks, channel, named barrier. */
#include "prims.h"

XS_KERNEL(prim_barrier, struct prim_args) {
    xs_writer w = xs_writer_begin(&xs, args.role);
    prim_self s = prim_begin(&args, &xs);
    bool leads = xs_thread() == 0;
    for (uint32_t round = 1; round <= args.rounds; round++) {
        xs_writer_epoch(&w, round);
        for (uint32_t to = 0; to < xs.ranks; to++)
            prim_write(&s, to, s.rank, round, 0, 1);
        s.kept->signals += leads ? 2 * xs.ranks : 0;
        s.kept->waits += leads ? 2 * xs.ranks : 0;
        s.kept->barriers += leads ? 2 : 0;
        if (prim_failed(&s, xs_barrier_all(&w, &args.bar, 2 * round - 1, xs_unbounded())))
            break;
        for (uint32_t from = 0; from < xs.ranks; from++)
            prim_compare(&s, s.rank, from, round, 0, 1);
        if (prim_failed(&s, xs_barrier_all(&w, &args.bar, 2 * round, xs_unbounded())))
            break;
    }
    xs_writer_end(&w);
}

/* Odd consumers look without waiting, the others wait. */
XS_FN int prim_take(xs_writer *w, const prim_self *s, uint32_t round, uint64_t *batch) {
    int result = XS_RESULT_OK;
    if (s->rank % 2 == 0)
        return xs_consume(w, &s->a->channel, round, batch, xs_unbounded());
    while (!xs_try_consume(w, &s->a->channel, round, batch)) {
        result = xs_block_broadcast(xs_thread() == 0 && xs_aborted(w) ? XS_RESULT_ABORTED : XS_RESULT_OK);
        if (result != XS_RESULT_OK)
            break;
        xs_nanosleep(200);
    }
    return result;
}

XS_KERNEL(prim_channel, struct prim_args) {
    xs_writer w = xs_writer_begin(&xs, args.role);
    prim_self s = prim_begin(&args, &xs);
    uint32_t depth = args.channel.depth, part;
    bool leads = xs_thread() == 0;
    for (uint32_t round = 1; round <= args.rounds; round++) {
        uint64_t batch = 0;
        xs_writer_epoch(&w, round);
        part = round % depth;
        if (s.rank == 0) {
            if (prim_failed(&s, xs_publish_begin(&w, &args.channel, round, xs_unbounded())))
                break;
            for (uint32_t to = 1; to < xs.ranks; to++)
                prim_write(&s, to, 0, round, part, depth);
            s.kept->waits += leads && round > depth ? xs.ranks - 1 : 0;
            s.kept->signals += leads ? xs.ranks - 1 : 0;
            if (prim_failed(&s, xs_publish(&w, &args.channel, round, 1000 + round)))
                break;
        } else {
            if (prim_failed(&s, prim_take(&w, &s, round, &batch)))
                break;
            *s.wrong += batch != 1000 + round;
            prim_compare(&s, s.rank, 0, round, part, depth);
            s.kept->waits += leads;
            s.kept->signals += leads;
            if (prim_failed(&s, xs_consume_end(&w, &args.channel, round)))
                break;
        }
    }
    xs_writer_end(&w);
}

/* The lower half of the warps writes, the upper half compares: two named barriers, one each way. */
XS_KERNEL(prim_block, struct prim_args) {
    xs_writer w = xs_writer_begin(&xs, args.role);
    prim_self s = prim_begin(&args, &xs);
    uint32_t half = xs_warps() / 2, lanes = xs_lanes(), count = xs_warps() * XS_WARP;
    uint32_t *at = XS_BUFFER_AT(args.payload, uint32_t, s.rank) + xs_block(xs) * PRIM_WORDS;
    bool writes = xs_warp() < half;
    uint32_t i = (writes ? xs_warp() : xs_warp() - half) * lanes + xs_lane();
    for (uint32_t round = 1; round <= args.rounds; round++) {
        xs_writer_epoch(&w, round);
        if (writes)
            XS_STORE(&at[i], prim_pattern(&s, s.rank, 0, round, i));
        xs_block_sync(&w, 1, count);
        uint32_t other = half * lanes - 1 - i;
        if (!writes && XS_LOAD(&at[other]) != prim_pattern(&s, s.rank, 0, round, other))
            *s.wrong += 1;
        xs_block_sync(&w, 2, count);
    }
    xs_writer_end(&w);
}
