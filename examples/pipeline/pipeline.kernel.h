/* pipeline: a double buffer between two ranks (article 004, section 5). Where the article has none, there is a credit:
 * the producer waits until the consumer has given the buffer back, so that it never laps a reader.
 * Rank 0 produces into rank 1's memory; the size of a batch may change from round to round. */
#include "../common/example.h"
#include <xs/kernel.h>

struct pipeline_args {
    xs_pad full, room, size; /* full and size[slot] at the consumer, room at the producer */
    xs_buffer data, out, sizes, counts;
    uint32_t rounds, capacity; /* bytes a slot */
    uint32_t role_produce, role_consume, name_write, name_read;
    int32_t slow_rank;
    uint32_t slow_percent;
    uint64_t work_ns, seed;
};

XS_FN uint32_t batch_bytes(const struct pipeline_args *a, uint32_t round) {
    return 1 + example_pattern(a->seed, round, 0, 0, 99) % a->capacity;
}

XS_FN int produce(xs_writer *w, const struct pipeline_args *a, const xs_handle *xs, example_counts *kept, uint32_t round) {
    uint32_t slot = round & 1, bytes = batch_bytes(a, round);
    int result = XS_RESULT_OK;
    if (xs_thread() == 0 && round > 2) {
        result = xs_wait_ge_bounded(w, xs_slot_at(&a->room, 0, 0, 0), round - 2, xs_unbounded());
        xs_acq_fence(w);
        kept->waits++;
    }
    result = xs_block_broadcast(result);
    if (result != XS_RESULT_OK)
        return result;
    if (xs_thread() == 0)
        xs_write_begin(w, a->name_write, slot, round, 1, 1, bytes);
    xs_work_ns(example_work(a->work_ns, a->slow_rank, a->slow_percent, xs_rank(*xs)));
    uint8_t *to = XS_BUFFER_AT(a->data, uint8_t, 1) + (uint64_t)slot * a->capacity;
    for (uint32_t i = xs_thread(); i < bytes; i += xs_threads())
        XS_STORE(&to[i], (uint8_t)example_pattern(a->seed, round, i, 0, 0));
    xs_block_join();
    if (xs_thread() == 0) {
        xs_payload_end(w, a->name_write, slot);
        xs_pub_release(w, xs_slot_at(&a->size, 1, 0, slot), ((uint64_t)round << 32) | bytes);
        xs_pub_release(w, xs_slot_at(&a->full, 1, 0, 0), round);
        kept->signals += 2;
        kept->bytes += bytes;
    }
    return result;
}

XS_FN int consume(xs_writer *w, const struct pipeline_args *a, const xs_handle *xs, example_counts *kept, uint32_t round) {
    uint32_t slot = round & 1, bytes = 0;
    int result = XS_RESULT_OK;
    if (xs_thread() == 0) {
        result = xs_wait_ge_bounded(w, xs_slot_at(&a->full, 1, 0, 0), round, xs_unbounded());
        xs_acq_fence(w);
        kept->waits++;
    }
    result = xs_block_broadcast(result);
    if (result != XS_RESULT_OK)
        return result;
    bytes = (uint32_t)xs_load_relaxed_sys((const uint64_t *)xs_slot_at(&a->size, 1, 0, slot).at);
    if (xs_thread() == 0)
        xs_read_begin(w, a->name_read, slot, round, 0, 1, bytes);
    xs_work_ns(example_work(a->work_ns, a->slow_rank, a->slow_percent, xs_rank(*xs)));
    const uint8_t *from = XS_BUFFER_AT(a->data, const uint8_t, 1) + (uint64_t)slot * a->capacity;
    uint8_t *to = XS_BUFFER_AT(a->out, uint8_t, 1) + (uint64_t)(round - 1) * a->capacity;
    for (uint32_t i = xs_thread(); i < bytes; i += xs_threads())
        XS_STORE(&to[i], XS_LOAD(&from[i]));
    if (xs_thread() == 0)
        XS_BUFFER_AT(a->sizes, uint32_t, 1)[round - 1] = bytes;
    xs_block_join();
    if (xs_thread() == 0) {
        xs_payload_end(w, a->name_read, slot);
        xs_pub_release(w, xs_slot_at(&a->room, 0, 0, 0), round);
        kept->signals++;
    }
    return result;
}

/* Left to itself, traced, 37 registers on sm_100, where the plain one has 24. */
XS_KERNEL_CAPPED(pipeline, struct pipeline_args, XS_ARCH == 1000 ? 32 : 40) {
    uint32_t rank = xs_rank(xs);
    xs_writer w = xs_writer_begin(&xs, rank == 0 ? args.role_produce : args.role_consume);
    example_counts *kept = XS_BUFFER_AT(args.counts, example_counts, rank) + xs_warp();
    int result = XS_RESULT_OK;
    for (uint32_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        result = rank == 0 ? produce(&w, &args, &xs, kept, round) : consume(&w, &args, &xs, kept, round);
    }
    xs_writer_end(&w);
}
