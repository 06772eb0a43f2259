/* Root row `epochs`, and below it `rank N scopes`: each rank's own epochs and marks, and a row for each writer that has
 * scopes of the user's. A row of a rank is never empty where the root row is not. */
#include <stdio.h>
#include <stdlib.h>

#include "lane.h"

#define SCOPE_DEPTH 8u

typedef struct epoch_row {
    uint32_t track;
    uint64_t epoch;
    int64_t begin;
    bool any;
    int64_t newest; /* moment of the last event of the rank */
} epoch_row;

typedef struct scope_row { /* of one lane */
    uint32_t track, count, deeper;
    int64_t cursor;
    struct { uint32_t name; int64_t begin; uint64_t epoch, word; } open[SCOPE_DEPTH];
} scope_row;

struct epochs {
    epoch_row all, *ranks;
    /* of the ranks, the one in the overview too: a root row has one below, and one is enough there */
    const epoch_row *told;
    scope_row *scopes;
    uint32_t scope_room;
};

int epochs_begin(drawing *d) {
    struct epochs *e = d->epochs = calloc(1, sizeof *e);
    if (!e)
        return XS_E_MEMORY;
    e->ranks = calloc(d->model->rank_count + 1, sizeof *e->ranks);
    if (!e->ranks)
        return XS_E_MEMORY;
    e->all.track = track_root(d, "epochs",
                              "An epoch of the whole world: from the first writer that enters it to the first that "
                              "enters the next. Below: each "
                              "rank's own epochs, marks and scopes.");
    for (uint32_t i = 0; i < d->model->rank_count; i++) {
        track_info t = {.parent = e->all.track, .name = rank_text(d, "rank %s scopes", i)};
        t.description = strings_id(&d->texts, "Epochs as this rank entered them, and the marks of its writers.");
        e->ranks[i].track = track_add(d, &t);
    }
    return XS_OK;
}

static int draw_epoch(drawing *d, const epoch_row *row, enum draw_category category, int64_t end) {
    char text[32];
    args a = {.count = 0};
    snprintf(text, sizeof text, "epoch %llu", (unsigned long long)row->epoch);
    arg_uint(d, &a, KEY_epoch, row->epoch);
    slice s = {.track = row->track, .begin = row->begin, .end = end, .text = text, .category = d->category[category]};
    s.args = a.list;
    s.arg_count = a.count;
    return draw_slice(d, AT_TIME | (category == CATEGORY_epoch || row == d->epochs->told ? TO_OVERVIEW : 0u), &s);
}

static int enter(drawing *d, epoch_row *row, enum draw_category category, uint64_t epoch, int64_t time) {
    if (row->any && epoch <= row->epoch)
        return XS_OK;
    if (row->any) {
        time = time > row->begin ? time : row->begin + 1;
        TRY(draw_epoch(d, row, category, time));
    }
    row->any = true;
    row->epoch = epoch;
    row->begin = time;
    return XS_OK;
}

static uint32_t mark_name(drawing *d, uint32_t object) {
    return object < d->model->name_count ? strings_id(&d->texts, d->model->names[object].text)
                                         : strings_format(&d->texts, "mark %u", object);
}

static int draw_mark(drawing *d, const xsr_event *ev) {
    args a = {.count = 0};
    const lane *l = lane_of_writer(d, ev->writer);
    arg_uint(d, &a, KEY_epoch, ev->epoch);
    arg_uint(d, &a, KEY_word, ev->value);
    if (l)
        arg_text(d, &a, KEY_writer, l->writer_text);
    event e = {.type = EVENT_INSTANT, .track = d->epochs->ranks[ev->rank].track, .time = ev->time};
    e.name = mark_name(d, ev->object);
    e.category = d->category[CATEGORY_mark];
    e.args = a.list;
    e.arg_count = a.count;
    return draw_event(d, AT_TIME, &e);
}

