#include "rows.h"

#include <stdlib.h>

#include "room.h"

static void put(uint64_t *row, uint32_t column, uint64_t value) { row[1 + column] = value; }

static void put_null(uint64_t *row, uint32_t column) { row[0] |= 1ull << column; }

static void put_index(uint64_t *row, uint32_t column, uint32_t index) {
    if (index == XSR_NONE)
        put_null(row, column);
    else
        put(row, column, index);
}

static void put_id(uint64_t *row, uint32_t column, uint64_t id) {
    if (id == XSR_NO_ID)
        put_null(row, column);
    else
        put(row, column, id);
}

static void put_time(uint64_t *row, uint32_t column, int64_t time) {
    if (time == INT64_MIN || time == INT64_MAX)
        put_null(row, column);
    else
        put(row, column, (uint64_t)time);
}

static void put_pad(uint64_t *row, uint32_t column, const xsr_model *m, uint32_t slot) {
    put_index(row, column, slot < m->slot_count ? m->slots[slot].pad : XSR_NONE);
}

/* order 3 | scope 2 | fence 3 | comparison 3 | result 3 | time_modulo 1: unpacked by the views. */
static uint64_t how(uint32_t order, uint32_t scope, uint32_t fence, uint32_t cmp, uint32_t result, uint32_t modulo) {
    return (order & 7u) | (scope & 3u) << 3 | (fence & 7u) << 5 | (cmp & 7u) << 8 | (result & 7u) << 11 | modulo << 14;
}

static uint64_t event_how(const xsr_event *e) {
    return how(e->order, e->scope, e->fence, e->cmp, e->result, e->time_modulo);
}

static int writer_state(xsv_rows *r, uint32_t writer, xsv_writer_state **state) {
    if (xsv_room(&r->writers, &r->writer_room, writer, sizeof *r->writers, 0))
        return XS_E_MEMORY;
    *state = &r->writers[writer];
    return XS_OK;
}

static int put_epoch(xsv_rows *r, uint32_t writer, const xsv_writer_state *s) {
    uint64_t *row = xsv_pipe_row(r->pipe, XSV_T_epoch);
    if (!row)
        return XS_E_SYSTEM;
    put(row, xsv_epoch_id, xsv_pipe_rows(r->pipe, XSV_T_epoch));
    put(row, xsv_epoch_writer, writer);
    put_index(row, xsv_epoch_rank, xsv_rank_number(r->model, r->model->writers[writer].rank));
    put(row, xsv_epoch_epoch, s->epoch);
    put_time(row, xsv_epoch_begin_ns, s->epoch_begin);
    put_time(row, xsv_epoch_end_ns, s->epoch_last);
    put(row, xsv_epoch_events, s->events);
    return XS_OK;
}

/* An epoch of a writer ends with its last event before it enters another. */
static int follow_epoch(xsv_rows *r, const xsr_event *e) {
    if (e->writer >= r->model->writer_count)
        return XS_OK;
    xsv_writer_state *s;
    int rc = writer_state(r, e->writer, &s);
    if (rc)
        return rc;
    if (e->epoch != s->epoch) {
        if (s->epoch && (rc = put_epoch(r, e->writer, s)))
            return rc;
        s->epoch = e->epoch;
        s->epoch_begin = e->time;
        s->events = 0;
    }
    s->epoch_last = e->time;
    s->events++;
    return XS_OK;
}

static int put_arrival(xsv_rows *r, const xsr_event *e) {
    uint64_t *row = xsv_pipe_row(r->pipe, XSV_T_arrival);
    if (!row)
        return XS_E_SYSTEM;
    int gate = e->kind == XS_EV_GATE_ARRIVE;
    uint64_t weight = gate ? e->detail : e->further[0], target = gate ? 0 : e->further[1];
    put(row, xsv_arrival_id, e->id);
    put(row, xsv_arrival_time_ns, (uint64_t)e->time);
    put_index(row, xsv_arrival_rank, xsv_rank_number(r->model, e->rank));
    put_index(row, xsv_arrival_writer, e->writer);
    put_index(row, xsv_arrival_role, e->role);
    put_pad(row, xsv_arrival_pad, r->model, e->slot);
    put_index(row, xsv_arrival_slot, e->slot);
    put(row, xsv_arrival_gate, (uint64_t)gate);
    put(row, xsv_arrival_old, e->value);
    put(row, xsv_arrival_weight, weight);
    put(row, xsv_arrival_expected, e->detail);
    put(row, xsv_arrival_target, target);
    put(row, xsv_arrival_elected, target ? e->value + weight == target : e->value + weight == e->detail);
    if (gate) {
        put_null(row, xsv_arrival_expected);
        put_null(row, xsv_arrival_elected);
    }
    if (!target)
        put_null(row, xsv_arrival_target);
    put(row, xsv_arrival_epoch, e->epoch);
    put(row, xsv_arrival_how, event_how(e));
    return XS_OK;
}

