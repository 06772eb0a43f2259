/* own, as its author wrote it: a ring of threads hands a token round with packed 32-bit flags of its own, launched with
 * plain pthreads. own_traced.c is the same file with a few lines more: `diff own_plain.c own_traced.c`. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <xs/kernel.h>
#include <xs/xs.h>

enum { RANKS = 4, ROUNDS = 50 };
static xs_world *world;
static xs_pad pad;
static _Thread_local xs_writer w;

static _Atomic uint32_t flags[RANKS][2]; /* [receiver][0: token, 1: acknowledged], side by side in one cache line */
static uint32_t token[RANKS];            /* payload, guarded by flags */

static uint32_t load(uint32_t owner, uint32_t which) { return atomic_load_explicit(&flags[owner][which], memory_order_acquire); }

static void wait_for(uint32_t owner, uint32_t which, uint32_t need) {
    uint32_t seen = load(owner, which);
    xs_wait_note note = xs_note_wait_first(&w, xs_slot_at(&pad, owner, 0, which), need, seen, XS_ACQUIRE, XS_SCOPE_SYS);
    for (; seen < need; seen = load(owner, which))
        sched_yield();
    xs_note_wait_last(&w, &note, seen, XS_RESULT_OK);
}

static void send(uint32_t owner, uint32_t which, uint32_t value) {
    xs_note_signal(&w, xs_slot_at(&pad, owner, 0, which), value, XS_RELEASE, XS_SCOPE_SYS, XS_FENCE_NONE);
    atomic_store_explicit(&flags[owner][which], value, memory_order_release);
}

static void *kernel(void *argument) {
    uint32_t rank = (uint32_t)(size_t)argument, right = (rank + 1) % RANKS;
    xs_host_thread self = {0, 1, 0, 1, NULL};
    xs_handle xs;
    if (xs_handle_begin(world, "own", rank, 1, 32, &xs) < 0) return NULL;
    xs_host_enter(&self);
    w = xs_writer_begin(&xs, 0);
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
    xs_writer_end(&w);
    xs_handle_end(world, &xs);
    return NULL;
}

int main(void) {
    void *const base[RANKS] = {flags[0], flags[1], flags[2], flags[3]};
    const xs_adopt adopt = {sizeof adopt, 1, 2, 8, 4, 32, 0, base};
    const xs_config config = {.size = sizeof config, .version = 1, .ranks = RANKS};
    if (xs_world_create(&config, &world) < 0 || xs_pad_adopt(world, "flags", &adopt, &pad) < 0) return 1;
    pthread_t thread[RANKS];
    for (size_t r = 0; r < RANKS; r++)
        if (pthread_create(&thread[r], NULL, kernel, (void *)r) != 0)
            return 1;
    for (size_t r = 0; r < RANKS; r++)
        pthread_join(thread[r], NULL);
    xs_world_destroy(world);
    printf("own: last token %u, expected %u\n", token[0], ROUNDS * 100 + RANKS - 1);
    return token[0] != ROUNDS * 100 + RANKS - 1;
}
