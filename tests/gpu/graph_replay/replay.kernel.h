/* One side of a ping-pong between two ranks. Which round it is lies in memory, so that the same launch can be replayed: arguments and
 * handle are the same each time. */
#ifndef REPLAY_KERNEL_H
#define REPLAY_KERNEL_H

#include <xs/kernel.h>

struct replay_args {
    xs_pad ball;      /* [chain][from] */
    xs_buffer rounds; /* of each rank: a word a chain */
    uint32_t chain, hits, role;
    uint32_t lengthen; /* chain c works so much longer than chain 0, ns: kernels of different chains overlap in part */
};

XS_KERNEL(replay, struct replay_args) {
    uint32_t rank = xs_rank(xs), peer = 1 - rank;
    uint64_t *round = XS_BUFFER_AT(args.rounds, uint64_t, rank) + args.chain;
    xs_writer w = xs_writer_begin(&xs, args.role);
    xs_writer_epoch(&w, *round + 1);
    if (xs_thread() == 0) {
        uint64_t seq = *round * args.hits;
        xs_work_ns((uint64_t)args.lengthen * args.chain);
        for (uint32_t i = 0; i < args.hits; i++) {
            seq++;
            if (rank == 0)
                xs_signal_slot(&w, &args.ball, peer, args.chain, rank, seq);
            if (xs_wait_slot(&w, &args.ball, args.chain, peer, seq) != XS_RESULT_OK)
                break;
            if (rank == 1)
                xs_signal_slot(&w, &args.ball, peer, args.chain, rank, seq);
        }
    }
    xs_block_join();
    xs_writer_end(&w);
    if (xs_thread() == 0)
        ++*round;
}

#endif
