/* State that several detectors need: what each writer, slot and rank did last, and how often. */
#include "analysis.h"

int an_list_add(an_list *l, uint32_t item) {
    if (RD_ROOM(l->items, l->room, l->count + 1) < 0)
        return XS_E_MEMORY;
    l->items[l->count++] = item;
    return 0;
}

/* Ranks of one device share gpu scope. On the host backend each rank stands for a device of its own. */
static void group_devices(an *a) {
    const xsr_model *m = a->model;
    for (uint32_t i = 0; i < m->rank_count; i++) {
        a->ranks[i].device_key = i;
        for (uint32_t k = 0; k < i && m->ranks[i].device >= 0; k++)
            if (m->ranks[k].device == m->ranks[i].device &&
                m->processes[m->ranks[k].process].host == m->processes[m->ranks[i].process].host) {
                a->ranks[i].device_key = a->ranks[k].device_key;
                break;
            }
    }
}

int an_state_begin(an *a) {
    const xsr_model *m = a->model;
    a->ranks = calloc(m->rank_count + 1, sizeof *a->ranks);
    if (!a->ranks)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < m->rank_count; i++)
        a->ranks[i].first_begin = a->ranks[i].last_time = a->ranks[i].last_beat = a->ranks[i].unnamed =
            a->ranks[i].lost_from = a->ranks[i].lost_to = NO_TIME;
    group_devices(a);
    return an_state_room(a);
}

static const an_touch nobody = {.event = XSR_NO_ID, .writer = XSR_NONE, .rank = XSR_NONE, .time = NO_TIME};

static void new_slot(an *a, uint32_t i) {
    an_slot *s = &a->slots[i];
    memset(s, 0, sizeof *s);
    s->signal = s->before_signal = s->arrival = s->reset = s->wait = s->entered = nobody;
    s->least_old = UINT64_MAX;
    s->first_signal = INT64_MAX;
    s->newest = s->certain[0] = s->certain[1] = NO_TIME;
    s->counter = s->publishes = XSR_NONE;
    s->width = an_pad(a, i)->flags & XS_PAD_32 ? 32 : 64;
}

int an_state_room(an *a) {
    const xsr_model *m = a->model;
    if (a->writer_count == m->writer_count && a->slot_count == m->slot_count)
        return 0;
    if (RD_ROOM(a->writers, a->writer_room, m->writer_count) < 0 || RD_ROOM(a->slots, a->slot_room, m->slot_count) < 0)
        return XS_E_MEMORY;
    for (; a->writer_count < m->writer_count; a->writer_count++)
        a->writers[a->writer_count] = (an_writer){.first_time = NO_TIME,
                                                  .last_time = NO_TIME,
                                                  .epoch_time = NO_TIME,
                                                  .role = m->writers[a->writer_count].role,
                                                  .signal_slot = XSR_NONE,
                                                  .signal_event = XSR_NO_ID,
                                                  .elected_by = XSR_NO_ID,
                                                  .elected_counter = XSR_NONE,
                                                  .last_event = XSR_NO_ID};
    for (; a->slot_count < m->slot_count; a->slot_count++)
        new_slot(a, a->slot_count);
    return 0;
}

static an_touch touch_of(const xsr_event *e) {
    return (an_touch){e->id,   e->value, e->epoch, e->sequence, e->time, e->writer,
                      e->rank, e->order, e->scope, e->fence,    e->kind};
}

/* How many waits its writer passes from one signal to the next: what a round of it is. */
static void take_passes(const an *a, an_slot *s, const an_writer *w, const xsr_event *e) {
    bool goes_on = s->signals && s->signal.writer == e->writer;
    uint64_t between = goes_on ? w->passes - s->passes : 0, lost = an_lost_so_far(a, e->writer);
    if (!goes_on || s->passes_lead == 0)
        s->passes_usual = between, s->passes_lead = goes_on;
    else
        s->passes_lead = s->passes_usual == between ? s->passes_lead + 1 : s->passes_lead - 1;
    s->repeats = goes_on ? s->repeats + 1 : 0;
    s->whole = goes_on ? s->whole + (lost == s->passes_lost) : 0;
    s->passes_lost = lost;
    s->passes_most = goes_on && s->passes_most > between ? s->passes_most : between;
    s->passes = w->passes;
}

