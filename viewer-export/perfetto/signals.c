/* Signals on their writers' rows; arrivals and what controls a run on the rows `arrive, pass`. */
#include <stdio.h>
#include <stdlib.h>

#include "lane.h"

static const char *fence_name(uint8_t fence) {
    static const char *const names[] = {"none", "cta", "gpu", "sys", "unknown"};
    return fence < 5 ? names[fence] : "unknown";
}

static uint32_t signal_name(drawing *d, uint32_t slot, bool elected) {
    const xsr_slot *s = &d->model->slots[slot];
    if (elected)
        return strings_format(&d->texts, "elect, signal %s to rank %u", s->name, s->owner);
    slot_state *state = slot_of(d, slot);
    if (state && !state->signal)
        state->signal = strings_format(&d->texts, "signal %s to rank %u", s->name, s->owner);
    return state ? state->signal : 0;
}

static void signal_args(drawing *d, const lane *l, const xsr_event *ev, const pending_signal *p, args *a) {
    if (!d->reduced)
        arg_text(d, a, KEY_slot, slot_label(d, ev->slot));
    arg_uint(d, a, KEY_slot_id, ev->slot);
    arg_uint(d, a, KEY_value, ev->value);
    if (d->options.merge_roles) /* else the row says it */
        arg_text(d, a, KEY_writer, l->writer_text);
    if (d->reduced)
        return;
    arg_uint(d, a, KEY_dst, d->model->slots[ev->slot].owner);
    arg_text(d, a, KEY_scope, strings_id(&d->texts, xsr_scope_name(ev->scope)));
    arg_text(d, a, KEY_fence, strings_id(&d->texts, fence_name(ev->fence)));
    arg_uint(d, a, KEY_epoch, ev->epoch);
    if (!p || p->counter == XSR_NONE)
        return;
    arg_text(d, a, KEY_counter, slot_label(d, p->counter));
    arg_uint(d, a, KEY_old, p->elected.old);
    arg_uint(d, a, KEY_expected, p->elected.expected);
}

static int done(const flow_lists *flows, int rc) {
    free(flows->own);
    return rc;
}

static int draw_with(drawing *d, event *e, const flow_lists *flows) {
    e->flows = flows->starts;
    e->flow_count = flows->start_count;
    e->flow_ends = flows->ends;
    e->flow_end_count = flows->end_count;
    return done(flows, draw_event(d, AT_TIME, e));
}

static int write_signal(drawing *d, const lane *l, const xsr_signal *signal, const pending_signal *p) {
    const xsr_event *ev = &signal->event;
    args a = {.count = 0};
    signal_args(d, l, ev, p, &a);
    int64_t begin = p ? p->begin : ev->time, end = p ? p->end : ev->time;
    bool elected = p && p->counter != XSR_NONE;
    flow_lists flows = {.starts = signal->released, .start_count = signal->released_count};
    d->summary.signals++;
    TRY(evidence_join(d, ev->id, begin, false, &flows));
    if (elected) {
        TRY(evidence_join(d, p->elected.id, begin, false, &flows));
        slice s = {.track = l->track, .begin = begin, .end = end, .name = signal_name(d, ev->slot, true)};
        s.category = d->category[CATEGORY_signal];
        s.correlation = correlation_of(d, d->ranks[ev->rank].number);
        s.args = a.list;
        s.arg_count = a.count;
        s.flows = flows.starts;
        s.flow_count = flows.start_count;
        s.begin_flow_ends = flows.ends;
        s.begin_flow_end_count = flows.end_count;
        return done(&flows, draw_slice(d, AT_TIME, &s));
    }
    event e = {.type = EVENT_INSTANT, .track = l->track, .time = end, .name = signal_name(d, ev->slot, false)};
    e.category = d->category[CATEGORY_signal];
    e.correlation = correlation_of(d, d->ranks[ev->rank].number);
    e.args = a.list;
    e.arg_count = a.count;
    return draw_with(d, &e, &flows);
}

int draw_signal(drawing *d, const xsr_signal *signal) {
    const xsr_event *ev = &signal->event;
    lane *l = lane_of_writer(d, ev->writer);
    if (!l)
        return ev->writer == XSR_NONE ? XS_OK : XS_E_MEMORY;
    uint64_t *found = xsv_map_get(&d->signals, ev->id);
    pending_signal *p = found ? (pending_signal *)(uintptr_t)*found : NULL;
    int rc = XS_OK;
    if (p && p->counter != XSR_NONE && signal->elected_by == XSR_NO_ID) { /* the reader saw no election behind it */
        rc = draw_arrival(d, p->counter, &p->elected, NULL, 0, NULL, 0);
        p->counter = XSR_NONE;
        p->begin = p->end;
    }
    if (!rc)
        rc = write_signal(d, l, signal, p);
    if (p)
        xsv_map_remove(&d->signals, ev->id);
    free(p);
    return rc;
}

/* ---- arrivals ---- */

