/* Findings in full, worst first. */
#include "html.h"

#include <inttypes.h>
#include <string.h>

static void put_part(xsv_report_state *r, const char *label, const char *text) {
    if (!*text)
        return;
    fprintf(r->out, "<dt>%s</dt><dd>", label);
    xsv_html_escaped(r->out, text);
    fputs("</dd>", r->out);
}

static void put_who(xsv_report_state *r, sqlite3_stmt *s, const char *label, int rank, int block) {
    char text[64];
    if (xsv_is_null(s, rank))
        return;
    int at = snprintf(text, sizeof text, "rank %" PRId64, xsv_number(s, rank));
    if (!xsv_is_null(s, block))
        snprintf(text + at, sizeof text - (size_t)at, " block %" PRId64, xsv_number(s, block));
    put_part(r, label, text);
}

static void put_finding(xsv_report_state *r, sqlite3_stmt *s) {
    fputs("<div class=\"finding ", r->out);
    xsv_html_escaped(r->out, xsv_text(s, 0));
    fputs("\"><b>", r->out);
    xsv_html_escaped(r->out, xsv_text(s, 0));
    fputs(" ", r->out);
    xsv_html_escaped(r->out, xsv_text(s, 1));
    fputs("</b>", r->out);
    xsv_html_escaped(r->out, xsv_text(s, 2));
    fputs("<dl>", r->out);
    put_who(r, s, "owes", 4, 5);
    put_who(r, s, "victim", 6, 7);
    put_part(r, "at", xsv_text(s, 13));
    put_part(r, "cure", xsv_text(s, 3));
    put_part(r, "confidence", xsv_text(s, 8));
    if (xsv_number(s, 9))
        put_part(r, "lost records that bear on it", xsv_count(xsv_number(s, 9)).text);
    put_part(r, "explains", xsv_text(s, 10));
    put_part(r, "evidence", xsv_text(s, 11));
    put_part(r, "id", xsv_text(s, 12));
    fputs("</dl></div>\n", r->out);
}

static void put_unknown(xsv_report_state *r) {
    static const xsv_html_column columns[] = {{"detector", XSV_CELL_CODE}, {"why", XSV_CELL_TEXT}, {NULL, 0}};
    static const xsv_html_table table = {
        .title = "Verdicts that are unknown",
        .about = "A clean bill is not given where the records that could hold a fault are lost.",
        .sql = "SELECT detector, why FROM verdicts WHERE status = 'unknown'",
        .columns = columns};
    xsv_html_rows(r, &table);
}

void xsv_html_findings(xsv_report_state *r) {
    int64_t rows = 0, most = (int64_t)r->rows * 5;
    for (sqlite3_stmt *s = xsv_ask(r, XSV_FINDINGS("")); xsv_next(r, s); rows++) {
        if (!rows)
            xsv_html_section(r, "Findings", NULL);
        if (rows < most)
            put_finding(r, s);
    }
    if (rows > most)
        fprintf(r->out, "<p>%s more: <code>xs check</code></p>\n", xsv_count(rows - most).text);
    if (rows)
        xsv_html_section_end(r);
    put_unknown(r);
}
