#ifndef XSV_HTML_H
#define XSV_HTML_H

#include "report.h"

enum xsv_cell_kind { XSV_CELL_TEXT, XSV_CELL_CODE, XSV_CELL_COUNT, XSV_CELL_TIME, XSV_CELL_SINCE_BEGIN, XSV_CELL_RANK };

/* Column i of a question's rows. A NULL is shown as a dash, the rank of an unknown supplier as "unknown". */
typedef struct xsv_html_column {
    const char *heading;
    enum xsv_cell_kind kind;
} xsv_html_column;

/* One question as a table; `last` (or NULL) writes one more cell of a row, under the heading behind the columns. */
typedef struct xsv_html_table {
    const char *title, *about; /* NULL: no line below the title */
    const char *sql;
    const xsv_html_column *columns; /* ends with heading NULL */
    const char *last_heading;
    void (*last)(xsv_report_state *r, sqlite3_stmt *row, const void *user);
    const void *user;
    const char *none; /* said where there is no row; NULL: then the section is left out */
} xsv_html_table;

void xsv_html_escaped(FILE *out, const char *text); /* for text and for quoted attributes */
void xsv_html_section(xsv_report_state *r, const char *title, const char *about);
void xsv_html_section_end(xsv_report_state *r);
void xsv_html_rows(xsv_report_state *r, const xsv_html_table *table);

void xsv_html_style(FILE *out);
void xsv_html_findings(xsv_report_state *r);
void xsv_html_blame(xsv_report_state *r);     /* where the time went */
void xsv_html_shares(xsv_report_state *r);    /* who waited for whom */
void xsv_html_latencies(xsv_report_state *r); /* by slot class, and of all waits */

#endif
