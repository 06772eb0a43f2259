/* Counters `watermarks (slowest source)`: of each source the longest prefix of chunks that are finished in its newest
 * sequence, and above them the least of all sources that have been heard of. */
#include <stdlib.h>

#include "draw.h"

typedef struct source {
    uint32_t track; /* 0: not heard of */
    uint64_t *chunk; /* newest value of each */
    uint64_t sequence;
    uint32_t prefix;
} source;

typedef struct pad_marks { /* one pad at one owner */
    uint32_t owner, pad;
    uint32_t track;
    source *sources; /* per row */
    uint32_t rows, least;
    bool any;
} pad_marks;

struct watermarks {
    pad_marks *list;
    uint32_t count;
};

static bool rank_by_number(const drawing *d, uint32_t number, uint32_t *rank) {
    for (*rank = 0; *rank < d->model->rank_count; (*rank)++)
        if (d->ranks[*rank].number == number)
            return true;
    return false;
}

static pad_marks *marks_new(drawing *d, uint32_t owner, uint32_t pad, uint32_t rank) {
    struct watermarks *w = d->watermarks;
    bool first = true;
    for (uint32_t i = 0; i < w->count; i++)
        first &= w->list[i].owner != owner;
    pad_marks *more = realloc(w->list, (w->count + 1) * sizeof *more);
    if (!more)
        return NULL;
    w->list = more;
    pad_marks *m = &more[w->count];
    *m = (pad_marks){.owner = owner, .pad = pad, .rows = d->model->pads[pad].rows};
    m->sources = calloc(m->rows ? m->rows : 1, sizeof *m->sources);
    if (!m->sources)
        return NULL;
    w->count++;
    track_info t = {.parent = d->ranks[rank].process, .child_ordering = ORDER_EXPLICIT};
    t.name = first ? strings_id(&d->texts, "watermarks (slowest source)")
                   : strings_format(&d->texts, "watermarks %s (slowest source)", d->model->pads[pad].name);
    t.unit = strings_id(&d->texts, "chunks");
    t.share = strings_id(&d->texts, "wm");
    t.description = strings_id(&d->texts, "How many chunks in a row are finished in the newest sequence: the least "
                                          "over all sources. Below: each source.");
    m->track = track_add(d, &t);
    return m;
}

static pad_marks *marks_of(drawing *d, const xsr_slot *slot, uint32_t rank) {
    if (!d->watermarks)
        d->watermarks = calloc(1, sizeof *d->watermarks);
    if (!d->watermarks)
        return NULL;
    for (uint32_t i = 0; i < d->watermarks->count; i++)
        if (d->watermarks->list[i].owner == slot->owner && d->watermarks->list[i].pad == slot->pad)
            return &d->watermarks->list[i];
    return marks_new(d, slot->owner, slot->pad, rank);
}

static int source_new(drawing *d, const pad_marks *m, source *s, uint32_t row, uint32_t columns) {
    s->chunk = calloc(columns ? columns : 1, sizeof *s->chunk);
    if (!s->chunk)
        return XS_E_MEMORY;
    track_info t = {.parent = m->track, .order = (int32_t)row, .ordered = true};
    t.name = strings_format(&d->texts, "from rank %u", row);
    t.unit = d->tracks[m->track].unit;
    t.share = d->tracks[m->track].share;
    s->track = track_add(d, &t);
    return XS_OK;
}

static void advance(source *s, uint32_t column, uint32_t columns, uint64_t value) {
    if (value > s->chunk[column])
        s->chunk[column] = value;
    if (value > s->sequence) {
        s->sequence = value;
        s->prefix = 0;
    }
    while (s->prefix < columns && s->chunk[s->prefix] >= s->sequence)
        s->prefix++;
}

static uint32_t least_of(const pad_marks *m) {
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < m->rows; i++)
        if (m->sources[i].track && m->sources[i].prefix < least)
            least = m->sources[i].prefix;
    return least;
}

static int write_counter(drawing *d, uint32_t track, int64_t time, uint32_t value) {
    event ev = {.type = EVENT_COUNTER, .track = track, .time = time, .counter = value};
    return draw_event(d, TO_OVERVIEW, &ev);
}

int watermarks_event(drawing *d, const xsr_event *ev) {
    uint32_t rank;
    if (ev->kind != XS_EV_WATERMARK || ev->slot == XSR_NONE)
        return XS_OK;
    const xsr_slot *slot = &d->model->slots[ev->slot];
    uint32_t columns = d->model->pads[slot->pad].columns;
    if (!rank_by_number(d, slot->owner, &rank) || slot->column >= columns)
        return XS_OK; /* the owner's process is not in the capture */
    pad_marks *m = marks_of(d, slot, rank);
    if (!m)
        return XS_E_MEMORY;
    if (slot->row >= m->rows)
        return XS_OK;
    source *s = &m->sources[slot->row];
    uint32_t before = s->track ? s->prefix : UINT32_MAX;
    if (!s->track)
        TRY(source_new(d, m, s, slot->row, columns));
    advance(s, slot->column, columns, ev->value);
    if (s->prefix != before)
        TRY(write_counter(d, s->track, ev->time, s->prefix));
    uint32_t least = least_of(m);
    if (m->any && least == m->least)
        return XS_OK;
    m->any = true;
    m->least = least;
    return write_counter(d, m->track, ev->time, least);
}

void watermarks_free(drawing *d) {
    struct watermarks *w = d->watermarks;
    if (!w)
        return;
    for (uint32_t i = 0; i < w->count; i++) {
        for (uint32_t r = 0; r < w->list[i].rows; r++)
            free(w->list[i].sources[r].chunk);
        free(w->list[i].sources);
    }
    free(w->list);
    free(w);
}