/* In how many epochs its writer signals it once. Several in one epoch are one. */
static void take_gap(an_slot *s, const xsr_event *e) {
    if (s->signals && s->signal.writer == e->writer && s->signal.epoch && e->epoch == s->signal.epoch)
        return;
    uint64_t gap = s->signals && s->signal.writer == e->writer && s->signal.epoch && e->epoch > s->signal.epoch
                       ? e->epoch - s->signal.epoch
                       : 0;
    s->gap_steady = gap && gap == s->gap ? s->gap_steady + 1 : 0;
    s->gap = gap;
}

/* By counting up for one and down for others. */
static void take_value_step(an_slot *s, const xsr_event *e) {
    uint64_t step = e->value - s->signal.value;
    if (!s->signals)
        return;
    if (s->step_lead == 0)
        s->step = step;
    s->step_lead = s->step == step ? s->step_lead + 1 : s->step_lead - 1;
}

static void take_signal(an *a, an_slot *s, an_writer *w, const xsr_event *e) {
    take_value_step(s, e);
    take_gap(s, e);
    if (w)
        take_passes(a, s, w, e);
    a->falls += s->signals && e->value <= s->max_value;
    s->comes_again |= s->signals && e->value < s->signal.value;
    s->signals++;
    s->max_value = e->value > s->max_value ? e->value : s->max_value;
    s->first_signal = e->time < s->first_signal ? e->time : s->first_signal;
    s->before_signal = s->signal;
    s->signal = touch_of(e);
    if (!w)
        return;
    if (w->elected_by != XSR_NO_ID) { /* this election publishes that slot */
        s->counter = w->elected_counter;
        a->slots[w->elected_counter].publishes = e->slot;
        w->elected_by = XSR_NO_ID;
    }
    w->signals++;
    w->signal_slot = e->slot;
    w->signal_value = e->value;
    w->signal_most = e->value > w->signal_most ? e->value : w->signal_most;
    w->signal_event = e->id;
    w->signal_time = e->time;
}

void an_arriver_take(an_arriver *r, const xsr_event *e) {
    bool again = r->count && r->epoch == e->epoch;
    uint64_t weight = an_weight(e), now = again ? r->now + weight : weight,
             steady = again                                  ? r->steady
                      : r->epochs > 1 && r->now == r->before ? r->steady + 1
                                                             : 0;
    uint64_t usual = again ? r->before : r->now, was = again ? r->now : 0,
             more = steady && was <= usual && now > usual ? e->id : r->more;
    *r = (an_arriver){.writer = e->writer,
                      .epoch = e->epoch,
                      .event = e->id,
                      .count = r->count + 1,
                      .record = e->sequence,
                      .time = e->time,
                      .first = r->count ? r->first : e->epoch,
                      .from = r->count ? r->from : e->value,
                      .found = r->count ? r->found : e->sequence,
                      .entered = r->entered,
                      .epochs = r->epochs + !again,
                      .now = now,
                      .before = again ? r->before : r->now,
                      .steady = steady,
                      .more = more,
                      .left = e->value + weight,
                      .reach = r->reach,
                      .whole = r->whole,
                      .passed = r->passed,
                      .passed_before = r->passed_before,
                      .even = r->even};
}

/* Of several arrivals in an epoch the last one counts. */
static void take_evenness(an_arriver *r, bool again, uint64_t passed, uint64_t last) {
    if (!again) {
        r->even = r->epochs > 2 && last == r->passed_before ? r->even + 1 : 0;
        r->passed_before = last;
    }
    r->passed = passed;
}

static int note_arriver(an *a, an_slot *s, const an_writer *w, const xsr_event *e) {
    uint64_t key = (uint64_t)e->slot << 32 | e->writer;
    uint32_t at = rd_map_get(&a->arriver_of, key);
    if (at == XSR_NONE) {
        at = s->arriver_count;
        if (RD_ROOM(s->arrivers, s->arriver_room, at + 1) < 0 || rd_map_put(&a->arriver_of, key, at) < 0)
            return XS_E_MEMORY;
        s->arriver_count++;
        s->arrivers[at] = (an_arriver){.writer = e->writer, .entered = a->writers[e->writer].epoch_record};
    }
    an_arriver *r = &s->arrivers[at];
    uint64_t passed = w->passes - w->epoch_passes, last = r->passed;
    bool again = r->count && r->epoch == e->epoch;
    an_arriver_take(r, e);
    r->reach = passed > r->reach ? passed : r->reach;
    take_evenness(r, again, passed, last);
    r->whole += an_lost_so_far(a, e->writer) == w->epoch_lost;
    return 0;
}

