/* The critical path: tables blame_path, blame_span, blame_sum, blame_slot and blame_rank. */
#include "catalog.h"

#define INT(v) xsv_put_int(&p, (int64_t)(v))
#define INDEX(v) xsv_put_index(&p, v)
#define WHY(v) xsv_put_text(&p, (v) == XSA_BLAME_KNOWN ? NULL : xsa_blame_why_text(v))

static int put_path(xsv_catalog *c, const xsa_blame *b) {
    xsv_put p;
    xsv_put_begin(&p, c, XSV_T_blame_path);
    INT(b->begin), INT(b->end), INT(b->hang), INT(b->cuts), INT(b->joined_ns);
    xsv_put_row(&p);
    return xsv_put_end(&p);
}

static int put_spans(xsv_catalog *c, const xsa_blame *b) {
    xsv_put p;
    xsv_put_begin(&p, c, XSV_T_blame_span);
    for (uint32_t i = 0; i < b->span_count && p.rc == SQLITE_OK; i++) {
        const xsa_span *s = &b->spans[i];
        INT(i + 1), INDEX(s->rank), INDEX(s->owes_rank), INDEX(s->slot), INT(s->begin), INT(s->end), INT(s->part), WHY(s->why);
        INDEX(s->writer), INT(s->epoch), INT(s->pieces);
        xsv_put_row(&p);
    }
    return xsv_put_end(&p);
}

static int put_sums(xsv_catalog *c, const xsa_blame *b) {
    xsv_put p;
    xsv_put_begin(&p, c, XSV_T_blame_sum);
    for (uint32_t i = 0; i < b->sum_count && p.rc == SQLITE_OK; i++) {
        const xsa_blamed *s = &b->sums[i];
        INDEX(s->rank), INDEX(s->owes_rank), INDEX(s->slot), INT(s->part), WHY(s->why), INT(s->ns);
        xsv_put_row(&p);
    }
    return xsv_put_end(&p);
}

static int put_slots(xsv_catalog *c, const xsa_blame *b) {
    xsv_put p;
    xsv_put_begin(&p, c, XSV_T_blame_slot);
    for (uint32_t i = 0; i < b->slot_count && p.rc == SQLITE_OK; i++) {
        const xsa_slot_blame *s = &b->slots[i];
        INT(i + 1), INDEX(s->slot), INDEX(s->owes_rank), INT(s->ns), INT(s->lag_ns);
        xsv_put_time(&p, s->slack_ns < 0 ? INT64_MIN : s->slack_ns);
        INT(s->awaited);
        xsv_put_row(&p);
    }
    return xsv_put_end(&p);
}

static int put_ranks(xsv_catalog *c, const xsa_blame *b) {
    xsv_put p;
    xsv_put_begin(&p, c, XSV_T_blame_rank);
    for (uint32_t i = 0; i < b->rank_count && p.rc == SQLITE_OK; i++) {
        INT(b->ranks[i].rank);
        xsv_put_real(&p, b->ranks[i].slow, b->ranks[i].slow > 0);
        xsv_put_row(&p);
    }
    return xsv_put_end(&p);
}

int xsv_catalog_blame(xsv_catalog *c, const xsa_result *result) {
    const xsa_blame *b = result ? result->blame : NULL;
    int rc = SQLITE_OK;
    int (*const parts[])(xsv_catalog *, const xsa_blame *) = {put_path, put_spans, put_sums, put_slots, put_ranks};
    for (size_t i = 0; b && i < sizeof parts / sizeof *parts && rc == SQLITE_OK; i++)
        rc = parts[i](c, b);
    return rc;
}
