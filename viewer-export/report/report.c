#include "report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

sqlite3_stmt *xsv_ask(xsv_report_state *r, const char *sql) {
    sqlite3_stmt *s = NULL;
    if (!r->rc && sqlite3_prepare_v2(r->db, sql, -1, &s, NULL) != SQLITE_OK)
        r->rc = sqlite3_errcode(r->db) == SQLITE_NOMEM ? XS_E_MEMORY : XS_E_FORMAT;
    return s;
}

int xsv_next(xsv_report_state *r, sqlite3_stmt *s) {
    int step = s ? sqlite3_step(s) : SQLITE_DONE;
    if (step == SQLITE_ROW)
        return 1;
    if (step != SQLITE_DONE && !r->rc)
        r->rc = (step & 0xff) == SQLITE_NOMEM ? XS_E_MEMORY : XS_E_FORMAT;
    sqlite3_finalize(s);
    return 0;
}

int64_t xsv_ask_number(xsv_report_state *r, const char *sql) {
    int64_t value = 0;
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s);)
        value = xsv_number(s, 0);
    return value;
}

int64_t xsv_number(sqlite3_stmt *s, int column) { return sqlite3_column_int64(s, column); }

const char *xsv_text(sqlite3_stmt *s, int column) {
    const char *text = (const char *)sqlite3_column_text(s, column);
    return text ? text : "";
}

int xsv_is_null(sqlite3_stmt *s, int column) { return sqlite3_column_type(s, column) == SQLITE_NULL; }

/* What matters most comes first: a reader may stop after any line. */
static void write_text(xsv_report_state *r) {
    xsv_section_headline(r);
    xsv_section_findings(r);
    xsv_section_open(r);
    xsv_section_run(r);
    xsv_section_share(r);
    xsv_section_latency(r);
    xsv_section_slowest(r);
    xsv_section_health(r);
}

static void read_shares(xsv_report_state *r) {
    int room = 0;
    for (sqlite3_stmt *s = xsv_ask(r, "SELECT rank, coalesce(peer, -1), waited_ns FROM rank_share"); xsv_next(r, s);) {
        if (r->share_count == room) {
            xsv_rank_share *bigger = realloc(r->shares, (size_t)(room = room * 2 + 64) * sizeof *bigger);
            if (!bigger) {
                r->rc = XS_E_MEMORY;
                sqlite3_finalize(s);
                return;
            }
            r->shares = bigger;
        }
        r->shares[r->share_count++] = (xsv_rank_share){xsv_number(s, 0), xsv_number(s, 1), xsv_number(s, 2)};
    }
}

static int write_report(xsv_report_state *r, const char *path) {
    r->begin_ns = xsv_ask_number(r, "SELECT begin_ns FROM run");
    r->end_ns = xsv_ask_number(r, "SELECT end_ns FROM run");
    if (!r->options->json)
        read_shares(r);
    if (r->options->json)
        r->rc = r->rc ? r->rc : xsv_report_json(r);
    else if (r->options->html)
        r->rc = r->rc ? r->rc : xsv_report_html(r, path);
    else
        write_text(r);
    if (!r->rc && (fflush(r->out) || ferror(r->out)))
        r->rc = XS_E_SYSTEM;
    return r->rc;
}

int xsv_report(const char *path, const xsv_report_options *options, FILE *out, char **error) {
    xsv_report_options own = {.size = sizeof own};
    if (error)
        *error = NULL;
    if (!path || !out)
        return xsv_error(error, XS_E_ARGUMENT, "an argument is missing");
    if (options)
        memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
    sqlite3 *db;
    int rc = xsv_database_open(path, &db, error);
    if (rc)
        return rc;
    xsv_report_state r = {.db = db, .out = out, .options = &own, .rows = own.rows ? own.rows : 10};
    if ((rc = write_report(&r, path)))
        xsv_error(error, 0, "%s: %s", rc == XS_E_SYSTEM ? "output" : path,
                  rc == XS_E_SYSTEM ? strerror(errno) : sqlite3_errmsg(db));
    free(r.shares);
    sqlite3_close(db);
    return rc;
}
