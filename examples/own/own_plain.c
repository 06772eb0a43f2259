/* own, as its author wrote it: a ring of threads hands a token round with packed 32-bit flags of its own, launched with
 * plain pthreads. own_traced.c is the same file with a few lines more: `diff own_plain.c own_traced.c`. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum { RANKS = 4, ROUNDS = 50 };

static _Atomic uint32_t flags[RANKS][2]; /* [receiver][0: token, 1: acknowledged], side by side in one cache line */
static uint32_t token[RANKS];            /* payload, guarded by flags */

static uint32_t load(uint32_t owner, uint32_t which) { return atomic_load_explicit(&flags[owner][which], memory_order_acquire); }

static void wait_for(uint32_t owner, uint32_t which, uint32_t need) {
    uint32_t seen = load(owner, which);
    for (; seen < need; seen = load(owner, which))
        sched_yield();
}

static void send(uint32_t owner, uint32_t which, uint32_t value) {
    atomic_store_explicit(&flags[owner][which], value, memory_order_release);
}

static void *kernel(void *argument) {
    uint32_t rank = (uint32_t)(size_t)argument, right = (rank + 1) % RANKS;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        if (rank != 0)
            wait_for(rank, 0, round);
        uint32_t value = rank == 0 ? round * 100 : token[rank] + 1;
        if (right != 0) {
            token[right] = value;
            send(right, 0, round);
            wait_for(rank, 1, round); /* the neighbour has read it */
        }
        if (rank != 0)
            send(rank - 1, 1, round);
        if (right == 0)
            token[0] = value;
    }
    return NULL;
}

int main(void) {
    pthread_t thread[RANKS];
    for (size_t r = 0; r < RANKS; r++)
        if (pthread_create(&thread[r], NULL, kernel, (void *)r) != 0)
            return 1;
    for (size_t r = 0; r < RANKS; r++)
        pthread_join(thread[r], NULL);
    printf("own: last token %u, expected %u\n", token[0], ROUNDS * 100 + RANKS - 1);
    return token[0] != ROUNDS * 100 + RANKS - 1;
}
