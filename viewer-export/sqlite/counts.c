#include "catalog.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <xs/export.h>

static int by_class(const void *left, const void *right) {
    const xsv_tally_row *a = left, *b = right;
    if (a->pad != b->pad)
        return a->pad < b->pad ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->supplier != b->supplier)
        return a->supplier < b->supplier ? -1 : 1;
    return a->bucket < b->bucket ? -1 : a->bucket > b->bucket;
}

/* Sorted, so that the same capture gives the same file. */
static xsv_tally_row *sorted_rows(const xsv_tally *t) {
    xsv_tally_row *rows = malloc((t->used + 1) * sizeof *rows);
    uint32_t n = 0;
    for (uint32_t i = 0; rows && i < t->size; i++)
        if (t->rows[i].waits)
            rows[n++] = t->rows[i];
    if (rows)
        qsort(rows, n, sizeof *rows, by_class);
    return rows;
}

static int wait_tally(xsv_catalog *c) {
    xsv_tally_row *rows = sorted_rows(&c->rows->tally);
    if (!rows)
        return SQLITE_NOMEM;
    xsv_put p;
    xsv_put_begin(&p, c, XSV_T_wait_tally);
    for (uint32_t i = 0; i < c->rows->tally.used; i++) {
        const xsv_tally_row *r = &rows[i];
        xsv_put_index(&p, r->pad);
        xsv_put_index(&p, r->rank);
        xsv_put_index(&p, r->supplier);
        xsv_put_int(&p, r->bucket);
        const uint64_t values[] = {r->waits, r->passed, r->failed, r->total_ns, r->blocked_ns, r->max_ns};
        for (size_t v = 0; v < sizeof values / sizeof values[0]; v++)
            xsv_put_int(&p, (int64_t)values[v]);
        xsv_put_row(&p);
    }
    free(rows);
    return xsv_put_end(&p);
}

static int rank_tally(xsv_catalog *c) {
    xsv_put p;
    xsv_put_begin(&p, c, XSV_T_rank_tally);
    const xsv_tally *t = &c->rows->rank_waits;
    for (uint32_t i = 0; i < t->size; i++) {
        const xsv_tally_row *r = &t->rows[i];
        if (!r->waits)
            continue;
        xsv_put_index(&p, r->rank);
        xsv_put_index(&p, r->supplier);
        xsv_put_int(&p, (int64_t)r->waits);
        xsv_put_int(&p, (int64_t)r->total_ns);
        xsv_put_row(&p);
    }
    return xsv_put_end(&p);
}

static int reason_tally(xsv_catalog *c) {
    xsv_put p;
    xsv_put_begin(&p, c, XSV_T_reason_tally);
    for (uint32_t i = 0; i < 2 * XSR_REASON_COUNT; i++) {
        uint32_t reason = i % XSR_REASON_COUNT;
        xsv_put_text(&p, i < XSR_REASON_COUNT ? "reads_from" : "released_by");
        xsv_put_int(&p, reason);
        const uint64_t *counts = i < XSR_REASON_COUNT ? c->rows->tally.reads_from : c->rows->tally.released_by;
        xsv_put_int(&p, (int64_t)counts[reason]);
        xsv_put_row(&p);
    }
    return xsv_put_end(&p);
}

static void meta_text(xsv_put *p, const char *key, const char *value) {
    xsv_put_text(p, key);
    xsv_put_text(p, value);
    xsv_put_row(p);
}

static void meta_int(xsv_put *p, const char *key, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    meta_text(p, key, text);
}

static int meta(xsv_catalog *c) {
    const xsr_model *m = c->model;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", XS_VERSION_MAJOR, XS_VERSION_MINOR, XS_VERSION_PATCH);
    xsv_put p;
    xsv_put_begin(&p, c, XSV_T_meta);
    meta_int(&p, "schema_version", XSV_SCHEMA_VERSION);
    meta_text(&p, "xs_version", version);
    meta_int(&p, "capture_version", XS_CAPTURE_VERSION);
    meta_text(&p, "captures", c->captures);
    meta_int(&p, "begin_ns", m->begin);
    meta_int(&p, "end_ns", m->end > c->rows->last_time ? m->end : c->rows->last_time);
    meta_int(&p, "events", (int64_t)xsv_pipe_rows(c->rows->pipe, XSV_T_event));
    meta_int(&p, "starts_lost", (int64_t)c->rows->starts_lost);
    meta_int(&p, "ends_lost", (int64_t)c->rows->ends_lost);
    meta_int(&p, "closed", m->closed);
    meta_int(&p, "cut", m->cut);
    meta_int(&p, "damaged_frames", (int64_t)m->damaged_frames);
    meta_int(&p, "damaged_bytes", (int64_t)m->damaged_bytes);
    meta_int(&p, "missing_frames", (int64_t)m->missing_frames);
    meta_int(&p, "complete", 1); /* in the transaction that makes the rest visible */
    return xsv_put_end(&p);
}

int xsv_catalog_counts(xsv_catalog *c) {
    int rc = wait_tally(c);
    if (rc == SQLITE_OK)
        rc = rank_tally(c);
    if (rc == SQLITE_OK)
        rc = reason_tally(c);
    return rc == SQLITE_OK ? meta(c) : rc;
}