static int put_event(xsv_rows *r, const xsr_event *e) {
    uint64_t *row = xsv_pipe_row(r->pipe, XSV_T_event);
    if (!row)
        return XS_E_SYSTEM;
    put(row, xsv_event_id, e->id);
    put(row, xsv_event_time_ns, (uint64_t)e->time);
    put(row, xsv_event_kind, e->kind);
    put_index(row, xsv_event_ring, e->ring);
    put_index(row, xsv_event_writer, e->writer);
    put_index(row, xsv_event_rank, xsv_rank_number(r->model, e->rank));
    put_index(row, xsv_event_role, e->role);
    put(row, xsv_event_epoch, e->epoch);
    put(row, xsv_event_sequence, e->sequence);
    put_index(row, xsv_event_slot, e->slot);
    if (e->slot == XSR_NONE)
        put_index(row, xsv_event_object, e->object);
    else
        put_null(row, xsv_event_object);
    put(row, xsv_event_value, e->value);
    put(row, xsv_event_need, e->need);
    if (e->kind != XS_EV_PASS && e->kind != XS_EV_WAIT_START && e->kind != XS_EV_WAIT_END)
        put_null(row, xsv_event_need);
    put(row, xsv_event_detail, e->detail);
    put(row, xsv_event_a, e->further[0]);
    put(row, xsv_event_b, e->further[1]);
    put(row, xsv_event_c, e->further[2]);
    put(row, xsv_event_how, event_how(e));
    return XS_OK;
}

static int note_last(xsv_rows *r, const xsr_event *e) {
    if (e->rank >= r->rank_room) {
        uint32_t room = e->rank + e->rank / 2 + 16;
        int64_t *bigger = realloc(r->rank_last, room * sizeof *bigger);
        if (!bigger)
            return XS_E_MEMORY;
        for (uint32_t i = r->rank_room; i < room; i++)
            bigger[i] = INT64_MIN;
        r->rank_last = bigger;
        r->rank_room = room;
    }
    r->rank_last[e->rank] = e->time;
    return XS_OK;
}

int xsv_rows_event(xsv_rows *r, const xsr_event *e) {
    if (e->time > r->last_time)
        r->last_time = e->time;
    int rc = e->rank == XSR_NONE ? XS_OK : note_last(r, e);
    if (!rc)
        rc = put_event(r, e);
    if (!rc && (e->kind == XS_EV_ARRIVE || e->kind == XS_EV_GATE_ARRIVE))
        rc = put_arrival(r, e);
    if (!rc && e->kind == XS_EV_WAIT_END)
        rc = xsv_blocked_end(&r->blocked, e);
    if (!rc)
        rc = xsv_rank_waits_event(&r->pieces, e);
    return rc ? rc : follow_epoch(r, e);
}

/* Its latency is not known where one of its ends is lost: then `begin` is its end, or `end` a bound. */
static int latency_known(const xsr_wait *w) { return !w->open && !w->start_lost && !w->end_lost; }

static int32_t bucket_of(const xsr_wait *w, int64_t latency) {
    return w->open ? XSV_BUCKET_OPEN : latency_known(w) ? xsv_bucket(latency) : XSV_BUCKET_UNKNOWN;
}

static int count_wait(xsv_rows *r, const xsr_wait *w, int64_t latency, uint64_t blocked) {
    xsv_tally_row one = {.rank = xsv_rank_number(r->model, w->rank), .waits = 1,
                         .supplier = xsv_rank_waits_supplier(&r->pieces, w),
                         .pad = w->slot < r->model->slot_count ? r->model->slots[w->slot].pad : XSR_NONE,
                         .bucket = bucket_of(w, latency), .passed = w->passed, .blocked_ns = blocked,
                         .failed = !w->open && !w->end_lost && w->result != XS_RESULT_OK};
    if (latency_known(w) && latency > 0)
        one.total_ns = one.max_ns = (uint64_t)latency;
    if (w->reads_from.reason < XSR_REASON_COUNT)
        r->tally.reads_from[w->reads_from.reason]++;
    if (w->released_by.reason < XSR_REASON_COUNT)
        r->tally.released_by[w->released_by.reason]++;
    return xsv_tally_add(&r->tally, &one);
}

