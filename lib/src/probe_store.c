/* Are 16-byte stores whole here? One thread rewrites a slot, another reads it with one 16-byte load and looks for
 * halves of different stores. The control does the same with two 8-byte stores and must find some: otherwise the test
 * could see nothing. Inline movdqa, because a compiler may split an intrinsic into two 8-byte accesses and then tear by
 * itself. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "identity.h"
#include "probe.h"
#include "world.h"

/* A part runs this long, and until both threads have done so much: on a busy machine they may not have met before. The
 * control runs on until it tore, so many times as long at most. Longer than MOST_NS none does. */
#define PART_NS       40000000u
#define PART_COUNT    1000000u
#define CONTROL_TIMES 25u
#define MOST_NS       10000000000u
#define LINES         16u

typedef struct pair {
    uint64_t low, high;
} __attribute__((aligned(16))) pair;

typedef struct store_test {
    pair *slots; /* LINES of them, a cache line apart */
    int control;
    int stop;
    uint64_t written; /* so many, at least */
} store_test;

#if defined(__x86_64__)
static void store_whole(pair *to, uint64_t value) {
    pair from = {value, value};
    __asm__ volatile("movdqa %1, %%xmm0\n\tmovdqa %%xmm0, %0" : "=m"(*to) : "m"(from) : "xmm0");
}
static pair load_whole(const pair *from) {
    pair to;
    __asm__ volatile("movdqa %1, %%xmm0\n\tmovdqa %%xmm0, %0" : "=m"(to) : "m"(*from) : "xmm0");
    return to;
}
static int known_machine(void) { return 1; }
#else
static void store_whole(pair *to, uint64_t value) { *to = (pair){value, value}; }
static pair load_whole(const pair *from) { return *from; }
static int known_machine(void) { return 0; } /* no one-instruction form is known to us here: never called whole */
#endif

/* With a pause between them, so that the control shows tears on a busy machine too. */
static void store_halves(pair *to, uint64_t value) {
    __atomic_store_n(&to->low, value, __ATOMIC_RELAXED);
    for (int i = 0; i < 20; i++) __asm__ volatile("" : : : "memory");
    __atomic_store_n(&to->high, value, __ATOMIC_RELAXED);
}

static void *write_slots(void *argument) {
    store_test *test = argument;
    for (uint64_t value = 1; !__atomic_load_n(&test->stop, __ATOMIC_RELAXED); value++) {
        pair *slot = &test->slots[value % LINES * 4];
        if (test->control) store_halves(slot, value);
        else store_whole(slot, value);
        if (value % 4096 == 0) __atomic_store_n(&test->written, value, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* times: of a part, in time and in counts. */
static int goes_on(const store_test *test, uint64_t ns, uint32_t times, uint64_t reads) {
    if (ns >= MOST_NS) return 0;
    return ns < (uint64_t)times * PART_NS || reads < (uint64_t)times * PART_COUNT ||
           __atomic_load_n(&test->written, __ATOMIC_RELAXED) < (uint64_t)times * PART_COUNT;
}

static void read_slots(const store_test *test, uint64_t start, uint32_t times, uint64_t *reads, uint64_t *torn) {
    while (goes_on(test, xs_clock_boot() - start, times, *reads) && !(times > 1 && *torn)) {
        for (uint32_t i = 0; i < 4096; i++) {
            pair seen = load_whole(&test->slots[i % LINES * 4]);
            *torn += seen.low != seen.high;
        }
        *reads += 4096;
    }
}

static int run_part(pair *slots, int control, uint64_t *reads, uint64_t *torn) {
    store_test test = {.slots = slots, .control = control};
    pthread_t writer;
    if (pthread_create(&writer, NULL, write_slots, &test)) return XS_E_SYSTEM;
    uint64_t start = xs_clock_boot();
    read_slots(&test, start, 1, reads, torn);
    if (control) read_slots(&test, start, CONTROL_TIMES, reads, torn);
    __atomic_store_n(&test.stop, 1, __ATOMIC_RELAXED);
    pthread_join(writer, NULL);
    return 0;
}

int xs_probe_store16(xs_probe *probe) {
    pair *slots = aligned_alloc(64, LINES * 64);
    if (!slots) return XS_E_MEMORY;
    memset(slots, 0, LINES * 64);
    int rc = run_part(slots, 0, &probe->store16_reads, &probe->store16_torn);
    memset(slots, 0, LINES * 64);
    if (!rc) rc = run_part(slots, 1, &probe->control_reads, &probe->control_torn);
    free(slots);
    probe->store16_whole = !rc && known_machine() && !probe->store16_torn && probe->control_torn;
    return rc;
}
