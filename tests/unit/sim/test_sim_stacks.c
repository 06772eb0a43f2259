/* Stacks by the ten thousand, and what happens when one overflows, with each kind of guard. */
#include "harness.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Sanitizers have shadow memory, larger stacks, and few fibres. */
#if defined(__SANITIZE_THREAD__)
#define MANY 500u
#elif defined(__SANITIZE_ADDRESS__)
#define MANY 10000u
#else
#define MANY 80000u
#endif
#define MANY_BYTES (4ull << 30) /* that they may take */

static xs_sim_stacks *stacks_of(const harness *h) { return &((xs_sim *)h->state)->stacks; }

/* Seen by the parent too. */
typedef struct overflow {
    uint32_t reached, others_after;
} overflow;

/* Down to below the bottom of the stack; every frame is written from end to end. */
static __attribute__((noinline)) uint32_t descend(const char *bottom, overflow *o) {
    volatile char frame[256];
    for (uint32_t i = 0; i < sizeof frame; i++)
        frame[i] = (char)i;
    if ((const volatile char *)frame + sizeof frame > bottom)
        return descend(bottom, o) + (uint32_t)frame[1];
    o->reached = 1;
    h_step();
    return (uint32_t)frame[1];
}

static void overflowing_kernel(void *argument) {
    overflow *o = argument;
    const xs_sim_fibre *f = h_self()->scheduler;
    for (uint32_t i = 0; i < 20; i++)
        h_step();
    if (h_block() == 1)
        (void)descend(f->context.stack->at, o);
    for (uint32_t i = 0; i < 20; i++) {
        o->others_after += h_block() != 1 && o->reached;
        h_step();
    }
}

static void overflow_in_child(int guard, overflow *o) {
    struct rlimit none = {0, 0};
    harness h;
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)signal(SIGSEGV, SIG_DFL); /* cmocka takes them for a failed test and goes on */
    (void)signal(SIGILL, SIG_DFL);
    (void)signal(SIGTRAP, SIG_DFL);
    harness_open(&h, 2, 3);
    stacks_of(&h)->guard = guard;
    harness_launch(&h, overflowing_kernel, o, 0, 0, 4, 32);
    (void)harness_sync(&h);
    _exit(0);
}

static void overflow_ends_the_process(int guard) {
    overflow *o = mmap(NULL, sizeof *o, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(o != MAP_FAILED);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        overflow_in_child(guard, o);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(o->reached, guard == SIM_GUARD_CANARY); /* a page faults before the frame below it is whole */
    assert_int_equal(o->others_after, 0);
    munmap(o, sizeof *o);
}

static void overflow_faults_on_a_guard_page(void **state) {
    (void)state;
    overflow_ends_the_process(SIM_GUARD_MAPPING);
}

static void overflow_traps_on_a_canary_before_another_fibre_runs(void **state) {
    (void)state;
    overflow_ends_the_process(SIM_GUARD_CANARY);
}

static void overflow_faults_or_traps_with_what_this_system_has(void **state) {
    xs_sim_stacks stacks = {0};
    (void)state;
    xs_sim_stack *stack = xs_sim_stack_get(&stacks, 65536);
    assert_non_null(stack);
    assert_null(stack->canary);
    xs_sim_stacks_free(&stacks);
    overflow_ends_the_process(SIM_GUARD_BEST);
}

/* One of two neighbours is given back and taken again: its old contents are gone, the other's stay, the canary holds. */
static void stacks_given_back_are_zero_again(void **state) {
    (void)state;
    for (int guard = SIM_GUARD_BEST; guard <= SIM_GUARD_CANARY; guard++) {
        xs_sim_stacks stacks = {.guard = guard};
        xs_sim_stack *kept = xs_sim_stack_get(&stacks, 65536), *given = xs_sim_stack_get(&stacks, 65536);
        assert_true(kept && given && kept != given);
        memset(kept->at, 1, kept->bytes);
        memset(given->at, 2, given->bytes);
        xs_sim_stack_put(&stacks, given);
        assert_ptr_equal(xs_sim_stack_get(&stacks, 65536), given);
        for (size_t i = 0; i < given->bytes; i++)
            assert_true(given->at[i] == 0 && kept->at[i] == 1);
        assert_true(sim_stack_whole(kept) && sim_stack_whole(given));
        assert_int_equal(given->canary != NULL, guard == SIM_GUARD_CANARY);
        xs_sim_stacks_free(&stacks);
    }
}

static uint64_t resident_bytes(void) {
    char text[128] = "";
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0 && read(fd, text, sizeof text - 1) > 0);
    close(fd);
    return strtoull(strchr(text, ' '), NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
}

typedef struct monitor {
    uint64_t slot;
    uint32_t waited, released;
    uint64_t bytes; /* resident while all of them wait */
} monitor;

static void pollers_kernel(void *argument) {
    monitor *m = argument;
    if (h_rank() == 0) {
        while (m->waited < MANY)
            h_work(2000);
        m->bytes = resident_bytes();
        h_signal(&m->slot, 1, XS_SCOPE_SYS);
        return;
    }
    m->waited++;
    assert_int_equal(h_wait(&m->slot, 1, 0), 0);
    m->released++;
}

/* Article 004, section 6.1. With the guards of a system that cannot guard a page without a mapping, of which a process has 65 530. */
static void eighty_thousand_pollers_of_one_monitor(void **state) {
    (void)state;
    for (int guard = SIM_GUARD_BEST; guard <= SIM_GUARD_MAPPING; guard++) {
        monitor m = {0};
        harness h;
        harness_open(&h, 2, 5);
        stacks_of(&h)->guard = guard;
        uint64_t before = resident_bytes();
        harness_launch(&h, pollers_kernel, &m, 0, 1, 1, 32);
        harness_launch(&h, pollers_kernel, &m, 1, 1, MANY, 32);
        assert_int_equal(harness_sync(&h), 0);
        assert_int_equal(m.released, MANY);
        print_message("%u fibres wait: %llu MB, %u guards with mappings\n", MANY, (unsigned long long)(m.bytes - before) >> 20,
                      stacks_of(&h)->mapped);
#if !defined(__SANITIZE_THREAD__)
        assert_true(m.bytes - before < MANY_BYTES);
#endif
        assert_true(stacks_of(&h)->mapped <= SIM_STACKS_MAPPED);
        harness_close(&h);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overflow_faults_on_a_guard_page),
        cmocka_unit_test(overflow_traps_on_a_canary_before_another_fibre_runs),
        cmocka_unit_test(overflow_faults_or_traps_with_what_this_system_has),
        cmocka_unit_test(stacks_given_back_are_zero_again),
        cmocka_unit_test(eighty_thousand_pollers_of_one_monitor),
    };
    return cmocka_run_group_tests_name("sim: stacks", tests, NULL, NULL);
}
