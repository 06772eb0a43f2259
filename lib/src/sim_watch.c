/* Deadlock by definition: every fibre that is not in a block barrier waits in an unbounded poll, and nothing that any
 * of them does between two polls changes what any of them sees.
 *
 * A fibre may poll several addresses in turn (a barrier over all ranks), so each has a table of those that it
 * polled. A failed poll is quiet if its address is in the table, with the same word behind it, and the fibre has
 * made no more operations since its last poll than it ever made before polling there; anything else is progress and
 * is entered. A fibre has done its part of a round once it has made as many quiet polls as its table has addresses;
 * a round is over when every fibre has. Progress begins the count anew: also work, payload stores, barriers, fibres
 * that start or end. A fibre that has left its wait makes no quiet polls, so no round ends while it runs; neither
 * does one while somebody works, sleeps or waits with a bound. After QUIET_ROUNDS rounds everybody is stuck. (More
 * than one: a loop that brings something about between two failed polls would have to do so in equal steps and
 * unseen, over all these rounds, to be mistaken.) */
#include "sim.h"

#define QUIET_ROUNDS 8u
#define QUIET_ROUNDS_ABORTED 64u /* after an abort: kernels get time to notice before they are given up */
#define TABLE_MIN 16u
#define TABLE_MAX 4096u /* a rotation over more addresses than this is never found stuck */

/* The word behind the address: 8 bytes if aligned so, else 4. A neighbour that changes only delays the verdict, and
 * an aligned word never crosses a page. Sanitizers would see the neighbour of a 32-bit word as another object. */
__attribute__((no_sanitize("address", "thread", "undefined"))) static uint64_t peek(const void *address) {
    uintptr_t a = (uintptr_t)address;
    if (a % 8 == 0)
        return *(const volatile uint64_t *)address;
    return *(const volatile uint32_t *)(a & ~(uintptr_t)3);
}

void xs_sim_watch_progress(xs_sim *sim) {
    sim->round++;
    sim->round_done = 0;
    sim->quiet = 0;
}

static xs_sim_poll *find(xs_sim_polls *p, const void *address) {
    for (uint32_t n = 0, i = p->cursor; n < p->count; n++, i = i + 1 < p->count ? i + 1 : 0)
        if (p->at[i].address == address) {
            p->cursor = i; /* the same again, or the next, comes soon */
            return &p->at[i];
        }
    return NULL;
}

/* A full table is mostly waits that are over: it starts again, twice as large in case the rotation did not fit. */
static void enter(xs_sim_polls *p, xs_sim_poll poll) {
    if (p->count == p->room) {
        uint32_t room = p->room == 0 ? TABLE_MIN : p->room < TABLE_MAX ? 2 * p->room : TABLE_MAX;
        xs_sim_poll *at = room > p->room ? realloc(p->at, room * sizeof *at) : p->at;
        if (at) {
            p->at = at;
            p->room = room;
        }
        p->count = 0;
        if (p->room == 0)
            return; /* no memory: no verdict, but nothing wrong */
    }
    p->at[p->count++] = poll;
    p->cursor = p->count - 1;
}

static int round_part_done(xs_sim *sim) {
    if (++sim->round_done < sim->live - sim->waiting)
        return 0;
    sim->round++;
    sim->round_done = 0;
    if (++sim->quiet < (sim->aborted ? QUIET_ROUNDS_ABORTED : QUIET_ROUNDS))
        return 0;
    sim->quiet = 0;
    return 1;
}

int xs_sim_watch_poll(xs_sim_fibre *f, const void *address) {
    xs_sim_polls *p = &f->polls;
    xs_sim_poll now = {address, peek(address), f->ops};
    xs_sim_poll *before = find(p, address);
    f->ops = 0;
    if (!before || before->word != now.word || before->ops < now.ops) {
        if (!before)
            enter(p, now);
        else {
            before->ops = before->ops > now.ops ? before->ops : now.ops;
            before->word = now.word;
        }
        xs_sim_watch_progress(f->sim);
        return 0;
    }
    if (p->round != f->sim->round) {
        p->round = f->sim->round;
        p->quiet = 0;
    }
    return ++p->quiet == p->count && round_part_done(f->sim);
}
