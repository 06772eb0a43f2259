/* D19: peers of which some are served far later than others (Jain's index over 1 / mean delay); signals that are not looked at while those of
 * other peers are served again and again; and, where several ranks wait for one slot, waits that others overtake. */
#include "detectors.h"
#include "unfairness.h"

#define LEAST 8u     /* waits of a peer */
#define JAIN 0.75
#define TIMES 4.0    /* the slowest against the median */
#define BYPASS 16u   /* overtaken so often by those who wait */
#define PASSED_BY 8u /* hand-overs that would have been enough, and went to others */

#define ROUNDS 4u    /* services of each of the others */

static int take_delay(an *a, fairness *s, const xsr_wait *w) {
    uint32_t from = w->released_by.rank;
    if (w->released_by.reason != XSR_REASON_FOUND || from == w->rank)
        return 0;
    uint32_t row = an_class(&s->peers, a->model->slots[w->slot].pad, w->rank, from);
    if (row == XSR_NONE)
        return XS_E_MEMORY;
    TRY(an_class_rows((void **)&s->rows, &s->row_room, row + 1, sizeof *s->rows));
    served *r = &s->rows[row];
    int64_t delay = w->lag_ns - an_clock_bound(a, from, w->rank);
    delay = delay > 1 ? delay : 1;
    r->waits++;
    r->delay += (double)delay;
    an_spread_add(&r->spread, delay);
    r->first = r->waits == 1 ? w->begin : r->first;
    r->last = w->end;
    if (delay > r->worst) {
        r->worst = delay;
        r->wait = w->id;
        r->slot = w->slot;
        r->writer = w->writer;
    }
    return 0;
}

static contended *contended_of(fairness *s, uint32_t slot, uint32_t rank) {
    uint32_t at = an_class(&s->shared, slot, rank, 0);
    return at == XSR_NONE || an_class_rows((void **)&s->shared_rows, &s->shared_room, at + 1, sizeof *s->shared_rows) ? NULL : &s->shared_rows[at];
}

static int note_passed(fairness *s, const contender *c) {
    contended *row = contended_of(s, c->slot, c->rank);
    if (row && c->passed > row->passed)
        row->passed = c->passed;
    return row ? 0 : XS_E_MEMORY;
}

/* A wait that ends has overtaken those for the same slot that began before it and go on. */
static int overtake(fairness *s, const xsr_event *e) {
    int rc = 0;
    int64_t begin = INT64_MAX;
    for (uint32_t i = 0; i < s->now_count; i++)
        if (s->now[i].slot == e->slot && s->now[i].writer == e->writer) {
            begin = s->now[i].begin;
            rc = note_passed(s, &s->now[i]);
            if (s->now[i].bypass > s->worst.bypass)
                s->worst = (overtaken){s->now[i].bypass, s->now[i].wait, e->id, e->slot, e->rank, e->writer, XSR_NONE, begin, e->time};
            s->now[i] = s->now[--s->now_count];
            break;
        }
    for (uint32_t i = 0; i < s->now_count; i++)
        if (s->now[i].slot == e->slot && s->now[i].begin < (begin == INT64_MAX ? e->time : begin) && s->now[i].rank != e->rank) {
            s->now[i].bypass++;
            s->now[i].passed++;
            if (s->now[i].bypass > s->worst.bypass)
                s->worst = (overtaken){s->now[i].bypass, s->now[i].wait, e->id, e->slot, s->now[i].rank, s->now[i].writer, e->rank, s->now[i].begin, e->time};
        }
    return rc;
}

