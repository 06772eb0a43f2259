/* One kernel a primitive, through xs. by_hand.cu has the same kernels with no xs header: with XS_TRACE=0 the machine code
 * of both is equal; with XS_TRACE=1 it has no stack frame and few more registers. */
#include <xs/kernel.h>

struct pad_args {
    xs_pad pad, counters;
    uint32_t row, column, peer, expected;
    uint64_t rounds;
};
struct channel_args {
    xs_channel channel;
    uint64_t *out;
    uint64_t rounds;
};

XS_KERNEL(signal_slot, struct pad_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_lane() == 0)
        XS_NO_UNROLL
        for (uint64_t seq = 1; seq <= args.rounds; seq++)
            xs_signal_slot(&w, &args.pad, args.peer, args.row, args.column, seq);
    xs_writer_end(&w);
}

XS_KERNEL(wait_slot, struct pad_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_lane() == 0)
        XS_NO_UNROLL
        for (uint64_t seq = 1; seq <= args.rounds; seq++)
            if (xs_wait_slot(&w, &args.pad, args.row, args.column, seq))
                break;
    xs_writer_end(&w);
}

XS_KERNEL(pub_release, struct pad_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_lane() == 0)
        XS_NO_UNROLL
        for (uint64_t seq = 1; seq <= args.rounds; seq++)
            xs_pub_release(&w, xs_slot_at(&args.pad, args.peer, args.row, args.column), seq);
    xs_writer_end(&w);
}

XS_KERNEL(wait_ge_bounded, struct pad_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_lane() == 0)
        XS_NO_UNROLL
        for (uint64_t seq = 1; seq <= args.rounds; seq++) {
            if (xs_wait_ge_bounded(&w, xs_own_slot(&w, &args.pad, args.row, args.column), seq, xs_bound_ns(1000000)))
                break;
            xs_acq_fence(&w);
        }
    xs_writer_end(&w);
}

XS_KERNEL(elect, struct pad_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_lane() == 0)
        XS_NO_UNROLL
        for (uint64_t seq = 1; seq <= args.rounds; seq++)
            xs_elect_and_publish(&w, &args.counters, args.row, 0, 1, seq * args.expected, args.expected, &args.pad, args.peer, args.row,
                                 args.column, seq);
    xs_writer_end(&w);
}

XS_KERNEL(elect_warp, struct pad_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    XS_NO_UNROLL
    for (uint64_t seq = 1; seq <= args.rounds; seq++)
        if (xs_elect_warp(&w, &args.counters, args.row, 0, seq * args.expected, args.expected))
            xs_signal_slot(&w, &args.pad, args.peer, args.row, args.column, seq);
    xs_writer_end(&w);
}

XS_KERNEL(wait_expected, struct pad_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_lane() == 0)
        XS_NO_UNROLL
        for (uint64_t seq = 1; seq <= args.rounds; seq++)
            if (xs_wait_expected(&w, &args.pad, args.row, args.column, seq, args.expected))
                break;
    xs_writer_end(&w);
}

XS_KERNEL(watermark_advance, struct pad_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_lane() == 0)
        XS_NO_UNROLL
        for (uint64_t seq = 1; seq <= args.rounds; seq++)
            xs_watermark_advance(&w, &args.pad, args.peer, args.column, seq, 64);
    xs_writer_end(&w);
}

XS_KERNEL(watermark_wait, struct pad_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_lane() == 0)
        XS_NO_UNROLL
        for (uint32_t chunk = 0; chunk < args.pad.columns; chunk++)
            if (xs_watermark_wait(&w, &args.pad, args.peer, chunk, args.rounds))
                break;
    xs_writer_end(&w);
}

XS_KERNEL(gate_arrive, struct pad_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_lane() == 0)
        XS_NO_UNROLL
        for (uint64_t i = 1; i <= args.rounds; i++)
            xs_gate_arrive(&w, &args.counters, args.row, args.column, 1);
    xs_writer_end(&w);
}

XS_KERNEL(gate_wait, struct pad_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_lane() == 0)
        XS_NO_UNROLL
        for (uint64_t target = 1; target <= args.rounds; target++)
            if (xs_gate_wait(&w, &args.counters, args.row, args.column, target))
                break;
    xs_writer_end(&w);
}

XS_KERNEL(barrier_all, struct pad_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    XS_NO_UNROLL
    for (uint64_t seq = 1; seq <= args.rounds; seq++)
        if (xs_barrier_all(&w, &args.pad, seq, xs_unbounded()))
            break;
    xs_writer_end(&w);
}

XS_KERNEL(publish, struct channel_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    XS_NO_UNROLL
    for (uint64_t seq = 1; seq <= args.rounds; seq++) {
        if (xs_publish_begin(&w, &args.channel, seq, xs_unbounded()))
            break;
        xs_publish(&w, &args.channel, seq, 100);
    }
    xs_writer_end(&w);
}

XS_KERNEL(consume, struct channel_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    XS_NO_UNROLL
    for (uint64_t seq = 1; seq <= args.rounds; seq++) {
        uint64_t batch;
        if (xs_consume(&w, &args.channel, seq, &batch, xs_unbounded()))
            break;
        args.out[xs_thread()] = batch;
        xs_consume_end(&w, &args.channel, seq);
    }
    xs_writer_end(&w);
}

XS_KERNEL(try_consume, struct channel_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    XS_NO_UNROLL
    for (uint64_t seq = 1; seq <= args.rounds; seq++) {
        uint64_t batch;
        if (xs_try_consume(&w, &args.channel, seq, &batch)) {
            args.out[xs_thread()] = batch;
            xs_consume_end(&w, &args.channel, seq);
        }
    }
    xs_writer_end(&w);
}

XS_KERNEL(heartbeat, struct pad_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_lane() == 0)
        XS_NO_UNROLL
        for (uint64_t beat = 1; beat <= args.rounds && !xs_aborted(&w); beat++)
            xs_heartbeat(&w, &args.pad, beat);
    xs_writer_end(&w);
}

XS_KERNEL(kernel_abort, struct pad_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_lane() == 0)
        xs_kernel_abort(&w, 4);
    xs_writer_end(&w);
}

XS_KERNEL(block_sync, struct pad_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    XS_NO_UNROLL
    for (uint64_t i = 1; i <= args.rounds; i++)
        xs_block_sync(&w, 1, 256);
    xs_writer_end(&w);
}

XS_KERNEL(bus_flush, struct pad_args) {
    xs_writer w = xs_writer_begin(&xs, 0);
    if (xs_lane() == 0)
        XS_NO_UNROLL
        for (uint64_t seq = 1; seq <= args.rounds; seq++) {
            xs_signal_slot(&w, &args.pad, args.peer, args.row, args.column, seq);
            xs_bus_flush(&w, xs_slot_at(&args.pad, args.peer, args.row, args.column));
        }
    xs_writer_end(&w);
}
