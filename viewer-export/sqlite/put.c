#include "catalog.h"

/* Errors stick: a caller looks once, at the end. */
void xsv_put_begin(xsv_put *p, xsv_catalog *c, enum xsv_table_id table) {
    *p = (xsv_put){.columns = (int)xsv_tables[table].count, .written = &c->written};
    p->rc = xsv_schema_insert(c->db, &xsv_tables[table], 1, &p->statement);
}

void xsv_put_int(xsv_put *p, int64_t value) {
    if (p->rc == SQLITE_OK)
        p->rc = sqlite3_bind_int64(p->statement, ++p->column, value);
}

static void put_null(xsv_put *p) {
    if (p->rc == SQLITE_OK)
        p->rc = sqlite3_bind_null(p->statement, ++p->column);
}

void xsv_put_index(xsv_put *p, uint32_t index) {
    if (index == XSR_NONE)
        put_null(p);
    else
        xsv_put_int(p, index);
}

void xsv_put_time(xsv_put *p, int64_t time) {
    if (time == INT64_MIN || time == INT64_MAX)
        put_null(p);
    else
        xsv_put_int(p, time);
}

void xsv_put_real(xsv_put *p, double value, int known) {
    if (!known)
        put_null(p);
    else if (p->rc == SQLITE_OK)
        p->rc = sqlite3_bind_double(p->statement, ++p->column, value);
}

void xsv_put_text(xsv_put *p, const char *text) {
    if (!text)
        put_null(p);
    else if (p->rc == SQLITE_OK)
        p->rc = sqlite3_bind_text(p->statement, ++p->column, text, -1, SQLITE_TRANSIENT);
}

void xsv_put_row(xsv_put *p) {
    if (p->rc != SQLITE_OK)
        return;
    if (p->column != p->columns) {
        p->rc = SQLITE_MISUSE; /* schema.h and the caller disagree */
        return;
    }
    int rc = sqlite3_step(p->statement);
    p->rc = sqlite3_reset(p->statement);
    if (rc != SQLITE_DONE && p->rc == SQLITE_OK)
        p->rc = SQLITE_ERROR;
    p->column = 0;
    ++*p->written;
}

int xsv_put_end(xsv_put *p) {
    sqlite3_finalize(p->statement);
    p->statement = NULL;
    return p->rc;
}
