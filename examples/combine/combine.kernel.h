/* combine: every rank pushes rows to the others, in chunks of 64 (article 000, sections 3 to 5).
 *
 *   push     rows -> staging of the receiver; the last warp of a chunk to finish signals the chunk's watermark
 *   consume  waits for a watermark, moves the chunk to local memory, arrives at the chunk's gate
 *   gemm     waits for the gate (one arrival a source), adds the chunk's rows up; its first block ends the epoch:
 *            all gemm blocks have arrived -> barrier of all ranks -> `go`, and staging may be overwritten
 *
 * A source that sends a chunk nothing is skipped: no signal is owed, and the consumer says so. */
#include "../common/example.h"
#include <xs/kernel.h>

#define CHUNK 64u
#ifndef WORDS
#define WORDS 16u /* words a row; one object file with others, and its setup with them */
#endif

struct combine_args {
    xs_pad done, count, gate, finish, bar, go; /* done[src][chunk] at the receiver; count[dst][chunk] at the sender */
    xs_buffer staging, gathered, out, routing, counts;
    uint32_t chunks, epochs;
    uint32_t push_blocks, consume_blocks, gemm_blocks;
    uint32_t role_push, role_consume, role_gemm;
    uint32_t name_push, name_scatter, name_gemm;
    int32_t slow_rank;
    uint32_t pad0;
    uint64_t work_ns, slow_ns, seed; /* a tile; and on the slow rank */
};

XS_FN uint64_t tile_work(const struct combine_args *a, uint32_t rank) {
    return (int32_t)rank == a->slow_rank ? a->slow_ns : a->work_ns;
}

/* xs_anew here and below: traced, neither sum nor address is kept over waits. */
XS_FN uint32_t first_gemm_block(const struct combine_args *a) { return xs_anew(a->push_blocks) + a->consume_blocks; }

/* Rows that src sends dst in a chunk. The routing is known everywhere, as after MoE's exchange of counts. */
XS_FN uint32_t chunk_rows(const struct combine_args *a, uint32_t ranks, uint32_t self, uint32_t src, uint32_t dst, uint32_t chunk) {
    uint32_t rows = XS_BUFFER_AT(a->routing, const uint32_t, xs_anew(self))[src * ranks + dst];
    uint32_t before = chunk * CHUNK;
    return rows <= before ? 0 : rows - before < CHUNK ? rows - before : CHUNK;
}

XS_FN uint64_t staging_at(const struct combine_args *a, uint32_t src, uint32_t chunk) {
    return ((uint64_t)src * a->chunks + chunk) * CHUNK * WORDS;
}

XS_FN void push_rows(const struct combine_args *a, uint32_t *to, uint32_t rank, uint32_t dst, uint32_t chunk, uint32_t rows, uint32_t epoch) {
    for (uint32_t row = xs_warp(); row < rows; row += xs_warps())
        for (uint32_t w = xs_lane(); w < WORDS; w += xs_lanes())
            XS_STORE(&to[row * WORDS + w], example_pattern(a->seed + epoch, rank, dst, chunk * CHUNK + row, w));
}

XS_FN void push_chunk(xs_writer *w, const struct combine_args *a, const xs_handle *xs, example_counts *kept, uint32_t dst,
                      uint32_t chunk, uint32_t epoch, uint64_t *sent) {
    uint32_t rank = xs_rank(*xs), rows = chunk_rows(a, xs->ranks, rank, rank, dst, chunk);
    if (rows == 0)
        return;
    uint32_t warps = xs_warps(), mine = rows / warps + (xs_warp() < rows % warps); /* one division: each xs_warps() is read anew where it is traced */
    if (xs_lane() == 0)
        xs_write_begin(w, a->name_push, chunk, epoch, dst, mine, mine * WORDS * 4);
    xs_work_ns(tile_work(a, rank));
    push_rows(a, XS_BUFFER_AT(a->staging, uint32_t, dst) + staging_at(a, rank, chunk), rank, dst, chunk, rows, epoch);
    xs_warp_join();
    if (xs_lane() != 0)
        return;
    xs_payload_end(w, a->name_push, chunk);
    if (mine == 0)
        return;
    kept->arrivals++;
    kept->bytes += mine * WORDS * 4;
    if (xs_elect(w, &a->count, dst, chunk, mine, (uint64_t)rows * epoch, rows)) {
        xs_watermark_advance(w, &a->done, dst, chunk, epoch, rows);
        kept->elections++;
        kept->signals++;
    }
    *sent += mine;
}

