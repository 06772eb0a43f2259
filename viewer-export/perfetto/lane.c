#include "lane.h"

#include <stdlib.h>
#include <string.h>

static bool same_writer(const drawing *d, const lane *l, const xsr_writer *w) {
    return l->rank == w->rank && l->role == w->role && strcmp(d->texts.text[l->writer_text], w->name) == 0;
}

/* Merged, a role's writers share rows: the viewer packs what does not overlap. */
static uint32_t lane_track(drawing *d, uint32_t group, uint32_t name, int32_t order) {
    track_info t = {.parent = group, .name = name, .order = order, .ordered = true};
    if (d->options.merge_roles) {
        t.name = t.merge_key = strings_id(&d->texts, "all writers");
        t.order = 0;
    }
    return track_add(d, &t);
}

static lane *lane_new(drawing *d, const xsr_writer *w) {
    lane *l = calloc(1, sizeof *l);
    role_group *group = l ? track_role(d, w->rank, w->role) : NULL;
    if (!group || xsv_room(&d->lanes, &d->lane_room, d->lane_count, sizeof *d->lanes, 0)) {
        free(l);
        return NULL;
    }
    *l = (lane){.rank = w->rank, .role = w->role, .cursor = INT64_MIN};
    l->writer_text = strings_id(&d->texts, w->name);
    uint64_t order = ((uint64_t)w->block * 1024 + w->warp) * 4;
    l->order = order < INT32_MAX - 1 ? (int32_t)order : INT32_MAX - 1;
    l->track = lane_track(d, group->group, l->writer_text, l->order);
    l->index = d->lane_count;
    d->lanes[d->lane_count++] = l;
    return l;
}

/* Writers of later launches go on in the lane of the same role, block and warp. */
static lane *lane_find(drawing *d, const xsr_writer *w) {
    uint64_t key = ((uint64_t)w->rank << 48 ^ (uint64_t)(w->role + 1) << 36 ^ (uint64_t)w->block << 12 ^ w->warp) + 1;
    for (;; key += 0x9e3779b97f4a7c15u) { /* parts of the key may run into each other: then the next key is tried */
        uint64_t *found = xsv_map_put(&d->lane_index, key ? key : 1);
        if (!found)
            return NULL;
        if (!*found) {
            lane *l = lane_new(d, w);
            *found = l ? d->lane_count : 0;
            return l;
        }
        if (same_writer(d, d->lanes[*found - 1], w))
            return d->lanes[*found - 1];
    }
}

lane *lane_of_writer(drawing *d, uint32_t writer) {
    if (writer == XSR_NONE)
        return NULL;
    if (xsv_room(&d->writer_lane, &d->writer_room, writer, sizeof *d->writer_lane, 0)) {
        d->texts.failed = true;
        return NULL;
    }
    if (d->writer_lane[writer])
        return d->lanes[d->writer_lane[writer] - 1];
    lane *l = lane_find(d, &d->model->writers[writer]);
    if (!l) {
        d->texts.failed = true;
        return NULL;
    }
    d->writer_lane[writer] = l->index + 1;
    return l;
}

uint32_t lane_open_row(drawing *d, lane *l) {
    if (!l->open_drawn) {
        l->open_drawn = true;
        return l->track;
    }
    uint32_t *more = realloc(l->rows, (l->row_count + 1) * sizeof *more);
    if (!more)
        return 0;
    l->rows = more;
    uint32_t name = strings_format(&d->texts, "%s (%u)", d->texts.text[l->writer_text], l->row_count + 2);
    more[l->row_count] = lane_track(d, d->tracks[l->track].parent, name, l->order + 1);
    return more[l->row_count++];
}

int64_t signal_drawn_at(const drawing *d, uint64_t id, int64_t time) {
    const uint64_t *found = xsv_map_get(&d->signals, id);
    return found ? ((const pending_signal *)(uintptr_t)*found)->end : time;
}

/* ---- the items, in the writer's order ---- */

/* An election that no signal followed at once is an arrival like any other. */
static int drop_elected(drawing *d, lane *l) {
    if (!l->elected.id)
        return XS_OK;
    arrival a = l->elected;
    l->elected.id = 0;
    if (left_out(d, a.id))
        return XS_OK;
    return draw_arrival(d, l->elected_slot, &a, NULL, 0, NULL, 0);
}

static int keep_signal(drawing *d, const lane *l, const xsr_event *ev, int64_t time) {
    if (!l->elected.id && time == ev->time)
        return XS_OK;
    pending_signal *p = malloc(sizeof *p);
    uint64_t *at = p ? xsv_map_put(&d->signals, ev->id) : NULL;
    if (!at) {
        free(p);
        return XS_E_MEMORY;
    }
    *p = (pending_signal){.begin = time, .end = time, .counter = XSR_NONE};
    if (l->elected.id) {
        p->begin = l->elected_begin;
        p->counter = l->elected_slot;
        p->elected = l->elected;
    }
    *at = (uint64_t)(uintptr_t)p;
    return XS_OK;
}