static server *server_of(an *a, fairness *s, uint32_t slot) {
    uint32_t at = an_class(&s->owners, a->model->slots[slot].pad, a->model->slots[slot].owner, 0);
    if (at == XSR_NONE || an_class_rows((void **)&s->servers, &s->server_room, at + 1, sizeof *s->servers) ||
        an_class_rows((void **)&s->slots, &s->slot_room, a->slot_count, sizeof *s->slots))
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

static int take_request(an *a, fairness *s, const xsr_event *e) {
    server *v = server_of(a, s, e->slot);
    if (!v)
        return XS_E_MEMORY;
    request *q = &s->slots[e->slot];
    v->slots += q->time == 0;
    if (q->pending) /* it has not been served since an earlier one: that one counts */
        return 0;
    *q = (request){e->id, v->services, q->served, q->worst, q->worst_signal, e->time, q->worst_from, q->worst_to, e->rank, e->writer, true};
    return 0;
}

static int take_service(an *a, fairness *s, const xsr_wait *w) {
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
        if (a->model->slots[i].pad == a->model->slots[slot].pad && a->model->slots[i].owner == f.owes_rank && a->slots[i].wait.rank == owner)
            f.owes_writer = a->slots[i].wait.writer;
    f.owes_block = an_block(a, f.owes_writer);
    an_victim(a, &f, q->rank, q->writer);
    f.begin = q->worst_from;
    f.end = q->worst_to;
    f.cure = "begin each scan behind where the last one ended, or serve in the order of arrival";
    an_finding *out = an_find(a, &f, an_key(XSA_UNFAIRNESS, a->model->slots[slot].pad, f.owes_rank, 0), "%s signalled %s, and rank %u served its %u peers there %llu times before it looked, %s",
                              an_who(a, q->rank, q->writer), an_slot_name(a, slot), f.owes_rank, v->slots, (unsigned long long)q->worst, an_since(a, q->worst_from));
    return an_evidence(a, out, q->worst_signal, "signal");
}

static int judge_requests(an *a, fairness *s) {
    uint32_t worst = XSR_NONE;
    for (uint32_t i = 0; i < a->slot_count && i < s->slot_room; i++) {
        server *v = s->slots[i].time ? server_of(a, s, i) : NULL;
        if (!v)
            continue;
        measure(&s->slots[i], v, a->last_time);
        if (v->slots > 1 && s->slots[i].worst >= BYPASS && s->slots[i].worst > (uint64_t)ROUNDS * v->slots && (worst == XSR_NONE || s->slots[i].worst > s->slots[worst].worst))
            worst = i;
    }
    return worst == XSR_NONE || a->stuck_count ? 0 : say_ignored(a, worst, &s->slots[worst], server_of(a, s, worst));
}

/* A hand-over that is enough for a wait, made while it goes on. */
static void hand_over(fairness *s, const xsr_event *e) {
    for (uint32_t i = 0; i < s->now_count; i++) {
        contender *c = &s->now[i];
        if (c->slot != e->slot || c->rank == e->rank || e->value < c->need)
            continue;
        c->bypass += BYPASS / PASSED_BY;
        c->passed++;
        if (c->bypass > s->worst.bypass)
            s->worst = (overtaken){c->bypass, c->wait, e->id, e->slot, c->rank, c->writer, e->rank, c->begin, e->time};
    }
}

#define MOST_CONTENDERS 4096u
static int on_event(an *a, void *state, const xsr_event *e) {
    fairness *s = state;
    if (e->slot != XSR_NONE && an_signals(e->kind))
        return an_pad(a, e->slot)->flags & XS_PAD_SHARED ? (hand_over(s, e), 0) : an_pad(a, e->slot)->flags & XS_PAD_NO_DATA ? 0 : take_request(a, s, e);
    if (e->slot == XSR_NONE || !(an_pad(a, e->slot)->flags & XS_PAD_SHARED))
        return 0;
    if (e->kind != XS_EV_WAIT_START)
        return overtake(s, e);
    for (uint32_t i = 0; i < s->now_count; i++)
        if (s->now[i].slot == e->slot && s->now[i].writer == e->writer) { /* the end of an older wait is lost */
            s->now[i] = (contender){e->id, 0, e->need, 0, e->slot, e->rank, e->writer, e->time};
            return 0;
        }
    if (s->now_count == MOST_CONTENDERS)
        return 0;
    if (RD_ROOM(s->now, s->now_room, s->now_count + 1) < 0)
        return XS_E_MEMORY;
    s->now[s->now_count++] = (contender){e->id, 0, e->need, 0, e->slot, e->rank, e->writer, e->time};
    return 0;
}

static int on_wait(an *a, void *state, const xsr_wait *w) {
    if (w->open || w->end_lost || w->start_lost || w->result != XS_RESULT_OK)
        return 0;
    if (!(an_pad(a, w->slot)->flags & (XS_PAD_SHARED | XS_PAD_NO_DATA)) && an_number(a, w->rank) == a->model->slots[w->slot].owner)
        TRY(take_service(a, state, w));
    if (an_pad(a, w->slot)->flags & XS_PAD_SHARED) {
        contended *row = contended_of(state, w->slot, w->rank);
        if (!row)
            return XS_E_MEMORY;
        an_spread_add(&row->spread, w->end - w->begin);
    }
    return take_delay(a, state, w);
}

static int by_value(const void *x, const void *y) { return (*(const double *)x > *(const double *)y) - (*(const double *)x < *(const double *)y); }

/* All peers of one waiter at one pad. */
static int judge(an *a, const fairness *s, uint32_t first) {
    const uint32_t *key = s->peers.keys[first];
    double *means = calloc(s->peers.count + 1u, sizeof *means), sum = 0, squares = 0;
    uint32_t n = 0, worst = first;
    for (uint32_t i = first; means && i < s->peers.count; i++) {
        const served *r = &s->rows[i];
        if (s->peers.keys[i][0] != key[0] || s->peers.keys[i][1] != key[1] || r->waits < LEAST)
            continue;
        double mean = r->delay / (double)r->waits, rate = 1 / mean;
        if (mean > s->rows[worst].delay / (double)s->rows[worst].waits)
            worst = i;
        means[n++] = mean;
        sum += rate;
        squares += rate * rate;
    }
    if (!means)
        return XS_E_MEMORY;
    qsort(means, n, sizeof *means, by_value);
    double median = n ? means[(n - 1) / 2] : 0, top = n ? means[n - 1] : 0, jain = squares > 0 ? sum * sum / (n * squares) : 1;
    free(means);
    if (n < 3 || jain > JAIN || top < TIMES * median || top < (double)a->options.lag_ns)
        return 0;
    const served *r = &s->rows[worst];
    xsa_finding f = an_like(XSA_UNFAIRNESS, XSA_WARNING, XSA_MEDIUM);
    f.slot = r->slot;
    f.owes_rank = an_number(a, key[1]);
    f.owes_block = an_block(a, r->writer);
    f.owes_writer = r->writer;
    f.rank = an_number(a, s->peers.keys[worst][2]);
    f.begin = r->first;
    f.end = r->last;
    f.cure = "begin each scan behind where the last one ended, or serve in the order of arrival";
    an_finding *out = an_find(a, &f, an_key(XSA_UNFAIRNESS, key[0], key[1], 0), "rank %u sees signals of rank %u at %s %s late on average, the median of its %u peers is %s (Jain %.2f)",
                              f.owes_rank, f.rank, an_pad_name(a, r->slot), an_span(a, (int64_t)top), n, an_span(a, (int64_t)median), jain);
    return an_evidence(a, out, r->wait, "latest");
}

static int say_overtaken(an *a, const overtaken *o) {
    xsa_finding f = an_like(XSA_UNFAIRNESS, XSA_WARNING, XSA_HIGH);
    f.slot = o->slot;
    an_victim(a, &f, o->rank, o->writer);
    f.owes_rank = o->by == XSR_NONE ? a->model->slots[o->slot].owner : an_number(a, o->by);
    f.begin = o->begin;
    f.end = o->end;
    f.cure = "hand over in the order of arrival: a ticket, or a slot for each who waits";
    an_finding *out = an_find(a, &f, an_key(XSA_UNFAIRNESS, o->slot, 1, 1), "%s waits for %s since %s and was passed by %llu times by others", an_who(a, o->rank, o->writer),
                              an_slot_name(a, o->slot), an_since(a, o->begin), (unsigned long long)o->bypass);
    TRY(an_evidence(a, out, o->wait, "wait"));
    return an_evidence(a, out, o->event, "end of a later one");
}

static int finish(an *a, void *state) {
    fairness *s = state;
    TRY(judge_requests(a, s));
    for (uint32_t i = 0; i < s->now_count; i++)
        TRY(note_passed(s, &s->now[i]));
    TRY(unfairness_list(a, s));
    for (uint32_t i = 0; i < s->peers.count; i++) {
        bool first = true;
        for (uint32_t k = 0; k < i && first && i < 8192; k++)
            first = s->peers.keys[k][0] != s->peers.keys[i][0] || s->peers.keys[k][1] != s->peers.keys[i][1];
        if (first)
            TRY(judge(a, s, i));
    }
    return s->worst.bypass >= BYPASS ? say_overtaken(a, &s->worst) : 0;
}

static void release(void *state) {
    fairness *s = state;
    an_classes_free(&s->peers);
    an_classes_free(&s->owners);
    an_classes_free(&s->shared);
    free(s->shared_rows);
    free(s->servers);
    free(s->slots);
    free(s->rows);
    free(s->now);
}

const an_ops an_unfairness = {.id = XSA_UNFAIRNESS, .needs = AN_WAITS, .kinds = AN_KIND(WAIT_START) | AN_KIND(WAIT_END) | AN_KIND(SIGNAL) | AN_KIND(WATERMARK),
                              .state = sizeof(fairness),
                              .on_event = on_event, .on_wait = on_wait, .finish = finish, .release = release,
                              .cannot = "peers that ask for more than others"};