static void put_wait_times(uint64_t *row, const xsr_wait *w, int64_t latency, uint64_t blocked) {
    put_time(row, xsv_wait_begin_ns, w->begin);
    put_time(row, xsv_wait_end_ns, w->open ? INT64_MIN : w->end);
    put(row, xsv_wait_latency_ns, (uint64_t)latency);
    put(row, xsv_wait_bucket, (uint64_t)xsv_bucket(latency));
    put(row, xsv_wait_lag_ns, (uint64_t)w->lag_ns);
    put(row, xsv_wait_blocked_ns, blocked);
    put(row, xsv_wait_slept_ns, w->slept_ns);
    put_time(row, xsv_wait_last_fail_ns, w->last_fail);
    if (!latency_known(w)) {
        put_null(row, xsv_wait_latency_ns);
        put_null(row, xsv_wait_bucket);
    }
    if (w->released_by.reason != XSR_REASON_FOUND)
        put_null(row, xsv_wait_lag_ns);
}

static void put_wait_edges(uint64_t *row, const xsr_model *m, const xsr_wait *w) {
    put(row, xsv_wait_reads_from_reason, w->reads_from.reason);
    put_id(row, xsv_wait_reads_from_event, w->reads_from.event);
    put(row, xsv_wait_reads_from_value, w->reads_from.value);
    put_index(row, xsv_wait_reads_from_rank, xsv_rank_number(m, w->reads_from.rank));
    put(row, xsv_wait_released_by_reason, w->released_by.reason);
    put_id(row, xsv_wait_released_by_event, w->released_by.event);
    put(row, xsv_wait_released_by_value, w->released_by.value);
    put_index(row, xsv_wait_released_by_rank, xsv_rank_number(m, w->released_by.rank));
    put_time(row, xsv_wait_released_by_ns, w->released_by.time);
    if (w->reads_from.event == XSR_NO_ID) {
        put_null(row, xsv_wait_reads_from_value);
        put_null(row, xsv_wait_reads_from_rank);
    }
    if (w->released_by.event == XSR_NO_ID) {
        put_null(row, xsv_wait_released_by_value);
        put_null(row, xsv_wait_released_by_rank);
        put_null(row, xsv_wait_released_by_ns);
    }
}

static void put_wait_what(uint64_t *row, const xsr_model *m, const xsr_wait *w) {
    put(row, xsv_wait_id, w->id);
    put(row, xsv_wait_passed, w->passed);
    put(row, xsv_wait_open, w->open);
    put(row, xsv_wait_result, w->result);
    put_pad(row, xsv_wait_pad, m, w->slot);
    put_index(row, xsv_wait_slot, w->slot);
    put_index(row, xsv_wait_rank, xsv_rank_number(m, w->rank));
    put_index(row, xsv_wait_writer, w->writer);
    put_index(row, xsv_wait_role, w->role);
    put(row, xsv_wait_epoch, w->epoch);
    put(row, xsv_wait_need, w->need);
    put(row, xsv_wait_observed, w->observed);
    put(row, xsv_wait_how, how(w->order, w->scope, w->fence, w->cmp, w->result, 0));
    put(row, xsv_wait_polls, w->polls);
    put_index(row, xsv_wait_file, w->source.line ? w->source.file : XSR_NONE);
    put(row, xsv_wait_line, w->source.line);
    put(row, xsv_wait_stage, w->stage);
    put_id(row, xsv_wait_start_event, w->start_event);
    put(row, xsv_wait_start_lost, w->start_lost);
    put(row, xsv_wait_end_lost, w->end_lost || (w->open && w->maybe_over));
    if (!w->source.line)
        put_null(row, xsv_wait_line);
    if (w->open || w->end_lost)
        put_null(row, xsv_wait_result);
    if (w->end_lost)
        put_null(row, xsv_wait_observed);
    if (w->start_lost && !w->open)
        put_null(row, xsv_wait_need);
}

