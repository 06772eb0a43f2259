/* Signals that cross clocks judge them: a signal cannot be younger than the wait that saw it. For each pair of clocks and
 * each direction the least (wait's end - signal) is kept; what both say of the error e(to) - e(from):
 *
 *     e(to) - e(from) <= least slack of from -> to           e(from) - e(to) <= least slack of to -> from
 *
 * Both directions together may be tighter than the brackets of the samples: the bound shrinks. A slack below zero by more
 * than both bounds is a clock fault: it is told, and the bounds grow until they are true. */
#include "internal.h"

#include <stdio.h>

#define NONSENSE SECOND /* a time known modulo 4.29 s is not off by less */

static rd_pair *pair_row(xsr_reader *reader, uint32_t from, uint32_t to) {
    uint64_t key = (uint64_t)from << 32 | to;
    uint32_t at = rd_map_get(&reader->pair_of, key);
    if (at != XSR_NONE)
        return &reader->pairs[at];
    at = reader->pair_count;
    if (RD_ROOM(reader->pairs, reader->room.pairs, at + 1) < 0 || rd_map_put(&reader->pair_of, key, at) < 0)
        return NULL;
    reader->pairs[at] = (rd_pair){.from = from, .to = to, .slack = INT64_MAX};
    reader->pair_count++;
    return &reader->pairs[at];
}

/* The signal that must have come before this wait's end; NULL: not known beyond doubt. */
static const rd_mark *certain_signal(rd_slot *s, const xsr_wait *w) {
    if (w->result != XS_RESULT_OK || w->reads_from.reason != XSR_REASON_FOUND || s->has_reset || s->rising < s->fresh)
        return NULL;
    const rd_mark *m = rd_history_first(s, w->observed);
    if (!m || m->post != w->observed || m->gap_before || m->event.time_modulo ||
        (s->evicted && rd_history_is_oldest(s, m)))
        return NULL;
    return m;
}

int rd_causal_wait(xsr_reader *reader, const xsr_wait *w) {
    const rd_mark *m = certain_signal(&reader->slots[w->slot], w);
    return m ? rd_causal_slack(reader, reader->rings[m->event.ring].clock, reader->rank_clock[w->rank],
                               w->end - m->event.time)
             : 0;
}

int rd_causal_slack(xsr_reader *reader, uint32_t from, uint32_t to, int64_t slack) {
    if (from == to || slack < -NONSENSE)
        return 0;
    rd_turn_widen(reader, -slack);
    rd_pair *pair = pair_row(reader, from, to);
    if (!pair)
        return XS_E_MEMORY;
    pair->count++;
    pair->slack = slack < pair->slack ? slack : pair->slack;
    return 0;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t size_of(int64_t x) { return x < 0 ? -x : x; }

static bool is_reference(const xsr_model *m, const xsr_clock *c) {
    return c->device < 0 && c->host == m->processes[0].host;
}

static int note_fault(xsr_reader *reader, const xsr_clock *a, const xsr_clock *b, int64_t early, int64_t allowed) {
    const xsr_model *m = &reader->model;
    const xsr_clock *both[2] = {a, b};
    char names[2][64];
    for (int i = 0; i < 2; i++) {
        int pid = m->processes[both[i]->process].pid;
        if (both[i]->device < 0)
            snprintf(names[i], sizeof names[i], "the host of process %d", pid);
        else
            snprintf(names[i], sizeof names[i], "GPU %d of process %d", both[i]->device, pid);
    }
    return rd_note(reader,
                   "clock fault between %s and %s: a wait ended %lld ns before the signal that it saw, and their "
                   "bounds allow %lld ns: "
                   "the bounds are widened",
                   names[0], names[1], (long long)early, (long long)allowed);
}

/* there, back: least slacks, INT64_MAX if no signal went that way. */
static int judge(xsr_reader *reader, uint32_t ia, uint32_t ib, int64_t there, int64_t back) {
    xsr_model *m = &reader->model;
    xsr_clock *a = &m->clocks[ia], *b = &m->clocks[ib];
    const int64_t bound_a = a->bound_ns, bound_b = b->bound_ns;
    bool known_a = bound_a >= 0, known_b = bound_b >= 0, both = there != INT64_MAX && back != INT64_MAX;
    int64_t early = larger(0, -(there < back ? there : back)), apart = both ? larger(size_of(there), size_of(back)) : 0;
    int64_t precision = larger(a->residual_ns, 0) + larger(b->residual_ns, 0) + a->step_ns + b->step_ns;
    if (known_a && known_b && early > bound_a + bound_b) {
        int64_t off = (both ? apart : early + bound_a + bound_b) + precision;
        if (!is_reference(m, a))
            a->bound_ns = rd_bound(larger(bound_a, off + bound_b));
        if (!is_reference(m, b))
            b->bound_ns = rd_bound(larger(bound_b, off + bound_a));
        return note_fault(reader, a, b, early, bound_a + bound_b);
    }
    if (!both)
        return 0;
    apart += precision;
    if (known_b && !is_reference(m, a) && (!known_a || apart + bound_b + reader->clocks[ia].widened < bound_a))
        a->bound_ns = rd_bound(apart + bound_b + reader->clocks[ia].widened);
    if (known_a && !is_reference(m, b) && (!known_b || apart + bound_a + reader->clocks[ib].widened < bound_b))
        b->bound_ns = rd_bound(apart + bound_a + reader->clocks[ib].widened);
    return 0;
}

int rd_causal_finish(xsr_reader *reader) {
    int rc = 0;
    for (uint32_t i = 0; i < reader->pair_count && rc == 0; i++) {
        const rd_pair *there = &reader->pairs[i];
        uint32_t at = rd_map_get(&reader->pair_of, (uint64_t)there->to << 32 | there->from);
        if (at != XSR_NONE && at < i)
            continue; /* judged together */
        rc = judge(reader, there->from, there->to, there->slack, at == XSR_NONE ? INT64_MAX : reader->pairs[at].slack);
    }
    return rc;
}