XS_FN void push(xs_writer *w, const struct combine_args *a, const xs_handle *xs, example_counts *kept, uint32_t epoch) {
    uint32_t block = xs_block(*xs);
    uint64_t sent = 0;
    for (uint32_t chunk = 0; chunk < a->chunks; chunk++)
        for (uint32_t i = 0; i < xs->ranks; i++) {
            if ((chunk * xs->ranks + i) % a->push_blocks == block)
                push_chunk(w, a, xs, kept, (xs_rank(*xs) + i) % xs->ranks, chunk, epoch, &sent);
        }
}

XS_FN void scatter(const struct combine_args *a, uint32_t rank, uint32_t src, uint32_t chunk, uint32_t rows) {
    const uint32_t *from = XS_BUFFER_AT(a->staging, const uint32_t, rank) + staging_at(a, src, chunk);
    uint32_t *to = XS_BUFFER_AT(a->gathered, uint32_t, rank) + staging_at(a, src, chunk);
    for (uint32_t i = xs_lane(); i < rows * WORDS; i += xs_lanes())
        XS_STORE(&to[i], XS_LOAD(&from[i]));
}

XS_FN int consume_chunk(xs_writer *w, const struct combine_args *a, const xs_handle *xs, example_counts *kept, uint32_t src,
                        uint32_t chunk, uint32_t epoch) {
    uint32_t rank = xs_rank(*xs), rows = chunk_rows(a, xs->ranks, rank, src, rank, chunk);
    int result = XS_RESULT_OK;
    if (xs_lane() == 0) {
        result = xs_wait_expected(w, &a->done, src, chunk, epoch, rows);
        kept->waits += rows != 0;
        kept->skips += rows == 0;
        xs_read_begin(w, a->name_scatter, chunk, epoch, src, rows, rows * WORDS * 4);
    }
    result = xs_warp_broadcast(result);
    if (result != XS_RESULT_OK)
        return result;
    xs_warp_join();
    xs_work_ns(tile_work(a, rank) / 4);
    scatter(a, rank, src, chunk, rows);
    xs_warp_join();
    if (xs_lane() == 0) {
        xs_payload_end(w, a->name_scatter, chunk);
        xs_gate_arrive(w, &a->gate, 0, chunk, 1);
        kept->gates++;
    }
    return XS_RESULT_OK;
}

XS_FN int consume(xs_writer *w, const struct combine_args *a, const xs_handle *xs, example_counts *kept, uint32_t epoch) {
    uint32_t warp = (xs_block(*xs) - a->push_blocks) * xs_warps() + xs_warp(), warps = a->consume_blocks * xs_warps();
    for (uint32_t task = warp; task < a->chunks * xs->ranks; task += warps) {
        int result = consume_chunk(w, a, xs, kept, (xs_rank(*xs) + task) % xs->ranks, task / xs->ranks, epoch);
        if (result != XS_RESULT_OK)
            return result;
    }
    return XS_RESULT_OK;
}

XS_FN void gemm_tile(const struct combine_args *a, const xs_handle *xs, uint32_t chunk) {
    uint32_t rank = xs_rank(*xs);
    uint32_t *out = XS_BUFFER_AT(a->out, uint32_t, rank) + (uint64_t)chunk * CHUNK * WORDS;
    for (uint32_t src = 0; src < xs->ranks; src++) {
        const uint32_t *rows = XS_BUFFER_AT(a->gathered, const uint32_t, rank) + staging_at(a, src, chunk);
        uint32_t n = chunk_rows(a, xs->ranks, rank, src, rank, chunk) * WORDS;
        for (uint32_t i = xs_lane(); i < n; i += xs_lanes())
            XS_STORE(&out[i], XS_LOAD(&out[i]) + XS_LOAD(&rows[i]));
    }
}

