/* Row `findings`: a slice for each finding over the time that it concerns, open if it never ended. Findings that
 * overlap get tracks of the same name, which the viewer packs into one set of rows. */
#include <stdio.h>
#include <stdlib.h>

#include "draw.h"

typedef struct rows {
    uint32_t *track;
    int64_t *end; /* of its last slice; INT64_MAX: open */
    uint32_t count, room;
} rows;

static uint32_t severity_colour(drawing *d, uint32_t severity) {
    static const char *const colours[] = {"finding error!", "finding warning!", "finding note!"};
    return strings_id(&d->texts, colours[severity < 3 ? severity : 2]);
}

static int64_t begin_of(const drawing *d, const xsa_finding *f) {
    int64_t begin = f->begin == INT64_MIN ? drawing_begin(d) : f->begin;
    return begin < drawing_begin(d) ? drawing_begin(d) : begin;
}

static int64_t end_of(const drawing *d, const xsa_finding *f) {
    return f->end == INT64_MIN || f->end > f->begin ? f->end : begin_of(d, f) + 1;
}

uint32_t findings_row(drawing *d) {
    track_info t = {
        .name = strings_id(&d->texts, "findings"), .merged_by_name = true, .child_ordering = ORDER_LEXICOGRAPHIC};
    t.description = strings_id(&d->texts, "What the detectors say. Below: how far the trace itself can be trusted.");
    return track_add(d, &t);
}

/* The first row that is free from `begin` on. Row 0 is the root. */
static int row_for(drawing *d, rows *r, int64_t begin, uint32_t *at) {
    for (*at = 0; *at < r->count; ++*at)
        if (r->end[*at] <= begin)
            return XS_OK;
    TRY(xsv_room(&r->track, &r->room, r->count, sizeof *r->track, 0));
    int64_t *more = realloc(r->end, r->room * sizeof *more);
    if (!more)
        return XS_E_MEMORY;
    r->end = more;
    r->track[r->count] = findings_row(d);
    return r->track[r->count++] ? XS_OK : XS_E_MEMORY;
}

static void put_place(const drawing *d, args *a, enum draw_key key, uint32_t rank, uint32_t block, char text[48]) {
    if (rank == XSR_NONE)
        return;
    if (block == XSR_NONE)
        snprintf(text, 48, "rank %u", rank);
    else
        snprintf(text, 48, "rank %u block %u", rank, block);
    arg_chars(d, a, key, text);
}

static void put_evidence(const xsa_finding *f, char *text, size_t room) {
    size_t at = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < f->evidence_count && at + 24 < room; i++)
        at += (size_t)snprintf(text + at, room - at, "%s%llu", i ? " " : "", (unsigned long long)f->evidence[i].event);
}

static int draw_finding(drawing *d, rows *r, const xsa_finding *f) {
    static const char *const severity[] = {"ERROR", "WARNING", "NOTE"};
    char name[1200], owes[48], victim[48], evidence[512];
    uint32_t row;
    args a = {.count = 0};
    slice s = {.begin = begin_of(d, f), .end = end_of(d, f), .text = name, .category = d->category[CATEGORY_finding]};
    TRY(row_for(d, r, s.begin, &row));
    r->end[row] = s.end == INT64_MIN ? INT64_MAX : s.end;
    s.track = r->track[row];
    s.correlation = severity_colour(d, f->severity);
    snprintf(name, sizeof name, "%s %s: %.1000s", severity[f->severity < 3 ? f->severity : 2],
             xsa_detector_name(f->detector), f->text);
    arg_chars(d, &a, KEY_id, f->id);
    arg_text(d, &a, KEY_detector, strings_id(&d->texts, xsa_detector_name(f->detector)));
    arg_text(d, &a, KEY_severity, strings_id(&d->texts, xsa_severity_name(f->severity)));
    arg_text(d, &a, KEY_confidence, strings_id(&d->texts, xsa_confidence_name(f->confidence)));
    put_place(d, &a, KEY_owes, f->owes_rank, f->owes_block, owes);
    put_place(d, &a, KEY_victim, f->rank, f->block, victim);
    if (f->slot != XSR_NONE)
        arg_text(d, &a, KEY_slot, slot_label(d, f->slot));
    put_evidence(f, evidence, sizeof evidence);
    arg_chars(d, &a, KEY_evidence, evidence);
    arg_chars(d, &a, KEY_cure, f->cure);
    if (f->lost)
        arg_uint(d, &a, KEY_lost, f->lost);
    if (f->file)
        arg_chars(d, &a, KEY_file, f->file);
    if (f->line)
        arg_uint(d, &a, KEY_line, f->line);
    if (*f->explains)
        arg_chars(d, &a, KEY_explains, f->explains);
    s.args = a.list;
    s.arg_count = a.count;
    evidence_ids edges;
    evidence_of_finding(d, (uint32_t)(f - findings_of(d)->findings), s.begin, s.end, &edges);
    s.flows = edges.starts;
    s.flow_count = edges.start_count;
    s.begin_flow_ends = edges.begin_ends;
    s.begin_flow_end_count = edges.begin_end_count;
    s.flow_ends = edges.ends;
    s.flow_end_count = edges.end_count;
    return draw_slice(d, SPAN | TO_OVERVIEW, &s);
}

static int by_begin(const void *left, const void *right) {
    const xsa_finding *x = *(const xsa_finding *const *)left, *y = *(const xsa_finding *const *)right;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x > y) - (x < y);
}

const xsa_result *findings_of(const drawing *d) {
    return d->options.analysis ? xsa_result_of(d->options.analysis) : NULL;
}

int findings_draw(drawing *d, uint32_t row) {
    const xsa_result *result = findings_of(d);
    const xsa_finding **sorted = calloc(result->finding_count + 1u, sizeof *sorted);
    rows r = {.count = 0};
    int rc = sorted && !xsv_room(&r.track, &r.room, 0, sizeof *r.track, 0) && (r.end = calloc(r.room, sizeof *r.end))
                 ? XS_OK
                 : XS_E_MEMORY;
    if (!rc) {
        r.track[0] = row;
        r.end[0] = INT64_MIN;
        r.count = 1;
        for (uint32_t i = 0; i < result->finding_count; i++)
            sorted[i] = &result->findings[i];
        qsort(sorted, result->finding_count, sizeof *sorted, by_begin);
    }
    for (uint32_t i = 0; !rc && i < result->finding_count; i++)
        rc = draw_finding(d, &r, sorted[i]);
    free(sorted);
    free(r.track);
    free(r.end);
    return rc;
}