static int take_arrival(an *a, an_slot *s, an_writer *w, const xsr_event *e) {
    uint64_t weight = an_weight(e), post = e->value + weight;
    s->arrivals++;
    a->arrivals++;
    s->arrived_weight += weight;
    s->arrival = touch_of(e);
    s->old = e->value;
    s->weight = weight;
    s->post = post > s->post ? post : s->post;
    s->least_old = e->value < s->least_old ? e->value : s->least_old;
    if (e->kind == XS_EV_ARRIVE) {
        s->expected = e->detail;
        s->target = e->further[1];
    }
    if (!w)
        return 0;
    w->elected_by = XSR_NO_ID;
    if (e->kind == XS_EV_ARRIVE && s->target && post == s->target) {
        w->elected_by = e->id;
        w->elected_counter = e->slot;
        w->elected_time = e->time;
    }
    return note_arriver(a, s, w, e);
}

static void note_order(const an *a, an_slot *s, int64_t time) {
    bool apart = s->newest == NO_TIME || time - s->newest > an_clocks_apart(a);
    if (apart && s->alone) { /* with who saw it, by the next one */
        s->certain[0] = s->certain[1];
        s->certain[1] = s->newest;
    }
    s->alone = apart;
    s->newest = time > s->newest ? time : s->newest;
}

static int take_slot_event(an *a, an_writer *w, const xsr_event *e) {
    an_slot *s = &a->slots[e->slot];
    if (a->model->clock_count > 1 && (an_signals(e->kind) || e->kind == XS_EV_RESET))
        note_order(a, s, e->time);
    if (w && (e->kind == XS_EV_PASS || e->kind == XS_EV_WAIT_START))
        s->waiters |= 1ull << e->writer % 64;
    s->is_state |= e->kind == XS_EV_WAIT_START && (e->cmp == XS_CMP_EQ || e->cmp == XS_CMP_NE);
    if (an_signals(e->kind)) {
        take_signal(a, s, w, e);
    } else if (an_arrives(e->kind)) {
        return take_arrival(a, s, w, e);
    } else if (e->kind == XS_EV_RESET) {
        s->resets++;
        a->falls++;
        s->reset = touch_of(e);
        s->max_value = e->value;
        s->entered = nobody;
    } else if (e->kind == XS_EV_PUBLISH || e->kind == XS_EV_CONSUME) {
        s->is_channel = true;
    } else if (e->kind == XS_EV_BARRIER_ENTER) {
        s->is_barrier = true;
    } else if (e->kind == XS_EV_EXPECT) {
        s->is_reported = true;
        s->reported = e->value;
        s->reported_epoch = e->detail;
        s->reported_event = e->id;
        s->reported_by = e->writer;
        return an_plan_expect(a, e);
    }
    return 0;
}

static void take_rank(an *a, const xsr_event *e) {
    an_rank *r = &a->ranks[e->rank];
    if (r->last_time == NO_TIME) {
        r->first_event = e->id;
        r->first_begin = e->time; /* the record of its begin may be lost */
    }
    if (r->last_time == NO_TIME || e->time >= r->last_time) {
        r->last_time = e->time;
        r->last_event = e->id;
    }
    r->epoch = e->epoch > r->epoch ? e->epoch : r->epoch;
    if (e->kind == XS_EV_WRITER_BEGIN) {
        r->writers++;
        if (r->first_begin == NO_TIME || e->time < r->first_begin)
            r->first_begin = e->time;
    } else if (e->kind == XS_EV_WRITER_END) {
        r->ended++;
    } else if (e->kind == XS_EV_HEARTBEAT) {
        r->beats++;
        r->last_beat = e->time;
        r->last_beat_event = e->id;
    }
}

static void take_abort(an *a, const xsr_event *e) {
    if (e->time >= a->aborted_at)
        return;
    a->aborted_at = e->time;
    a->abort_event = e->id;
    a->abort = touch_of(e);
    a->failed_at = e->time < a->failed_at ? e->time : a->failed_at;
}

