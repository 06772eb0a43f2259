/* Payload stores that are not visible yet. Three levels, as on a GPU:
 *
 *   fibre's own  --CTA release, block barrier-->  its block's  --GPU release-->  its rank's  --SYS release-->  memory
 *
 * A release of a scope moves on what its fibre holds, and what the levels below that scope hold, whoever stored it: that is how a
 * release covers the stores of others that it has itself acquired (cumulativity: the elected block signals for all). A load sees its
 * fibre's, its block's and its rank's held stores over memory, newest last. So a payload store without a release, with too small a
 * scope, or without the block's join before its one release, is seen late by others. That is allowed, not required: a store
 * is held with a probability (XS_SIM_HOLD, percent, default 50), and at every step one held store may go on to memory, in any order
 * between cache lines; stores to one line keep their order. Everything a rank holds reaches memory when its part of a launch ends.
 *
 * Only payload goes through here (xs_host_store, xs_host_load). Slots and what kernels write directly are never held, so an
 * address is one or the other. */
#include "sim.h"

#include <string.h>

#define LINE 64u
#define FIBRE_ROOM 64u
#define BLOCK_ROOM 128u
#define RANK_ROOM 256u

static uintptr_t line_of(const void *address) { return (uintptr_t)address / LINE; }

static xs_sim_rank *rank_of(const xs_sim_block *block, xs_sim *sim) { return &sim->ranks[block->part->rank]; }

static int holds_line(const xs_sim_held *held, const void *address) {
    for (uint32_t i = 0; i < held->count; i++)
        if (line_of(held->at[i].to) == line_of(address))
            return 1;
    return 0;
}

static void write_out(xs_sim *sim, const xs_sim_held_store *store) {
    xs_sim_stale_keep(sim, store);
    memcpy(store->to, store->data, store->bytes);
    sim->held--;
}

void xs_sim_held_flush(xs_sim *sim, xs_sim_held *held) {
    for (uint32_t i = 0; i < held->count; i++)
        write_out(sim, &held->at[i]);
    held->count = 0;
}

static xs_sim_held_store take(xs_sim_held *held, uint32_t i) {
    xs_sim_held_store store = held->at[i];
    held->count--;
    memmove(&held->at[i], &held->at[i + 1], (held->count - i) * sizeof store);
    return store;
}

/* The three levels that a fibre's store passes, and how much each may hold. */
typedef struct levels {
    xs_sim *sim;
    xs_sim_held *at[3];
} levels;
static const uint32_t level_room[3] = {FIBRE_ROOM, BLOCK_ROOM, RANK_ROOM};

static levels levels_of(xs_sim_fibre *f) {
    levels l = {f->sim, {&f->held, &f->block->held, &rank_of(f->block, f->sim)->held}};
    return l;
}

static void pass_on(const levels *l, int level, xs_sim_held_store store);

/* 0: no memory for it. A level that is full lets its oldest store go. */
static int keep(const levels *l, int level, const xs_sim_held_store *store) {
    xs_sim_held *held = l->at[level];
    if (!held->at) {
        held->at = malloc(level_room[level] * sizeof *held->at);
        if (!held->at)
            return 0;
        held->room = level_room[level];
    }
    if (held->count == held->room)
        pass_on(l, level, take(held, 0));
    held->at[held->count] = *store;
    held->at[held->count++].level = (uint32_t)level;
    return 1;
}

/* From `level` to memory, or behind an older store to the same line that is still held further on. */
static void pass_on(const levels *l, int level, xs_sim_held_store store) {
    for (int next = level + 1; next < 3; next++)
        if (holds_line(l->at[next], store.to) && keep(l, next, &store))
            return;
    write_out(l->sim, &store);
}

static void move(const levels *l, int from, int to) {
    xs_sim_held *held = l->at[from];
    for (uint32_t i = 0; i < held->count; i++)
        if (!keep(l, to, &held->at[i]))
            pass_on(l, to, held->at[i]);
    held->count = 0;
}

