/* publish: one producer rank, all others consume (article 001, section 3): a 64-bit sequence, one representative a side,
 * broadcast inside the block, slot = sequence mod depth, the batch size beside it, and a credit from every consumer. */
#include "../common/example.h"
#include <xs/kernel.h>

struct publish_args {
    xs_channel channel;
    xs_buffer data, sums, counts; /* data: depth slots at each consumer */
    uint32_t rounds, capacity;    /* words a slot */
    uint32_t role_produce, role_consume, name_write, name_read;
    int32_t slow_rank;
    uint32_t pad0;
    uint64_t work_ns, slow_ns, seed; /* a batch; and on the slow rank */
};

XS_FN uint64_t publish_work(const struct publish_args *a, uint32_t rank) {
    return (int32_t)rank == a->slow_rank ? a->slow_ns : a->work_ns;
}

XS_INLINE uint32_t publish_words(uint64_t seed, uint32_t capacity, uint32_t round) {
    return 1 + example_pattern(seed, round, 1, 2, 3) % capacity;
}

XS_FN example_counts *kept_of(const struct publish_args *a, const xs_handle *xs) {
    return XS_BUFFER_AT(a->counts, example_counts, xs_rank(*xs)) + xs_warp();
}

XS_FN int produce(xs_writer *w, const struct publish_args *a, const xs_handle *xs, uint32_t round) {
    int result = xs_publish_begin(w, &a->channel, round, xs_unbounded());
    if (result != XS_RESULT_OK)
        return result;
    uint32_t slot = round % a->channel.depth, words = publish_words(a->seed, a->capacity, round); /* here: not kept over the wait */
    if (xs_thread() == 0)
        xs_write_begin(w, a->name_write, slot, round, XS_NO_PEER, 1, words * 4);
    xs_work_ns(publish_work(a, xs_rank(*xs)));
    for (uint32_t r = 1; r < xs->ranks; r++) {
        uint32_t *to = XS_BUFFER_AT(a->data, uint32_t, r) + (uint64_t)slot * a->capacity;
        for (uint32_t i = xs_thread(); i < words; i += xs_threads())
            XS_STORE(&to[i], example_pattern(a->seed, round, r, i, 0));
    }
    if (xs_thread() == 0) {
        xs_payload_end(w, a->name_write, slot);
        example_counts *kept = kept_of(a, xs); /* here: not kept over the waits */
        kept->bytes += words * 4;
        kept->signals += xs->ranks - 1;
        kept->waits += round > a->channel.depth ? xs->ranks - 1 : 0; /* for a credit of each consumer */
    }
    xs_publish(w, &a->channel, round, words);
    return result;
}

XS_FN int consume(xs_writer *w, const struct publish_args *a, const xs_handle *xs, uint32_t round) {
    uint64_t words = 0;
    int result = xs_consume(w, &a->channel, round, &words, xs_unbounded());
    if (result != XS_RESULT_OK)
        return result;
    uint32_t slot = round % a->channel.depth, rank = xs_rank(*xs);
    if (xs_thread() == 0)
        xs_read_begin(w, a->name_read, slot, round, a->channel.producer, 1, (uint32_t)words * 4);
    xs_work_ns(publish_work(a, rank));
    const uint32_t *from = XS_BUFFER_AT(a->data, const uint32_t, rank) + (uint64_t)slot * a->capacity;
    uint64_t *sum = XS_BUFFER_AT(a->sums, uint64_t, rank) + xs_thread(); /* one a thread: no atomics */
    for (uint32_t i = xs_thread(); i < words; i += xs_threads())
        *sum += XS_LOAD(&from[i]);
    if (xs_thread() == 0) {
        xs_payload_end(w, a->name_read, slot);
        example_counts *kept = kept_of(a, xs);
        kept->bytes += words * 4;
        kept->waits++;
        kept->signals++; /* the credit */
    }
    xs_consume_end(w, &a->channel, round);
    return result;
}

/* Left to itself, traced, 42 on some GPUs: told, ptxas makes do with 40. */
XS_KERNEL_CAPPED(publish, struct publish_args, 40) {
    uint32_t rank = xs_rank(xs);
    xs_writer w = xs_writer_begin(&xs, rank == args.channel.producer ? args.role_produce : args.role_consume);
    int result = XS_RESULT_OK;
    for (uint32_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        result = rank == args.channel.producer ? produce(&w, &args, &xs, round) : consume(&w, &args, &xs, round);
    }
    xs_writer_end(&w);
}
