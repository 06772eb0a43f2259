/* Many arrive, one publishes or is let through: elections, gates and watermarks. */
#include "prims.h"

/* Arrivals of one round: a block (its first thread, weight 1), or every lane of every warp. Returns 1 to the elected one. */
XS_FN int prim_arrive(bool warps, xs_writer *w, const prim_self *s, uint32_t row, uint32_t round) {
    uint32_t expected = s->xs->blocks * (warps ? xs_warps() * xs_lanes() : 1);
    int elected = 0;
    xs_warp_join(); /* one arrival a warp: its lanes come together */
    if (warps)
        elected = xs_elect_warp(w, &s->a->counter, row, 0, (uint64_t)expected * round, expected);
    else if (xs_thread() == 0)
        elected = xs_elect(w, &s->a->counter, row, 0, 1, (uint64_t)expected * round, expected);
    if (warps ? xs_lane() == 0 : xs_thread() == 0)
        s->kept->arrivals++;
    s->kept->elections += (uint32_t)elected;
    return elected;
}

/* Each block writes its part; the last to arrive signals. Each compares the part of another block. */
XS_FN void prim_elections(bool warps, xs_writer *w, const prim_self *s) {
    uint32_t block = xs_block(*s->xs), blocks = s->xs->blocks;
    bool leads = xs_thread() == 0;
    for (uint32_t round = 1; round <= s->a->rounds; round++) {
        xs_writer_epoch(w, round);
        s->kept->waits += leads + (leads && round > 1);
        if (prim_failed(s, leads && round > 1 ? xs_wait_slot(w, &s->a->ack, 0, s->next, round - 1) : XS_RESULT_OK))
            return;
        prim_write(s, s->next, s->rank, round, block, blocks);
        if (!warps)
            xs_block_join();
        if (prim_arrive(warps, w, s, 0, round)) {
            xs_signal_slot(w, &s->a->data, s->next, 0, s->rank, round);
            s->kept->signals++;
        }
        if (prim_failed(s, leads ? xs_wait_slot(w, &s->a->data, 0, s->before, round) : XS_RESULT_OK))
            return;
        prim_compare(s, s->rank, s->before, round, (block + 1) % blocks, blocks);
        xs_block_join();
        if (prim_arrive(warps, w, s, 1, round)) {
            xs_signal_slot(w, &s->a->ack, s->before, 0, s->rank, round);
            s->kept->signals++;
        }
    }
}

XS_KERNEL(prim_elect, struct prim_args) {
    xs_writer w = xs_writer_begin(&xs, args.role);
    prim_self s = prim_begin(&args, &xs);
    prim_elections(false, &w, &s);
    xs_writer_end(&w);
}
XS_KERNEL(prim_elect_warp, struct prim_args) {
    xs_writer w = xs_writer_begin(&xs, args.role);
    prim_self s = prim_begin(&args, &xs);
    prim_elections(true, &w, &s);
    xs_writer_end(&w);
}

/* elect_and_publish, and what stands in for it in every third round, in which nothing is expected. Who published tells its own
 * rank too: a block that went ahead would arrive for the next round before all have arrived for this one. */
XS_FN void prim_tell(xs_writer *w, const prim_self *s, uint32_t round) {
    xs_signal_slot(w, &s->a->ack, s->rank, 0, s->rank, round);
    s->kept->signals += 2; /* and the one published */
}

