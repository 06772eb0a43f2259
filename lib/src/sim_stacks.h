/* Memory for the stacks of fibres, by the ten thousand. A guard page that is a mapping of its own costs two of the 65 530 that a process
 * on Linux usually may have, so stacks are cut from slabs, and below each lies the best that is to be had:
 * - a page guarded without a mapping (Linux 6.13 and later): an overflow faults where it happens;
 * - a page with a mapping of its own, for the first SIM_STACKS_MAPPED: the same;
 * - a page with a canary at its top, which is looked at whenever the fibre hands over: an overflow traps there, before anybody else runs.
 *   One that jumps over the canary is not seen.
 * Not for several threads at once. */
#ifndef XS_SIM_STACKS_H
#define XS_SIM_STACKS_H

#include <stddef.h>
#include <stdint.h>

#define SIM_STACKS_MAPPED 4096u /* two mappings each: an eighth of the usual limit */
#define SIM_CANARY 0x7c5f1d0b9e3a8642ull
#define SIM_CANARY_WORDS 8u

enum { SIM_GUARD_BEST = 0, SIM_GUARD_MAPPING = 1, SIM_GUARD_CANARY = 2 };

typedef struct xs_sim_slab xs_sim_slab;
/* Belongs to its slab. */
typedef struct xs_sim_stack {
    char *at; /* lowest usable byte, above the guard */
    size_t bytes;
    const uint64_t *canary; /* NULL: a page guards it */
    struct xs_sim_stack *next;
} xs_sim_stack;

/* Zeroed: empty. */
typedef struct xs_sim_stacks {
    xs_sim_slab *slabs; /* newest first */
    xs_sim_stack *spare;
    uint32_t mapped; /* guards with mappings of their own */
    int guard;       /* SIM_GUARD_*: the best to try; falls where the system has not got it */
} xs_sim_stacks;

/* A stack of `bytes` (the same in every call, a multiple of the page), zeroed; NULL: no memory. */
xs_sim_stack *xs_sim_stack_get(xs_sim_stacks *stacks, size_t bytes);
/* Its pages go back to the system, its place is used again. */
void xs_sim_stack_put(xs_sim_stacks *stacks, xs_sim_stack *stack);
/* All of them, given back or not. */
void xs_sim_stacks_free(xs_sim_stacks *stacks);

/* Whether what lies below the stack is as it was. Frames that lie over it have left red zones. */
__attribute__((no_sanitize("address"))) static inline int sim_stack_whole(const xs_sim_stack *stack) {
    uint64_t differs = 0;
    for (uint32_t i = 0; stack->canary && i < SIM_CANARY_WORDS; i++)
        differs |= stack->canary[i] ^ SIM_CANARY;
    return differs == 0;
}

#endif
