/* The tables that are filled when the pass is over: the model, words, tallies, meta. */
#ifndef XSV_CATALOG_H
#define XSV_CATALOG_H

#include <xs/analyse.h>

#include "rows.h"

typedef struct xsv_catalog {
    sqlite3 *db;
    const xsr_model *model;
    const xsv_rows *rows;
    const char *captures; /* "" if not said */
    uint64_t written;     /* rows */
} xsv_catalog;

/* Each returns a result code of SQLite. */
int xsv_catalog_model(xsv_catalog *catalog);
int xsv_catalog_activities(xsv_catalog *catalog); /* what CUPTI told, and how it fared */
int xsv_catalog_words(xsv_catalog *catalog);
int xsv_catalog_counts(xsv_catalog *catalog); /* tallies and meta */
int xsv_catalog_findings(xsv_catalog *catalog, const xsa_result *result); /* NULL: none */

int xsv_catalog_blame(xsv_catalog *catalog, const xsa_result *result);

/* One row after the other into one table. */
typedef struct xsv_put {
    sqlite3_stmt *statement;
    int column, columns, rc;
    uint64_t *written;
} xsv_put;

void xsv_put_begin(xsv_put *put, xsv_catalog *catalog, enum xsv_table_id table);
void xsv_put_int(xsv_put *put, int64_t value);
void xsv_put_index(xsv_put *put, uint32_t index); /* NULL where XSR_NONE */
void xsv_put_time(xsv_put *put, int64_t time);    /* NULL where unknown */
void xsv_put_real(xsv_put *put, double value, int known); /* NULL where it is not */
void xsv_put_text(xsv_put *put, const char *text); /* NULL where NULL */
void xsv_put_row(xsv_put *put);
int xsv_put_end(xsv_put *put);

#endif
