/* Rates of stale results of planted order faults, untraced and traced, with 95 % intervals (Wilson). Bar: the untraced rate is
 * above 0, the traced one at least half of it. A rate of 0 is "not shown", which says nothing about the fault. */
#include "order_faults.h"

#include <math.h>

enum { ROUNDS = 20000 };

typedef struct interval {
    double rate, low, high;
} interval;

static interval wilson(order_result r) {
    double n = (double)r.rounds, p = (double)r.stale / n, z = 1.96, d = 1 + z * z / n;
    double middle = (p + z * z / (2 * n)) / d, half = z * sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / d;
    interval i = {100 * p, 100 * fmax(0, middle - half), 100 * fmin(1, middle + half)};
    return i;
}

static interval measure(enum order_fault fault, int traced, enum gpu_placement placement) {
    order_result r = order_run(fault, traced, placement, ROUNDS);
    EXPECT(!r.same_sm, "producer and consumer were on one SM");
    return wilson(r);
}

static const char *verdict(int control, interval plain, interval traced) {
    if (control)
        return plain.rate == 0 && traced.rate == 0 ? "right" : "WRONG";
    if (plain.rate == 0)
        return "not shown";
    return traced.rate >= plain.rate / 2 ? "met" : "MISSED";
}

static void row(enum order_fault fault) {
    interval plain = measure(fault, 0, GPU_DEVICE), device = measure(fault, 1, GPU_DEVICE), mapped = measure(fault, 1, GPU_MAPPED);
    int control = fault == ORDER_RIGHT || fault == ORDER_CPU_RIGHT;
    printf("%-22s %7.3f [%7.3f, %7.3f] %7.3f [%7.3f, %7.3f] %7.3f [%7.3f, %7.3f]  %-9s %s\n", order_words(fault), plain.rate, plain.low, plain.high,
           device.rate, device.low, device.high, mapped.rate, mapped.low, mapped.high, verdict(control, plain, device), verdict(control, plain, mapped));
}

int main() {
    gpu_test_begin(240);
    gpu_test_need();
    cudaDeviceProp properties;
    GPU_CHECK(cudaGetDeviceProperties(&properties, 0));
    printf("%s: stale results of planted order faults, %% of %d rounds, 95 %% interval; bar: traced at least half of untraced\n", properties.name, ROUNDS);
    printf("%-22s %-26s %-26s %-26s  %-9s %s\n", "fault", "untraced", "traced, device rings", "traced, mapped rings", "device", "mapped");
    for (int fault = 0; fault < ORDER_COUNT; fault++)
        row((enum order_fault)fault);
    return 0;
}
