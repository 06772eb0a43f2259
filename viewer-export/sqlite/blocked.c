#include "blocked.h"

#include <stdlib.h>

#include "../../trace/read/search.h"

static int64_t *until_of(xsv_blocked *b, uint32_t writer) {
    if (writer >= b->writers) {
        uint32_t count = writer + writer / 2 + 64;
        int64_t *bigger = realloc(b->until, count * sizeof *bigger);
        if (!bigger)
            return NULL;
        for (uint32_t i = b->writers; i < count; i++)
            bigger[i] = INT64_MIN;
        b->until = bigger;
        b->writers = count;
    }
    return &b->until[writer];
}

static xsv_end *end_at(const xsv_blocked *b, uint64_t number) { return &b->ends[number & (b->room - 1)]; }

static int grow(xsv_blocked *b) {
    xsv_blocked bigger = *b;
    bigger.room = b->room ? b->room * 2 : 64;
    bigger.ends = malloc(bigger.room * sizeof *bigger.ends);
    if (!bigger.ends)
        return XS_E_MEMORY;
    for (uint64_t n = b->first; n < b->next; n++)
        *end_at(&bigger, n) = *end_at(b, n);
    free(b->ends);
    *b = bigger;
    return XS_OK;
}

int xsv_blocked_end(xsv_blocked *b, const xsr_event *e) {
    if (e->writer == XSR_NONE)
        return XS_OK;
    int64_t *until = until_of(b, e->writer);
    if (!until || (b->next - b->first == b->room && grow(b)))
        return XS_E_MEMORY;
    *end_at(b, b->next++) = (xsv_end){e->id << 1, *until};
    if (e->time > *until)
        *until = e->time;
    return XS_OK;
}

/* Entries are sorted by id, those that are done too: their order is kept by the neighbours that are not. */
static xsv_end *find(const xsv_blocked *b, uint64_t id) {
    uint64_t at;
    RD_SEARCH(at, b->first, b->next, (end_at(b, at)->id >> 1) < id);
    return at < b->next && end_at(b, at)->id >> 1 == id ? end_at(b, at) : NULL;
}

static void drop_done(xsv_blocked *b) {
    while (b->first < b->next && end_at(b, b->first)->id & 1)
        b->first++;
}

int xsv_blocked_time(xsv_blocked *b, const xsr_wait *w, int64_t end, uint64_t *ns) {
    int64_t from = w->begin;
    xsv_end *e = find(b, w->id);
    *ns = 0;
    if (e) {
        from = e->before > from ? e->before : from;
        e->id |= 1;
        drop_done(b);
    } else if (w->writer != XSR_NONE) { /* open, or its end is lost */
        int64_t *until = until_of(b, w->writer);
        if (!until)
            return XS_E_MEMORY;
        from = *until > from ? *until : from;
        *until = end > *until ? end : *until;
    }
    *ns = end > from ? (uint64_t)(end - from) : 0;
    return XS_OK;
}

void xsv_blocked_free(xsv_blocked *b) {
    free(b->until);
    free(b->ends);
    *b = (xsv_blocked){0};
}
