/* Root row `critical path` and below it a row for each rank with the pieces that are blamed on it; and the labels
 * below the ranks' names. */
#include <stdio.h>
#include <stdlib.h>

#include "draw.h"

static const xsa_blame *blame_of(const drawing *d) {
    const xsa_result *result = findings_of(d);
    return result ? result->blame : NULL;
}

/* Index of the rank whose row the piece is on: that of its writer where nobody is blamed. */
static uint32_t rank_of(const drawing *d, const xsa_span *s) {
    for (uint32_t i = 0; i < d->model->rank_count; i++)
        if (d->ranks[i].number == s->owes_rank)
            return i;
    return s->writer < d->model->writer_count ? d->model->writers[s->writer].rank : XSR_NONE;
}

static const char *role_of(const drawing *d, uint32_t writer) {
    return role_name(d, writer < d->model->writer_count ? d->model->writers[writer].role : XSR_NONE);
}

static uint32_t name_of(drawing *d, const xsa_span *s) {
    const char *slot = s->slot < d->model->slot_count ? d->model->slots[s->slot].name : "a signal";
    switch (s->part) {
    case XSA_PART_COMPUTE: return strings_format(&d->texts, "rank %u %s", s->owes_rank, role_of(d, s->writer));
    case XSA_PART_PUBLISH: return strings_id(&d->texts, "publish");
    case XSA_PART_LINK: return strings_format(&d->texts, "link to rank %u", s->rank);
    case XSA_PART_LAG: return strings_id(&d->texts, "detection lag");
    case XSA_PART_LINE:
        return strings_format(&d->texts, "head of line: rank %u %s", s->owes_rank, role_of(d, s->writer));
    case XSA_PART_LATE: return strings_format(&d->texts, "rank %u has not begun", s->owes_rank);
    case XSA_PART_START: return strings_format(&d->texts, "rank %u starts", s->owes_rank);
    case XSA_PART_OWED:
        return s->owes_rank == XSR_NONE
                   ? strings_format(&d->texts, "nobody signals %s to rank %u", slot, s->rank)
                   : strings_format(&d->texts, "rank %u owes %s to rank %u", s->owes_rank, slot, s->rank);
    default: return strings_format(&d->texts, "not known: %s", xsa_blame_why_text(s->why));
    }
}

static void fill_args(drawing *d, args *a, const xsa_span *s, int64_t length, char texts[3][32]) {
    if (s->owes_rank != XSR_NONE)
        arg_uint(d, a, KEY_rank, s->owes_rank);
    arg_uint(d, a, KEY_epoch, s->epoch);
    snprintf(texts[0], sizeof texts[0], "%.3f",
             100.0 * (double)(s->end - s->begin) / (double)(length > 0 ? length : 1));
    arg_chars(d, a, KEY_share_pct, texts[0]);
    arg_text(d, a, KEY_part, strings_id(&d->texts, xsa_part_name(s->part)));
    if (s->slot != XSR_NONE)
        arg_text(d, a, KEY_slot, slot_label(d, s->slot));
    if (s->rank != XSR_NONE)
        arg_uint(d, a, KEY_owed_to_rank, s->rank);
    if (s->writer < d->model->writer_count) {
        snprintf(texts[1], sizeof texts[1], "%.31s", d->model->writers[s->writer].name);
        arg_chars(d, a, KEY_writer, texts[1]);
    }
    if (s->pieces > 1)
        arg_uint(d, a, KEY_count, s->pieces);
}

static int draw_span(drawing *d, uint32_t row, uint32_t lane, const xsa_span *s, bool forever) {
    const xsa_blame *b = blame_of(d);
    char texts[3][32];
    args a = {.count = 0};
    fill_args(d, &a, s, b->end - b->begin, texts);
    slice piece = {
        .track = row, .begin = s->begin, .end = forever ? INT64_MIN : s->end, .category = d->category[CATEGORY_path]};
    piece.name = name_of(d, s);
    piece.correlation = correlation_of(d, s->owes_rank);
    piece.args = a.list;
    piece.arg_count = a.count;
    TRY(draw_slice(d, SPAN | TO_OVERVIEW, &piece));
    piece.track = lane;
    return lane ? draw_slice(d, SPAN | TO_OVERVIEW, &piece) : XS_OK;
}

static uint32_t row_new(drawing *d) {
    track_info t = {.name = strings_id(&d->texts, "critical path"), .child_ordering = ORDER_LEXICOGRAPHIC};
    t.description = strings_id(&d->texts, "What the end of the run had to wait for, walked back from it: on a writer "
                                          "along what it did, at a wait over to who signalled. Coloured by "
                                          "the rank on which it is blamed. Below: the same pieces, a row a rank.");
    return track_add(d, &t);
}

static int draw_spans(drawing *d, uint32_t *lanes) {
    const xsa_blame *b = blame_of(d);
    uint32_t row = row_new(d);
    for (uint32_t i = 0; i < b->span_count; i++) {
        const xsa_span *s = &b->spans[i];
        uint32_t rank = rank_of(d, s);
        if (rank < d->model->rank_count && !lanes[rank]) {
            track_info t = {.parent = row, .name = rank_text(d, "on rank %s", rank)};
            t.description = strings_id(&d->texts, "The pieces of the critical path that are blamed on this rank.");
            lanes[rank] = track_add(d, &t);
        }
        TRY(draw_span(d, row, rank < d->model->rank_count ? lanes[rank] : 0, s,
                      b->hang && i + 1 == b->span_count && s->part == XSA_PART_OWED));
    }
    return d->texts.failed ? XS_E_MEMORY : XS_OK;
}

/* ---- below the names of ranks ---- */

#define SLOW 1.2 /* times the median */

static uint32_t findings_by(const drawing *d, uint32_t number) {
    const xsa_result *r = findings_of(d);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->finding_count; i++)
        n += r->findings[i].owes_rank == number;
    return n;
}

static int label_rank(drawing *d, uint32_t rank) {
    const xsa_blame *b = blame_of(d);
    uint32_t n = findings_by(d, d->ranks[rank].number);
    double slow = b && rank < b->rank_count ? b->ranks[rank].slow : 0;
    track_info *t = &d->tracks[d->ranks[rank].process];
    if (n)
        t->labels[0] = strings_format(&d->texts, "%u finding%s", n, n == 1 ? "" : "s");
    if (slow >= SLOW)
        t->labels[1] = strings_format(&d->texts, "slow: %.2fx", slow);
    return n || slow >= SLOW ? tracks_again(d, d->ranks[rank].process) : XS_OK;
}

int path_finish(drawing *d) {
    const xsa_blame *b = blame_of(d);
    if (!findings_of(d))
        return XS_OK;
    uint32_t *lanes = calloc(d->model->rank_count + 1u, sizeof *lanes);
    int rc = !lanes ? XS_E_MEMORY : b && b->span_count ? draw_spans(d, lanes) : XS_OK;
    free(lanes);
    for (uint32_t i = 0; i < d->model->rank_count && !rc; i++)
        rc = label_rank(d, i);
    return rc;
}
