/* One run of one fault: memory, launch, and the CPU's part where it is the consumer. */
#include "order_faults.h"

#define LIMIT_S 15.0

#define ORDER_WORDS_OF(name, words, signal, wait, scope, peer) words,
const char *order_words(enum order_fault fault) {
    static const char *const words[] = {ORDER_FAULTS(ORDER_WORDS_OF)};
    return words[fault];
}
#define ORDER_PEER_OF(name, words, signal, wait, scope, peer) peer,
static enum order_peer peer_of(enum order_fault fault) {
    static const enum order_peer peers[] = {ORDER_FAULTS(ORDER_PEER_OF)};
    return peers[fault];
}

/* Slots and results lie in mapped memory where the CPU takes part, else in device memory. */
typedef struct shared {
    uint64_t data, pad0[15], ack, pad1[15], stale, late, pad2[14];
    uint32_t sm[2], pad3[30];
    void *bases[2], *ack_bases[2];
} shared;

static void *memory(size_t bytes, enum order_peer peer) {
    void *at;
    if (peer == ORDER_CPU) {
        GPU_CHECK(cudaHostAlloc(&at, bytes, cudaHostAllocMapped));
        memset(at, 0, bytes);
    } else {
        GPU_CHECK(cudaMalloc(&at, bytes));
        GPU_CHECK(cudaMemset(at, 0, bytes));
        GPU_CHECK(cudaDeviceSynchronize());
    }
    return at;
}

static xs_pad pad_of(void *const *bases, uint32_t first) {
    xs_pad pad = {bases, first, 1, 1, 64, 64, 0};
    return pad;
}

static order_args arguments(shared *s, uint32_t *payload, uint32_t rounds) {
    void *bases[4] = {&s->data, &s->data, &s->ack, &s->ack};
    order_args a;
    memset(&a, 0, sizeof a);
    GPU_CHECK(cudaMemcpy(s->bases, bases, sizeof bases, cudaMemcpyDefault));
    a.data = pad_of(s->bases, 1), a.ack = pad_of(s->ack_bases, 3);
    a.payload = payload, a.stale = &s->stale, a.late = &s->late, a.sm = s->sm, a.rounds = rounds;
    return a;
}

/* x86: loads are seen in program order, so that what is stale here came late from the GPU. */
static void consume_here(shared *s, const uint32_t *payload, uint32_t rounds, const uint32_t *abort_word) {
    for (uint64_t round = 1; round <= rounds; round++) {
        while (__atomic_load_n(&s->data, __ATOMIC_ACQUIRE) < round)
            if (__atomic_load_n(abort_word, __ATOMIC_RELAXED))
                return;
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < ORDER_WORDS; i++)
            wrong += __atomic_load_n(&payload[i], __ATOMIC_RELAXED) != round;
        s->stale += wrong != 0;
        __atomic_store_n(&s->ack, round, __ATOMIC_RELEASE);
    }
}

static void launch(const void *kernel, order_args a, xs_handle handle, unsigned blocks) {
    void *arguments[] = {&a, &handle};
    GPU_CHECK(cudaLaunchCooperativeKernel(kernel, dim3(blocks), dim3(32), arguments, 0, 0));
}

static void wait_for_end(uint32_t *abort_word) {
    for (double end = gpu_test_seconds() + LIMIT_S; cudaStreamQuery(0) == cudaErrorNotReady; gpu_test_sleep_ms(1))
        if (gpu_test_seconds() > end)
            __atomic_store_n(abort_word, 1, __ATOMIC_SEQ_CST);
    GPU_CHECK(cudaDeviceSynchronize());
    EXPECT(!*abort_word, "the rounds did not end in %.0f s", LIMIT_S);
}

order_result order_run(enum order_fault fault, int traced, enum gpu_placement placement, uint32_t rounds) {
    enum order_peer peer = peer_of(fault);
    unsigned blocks = peer == ORDER_SM ? 2 : 1;
    gpu_rings rings = gpu_rings_make(2, 4096, placement, 1);
    uint32_t *abort_word = (uint32_t *)memory(64, ORDER_CPU), *payload = (uint32_t *)memory(ORDER_WORDS * 4, peer);
    shared *s = (shared *)memory(sizeof *s, peer), found;
    launch((traced ? order_kernel_traced : order_kernel_plain)(fault), arguments(s, payload, rounds), gpu_rings_handle(&rings, 2, abort_word),
           blocks);
    if (peer == ORDER_CPU)
        consume_here(s, payload, rounds, abort_word);
    wait_for_end(abort_word);
    GPU_CHECK(cudaMemcpy(&found, s, sizeof found, cudaMemcpyDefault));
    order_result r = {rounds, found.stale, found.late, peer == ORDER_SM && found.sm[0] == found.sm[1]};
    gpu_rings_free(&rings);
    GPU_CHECK(cudaFreeHost(abort_word));
    GPU_CHECK(peer == ORDER_CPU ? cudaFreeHost(payload) : cudaFree(payload));
    GPU_CHECK(peer == ORDER_CPU ? cudaFreeHost(s) : cudaFree(s));
    return r;
}
