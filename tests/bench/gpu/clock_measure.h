/* A capture's clock of a GPU against the kernels that CUPTI told of. */
#ifndef CLOCK_MEASURE_H
#define CLOCK_MEASURE_H

/* Prints it; each_second: and the medians of every second. Exit status: 0, or 1: there is nothing to measure. */
int clock_measure(const char *capture, int each_second);

#endif
