/* own, as its author wrote it: a ring of threads hands a token round with packed 32-bit flags of its own, launched with
 * plain pthreads. own_traced.c is the same file with a few lines more: `diff own_plain.c own_traced.c`. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "own_options.h"

static void *memory[RANKS_MOST]; /* each rank's flags, side by side in one cache line. 0: token, 1: acknowledged */
static uint32_t token[RANKS_MOST][ROWS_MOST]; /* payload, guarded by flags */

static _Atomic uint32_t *flag(uint32_t owner, uint32_t which) { return (_Atomic uint32_t *)memory[owner] + which; }

static uint32_t load(uint32_t owner, uint32_t which) {
    return atomic_load_explicit(flag(owner, which), memory_order_acquire);
}

static void wait_for(uint32_t owner, uint32_t which, uint32_t need) {
    uint32_t seen = load(owner, which);
    for (; seen < need; seen = load(owner, which))
        sched_yield();
}

static void send(uint32_t owner, uint32_t which, uint32_t value) {
    atomic_store_explicit(flag(owner, which), value, memory_order_release);
}

static uint32_t first_word(uint32_t round, uint32_t row) { return seed * 1000003 + round * 100 + row; }

static void work(uint32_t rank) {
    uint64_t ns = rank == slow_rank ? work_ns * (100 + slow_percent) / 100 : work_ns;
    struct timespec time = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    if (ns) nanosleep(&time, NULL);
}

static int failed(const char *why) { return fprintf(stderr, "own: %s\n", why), 1; }

static void *kernel(void *argument) {
    uint32_t rank = (uint32_t)(size_t)argument, right = (rank + 1) % ranks;
    for (uint32_t round = 1; round <= rounds; round++) {
        if (rank != 0) wait_for(rank, 0, round);
        work(rank);
        for (uint32_t row = 0; row < rows; row++)
            token[right][row] = rank == 0 ? first_word(round, row) : token[rank][row] + 1;
        if (right != 0) {
            send(right, 0, round);
            wait_for(rank, 1, round); /* the neighbour has read it */
        }
        if (rank != 0) send(rank - 1, 1, round);
    }
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t thread[RANKS_MOST];
    uint32_t wrong = 0;
    own_parse(argc, argv);
    for (size_t r = 0; r < ranks; r++)
        if (!(memory[r] = calloc(2, sizeof(uint32_t)))) return failed("no memory");
    for (size_t r = 0; r < ranks; r++)
        if (pthread_create(&thread[r], NULL, kernel, (void *)r) != 0) return failed("no thread");
    for (size_t r = 0; r < ranks; r++)
        pthread_join(thread[r], NULL);
    for (uint32_t row = 0; row < rows; row++)
        wrong += token[0][row] != first_word(rounds, row) + ranks - 1;
    for (size_t r = 0; r < ranks; r++)
        free(memory[r]);
    printf("own: %u ranks, result %s\n", ranks, wrong ? "WRONG" : "right");
    return wrong != 0;
}
