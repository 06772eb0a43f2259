/* Waits: ended, folded, passed and open. */
#include <stdio.h>
#include <stdlib.h>

#include "lane.h"

static uint32_t supplier_role(const drawing *d, const xsr_wait *w) {
    const xsr_edge *by = &w->released_by;
    if (by->reason == XSR_REASON_FOUND && by->writer != XSR_NONE)
        return d->model->writers[by->writer].role;
    return xsv_slot_role(&d->suppliers, w->slot);
}

/* Whether a drawn signal stands at the other end: arrivals release a counter, many of them, and there is none to
 * point to. Its moment, as drawn, goes to *time. */
static bool has_signal(const drawing *d, const xsr_wait *w, int64_t *time) {
    const xsr_edge *by = &w->released_by;
    if (by->reason != XSR_REASON_FOUND || by->writer == XSR_NONE || is_counter(d, w->slot))
        return false;
    *time = signal_drawn_at(d, by->event, by->time);
    return true;
}

static void args_first(drawing *d, const xsr_wait *w, args *a) {
    arg_text(d, a, KEY_supplier, slot_supplier(d, w->slot, wait_owes(d, w), supplier_role(d, w)));
    arg_uint(d, a, KEY_need, w->need);
    arg_uint(d, a, KEY_observed, w->observed);
}

static void args_last(drawing *d, const lane *l, const xsr_wait *w, args *a) {
    arg_uint(d, a, KEY_polls, w->polls);
    arg_uint(d, a, KEY_slept_ns, w->slept_ns);
    arg_text(d, a, KEY_slot, slot_label(d, w->slot));
    arg_uint(d, a, KEY_slot_id, w->slot);
    arg_text(d, a, KEY_writer, l->writer_text);
    arg_uint(d, a, KEY_epoch, w->epoch);
}

static void wait_args(drawing *d, const lane *l, const xsr_wait *w, int64_t clamped, args *a) {
    bool found = w->released_by.reason == XSR_REASON_FOUND;
    args_first(d, w, a);
    if (d->reduced) {
        arg_uint(d, a, KEY_slot_id, w->slot);
        if (found)
            arg_int(d, a, KEY_lag_ns, w->lag_ns);
        if (d->options.merge_roles)
            arg_text(d, a, KEY_writer, l->writer_text);
        return;
    }
    arg_text(d, a, KEY_result, strings_id(&d->texts, xsr_result_name(w->result)));
    if (found)
        arg_int(d, a, KEY_lag_ns, w->lag_ns);
    args_last(d, l, w, a);
    if (clamped)
        arg_uint(d, a, KEY_clamped_ns, (uint64_t)clamped);
    if (!found)
        arg_text(d, a, KEY_released_by, strings_id(&d->texts, xsr_reason_name(w->released_by.reason)));
}

static const char *failure(uint8_t result) {
    switch (result) {
    case XS_RESULT_TIMEOUT: return "timed out";
    case XS_RESULT_PEER_DEAD: return "peer dead";
    case XS_RESULT_ABORTED: return "aborted";
    default: return "failed";
    }
}

/* Failed waits are few and must be read without a click: both values stand in the name. */
static const char *failed_name(const drawing *d, const xsr_wait *w, char *text, size_t size) {
    snprintf(text, size, "%.900s %s: has %llu, needs %llu", d->model->slots[w->slot].name, failure(w->result),
             (unsigned long long)w->observed, (unsigned long long)w->need);
    return text;
}

/* [begin, end) of a wait on its writer's row, and by how much the end was moved behind its signal. */
static int64_t place_wait(const drawing *d, const lane *l, const xsr_wait *w, slice *s) {
    int64_t step = d->ranks[l->rank].step, signal, clamped = 0;
    s->begin = w->begin > l->cursor ? w->begin : l->cursor;
    s->end = w->end;
    if (has_signal(d, w, &signal) && s->end <= signal) {
        /* at equal stamps the file's order would lose the edge: the signal comes later */
        clamped = signal + 1 - s->end;
        s->end = signal + 1;
    }
    if (s->end < s->begin + step)
        s->end = s->begin + step;
    return clamped;
}

