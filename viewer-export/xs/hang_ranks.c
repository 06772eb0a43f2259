/* What each rank does: its process, its kernel, its writers. */
#include "hang.h"

#include <stdlib.h>
#include <xs/errors.h>

#define RANK_NAME(name, text, words) text,
static const char *const names[] = {HANG_RANK_STATES(RANK_NAME)};
#undef RANK_NAME

#define RANK_WORDS(name, text, words) words,
static const char *const words_of[] = {HANG_RANK_STATES(RANK_WORDS)};
#undef RANK_WORDS

#define PROCESS_NAME(name, text) text,
static const char *const process_names[] = {HANG_PROCESS_STATES(PROCESS_NAME)};
#undef PROCESS_NAME

const char *hang_rank_state_name(enum hang_rank_state state) { return names[state]; }
const char *hang_rank_state_words(enum hang_rank_state state) { return words_of[state]; }
const char *hang_process_state_name(enum hang_process_state state) { return process_names[state]; }

static int has_rank(const hang_region *region, uint32_t rank) {
    return rank >= region->first_rank && rank - region->first_rank < region->ranks;
}

static uint32_t region_of(const hang_world *world, uint32_t rank) {
    for (uint32_t i = 0; i < world->region_count; i++)
        if (has_rank(&world->regions[i], rank))
            return i;
    return HANG_NONE;
}

/* The newest launch on the rank that runs, else the newest. */
static const hang_launch *launch_of(const hang_region *region, uint32_t rank) {
    const hang_launch *newest = NULL;
    for (uint32_t i = region->launch_count; i > 0; i--) {
        const hang_launch *l = &region->launches[i - 1];
        if (rank < l->first_rank || rank - l->first_rank >= l->ranks)
            continue;
        if (!l->end)
            return l;
        if (!newest)
            newest = l;
    }
    return newest;
}

static enum hang_rank_state state_of_kernel(const hang_world *world, uint32_t rank, const hang_rank *r) {
    if (r->writers)
        return HANG_RANK_RUNNING;
    if (!r->launch)
        return HANG_RANK_NOT_LAUNCHED;
    if (r->launch->end)
        return HANG_RANK_KERNEL_ENDED;
    return world->source->had_writers(world, r->region, rank, r->launch->id) ? HANG_RANK_WRITERS_ENDED
                                                                             : HANG_RANK_NOT_BEGUN;
}

/* Its process has no region that can be read: the world's memory may know why. */
static void from_members(const hang_world *world, uint32_t rank, hang_rank *r) {
    static const enum hang_rank_state states[] = {[XS_ATTACH_UNKNOWN] = HANG_RANK_UNSEEN,
                                                  [XS_ATTACH_ALIVE] = HANG_RANK_UNSEEN,
                                                  [XS_ATTACH_DEAD] = HANG_RANK_GONE,
                                                  [XS_ATTACH_LEFT] = HANG_RANK_LEFT,
                                                  [XS_ATTACH_NEVER] = HANG_RANK_NEVER};
    const xs_attach_member *members = world->regions[0].at ? world->regions[0].at->members : NULL;
    if (!members)
        return;
    r->pid = members[rank].pid;
    r->state = states[members[rank].state];
}

static void find_rank(const hang_world *world, uint32_t rank, hang_rank *r) {
    r->region = region_of(world, rank);
    if (r->region == HANG_NONE) {
        from_members(world, rank, r);
        return;
    }
    static const enum hang_rank_state states[HANG_PROCESS_COUNT] = {[HANG_PROCESS_STOPPED] = HANG_RANK_STOPPED,
                                                                    [HANG_PROCESS_GONE] = HANG_RANK_GONE,
                                                                    [HANG_PROCESS_LEFT] = HANG_RANK_LEFT};
    const hang_region *region = &world->regions[r->region];
    r->pid = region->pid;
    r->launch = launch_of(region, rank);
    r->state = states[region->state];
    if (region->state == HANG_PROCESS_RUNS || region->state == HANG_PROCESS_UNTOLD)
        r->state = state_of_kernel(world, rank, r);
}

int hang_find_ranks(hang_world *world) {
    world->rank_count = world->regions[0].world_ranks;
    world->ranks = calloc(world->rank_count, sizeof *world->ranks);
    if (!world->ranks)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < world->writer_count; i++) {
        hang_rank *r = &world->ranks[world->writers[i].rank];
        r->writers++;
        r->moved += world->writers[i].moved;
        r->last = world->writers[i].last > r->last ? world->writers[i].last : r->last;
    }
    for (uint32_t i = 0; i < world->wait_count; i++) {
        hang_rank *r = &world->ranks[world->waits[i].rank];
        r->waits++;
        r->epoch = world->waits[i].epoch > r->epoch ? world->waits[i].epoch : r->epoch;
    }
    for (uint32_t rank = 0; rank < world->rank_count; rank++)
        find_rank(world, rank, &world->ranks[rank]);
    return 0;
}
