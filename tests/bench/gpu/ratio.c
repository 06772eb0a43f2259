#include "ratio.h"

#include <math.h>

double ratio_student(uint32_t degrees) {
    double d = degrees;
    return 1.96 + 2.37 / d + 2.82 / (d * d) + 2.56 / (d * d * d);
}

ratio_result ratio_of(const ratio_pair *pairs, uint32_t count) {
    ratio_result r = {0, 0, 0, 0, 0};
    double mean = 0, squares = 0;
    for (uint32_t i = 0; i < count; i++) {
        mean += log(pairs[i].traced / pairs[i].plain) / count;
        r.plain += pairs[i].plain / count;
        r.traced += pairs[i].traced / count;
    }
    for (uint32_t i = 0; i < count; i++) {
        double off = log(pairs[i].traced / pairs[i].plain) - mean;
        squares += off * off;
    }
    double half = ratio_student(count - 1) * sqrt(squares / (count - 1) / count);
    r.ratio = exp(mean);
    r.low = exp(mean - half);
    r.high = exp(mean + half);
    return r;
}

double ratio_events(double events, double ns, uint32_t warps) { return events / (ns / 1e3) / warps; }

double ratio_link(double records, double ns, double link_gb_s) { return records * 16 / ns / link_gb_s; }

uint32_t ratio_nearest_to_one(const double *events, uint32_t count) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        if (events[i] > 0 && (!(events[best] > 0) || fabs(log(events[i])) < fabs(log(events[best]))))
            best = i;
    return best;
}

uint32_t ratio_epochs(uint32_t few_epochs, double few_ns, uint32_t many_epochs, double many_ns, double target_ns, uint32_t most) {
    double each = (many_ns - few_ns) / (many_epochs - few_epochs), beside = few_ns - each * few_epochs;
    if (!(each > 0)) /* noise */
        each = many_ns / many_epochs, beside = 0;
    double epochs = (target_ns - beside) / each;
    return epochs < 1 ? 1 : epochs > most ? most : (uint32_t)(epochs + 0.001);
}