XS_FN int gemm(xs_writer *w, const struct combine_args *a, const xs_handle *xs, example_counts *kept, uint32_t epoch) {
    uint32_t first = first_gemm_block(a);
    uint32_t warp = (xs_block(*xs) - first) * xs_warps() + xs_warp(), warps = a->gemm_blocks * xs_warps();
    for (uint32_t chunk = warp; chunk < a->chunks; chunk += warps) {
        int result = XS_RESULT_OK;
        if (xs_lane() == 0) {
            result = xs_gate_wait(w, &a->gate, 0, chunk, (uint64_t)epoch * xs->ranks);
            kept->waits++;
            xs_work_begin(w, a->name_gemm, chunk, epoch, XS_NO_PEER, CHUNK, CHUNK * WORDS * 4);
        }
        result = xs_warp_broadcast(result);
        if (result != XS_RESULT_OK)
            return result;
        xs_warp_join();
        xs_work_ns(tile_work(a, xs_rank(*xs)) / 2);
        gemm_tile(a, xs, chunk);
        if (xs_lane() == 0)
            xs_payload_end(w, a->name_gemm, chunk);
    }
    xs_block_sync(w, 1, xs_threads());
    if (xs_thread() == 0) {
        xs_gate_arrive(w, &a->finish, 0, 0, 1);
        kept->gates++;
    }
    return XS_RESULT_OK;
}

/* The first gemm block ends the epoch for its rank. */
XS_FN int end_epoch(xs_writer *w, const struct combine_args *a, const xs_handle *xs, example_counts *kept, uint32_t epoch) {
    if (xs_thread() == 0) {
        (void)xs_gate_wait(w, &a->finish, 0, 0, (uint64_t)epoch * a->gemm_blocks);
        kept->waits += 1 + xs->ranks;
        kept->signals += xs->ranks;
        kept->barriers++;
    }
    int result = xs_barrier_all(w, &a->bar, epoch, xs_unbounded());
    if (result == XS_RESULT_OK && xs_thread() == 0) {
        xs_signal_slot(w, &a->go, xs_rank(*xs), 0, 0, epoch);
        kept->signals++;
    }
    return result;
}

/* Left to itself, traced, 56 and more there: told, ptxas makes do with 48. */
#if XS_ARCH >= 1000
XS_KERNEL_CAPPED(combine, struct combine_args, 48) {
#else
XS_KERNEL(combine, struct combine_args) {
#endif
    uint32_t block = xs_block(xs), rank = xs_rank(xs);
    int is_push = block < args.push_blocks;
    xs_writer w = xs_writer_begin(&xs, is_push ? args.role_push : block >= first_gemm_block(&args) ? args.role_gemm : args.role_consume);
    example_counts *kept = XS_BUFFER_AT(args.counts, example_counts, rank) + block * xs_warps() + xs_warp();
    for (uint32_t epoch = 1; epoch <= args.epochs; epoch++) {
        int result = XS_RESULT_OK;
        if (epoch > 1 && xs_lane() == 0) {
            result = xs_wait_slot(&w, &args.go, 0, 0, epoch - 1);
            kept->waits++;
        }
        result = xs_warp_broadcast(result);
        xs_writer_epoch(&w, epoch); /* here: whoever is done early waits for the end of the last one */
        if (result == XS_RESULT_OK && is_push)
            push(&w, &args, &xs, kept, epoch);
        else if (result == XS_RESULT_OK && xs_block(xs) >= first_gemm_block(&args))
            result = gemm(&w, &args, &xs, kept, epoch);
        else if (result == XS_RESULT_OK)
            result = consume(&w, &args, &xs, kept, epoch);
        if (result == XS_RESULT_OK && xs_block(xs) == first_gemm_block(&args))
            result = end_epoch(&w, &args, &xs, kept, epoch);
        if (result != XS_RESULT_OK)
            break;
    }
    xs_writer_end(&w);
}