int draw_wait(drawing *d, lane *l, const xsr_wait *w) {
    char text[1024];
    args a = {.count = 0};
    if (!slot_of(d, w->slot))
        return XS_E_MEMORY;
    slice s = {.track = l->track, .category = d->category[CATEGORY_wait]};
    int64_t signal, clamped = place_wait(d, l, w, &s);
    unsigned where = AT_TIME;
    wait_args(d, l, w, clamped, &a);
    s.args = a.list;
    s.arg_count = a.count;
    s.correlation = correlation_of(d, wait_owes(d, w));
    if (w->result == XS_RESULT_OK)
        s.name = slot_name(d, w->slot);
    else {
        s.text = failed_name(d, w, text, sizeof text);
        where = TO_OVERVIEW;
    }
    flow_lists proves = {.own = NULL};
    TRY(evidence_join(d, w->id, s.begin, false, &proves));
    TRY(evidence_join(d, w->start_event, s.begin, false, &proves));
    s.flows = proves.starts;
    s.flow_count = proves.start_count;
    s.begin_flow_ends = proves.ends;
    s.begin_flow_end_count = proves.end_count;
    s.flow_ends = &w->id;
    s.flow_end_count = has_signal(d, w, &signal) && files_window(d, signal) == files_window(d, s.end);
    l->cursor = s.end;
    d->summary.waits++;
    d->summary.clamped += clamped != 0;
    int rc = draw_slice(d, where, &s);
    free(proves.own);
    return rc;
}

int draw_folded(drawing *d, lane *l) {
    lane_fold *f = &l->fold;
    if (!f->count)
        return XS_OK;
    char text[64];
    args a = {.count = 0};
    snprintf(text, sizeof text, "%llu short wait%s", (unsigned long long)f->count, f->count == 1 ? "" : "s");
    arg_text(d, &a, KEY_supplier, f->supplier);
    arg_uint(d, &a, KEY_count, f->count);
    arg_uint(d, &a, KEY_total_ns, f->total);
    arg_uint(d, &a, KEY_max_ns, f->longest);
    slice s = {
        .track = l->track, .begin = f->begin, .end = f->end, .text = text, .category = d->category[CATEGORY_wait]};
    s.correlation = correlation_of(d, f->supplier_rank);
    s.args = a.list;
    s.arg_count = a.count;
    f->count = 0;
    return draw_slice(d, AT_TIME, &s);
}

int draw_pass(drawing *d, const xsr_wait *w) {
    if (left_out(d, w->id))
        return XS_OK;
    lane *l = lane_of_writer(d, w->writer);
    slot_state *slot = l ? slot_of(d, w->slot) : NULL;
    role_group *group = slot ? track_role(d, l->rank, l->role) : NULL;
    if (!group)
        return w->writer == XSR_NONE ? XS_OK : XS_E_MEMORY;
    if (!slot->pass)
        slot->pass = strings_format(&d->texts, "pass %s", d->model->slots[w->slot].name);
    args a = {.count = 0};
    arg_text(d, &a, KEY_slot, slot_label(d, w->slot));
    arg_uint(d, &a, KEY_slot_id, w->slot);
    arg_uint(d, &a, KEY_need, w->need);
    arg_uint(d, &a, KEY_observed, w->observed);
    arg_text(d, &a, KEY_writer, l->writer_text);
    arg_uint(d, &a, KEY_epoch, w->epoch);
    int64_t signal;
    bool found = has_signal(d, w, &signal);
    event ev = {
        .type = EVENT_INSTANT, .track = track_passes(d, group), .time = w->end, .category = d->category[CATEGORY_pass]};
    if (found && ev.time <= signal) {
        ev.time = signal + 1;
        arg_uint(d, &a, KEY_clamped_ns, (uint64_t)(ev.time - w->end));
        d->summary.clamped++;
    }
    ev.name = slot->pass;
    ev.correlation = correlation_of(d, wait_owes(d, w));
    ev.args = a.list;
    ev.arg_count = a.count;
    flow_lists flows = {.ends = &w->id, .end_count = found && files_window(d, signal) == files_window(d, ev.time)};
    TRY(evidence_join(d, w->id, ev.time, false, &flows));
    ev.flows = flows.starts;
    ev.flow_count = flows.start_count;
    ev.flow_ends = flows.ends;
    ev.flow_end_count = flows.end_count;
    d->summary.passes++;
    int rc = draw_event(d, AT_TIME, &ev);
    free(flows.own);
    return rc;
}