/* Drawn later and so behind, in the file, whatever follows it here: the next item must start at a later moment. */
static int take_signal(drawing *d, lane *l, const xsr_event *ev) {
    TRY(draw_folded(d, l));
    int64_t time = ev->time > l->cursor ? ev->time : l->cursor;
    TRY(keep_signal(d, l, ev, time));
    if (l->elected.id) {
        slot_state *s = slot_of(d, ev->slot);
        if (!s)
            return XS_E_MEMORY;
        s->elects_by = l->elected_slot;
    }
    l->elected.id = 0;
    l->cursor = time + 1;
    return XS_OK;
}

static int take_elect(drawing *d, lane *l, const xsr_event *ev) {
    TRY(drop_elected(d, l));
    TRY(draw_folded(d, l));
    l->elected = (arrival){.id = ev->id, .time = ev->time, .writer = ev->writer, .rank = ev->rank, .role = ev->role,
                           .kind = ev->kind, .old = ev->value, .expected = ev->further[1] ? ev->further[1] : ev->detail,
                           .add = ev->further[0],
                           .epoch = ev->epoch};
    l->elected_slot = ev->slot;
    l->elected_begin = ev->time > l->cursor ? ev->time : l->cursor;
    l->cursor = l->elected_begin;
    return XS_OK;
}

static bool folds(const drawing *d, const xsr_wait *w) {
    return d->reduced && w->result == XS_RESULT_OK && w->end - w->begin < d->short_wait && !evidence_is(d, w->id);
}

static void fold(drawing *d, lane *l, const xsr_wait *w) {
    lane_fold *f = &l->fold;
    uint64_t ns = w->end > w->begin ? (uint64_t)(w->end - w->begin) : 0;
    if (!f->count) {
        *f = (lane_fold){.begin = w->begin > l->cursor ? w->begin : l->cursor, .supplier_rank = w->supplier_rank};
        f->supplier = slot_supplier(d, w->slot, w->supplier_rank, d->model->slots[w->slot].supplier_role);
    } else if (f->supplier_rank != w->supplier_rank) {
        f->supplier_rank = XSR_NONE;
        f->supplier = 0;
    }
    f->count++;
    f->total += ns;
    f->longest = ns > f->longest ? ns : f->longest;
    f->end = w->end > f->begin ? w->end : f->begin + 1;
    l->cursor = f->end;
    d->summary.waits_folded++;
}

static int take_wait(drawing *d, lane *l, const xsr_wait *w) {
    TRY(drop_elected(d, l));
    if (folds(d, w) && !l->work_count) {
        fold(d, l, w);
        return XS_OK;
    }
    TRY(draw_folded(d, l));
    TRY(lane_cut_work(d, l, w->begin > l->cursor ? w->begin : l->cursor));
    TRY(draw_wait(d, l, w));
    lane_resume_work(l);
    return XS_OK;
}

static int take_work(drawing *d, lane *l, const xsr_event *ev) {
    if (l->work_count == LANE_WORK_DEPTH) {
        l->work_deeper++;
        return XS_OK;
    }
    int64_t begin = ev->time > l->cursor ? ev->time : l->cursor;
    l->work[l->work_count++] = (lane_work){.event = *ev, .begin = begin};
    l->cursor = begin + 1;
    return draw_folded(d, l);
}

static int take_work_end(drawing *d, lane *l, int64_t time) {
    if (l->work_deeper) {
        l->work_deeper--;
        return XS_OK;
    }
    if (!l->work_count)
        return XS_OK; /* its begin is lost */
    l->cursor = time > l->cursor ? time : l->cursor;
    return draw_work(d, l, &l->work[--l->work_count], l->cursor);
}

static int take_block_end(drawing *d, lane *l, int64_t time) {
    if (!l->block.event.id)
        return XS_OK;
    l->cursor = time > l->cursor ? time : l->cursor;
    int rc = draw_block(d, l, l->cursor);
    l->block.event.id = 0;
    return rc;
}

/* A writer began or ended: nothing of the one before goes on. */
static int take_over(drawing *d, lane *l, int64_t time) {
    l->work_deeper = 0;
    TRY(take_block_end(d, l, time));
    while (l->work_count)
        TRY(take_work_end(d, l, time));
    return XS_OK;
}

static int take_event(drawing *d, lane *l, uint32_t kind, const xsr_event *ev) {
    if (kind == ITEM_SIGNAL)
        return take_signal(d, l, ev);
    if (kind == ITEM_ELECT)
        return take_elect(d, l, ev);
    TRY(drop_elected(d, l));
    TRY(draw_folded(d, l));
    switch (kind) {
    case ITEM_WORK: return take_work(d, l, ev);
    case ITEM_WORK_END: return take_work_end(d, l, ev->time);
    case ITEM_BLOCK_END: return take_block_end(d, l, ev->time);
    case ITEM_OVER: return take_over(d, l, ev->time);
    default: break;
    }
    TRY(take_block_end(d, l, ev->time));
    l->block = (lane_work){.event = *ev, .begin = ev->time > l->cursor ? ev->time : l->cursor};
    l->cursor = l->block.begin + 1;
    return XS_OK;
}

