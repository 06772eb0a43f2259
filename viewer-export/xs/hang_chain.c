/* The waits-for chain: from a wait to the rank that owes it, to that rank's own oldest open wait, and on, to a rank
 * that owes and does not wait. A rank may hold several waits: the nearest root is looked for in all of them, oldest
 * first, and only where there is none do they wait for each other: a cycle, or one of them has left a signal out and
 * gone on. */
#include "hang.h"

#include <stdlib.h>
#include <string.h>
#include <xs/errors.h>

#define JUDGED 64u /* waits, oldest first, that a verdict is looked for in */

/* Does the plan's role run in that rank? If not, whatever else runs there may have to come to it. */
static int has_role(const hang_world *world, uint32_t rank, uint32_t role) {
    for (uint32_t i = 0; i < world->writer_count; i++)
        if (world->writers[i].rank == rank && world->writers[i].role == role)
            return 1;
    return 0;
}

int hang_holds_up(const hang_world *world, const hang_wait *wait, const hang_wait *other) {
    if (other->rank != wait->supplier || other->writer == wait->writer || other->answered)
        return 0;
    uint32_t role = wait->supplier_role;
    return !role || world->writers[other->writer].role == role || !has_role(world, wait->supplier, role);
}

static int root_moves(const hang_world *world, uint32_t rank, uint32_t role) {
    int any_role = !role || !has_role(world, rank, role);
    for (uint32_t i = 0; i < world->writer_count; i++) {
        const hang_writer *w = &world->writers[i];
        if (w->rank == rank && w->moved && (any_role || w->role == role))
            return 1;
    }
    return 0;
}

/* Where a chain may end: at this wait. HANG_END_CYCLE: it goes on. */
static enum hang_end end_at(const hang_world *world, const hang_wait *wait) {
    if (wait->how == HANG_SUPPLIER_UNKNOWN || wait->supplier >= world->rank_count)
        return HANG_END_UNKNOWN;
    if (wait->how == HANG_SUPPLIER_HOST)
        return HANG_END_HOST;
    for (uint32_t i = 0; i < world->wait_count; i++)
        if (hang_holds_up(world, wait, &world->waits[i]))
            return HANG_END_CYCLE;
    if (root_moves(world, wait->supplier, wait->supplier_role))
        return HANG_END_MOVING;
    return wait->supplier == wait->rank ? HANG_END_SELF : HANG_END_ROOT;
}

typedef struct search {
    uint32_t *from; /* [wait]: index + 1 of the wait before it; own index + 1: the start; 0: not reached */
    uint32_t *queue;
    uint32_t head, tail;
} search;

static void reach(search *s, uint32_t wait, uint32_t from) {
    if (s->from[wait])
        return;
    s->from[wait] = from + 1;
    s->queue[s->tail++] = wait;
}

static void write_path(const hang_world *world, const search *s, uint32_t last, enum hang_end end, hang_chain *chain) {
    uint32_t n = 1;
    for (uint32_t w = last; s->from[w] != w + 1; w = s->from[w] - 1)
        n++;
    chain->count = n;
    for (uint32_t w = last; n > 0; w = s->from[w] - 1)
        chain->waits[--n] = w;
    chain->end = end;
    chain->root = world->waits[last].supplier;
    chain->root_role = world->waits[last].supplier_role;
}

/* Always on with the oldest wait, until one comes again. */
static void write_cycle(const hang_world *world, uint32_t start, hang_chain *chain) {
    uint32_t wait = start;
    chain->count = 0;
    chain->end = HANG_END_CYCLE;
    for (;;) {
        for (uint32_t i = 0; i < chain->count; i++)
            if (chain->waits[i] == wait) {
                chain->cycle = i;
                return;
            }
        chain->waits[chain->count++] = wait;
        uint32_t next = 0;
        while (next < world->wait_count && !hang_holds_up(world, &world->waits[wait], &world->waits[next]))
            next++;
        if (next == world->wait_count) { /* not on a cycle itself: its supplier is not known */
            chain->end = HANG_END_UNKNOWN;
            return;
        }
        wait = next;
    }
}

/* What somebody of a cycle left out is where it ends. */
static void look_for_left_out(const hang_world *world, hang_chain *chain) {
    for (uint32_t i = 0; i < chain->count; i++) {
        const hang_wait *wait = &world->waits[chain->waits[i]],
                        *other = &world->waits[chain->waits[i + 1 < chain->count ? i + 1 : chain->cycle]];
        if (!wait->is_slot || !other->is_slot || !world->source->left_out(world, wait, other))
            continue;
        chain->count = i + 1;
        chain->end = HANG_END_LEFT_OUT;
        chain->root = wait->supplier;
        chain->root_role = wait->supplier_role;
        return;
    }
}

static void follow(const hang_world *world, uint32_t start, search *s, hang_chain *chain) {
    uint32_t unknown = HANG_NONE;
    memset(s->from, 0, world->wait_count * sizeof *s->from);
    s->head = s->tail = 0;
    reach(s, start, start);
    while (s->head < s->tail) {
        uint32_t w = s->queue[s->head++];
        const hang_wait *wait = &world->waits[w];
        enum hang_end end = wait->state != HANG_STUCK ? HANG_END_MOVING : end_at(world, wait);
        if (end == HANG_END_UNKNOWN) {
            unknown = unknown == HANG_NONE ? w : unknown;
        } else if (end != HANG_END_CYCLE) {
            write_path(world, s, w, end, chain);
            return;
        }
        for (uint32_t i = 0; end == HANG_END_CYCLE && i < world->wait_count; i++)
            if (hang_holds_up(world, wait, &world->waits[i]))
                reach(s, i, w);
    }
    write_cycle(world, start, chain);
    if (chain->end == HANG_END_CYCLE)
        look_for_left_out(world, chain);
    if (chain->end == HANG_END_UNKNOWN && unknown != HANG_NONE)
        write_path(world, s, unknown, HANG_END_UNKNOWN, chain);
}

/* The verdict is about the oldest wait that is stuck and whose chain ends where somebody owes; else the oldest stuck
 * one. Those that were answered come last. */
static void judge(hang_world *world, search *s) {
    uint32_t best = HANG_NONE, n = world->wait_count < JUDGED ? world->wait_count : JUDGED;
    world->verdict = n ? HANG_SLOW : HANG_NOTHING_WAITS;
    for (uint32_t i = 0; i < n; i++) {
        follow(world, i, s, &world->chain);
        if (world->chain.end == HANG_END_MOVING)
            continue;
        world->verdict = HANG_HUNG;
        if (world->chain.end != HANG_END_UNKNOWN && !world->waits[i].answered)
            return;
        best = best == HANG_NONE ? i : best;
    }
    if (n)
        follow(world, best == HANG_NONE ? 0 : best, s, &world->chain);
}

int hang_judge(hang_world *world) {
    size_t n = world->wait_count + (size_t)1;
    search s = {.from = calloc(n, sizeof *s.from), .queue = calloc(n, sizeof *s.queue)};
    world->chain.waits = calloc(n, sizeof *world->chain.waits);
    int rc = s.from && s.queue && world->chain.waits ? 0 : XS_E_MEMORY;
    if (!rc)
        judge(world, &s);
    free(s.from);
    free(s.queue);
    return rc;
}