int draw_arrival(drawing *d, uint32_t slot, const arrival *a, const uint64_t *flows, uint32_t flow_count,
                 const uint64_t *ends, uint32_t end_count) {
    lane *l = lane_of_writer(d, a->writer);
    slot_state *s = l ? slot_of(d, slot) : NULL;
    role_group *group = s ? track_role(d, l->rank, l->role) : NULL;
    if (!group)
        return XS_E_MEMORY;
    if (!s->arrive)
        s->arrive = strings_format(&d->texts, "arrive %s", d->model->slots[slot].name);
    bool gate = a->kind == XS_EV_GATE_ARRIVE;
    args list = {.count = 0};
    arg_text(d, &list, KEY_writer, l->writer_text);
    arg_text(d, &list, gate ? KEY_gate : KEY_counter, slot_label(d, slot));
    arg_uint(d, &list, KEY_old, a->old);
    if (!gate)
        arg_uint(d, &list, KEY_expected, a->expected);
    arg_uint(d, &list, KEY_add, a->add);
    arg_uint(d, &list, KEY_epoch, a->epoch);
    event ev = {.type = EVENT_INSTANT, .track = track_passes(d, group), .time = a->time, .name = s->arrive};
    ev.category = d->category[gate ? CATEGORY_gate : CATEGORY_elect];
    ev.args = list.list;
    ev.arg_count = list.count;
    flow_lists all = {flows, ends, flow_count, end_count, NULL};
    TRY(evidence_join(d, a->id, a->time, false, &all));
    return draw_with(d, &ev, &all);
}

bool left_out(drawing *d, uint64_t id) {
    bool out = d->without_passes && !evidence_is(d, id);
    d->summary.passes_left_out += out;
    return out;
}

static arrival arrival_of(const xsr_event *ev) {
    bool gate = ev->kind == XS_EV_GATE_ARRIVE;
    return (arrival){.id = ev->id,
                     .time = ev->time,
                     .writer = ev->writer,
                     .rank = ev->rank,
                     .role = ev->role,
                     .kind = ev->kind,
                     .old = ev->value,
                     .epoch = ev->epoch,
                     .add = gate ? ev->detail : ev->further[0],
                     /* counted as `old` is, where that is known */
                     .expected = gate             ? 0
                                 : ev->further[1] ? ev->further[1]
                                                  : ev->detail};
}

/* The newest arrival at each counter waits for the next one: an open wait may have to point to it. */
int arrival_event(drawing *d, const xsr_event *ev) {
    if (left_out(d, ev->id))
        return XS_OK;
    arrival a = arrival_of(ev);
    if (d->without_passes)
        return draw_arrival(d, ev->slot, &a, NULL, 0, NULL, 0);
    slot_state *s = slot_of(d, ev->slot);
    if (!s)
        return XS_E_MEMORY;
    arrival before = s->last;
    s->last = a;
    return before.id ? draw_arrival(d, ev->slot, &before, NULL, 0, NULL, 0) : XS_OK;
}

/* ---- resets, aborts, role changes, waits that were left out ---- */

static const char *error_text(uint64_t reason) {
    switch (reason) {
#define ERROR_CASE(number, name, text) \
    case number: return text;
        XS_ERRORS(ERROR_CASE)
    default: return "of unknown reason";
    }
}

static uint32_t control_name(drawing *d, const xsr_event *ev) {
    const char *slot = ev->slot != XSR_NONE ? d->model->slots[ev->slot].name : "";
    switch (ev->kind) {
    case XS_EV_RESET: return strings_format(&d->texts, "reset %s", slot);
    case XS_EV_SKIP: return strings_format(&d->texts, "skip %s: nobody owes it", slot);
    case XS_EV_ABORT: return strings_format(&d->texts, "abort: %s", error_text(ev->value));
    case XS_EV_ROLE: return strings_format(&d->texts, "role %s from here on", role_name(d, ev->object));
    default:
        return strings_format(&d->texts, "%s%s%s", xsr_event_name(ev->kind), *slot ? " " : "",
                              slot); /* drawn as evidence alone */
    }
}

int control_event(drawing *d, const xsr_event *ev) {
    lane *l = lane_of_writer(d, ev->writer);
    role_group *group = l ? track_role(d, l->rank, l->role) : NULL;
    if (!group)
        return ev->writer == XSR_NONE ? XS_OK : XS_E_MEMORY;
    args a = {.count = 0};
    arg_text(d, &a, KEY_writer, l->writer_text);
    if (ev->slot != XSR_NONE)
        arg_text(d, &a, KEY_slot, slot_label(d, ev->slot));
    if (ev->kind == XS_EV_RESET) {
        arg_uint(d, &a, KEY_value, ev->value);
        arg_uint(d, &a, KEY_slots, ev->detail);
    }
    if (ev->kind == XS_EV_SKIP)
        arg_uint(d, &a, KEY_need, ev->value);
    arg_uint(d, &a, KEY_epoch, ev->epoch);
    event e = {.type = EVENT_INSTANT, .track = track_passes(d, group), .time = ev->time, .name = control_name(d, ev)};
    e.category = d->category[CATEGORY_control];
    e.args = a.list;
    e.arg_count = a.count;
    flow_lists flows = {.own = NULL};
    TRY(evidence_join(d, ev->id, ev->time, false, &flows));
    return draw_with(d, &e, &flows);
}
