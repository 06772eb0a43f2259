/* Payload loads that see less than memory holds: the mirror of sim_held.c, for readers.
 *
 * Every payload store that reaches memory is numbered, and the newest of them are kept with the bytes that they
 * overwrote. A fibre has seen so many of the stores of its block, of its rank's other blocks and of other ranks. An
 * acquire of CTA, GPU or SYS scope means that it has seen all there are of the first one, two or three of these. A load
 * may leave out the newest of those that its fibre has not seen: it then sees memory as it was before them. With a
 * probability (XS_SIM_STALE, percent, default 50) it leaves out all of them, else any number. What a load did not leave
 * out has been seen, so nobody goes back in time, and what a fibre wrote itself it never misses.
 *
 * What a fibre has seen it hands on with its releases: to its block at CTA scope and at block barriers, to its rank at
 * GPU scope, to who acquires there (cumulativity: the representative waits for its block). So a missing acquire, or one
 * of too small a scope, reads old payload behind a new flag in some runs; payload that nobody else writes meanwhile is
 * never old. */
#include "sim.h"

#include <string.h>

#define LINE 64u
#define KEPT 1024u /* older stores are seen by all */

enum { BLOCK, RANK, WORLD, LEVELS };

struct xs_sim_past {
    uint64_t count;             /* stores so far: number n is at n % KEPT */
    xs_sim_random random;       /* apart from the scheduler's: loads do not decide who runs */
    xs_sim_held_store at[KEPT]; /* data: what was there before */
};

int xs_sim_stale_open(xs_sim *sim, uint64_t seed) {
    if (sim->stale == 0)
        return 0;
    sim->past = calloc(1, sizeof *sim->past);
    if (!sim->past)
        return XS_E_MEMORY;
    sim_random_seed(&sim->past->random, ~seed);
    return 0;
}

void xs_sim_stale_close(xs_sim *sim) { free(sim->past); }

void xs_sim_stale_keep(xs_sim *sim, const xs_sim_held_store *store) {
    xs_sim_past *past = sim->past;
    if (!past)
        return;
    xs_sim_held_store *kept = &past->at[past->count++ % KEPT];
    *kept = *store;
    memcpy(kept->data, store->to, store->bytes);
}

/* ---- what has been seen ---- */

static void raise(xs_sim_seen *seen, const xs_sim_seen *by) {
    for (int l = 0; l < LEVELS; l++)
        seen->count[l] = by->count[l] > seen->count[l] ? by->count[l] : seen->count[l];
}

static xs_sim_seen all_of(uint64_t count, int levels) {
    xs_sim_seen seen = {{0}};
    for (int l = 0; l < levels; l++)
        seen.count[l] = count;
    return seen;
}

static xs_sim_seen *of_rank(xs_sim_fibre *f) { return &f->sim->ranks[f->block->part->rank].seen; }

void xs_sim_stale_start(xs_sim_fibre *f) {
    if (f->sim->past)
        f->seen = all_of(f->sim->past->count, LEVELS);
}

void xs_sim_stale_release(xs_sim_fibre *f, uint32_t scope) {
    if (!f->sim->past || scope == XS_SCOPE_NONE)
        return;
    raise(&f->block->seen, &f->seen);
    if (scope != XS_SCOPE_CTA)
        raise(of_rank(f), &f->seen);
}

void xs_sim_acquire(xs_sim_fibre *f, uint32_t scope) {
    if (!f->sim->past || scope == XS_SCOPE_NONE)
        return;
    int levels = scope == XS_SCOPE_CTA ? 1 : scope == XS_SCOPE_GPU ? 2 : LEVELS;
    xs_sim_seen own = all_of(f->sim->past->count, levels);
    raise(&f->seen, &own);
    raise(&f->seen, &f->block->seen);
    if (scope != XS_SCOPE_CTA)
        raise(&f->seen, of_rank(f));
}

/* ---- loads ---- */

static uint64_t least(const xs_sim_seen *seen) {
    uint64_t least = seen->count[0];
    for (int l = 1; l < LEVELS; l++)
        least = seen->count[l] < least ? seen->count[l] : least;
    return least;
}

/* What its block or its rank held could be seen there before it had a number. */
static int is_left_out(const xs_sim_fibre *f, const xs_sim_held_store *store, uint64_t number) {
    if (store->rank != f->block->part->rank)
        return number >= f->seen.count[WORLD];
    if (store->block != f->self.block)
        return store->level < 2 && number >= f->seen.count[RANK];
    return store->warp != f->self.warp && store->level < 1 && number >= f->seen.count[BLOCK];
}

/* A piece of a load, within one line, from the newest store back: bytes of one that is left out go back to what they
 * were, bytes of one that is not stay as they are. */
static void undo(const xs_sim_fibre *f, char *to, const char *from, uint32_t bytes) {
    const xs_sim_past *past = f->sim->past;
    uint64_t oldest = least(&f->seen);
    char settled[LINE] = {0};
    if (past->count - oldest > KEPT)
        oldest = past->count - KEPT;
    for (uint64_t n = past->count; n-- > oldest;) {
        const xs_sim_held_store *store = &past->at[n % KEPT];
        if ((uintptr_t)store->to / LINE != (uintptr_t)from / LINE)
            continue;
        int out = is_left_out(f, store, n);
        for (uint32_t i = 0; i < bytes; i++) {
            if (from + i < store->to || from + i >= store->to + store->bytes || settled[i])
                continue;
            if (out)
                to[i] = store->data[from + i - store->to];
            else
                settled[i] = 1;
        }
    }
}

void xs_sim_stale_load(xs_sim_fibre *f, void *to, const void *from, size_t bytes) {
    xs_sim_past *past = f->sim->past;
    uint64_t seen = past ? least(&f->seen) : 0, until = past ? past->count : 0;
    if (seen == until)
        return;
    uint64_t bits = sim_random(&past->random);
    until = (bits & 0xffff) < f->sim->stale ? seen : seen + 1 + (bits >> 16) % (until - seen);
    xs_sim_seen now = all_of(until, LEVELS);
    raise(&f->seen, &now);
    if (until == past->count)
        return;
    for (size_t done = 0; done < bytes;) {
        const char *at = (const char *)from + done;
        size_t piece = LINE - (uintptr_t)at % LINE;
        piece = piece < bytes - done ? piece : bytes - done;
        undo(f, (char *)to + done, at, (uint32_t)piece);
        done += piece;
    }
}
