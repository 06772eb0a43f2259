/* A database that is asked: opened, questions in order, the first error kept. */
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

/* Each part's rows as one array, behind a comma. */
void xsv_json_parts(xsv_report_state *r, const xsv_json_part *parts, size_t count) {
    for (size_t i = 0; i < count; i++) {
        sqlite3_stmt *s = xsv_ask(r, parts[i].sql);
        if (!s)
            return;
        fputs(",\n", r->out);
        xsv_json_string(parts[i].name, r->out);
        fputs(": ", r->out);
        int rc = xsv_write_json(s, r->out);
        r->rc = r->rc ? r->rc : rc;
        sqlite3_finalize(s);
    }
    fputs("}\n", r->out);
}

int xsv_report_open(xsv_report_state *r, const char *path, const xsv_report_options *options, FILE *out, char **error) {
    *r = (xsv_report_state){.out = out, .options = options, .rows = options->rows ? options->rows : 10};
    if (error)
        *error = NULL;
    if (!path || !out)
        return xsv_error(error, XS_E_ARGUMENT, "an argument is missing");
    int rc = xsv_database_open(path, &r->db, error);
    if (rc)
        return rc;
    r->begin_ns = xsv_ask_number(r, "SELECT begin_ns FROM run");
    r->end_ns = xsv_ask_number(r, "SELECT end_ns FROM run");
    return 0;
}

int xsv_report_close(xsv_report_state *r, const char *path, char **error) {
    if (!r->rc && (fflush(r->out) || ferror(r->out)))
        r->rc = XS_E_SYSTEM;
    if (r->rc)
        xsv_error(error, 0, "%s: %s", r->rc == XS_E_SYSTEM ? "output" : path,
                  r->rc == XS_E_SYSTEM ? strerror(errno) : sqlite3_errmsg(r->db));
    free(r->shares);
    sqlite3_close(r->db);
    return r->rc;
}