/* A piece of the run in which the rank's oldest open wait for another rank was this one. */
static int put_piece(void *rows, const xsr_wait *w, int64_t begin, int64_t end) {
    xsv_rows *r = rows;
    xsv_tally_row one = {.rank = xsv_rank_number(r->model, w->rank), .supplier = xsv_rank_waits_supplier(&r->pieces, w),
                         .waits = 1, .total_ns = (uint64_t)(end - begin)};
    uint64_t *row = xsv_pipe_row(r->pipe, XSV_T_rank_wait);
    if (!row)
        return XS_E_SYSTEM;
    put(row, xsv_rank_wait_id, xsv_pipe_rows(r->pipe, XSV_T_rank_wait));
    put(row, xsv_rank_wait_wait, w->id);
    put_index(row, xsv_rank_wait_rank, one.rank);
    put_index(row, xsv_rank_wait_supplier_rank, one.supplier);
    put_index(row, xsv_rank_wait_slot, w->slot);
    put_time(row, xsv_rank_wait_begin_ns, begin);
    put_time(row, xsv_rank_wait_end_ns, end);
    return xsv_tally_add(&r->rank_waits, &one);
}

int xsv_rows_wait(xsv_rows *r, const xsr_wait *w) {
    int64_t now = r->model->end > r->last_time ? r->model->end : r->last_time, end = w->open ? now : w->end;
    int64_t latency = w->passed || w->open ? 0 : w->end - w->begin;
    uint64_t blocked = 0;
    int rc = w->passed ? XS_OK : xsv_blocked_time(&r->blocked, w, end, &blocked);
    if (!rc)
        rc = count_wait(r, w, latency, blocked);
    if (rc)
        return rc;
    uint64_t *row = xsv_pipe_row(r->pipe, XSV_T_wait);
    if (!row)
        return XS_E_SYSTEM;
    put_wait_what(row, r->model, w);
    put_index(row, xsv_wait_supplier_rank, xsv_rank_waits_supplier(&r->pieces, w));
    put_wait_times(row, w, latency, blocked);
    put_wait_edges(row, r->model, w);
    r->starts_lost += w->start_lost;
    r->ends_lost += w->end_lost;
    return w->passed ? XS_OK : xsv_rank_waits_settle(&r->pieces, w, end, put_piece, r);
}

int xsv_rows_signal(xsv_rows *r, const xsr_signal *s) {
    const xsr_event *e = &s->event;
    uint64_t *row = xsv_pipe_row(r->pipe, XSV_T_signal);
    if (!row)
        return XS_E_SYSTEM;
    put(row, xsv_signal_id, e->id);
    put(row, xsv_signal_time_ns, (uint64_t)e->time);
    put(row, xsv_signal_kind, e->kind);
    put_index(row, xsv_signal_rank, xsv_rank_number(r->model, e->rank));
    put_index(row, xsv_signal_writer, e->writer);
    put_index(row, xsv_signal_role, e->role);
    put_pad(row, xsv_signal_pad, r->model, e->slot);
    put_index(row, xsv_signal_slot, e->slot);
    put(row, xsv_signal_value, e->value);
    put(row, xsv_signal_epoch, e->epoch);
    put(row, xsv_signal_how, event_how(e));
    put_id(row, xsv_signal_elected_by, s->elected_by);
    put_time(row, xsv_signal_elect_ns, s->elect_time);
    if (s->elected_by == XSR_NO_ID)
        put_null(row, xsv_signal_elect_ns);
    put(row, xsv_signal_released, s->released_count);
    return XS_OK;
}

int xsv_rows_lost(xsv_rows *r, const xsr_loss *l) {
    uint64_t *row = xsv_pipe_row(r->pipe, XSV_T_loss_gap);
    if (!row)
        return XS_E_SYSTEM;
    put(row, xsv_loss_gap_id, xsv_pipe_rows(r->pipe, XSV_T_loss_gap));
    put_index(row, xsv_loss_gap_ring, l->ring);
    put_index(row, xsv_loss_gap_writer, l->writer);
    put(row, xsv_loss_gap_first, l->first);
    put(row, xsv_loss_gap_last, l->last);
    put(row, xsv_loss_gap_cause, l->cause);
    put(row, xsv_loss_gap_at_least, l->at_least);
    put_time(row, xsv_loss_gap_before_ns, l->before);
    put_time(row, xsv_loss_gap_after_ns, l->after);
    return XS_OK;
}

int xsv_rows_finish(xsv_rows *r) {
    int rc = XS_OK;
    for (uint32_t i = 0; i < r->writer_room && !rc; i++)
        if (r->writers[i].epoch)
            rc = put_epoch(r, i, &r->writers[i]);
    return rc;
}

void xsv_rows_free(xsv_rows *r) {
    xsv_tally_free(&r->tally);
    xsv_tally_free(&r->rank_waits);
    xsv_blocked_free(&r->blocked);
    xsv_rank_waits_free(&r->pieces);
    free(r->writers);
    free(r->rank_last);
    r->writers = NULL;
    r->rank_last = NULL;
}
