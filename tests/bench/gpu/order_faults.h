/* Planted order faults in message passing: a producer writes a payload and signals, a consumer waits and reads it, round after
 * round, in the same memory. Compiled twice, traced and plain: does tracing hide the fault that it looks for? */
#ifndef ORDER_FAULTS_H
#define ORDER_FAULTS_H

#include <gpu_rings.h>

/* X(NAME, words, order of the signal, of the wait, scope of both, peer) */
#define ORDER_FAULTS(X)                                                                     \
    X(RIGHT, "none (control)", XS_RELEASE, XS_ACQUIRE, XS_SCOPE_GPU, ORDER_SM)               \
    X(NO_RELEASE, "no release", XS_RELAXED, XS_ACQUIRE, XS_SCOPE_GPU, ORDER_SM)              \
    X(NO_ACQUIRE, "no acquire", XS_RELEASE, XS_RELAXED, XS_SCOPE_GPU, ORDER_SM)              \
    X(NEITHER, "neither", XS_RELAXED, XS_RELAXED, XS_SCOPE_GPU, ORDER_SM)                    \
    X(CTA, ".cta between SMs", XS_RELEASE, XS_ACQUIRE, XS_SCOPE_CTA, ORDER_SM)               \
    X(CPU_RIGHT, ".sys to CPU (control)", XS_RELEASE, XS_ACQUIRE, XS_SCOPE_SYS, ORDER_CPU)   \
    X(CPU_GPU, ".gpu to CPU", XS_RELEASE, XS_ACQUIRE, XS_SCOPE_GPU, ORDER_CPU)
enum order_peer { ORDER_SM, ORDER_CPU };
#define ORDER_ENUM(name, words, signal, wait, scope, peer) ORDER_##name,
enum order_fault { ORDER_FAULTS(ORDER_ENUM) ORDER_COUNT };
#undef ORDER_ENUM

enum { ORDER_WORDS = 1024 };
/* A flag that is not seen for so long was not made visible by its scope. */
#define ORDER_LATE_NS 100000u

struct order_args {
    xs_pad data, ack;  /* 1 x 1: rank 1's copy of data, rank 0's of ack */
    uint32_t *payload; /* ORDER_WORDS */
    uint64_t *stale, *late;
    uint32_t *sm; /* of producer and consumer */
    uint32_t rounds, reserved0;
};

typedef struct order_result {
    uint64_t rounds, stale; /* stale: rounds in which a word of the payload, or the flag, was not seen */
    uint64_t late;          /* of those: the flag */
    int same_sm;            /* both on one SM: nothing was shown */
} order_result;

const void *order_kernel_plain(enum order_fault fault);
const void *order_kernel_traced(enum order_fault fault);
const char *order_words(enum order_fault fault);
/* placement: of the records of a traced run. */
order_result order_run(enum order_fault fault, int traced, enum gpu_placement placement, uint32_t rounds);

#endif
