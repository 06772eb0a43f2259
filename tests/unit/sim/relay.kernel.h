/* Every rank writes a row to the next one, elects, publishes and waits: payload, election, signal and wait on all ranks. */
#include <xs/kernel.h>

#define RELAY_WORDS 64u

struct relay_args {
    xs_pad done, counters;
    xs_buffer rows;
    uint32_t rounds, stuck; /* stuck: rank 0 never publishes its last round */
    uint32_t *stale, *ended;
};

XS_KERNEL(relay, struct relay_args) {
    uint32_t rank = xs_rank(xs), to = (rank + 1) % xs.ranks;
    uint32_t workers = xs_blocks(xs) * xs_warps(), me = xs_block(xs) * xs_warps() + xs_warp();
    xs_writer w = xs_writer_begin(&xs, 0);
    for (uint32_t round = 1; round <= args.rounds; round++) {
        uint64_t *row = XS_BUFFER_AT(args.rows, uint64_t, to) + round % 2 * RELAY_WORDS;
        xs_writer_epoch(&w, round);
        for (uint32_t i = me; i < RELAY_WORDS; i += workers)
            XS_STORE(row + i, (uint64_t)round * 1000 + i);
        if (!(args.stuck && rank == 0 && round == args.rounds))
            xs_elect_and_publish(&w, &args.counters, 0, 0, 1, (uint64_t)round * workers, workers, &args.done, to, 0, 0, round);
        if (xs_wait_slot(&w, &args.done, 0, 0, round) != XS_RESULT_OK)
            break;
        row = XS_BUFFER_AT(args.rows, uint64_t, rank) + round % 2 * RELAY_WORDS;
        for (uint32_t i = 0; i < RELAY_WORDS; i++)
            *args.stale += XS_LOAD(row + i) != (uint64_t)round * 1000 + i;
        xs_elect(&w, &args.counters, 0, 1, 1, (uint64_t)round * workers, workers);
        /* Nobody overwrites a row that is still read: all have read before the round after the next. */
        if (xs_elect_and_publish(&w, &args.counters, 0, 2, 1, (uint64_t)round * workers, workers, &args.done,
                                 (rank + xs.ranks - 1) % xs.ranks, 0, 1, round) < 0)
            break;
        if (xs_wait_slot(&w, &args.done, 0, 1, round) != XS_RESULT_OK)
            break;
    }
    xs_writer_end(&w);
    __atomic_fetch_add(args.ended, 1, __ATOMIC_RELAXED);
}