XS_KERNEL(prim_publish_elected, struct prim_args) {
    xs_writer w = xs_writer_begin(&xs, args.role);
    prim_self s = prim_begin(&args, &xs);
    uint32_t block = xs_block(xs), blocks = xs_blocks(xs), arrived = 0;
    bool leads = xs_thread() == 0;
    for (uint32_t round = 1; round <= args.rounds; round++) {
        uint32_t expected = round % 3 == 0 ? 0 : blocks;
        xs_writer_epoch(&w, round);
        arrived += expected;
        if (leads && block == 0 && expected == 0) {
            xs_publish_without_arrivals(&w, &args.data, s.next, 0, s.rank, round);
            prim_tell(&w, &s, round);
        }
        if (leads && xs_elect_and_publish(&w, &args.counter, 0, 0, 1, arrived, expected, &args.data, s.next, 0, s.rank, round)) {
            prim_tell(&w, &s, round);
            s.kept->elections++;
        }
        s.kept->arrivals += leads && expected != 0;
        s.kept->waits += leads ? 2 : 0;
        if (prim_failed(&s, leads ? xs_wait_slot(&w, &args.data, 0, s.before, round) : XS_RESULT_OK))
            break;
        if (prim_failed(&s, leads ? xs_wait_slot(&w, &args.ack, 0, s.rank, round) : XS_RESULT_OK))
            break;
        if (leads)
            (void)xs_wait_expected(&w, &args.data, 0, s.next, round, 0);
        s.kept->skips += leads;
    }
    xs_writer_end(&w);
}

/* Block 0 waits for the others of its rank. */
XS_KERNEL(prim_gate, struct prim_args) {
    xs_writer w = xs_writer_begin(&xs, args.role);
    prim_self s = prim_begin(&args, &xs);
    uint32_t block = xs_block(xs), producers = xs_blocks(xs) - 1;
    bool leads = xs_thread() == 0;
    for (uint32_t round = 1; round <= args.rounds; round++) {
        xs_writer_epoch(&w, round);
        if (block > 0) {
            prim_write(&s, s.rank, s.rank, round, block - 1, PRIM_BLOCKS);
            xs_block_join();
            if (leads)
                xs_gate_arrive(&w, &args.counter, 0, 0, 1);
            s.kept->gates += leads;
        }
        s.kept->waits += leads;
        int result = XS_RESULT_OK;
        if (leads && block == 0)
            result = xs_gate_wait(&w, &args.counter, 0, 0, (uint64_t)producers * round);
        else if (leads)
            result = xs_wait_slot(&w, &args.ack, 0, s.rank, round);
        if (prim_failed(&s, result))
            break;
        if (block == 0) {
            for (uint32_t part = 0; part < producers; part++)
                prim_compare(&s, s.rank, s.rank, round, part, PRIM_BLOCKS);
            xs_block_join();
            if (leads)
                xs_signal_slot(&w, &args.ack, s.rank, 0, s.rank, round);
            s.kept->signals += leads;
        }
    }
    xs_writer_end(&w);
}

/* Chunks finish out of order; the consumer takes them in order. */
XS_KERNEL(prim_watermark, struct prim_args) {
    xs_writer w = xs_writer_begin(&xs, args.role);
    prim_self s = prim_begin(&args, &xs);
    bool leads = xs_thread() == 0, failed = false;
    for (uint32_t round = 1; round <= args.rounds && !failed; round++) {
        xs_writer_epoch(&w, round);
        s.kept->waits += leads && round > 1;
        if (prim_failed(&s, leads && round > 1 ? xs_wait_slot(&w, &args.ack, 0, s.next, round - 1) : XS_RESULT_OK))
            break;
        for (uint32_t i = 0; i < PRIM_CHUNKS; i++) {
            uint32_t chunk = (i * 3 + 2) % PRIM_CHUNKS;
            prim_write(&s, s.next, s.rank, round, chunk, PRIM_CHUNKS);
            xs_block_join();
            if (leads)
                xs_watermark_advance(&w, &args.mark, s.next, chunk, round, 64);
            s.kept->signals += leads;
        }
        for (uint32_t chunk = 0; chunk < PRIM_CHUNKS && !failed; chunk++) {
            s.kept->waits += leads;
            failed = prim_failed(&s, leads ? xs_watermark_wait(&w, &args.mark, s.before, chunk, round) : XS_RESULT_OK);
            prim_compare(&s, s.rank, s.before, round, chunk, PRIM_CHUNKS);
            if (leads && xs_watermark_prefix(&args.mark, s.rank, s.before, round, 0) <= chunk)
                *s.wrong += 1;
        }
        xs_block_join();
        if (leads)
            xs_signal_slot(&w, &args.ack, s.before, 0, s.rank, round);
        s.kept->signals += leads;
    }
    xs_writer_end(&w);
}
