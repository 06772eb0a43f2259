/* See sim_stacks.h. */
#include "sim_stacks.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif
#define SLAB_STACKS 64u

struct xs_sim_slab {
    xs_sim_slab *next;
    char *map;
    size_t bytes;
    uint32_t cut;
    xs_sim_stack stack[SLAB_STACKS];
};

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static xs_sim_slab *slab_make(size_t stack_bytes) {
    xs_sim_slab *slab = calloc(1, sizeof *slab);
    if (!slab)
        return NULL;
    slab->bytes = SLAB_STACKS * (page_bytes() + stack_bytes);
    slab->map = mmap(NULL, slab->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab->map == MAP_FAILED) {
        free(slab);
        return NULL;
    }
    /* A huge page would make every stack as large in memory as in address space. */
    (void)madvise(slab->map, slab->bytes, MADV_NOHUGEPAGE);
    return slab;
}

static const uint64_t *canary_put(char *top_of_page) {
    uint64_t *canary = (uint64_t *)(void *)top_of_page - SIM_CANARY_WORDS;
    for (uint32_t i = 0; i < SIM_CANARY_WORDS; i++)
        canary[i] = SIM_CANARY;
    return canary;
}

static void guard(xs_sim_stacks *stacks, xs_sim_stack *stack) {
    size_t bytes = page_bytes();
    char *page = stack->at - bytes;
    if (stacks->guard == SIM_GUARD_BEST && madvise(page, bytes, MADV_GUARD_INSTALL) == 0)
        return;
    if (stacks->guard == SIM_GUARD_BEST)
        stacks->guard = SIM_GUARD_MAPPING;
    if (stacks->guard == SIM_GUARD_MAPPING && stacks->mapped < SIM_STACKS_MAPPED &&
        mprotect(page, bytes, PROT_NONE) == 0)
        stacks->mapped++;
    else
        stack->canary = canary_put(stack->at);
}

xs_sim_stack *xs_sim_stack_get(xs_sim_stacks *stacks, size_t bytes) {
    xs_sim_stack *stack = stacks->spare;
    if (stack) {
        stacks->spare = stack->next;
        return stack;
    }
    xs_sim_slab *slab = stacks->slabs;
    if (!slab || slab->cut == SLAB_STACKS) {
        slab = slab_make(bytes);
        if (!slab)
            return NULL;
        slab->next = stacks->slabs;
        stacks->slabs = slab;
    }
    uint32_t i = slab->cut++;
    stack = &slab->stack[i];
    stack->at = slab->map + i * (page_bytes() + bytes) + page_bytes();
    stack->bytes = bytes;
    guard(stacks, stack);
    return stack;
}

void xs_sim_stack_put(xs_sim_stacks *stacks, xs_sim_stack *stack) {
    (void)madvise(stack->at, stack->bytes, MADV_DONTNEED);
    stack->next = stacks->spare;
    stacks->spare = stack;
}

void xs_sim_stacks_free(xs_sim_stacks *stacks) {
    for (xs_sim_slab *slab = stacks->slabs, *next; slab; slab = next) {
        next = slab->next;
        munmap(slab->map, slab->bytes);
        free(slab);
    }
    *stacks = (xs_sim_stacks){.guard = stacks->guard};
}