/* ---- the queue ---- */

static lane_item *queue_push(lane *l) {
    if (l->head && l->head + l->count == l->room) {
        memmove(l->queue, l->queue + l->head, l->count * sizeof *l->queue);
        l->head = 0;
    }
    if (l->head + l->count == l->room) {
        uint32_t room = l->room ? l->room * 2 : 8;
        lane_item *more = realloc(l->queue, room * sizeof *more);
        if (!more)
            return NULL;
        l->queue = more;
        l->room = room;
    }
    return &l->queue[l->head + l->count++];
}

static int queue_run(drawing *d, lane *l) {
    while (l->count) {
        lane_item *item = &l->queue[l->head];
        if (item->kind == ITEM_WAIT && !item->settled)
            return XS_OK;
        l->head++;
        l->count--;
        TRY(item->kind == ITEM_WAIT ? take_wait(d, l, &item->wait) : take_event(d, l, item->kind, &item->event));
    }
    l->head = 0;
    return XS_OK;
}

/* old + weight is the target where the record knows it, else the epoch's expected. */
static bool elects(const xsr_event *ev) {
    uint64_t reached = ev->value + ev->further[0];
    return ev->further[1] ? reached == ev->further[1] : ev->detail && reached == ev->detail;
}

static int item_kind(const xsr_event *ev) {
    switch (ev->kind) {
    case XS_EV_WAIT_END: return ITEM_WAIT;
    case XS_EV_SIGNAL:
    case XS_EV_WATERMARK: return ev->slot == XSR_NONE ? -1 : ITEM_SIGNAL;
    case XS_EV_ARRIVE: return ev->slot != XSR_NONE && elects(ev) ? (int)ITEM_ELECT : -1;
    case XS_EV_READ_BEGIN:
    case XS_EV_WRITE_BEGIN:
    case XS_EV_WORK_BEGIN: return ITEM_WORK;
    case XS_EV_PAYLOAD_END: return ITEM_WORK_END;
    case XS_EV_BLOCK_ENTER: return ITEM_BLOCK;
    case XS_EV_BLOCK_LEAVE: return ITEM_BLOCK_END;
    case XS_EV_WRITER_BEGIN:
    case XS_EV_WRITER_END: return ITEM_OVER;
    default: return -1;
    }
}

int lane_event(drawing *d, lane *l, const xsr_event *ev) {
    int kind = item_kind(ev);
    if (kind < 0)
        return ev->kind == XS_EV_ARRIVE ? arrival_event(d, ev) : XS_OK;
    if (kind != ITEM_WAIT && !l->count)
        return take_event(d, l, (uint32_t)kind, ev);
    lane_item *item = queue_push(l);
    if (!item)
        return XS_E_MEMORY;
    item->kind = (uint32_t)kind;
    item->settled = false;
    item->id = ev->id;
    item->event = *ev;
    return XS_OK;
}

int lane_wait(drawing *d, lane *l, const xsr_wait *w) {
    for (uint32_t i = l->head; i < l->head + l->count; i++) {
        lane_item *item = &l->queue[i];
        if (item->kind != ITEM_WAIT || item->id != w->id)
            continue;
        item->wait = *w;
        item->settled = true;
        return queue_run(d, l);
    }
    return take_wait(d, l, w); /* its end was in no event */
}

/* What is still queued stands behind a wait that was never settled. */
int lanes_flush(drawing *d) {
    for (uint32_t i = 0; i < d->lane_count; i++) {
        lane *l = d->lanes[i];
        while (l->count) {
            if (l->queue[l->head].kind == ITEM_WAIT && !l->queue[l->head].settled) {
                l->head++;
                l->count--;
            }
            TRY(queue_run(d, l));
        }
        TRY(drop_elected(d, l));
        TRY(draw_folded(d, l));
    }
    return XS_OK;
}

/* Work that never ended stays open, unless the writer has come to a wait that never ended. */
int lanes_finish(drawing *d) {
    for (uint32_t i = 0; i < d->lane_count; i++) {
        lane *l = d->lanes[i];
        for (uint32_t w = 0; w < l->work_count && !l->open_drawn; w++)
            TRY(draw_work(d, l, &l->work[w], INT64_MIN));
        if (l->block.event.id && !l->open_drawn)
            TRY(draw_block(d, l, INT64_MIN));
    }
    return XS_OK;
}

void lanes_free(drawing *d) {
    for (uint32_t i = 0; i < d->lane_count; i++) {
        free(d->lanes[i]->queue);
        free(d->lanes[i]->rows);
        free(d->lanes[i]);
    }
    free(d->lanes);
    free(d->writer_lane);
    xsv_map_free(&d->lane_index);
    for (uint64_t i = 0; i < d->signals.size; i++)
        if (d->signals.keys[i])
            free((void *)(uintptr_t)d->signals.values[i]);
    xsv_map_free(&d->signals);
}