void xs_sim_release(xs_sim_fibre *f, uint32_t scope) {
    xs_sim_stale_release(f, scope);
    if (f->sim->held == 0 || scope == XS_SCOPE_NONE)
        return;
    levels l = levels_of(f);
    xs_sim_watch_progress(l.sim);
    if (scope == XS_SCOPE_CTA) {
        move(&l, 0, 1);
    } else if (scope == XS_SCOPE_GPU) {
        move(&l, 1, 2);
        move(&l, 0, 2);
    } else {
        for (int level = 2; level >= 0; level--)
            xs_sim_held_flush(l.sim, l.at[level]);
    }
}

static void store_piece(const levels *l, const xs_sim_fibre *f, char *to, const char *from, uint32_t bytes) {
    xs_sim_held_store store = {to, bytes, f->block->part->rank, f->self.block, f->self.warp, 0, {0}};
    memcpy(store.data, from, bytes);
    l->sim->held++;
    int hold = (sim_random(&l->sim->random) & 0xffff) < l->sim->hold || holds_line(l->at[0], to);
    if (!hold || !keep(l, 0, &store))
        pass_on(l, 0, store);
}

void xs_sim_store(xs_sim_fibre *f, void *to, const void *from, size_t bytes) {
    if (f->sim->hold == 0 && !f->sim->past) {
        memcpy(to, from, bytes);
        return;
    }
    levels l = levels_of(f);
    for (size_t done = 0; done < bytes;) {
        char *at = (char *)to + done;
        size_t piece = LINE - (uintptr_t)at % LINE;
        piece = piece < bytes - done ? piece : bytes - done;
        store_piece(&l, f, at, (const char *)from + done, (uint32_t)piece);
        done += piece;
    }
}

static void overlay(const xs_sim_held *held, char *to, uintptr_t from, size_t bytes) {
    for (uint32_t i = 0; i < held->count; i++) {
        uintptr_t start = (uintptr_t)held->at[i].to, end = start + held->at[i].bytes;
        uintptr_t first = start > from ? start : from, last = end < from + bytes ? end : from + bytes;
        if (first < last)
            memcpy(to + (first - from), held->at[i].data + (first - start), last - first);
    }
}

void xs_sim_load(xs_sim_fibre *f, void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    xs_sim_stale_load(f, to, from, bytes);
    if (f->sim->held == 0)
        return;
    levels l = levels_of(f);
    for (int level = 2; level >= 0; level--)
        overlay(l.at[level], to, (uintptr_t)from, bytes);
}

void xs_sim_held_drain(xs_sim_fibre *f, uint64_t bits) {
    levels l = levels_of(f);
    int level = (int)(bits % 3);
    for (int tries = 0; tries < 3 && l.at[level]->count == 0; tries++)
        level = (level + 1) % 3;
    xs_sim_held *held = l.at[level];
    if (held->count == 0)
        return;
    const char *line = held->at[sim_scale((uint32_t)(bits >> 32), held->count)].to;
    uint32_t oldest = 0;
    while (line_of(held->at[oldest].to) != line_of(line))
        oldest++;
    pass_on(&l, level, take(held, oldest));
    xs_sim_watch_progress(l.sim); /* somebody may have polled for it in vain */
    l.sim->attention = 0;
}

void xs_sim_held_block_ended(xs_sim_block *block, xs_sim *sim) {
    xs_sim_held none = {NULL, 0, 0};
    levels l = {sim, {&none, &block->held, &rank_of(block, sim)->held}};
    move(&l, 1, 2);
    free(block->held.at);
    block->held.at = NULL;
}

void xs_sim_held_flush_all(xs_sim *sim) {
    for (uint32_t r = 0; r < sim->local_ranks; r++)
        xs_sim_held_flush(sim, &sim->ranks[r].held);
    for (xs_sim_block *block = sim->blocks; block; block = block->next) {
        xs_sim_held_flush(sim, &block->held);
        for (uint32_t w = 0; w < block->warps; w++)
            if (block->fibre[w])
                xs_sim_held_flush(sim, &block->fibre[w]->held);
    }
}
