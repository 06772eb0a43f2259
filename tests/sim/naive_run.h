/* All events and waits of a small run, and what is asked of them. */
#ifndef NAIVE_RUN_H
#define NAIVE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <xs/analyse.h>

typedef struct naive_run {
    xsr_sink sink; /* = naive_sink */
    xsr_event *events; size_t event_count;
    xsr_wait *waits; size_t wait_count;
    const xsr_model *model;
} naive_run;

extern const xsr_sink naive_sink;
void naive_run_free(naive_run *run);

bool naive_is_signal(const xsr_event *e); /* or arrival */
bool naive_is_wait(const xsr_event *e);
/* Barriers join the warps of a block, and nothing notes them: a warp that never waits goes on when one of its role has
 * waited; one that does not signal either, when any has. */
bool naive_joined(const naive_run *run, uint32_t writer, uint32_t with);

/* Compares how slow ranks are. 0: they agree; else says where not. */
int naive_slow_differs(const naive_run *run, const xsa_result *result);

#endif