int an_state_event(an *a, const xsr_event *e) {
    an_writer *w = e->writer == XSR_NONE ? NULL : &a->writers[e->writer];
    a->events++;
    if (a->first_time == NO_TIME)
        a->first_time = e->time;
    a->last_time = e->time > a->last_time ? e->time : a->last_time;
    take_rank(a, e);
    if (!w)
        a->ranks[e->rank].unnamed = e->time;
    if (e->kind == XS_EV_ABORT)
        take_abort(a, e);
    an_where_event(a, e);
    if (w) {
        w->events++;
        w->last_event = e->id;
        w->last_kind = e->kind;
        w->abort = (xsr_source){
            e->file, e->kind == XS_EV_ABORT && e->value == (uint32_t)-XS_E_TRAPPED ? (uint32_t)e->detail : 0};
        w->first_time = w->first_time == NO_TIME ? e->time : w->first_time;
        if (e->kind == XS_EV_EPOCH || w->epoch_time == NO_TIME) {
            w->epoch_time = e->time;
            w->epoch_record = e->sequence;
            w->epoch_passes = w->passes;
            w->epoch_lost = an_lost_so_far(a, e->writer);
        }
        w->last_time = e->time;
        w->epoch = e->epoch;
        w->role = e->role;
        w->passes += (e->kind == XS_EV_PASS || e->kind == XS_EV_WAIT_END) && e->result == XS_RESULT_OK;
        w->begun |= e->kind == XS_EV_WRITER_BEGIN;
        if (e->kind != XS_EV_ARRIVE && !an_signals(e->kind) && e->kind != XS_EV_FENCE && e->kind != XS_EV_WRITER_END)
            w->elected_by = XSR_NO_ID;
    }
    return e->slot == XSR_NONE ? 0 : take_slot_event(a, w, e);
}

static void take_need(an_slot *s, const xsr_wait *w) {
    bool first = s->need_epoch == 0, same = w->epoch == s->need_epoch && w->need == s->need,
         rises = w->epoch > s->need_epoch && w->need > s->need;
    if (s->needs_odd || (same && !first))
        return;
    if (!first && rises && s->need_step == 0)
        s->need_step = (w->need - s->need) / (w->epoch - s->need_epoch);
    s->needs_odd = w->start_lost || !w->epoch ||
                   (!first && (!rises || w->need - s->need != (w->epoch - s->need_epoch) * s->need_step));
    s->need = w->need;
    s->need_epoch = w->epoch;
}

static void take_fall(an_slot *s, const xsr_wait *w) {
    if (w->start_lost || w->writer == XSR_NONE)
        return;
    if (s->need_writer == w->writer + 1 && w->id < s->need_wait)
        return; /* it is told late */
    s->needs_fall |= s->need_writer == w->writer + 1 && w->need < s->need_last;
    s->need_wait = w->id;
    s->need_last = w->need;
    s->need_writer = w->writer + 1;
}

/* Told by waits that needed exactly one of the last two signals. */
static void take_lag(an_slot *s, const xsr_wait *w) {
    const an_touch *t = s->signals && s->signal.value == w->need              ? &s->signal
                        : s->signals > 1 && s->before_signal.value == w->need ? &s->before_signal
                                                                              : NULL;
    if (!t || w->start_lost)
        return;
    uint64_t lag = t->epoch && w->epoch >= t->epoch ? w->epoch - t->epoch : UINT64_MAX;
    s->lag_steady = lag != UINT64_MAX && lag == s->lag ? s->lag_steady + 1 : 0;
    s->lag = lag;
    s->lag_lead += lag == UINT64_MAX ? 0 : lag ? 1 : -1;
}

int an_state_wait(an *a, const xsr_wait *w) {
    an_slot *s = &a->slots[w->slot];
    an_where_wait(a, w);
    take_need(s, w);
    take_fall(s, w);
    a->waits++;
    s->waits++;
    s->max_need = w->need > s->max_need ? w->need : s->max_need;
    if (w->open || w->result != XS_RESULT_OK)
        return an_stuck_add(a, w);
    take_lag(s, w);
    if (w->writer != XSR_NONE)
        s->passers |= 1ull << w->writer % 64;
    if (!w->end_lost && (s->entered.event == XSR_NO_ID || w->observed >= s->entered.value))
        s->entered = (an_touch){w->id,   w->observed, w->epoch, 0,        w->end,        w->writer,
                                w->rank, w->order,    w->scope, w->fence, XS_EV_WAIT_END};
    if (!w->end_lost && (s->wait.time == NO_TIME ||
                         w->end >= s->wait.time)) /* a wait may be told late, where what it read may be lost */
        s->wait = (an_touch){w->id,   w->observed, w->epoch, 0,        w->end,        w->writer,
                             w->rank, w->order,    w->scope, w->fence, XS_EV_WAIT_END};
    return an_stuck_settled(a, w);
}

void an_state_free(an *a) {
    for (uint32_t i = 0; i < a->slot_count; i++)
        free(a->slots[i].arrivers);
    free(a->slots);
    free(a->writers);
    free(a->ranks);
    free(a->stuck);
    rd_map_free(&a->stuck_of);
    rd_map_free(&a->arriver_of);
    an_loss_free(a);
}