static scope_row *scopes_of(drawing *d, const lane *l) {
    struct epochs *e = d->epochs;
    if (xsv_room(&e->scopes, &e->scope_room, l->index, sizeof *e->scopes, 0))
        return NULL;
    scope_row *row = &e->scopes[l->index];
    if (!row->track) {
        track_info t = {.parent = e->all.track};
        t.name = strings_format(&d->texts, "%s: %s", d->texts.text[rank_text(d, "rank %s scopes", l->rank)],
                                d->texts.text[l->writer_text]);
        row->track = track_add(d, &t);
        row->cursor = INT64_MIN;
    }
    return row;
}

static int draw_scope(drawing *d, const scope_row *row, uint32_t index, int64_t end) {
    args a = {.count = 0};
    arg_uint(d, &a, KEY_epoch, row->open[index].epoch);
    arg_uint(d, &a, KEY_word, row->open[index].word);
    slice s = {.track = row->track, .begin = row->open[index].begin, .end = end, .name = row->open[index].name};
    s.category = d->category[CATEGORY_scope];
    s.args = a.list;
    s.arg_count = a.count;
    return draw_slice(d, AT_TIME, &s);
}

/* Inner scopes begin strictly later than outer ones, which are drawn after them. */
static int scope_event(drawing *d, const xsr_event *ev) {
    const lane *l = lane_of_writer(d, ev->writer);
    scope_row *row = l ? scopes_of(d, l) : NULL;
    if (!row)
        return l ? XS_E_MEMORY : XS_OK;
    int64_t time = ev->time > row->cursor ? ev->time : row->cursor;
    if (ev->kind == XS_EV_SCOPE_END) {
        if (row->deeper)
            row->deeper--;
        else if (row->count) {
            row->cursor = time;
            return draw_scope(d, row, --row->count, time);
        }
        return XS_OK;
    }
    if (row->count == SCOPE_DEPTH) {
        row->deeper++;
        return XS_OK;
    }
    row->open[row->count].name = mark_name(d, ev->object);
    row->open[row->count].begin = time;
    row->open[row->count].epoch = ev->epoch;
    row->open[row->count++].word = ev->value;
    row->cursor = time + 1;
    return XS_OK;
}

int epochs_event(drawing *d, const xsr_event *ev) {
    struct epochs *e = d->epochs;
    e->ranks[ev->rank].newest = ev->time;
    switch (ev->kind) {
    case XS_EV_EPOCH:
        e->told = e->told ? e->told : &e->ranks[ev->rank];
        TRY(enter(d, &e->all, CATEGORY_epoch, ev->value, ev->time));
        return enter(d, &e->ranks[ev->rank], CATEGORY_scope, ev->value, ev->time);
    case XS_EV_MARK: return draw_mark(d, ev);
    case XS_EV_SCOPE_BEGIN:
    case XS_EV_SCOPE_END: return scope_event(d, ev);
    default: return XS_OK;
    }
}

/* The last epoch ends with the last event: a capture may go on long after. Where waits never ended, it did not end
 * either. */
static int finish_row(drawing *d, epoch_row *row, enum draw_category category, bool open, int64_t end) {
    if (!row->any)
        return XS_OK;
    if (end <= row->begin)
        end = row->begin + 1;
    return draw_epoch(d, row, category, open ? INT64_MIN : end);
}

int epochs_finish(drawing *d) {
    struct epochs *e = d->epochs;
    TRY(finish_row(d, &e->all, CATEGORY_epoch, d->open_count != 0, d->last_time));
    for (uint32_t i = 0; i < d->model->rank_count; i++)
        TRY(finish_row(d, &e->ranks[i], CATEGORY_scope, d->ranks[i].drawn_waits_open != 0, e->ranks[i].newest));
    for (uint32_t i = 0; i < e->scope_room; i++)
        for (uint32_t s = 0; s < e->scopes[i].count; s++)
            TRY(draw_scope(d, &e->scopes[i], s, INT64_MIN));
    return XS_OK;
}

void epochs_free(drawing *d) {
    if (!d->epochs)
        return;
    free(d->epochs->ranks);
    free(d->epochs->scopes);
    free(d->epochs);
}
