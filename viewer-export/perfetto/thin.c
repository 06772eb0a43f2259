#include "thin.h"

#include <stdlib.h>

typedef struct thin_point {
    int64_t time, value;
} thin_point;

typedef struct thin {
    thin_point *points; /* THIN_POINTS */
    uint32_t count;
    int64_t gap; /* ns between points that are kept */
    thin_point newest;
    bool newest_kept;
} thin;

/* Every second point goes, and from here on half as many come. */
static void halve(thin *t) {
    int64_t span = t->points[t->count - 1].time - t->points[0].time;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < t->count; i += 2)
        t->points[kept++] = t->points[i];
    t->count = kept;
    t->gap = span / (THIN_POINTS / 2) > t->gap * 2 ? span / (THIN_POINTS / 2) : t->gap * 2 + 1;
}

int thin_add(drawing *d, uint32_t track, int64_t time, int64_t value) {
    TRY(xsv_room(&d->thin, &d->thin_room, track, sizeof *d->thin, 0));
    if (!d->thin[track])
        d->thin[track] = calloc(1, sizeof(thin));
    thin *t = d->thin[track];
    if (t && !t->points)
        t->points = malloc(THIN_POINTS * sizeof *t->points);
    if (!t || !t->points)
        return XS_E_MEMORY;
    t->newest = (thin_point){time, value};
    t->newest_kept = t->count == 0 || time - t->points[t->count - 1].time >= t->gap;
    if (!t->newest_kept)
        return XS_OK;
    if (t->count == THIN_POINTS - 1) /* one is left for the newest */
        halve(t);
    t->points[t->count++] = t->newest;
    return XS_OK;
}

static int write_points(drawing *d, uint32_t track, const thin *t) {
    TRY(track_declare(d, d->overview, track));
    for (uint32_t i = 0; i <= t->count; i++) {
        const thin_point *p = i < t->count ? &t->points[i] : &t->newest;
        event ev = {.type = EVENT_COUNTER, .track = track, .time = p->time, .counter = p->value};
        if (i == t->count && t->newest_kept)
            break;
        TRY(encoder_event(&d->overview->enc, &ev));
    }
    return XS_OK;
}

int thin_finish(drawing *d) {
    for (uint32_t track = 0; track < d->thin_room; track++)
        if (d->thin[track])
            TRY(write_points(d, track, d->thin[track]));
    return XS_OK;
}

void thin_free(drawing *d) {
    for (uint32_t track = 0; track < d->thin_room; track++)
        if (d->thin[track]) {
            free(d->thin[track]->points);
            free(d->thin[track]);
        }
    free(d->thin);
    d->thin = NULL;
    d->thin_room = 0;
}
