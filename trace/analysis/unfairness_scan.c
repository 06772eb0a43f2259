/* Signals that are not looked at while those of other peers are served again and again: a scan that always begins at
 * the same one. */
#include "unfairness.h"

#define PASSED_LEAST 16u /* services of others before a signal was looked at */
#define ROUNDS 4u        /* services of each of the others */

static server *server_of(an *a, fairness *s, uint32_t slot) {
    uint32_t at = an_class(&s->owners, a->model->slots[slot].pad, a->model->slots[slot].owner, 0);
    if (at == XSR_NONE || RD_ROWS(s->servers, s->server_room, at + 1) ||
        RD_ROWS(s->slots, s->slot_room, a->slot_count))
        return NULL;
    return &s->servers[at];
}

static void measure(request *q, const server *v, int64_t now) {
    uint64_t since = v->services - q->services;
    if (!q->pending || since <= q->worst)
        return;
    q->worst = since;
    q->worst_signal = q->signal;
    q->worst_from = q->time;
    q->worst_to = now;
}

int unfairness_request(an *a, fairness *s, const xsr_event *e) {
    server *v = server_of(a, s, e->slot);
    if (!v)
        return XS_E_MEMORY;
    request *q = &s->slots[e->slot];
    v->slots += q->time == 0;
    if (q->pending) /* it has not been served since an earlier one: that one counts */
        return 0;
    *q = (request){e->id,         v->services, q->served, q->worst,  q->worst_signal, e->time,
                   q->worst_from, q->worst_to, e->rank,   e->writer, true};
    return 0;
}

int unfairness_service(an *a, fairness *s, const xsr_wait *w) {
    server *v = server_of(a, s, w->slot);
    if (!v)
        return XS_E_MEMORY;
    request *q = &s->slots[w->slot];
    measure(q, v, w->end);
    q->pending = false;
    q->served++;
    v->services++;
    return 0;
}

static int say_ignored(an *a, uint32_t slot, const request *q, const server *v) {
    xsa_finding f = an_like(XSA_UNFAIRNESS, XSA_WARNING, XSA_HIGH);
    f.slot = slot;
    f.owes_rank = a->model->slots[slot].owner;
    uint32_t owner = an_rank_of(a, f.owes_rank);
    for (uint32_t i = 0; i < a->slot_count && f.owes_writer == XSR_NONE; i++) /* who serves the others */
        if (a->model->slots[i].pad == a->model->slots[slot].pad && a->model->slots[i].owner == f.owes_rank &&
            a->slots[i].wait.rank == owner)
            f.owes_writer = a->slots[i].wait.writer;
    f.owes_block = an_block(a, f.owes_writer);
    an_victim(a, &f, q->rank, q->writer);
    f.begin = q->worst_from;
    f.end = q->worst_to;
    f.cure = "begin each scan behind where the last one ended, or serve in the order of arrival";
    an_finding *out = an_find(a, &f, an_key(XSA_UNFAIRNESS, a->model->slots[slot].pad, f.owes_rank, 0),
                              "%s signalled %s, and rank %u served its %u peers there %llu times before it looked, %s",
                              an_who(a, q->rank, q->writer), an_slot_name(a, slot), f.owes_rank, v->slots,
                              (unsigned long long)q->worst, an_since(a, q->worst_from));
    return an_evidence(a, out, q->worst_signal, "signal");
}

/* One scans all of them: where each slot has a waiter of its own, nobody is passed over. */
static bool has_one_scanner(const an *a, uint32_t slot) {
    uint32_t by = a->slots[slot].wait.writer;
    for (uint32_t i = 0; i < a->slot_count; i++) {
        uint32_t other = a->slots[i].wait.writer;
        if (a->model->slots[i].pad != a->model->slots[slot].pad ||
            a->model->slots[i].owner != a->model->slots[slot].owner || other == XSR_NONE)
            continue;
        if (by != XSR_NONE && by != other)
            return false;
        by = other;
    }
    return true;
}

int unfairness_ignored(an *a, fairness *s) {
    uint32_t worst = XSR_NONE;
    for (uint32_t i = 0; i < a->slot_count && i < s->slot_room; i++) {
        server *v = s->slots[i].time ? server_of(a, s, i) : NULL;
        if (!v)
            continue;
        measure(&s->slots[i], v, a->last_time);
        if (v->slots > 1 && s->slots[i].worst >= PASSED_LEAST && s->slots[i].worst > (uint64_t)ROUNDS * v->slots &&
            (worst == XSR_NONE || s->slots[i].worst > s->slots[worst].worst) && has_one_scanner(a, i))
            worst = i;
    }
    return worst == XSR_NONE || a->stuck_count ? 0 : say_ignored(a, worst, &s->slots[worst], server_of(a, s, worst));
}
