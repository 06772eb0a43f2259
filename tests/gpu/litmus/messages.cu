/* Message passing between two SMs and from GPU to CPU: right with release and acquire, and the same without them is the control
 * that must fail. */
#include "litmus.h"
#include "order_faults.h"

static order_result run(enum order_fault fault, int traced) {
    order_result r = order_run(fault, traced, GPU_MAPPED, gpu_test_sanitized() ? 200 : 10000);
    printf("%s, %s: %llu of %llu rounds stale\n", order_words(fault), traced ? "traced" : "untraced", (unsigned long long)r.stale,
           (unsigned long long)r.rounds);
    EXPECT(!r.same_sm, "producer and consumer were on one SM");
    return r;
}

void litmus_messages(void) {
    for (int traced = 0; traced < 2; traced++) {
        EXPECT(run(ORDER_RIGHT, traced).stale == 0, "stale between SMs, with release and acquire");
        EXPECT(run(ORDER_CPU_RIGHT, traced).stale == 0, "stale at the CPU, with release.sys");
        EXPECT(run(ORDER_NEITHER, traced).stale > 0 || gpu_test_sanitized(), "the control is right too: nothing was shown");
    }
}
