/* A question's rows as a table. */
#include "html.h"

#include <inttypes.h>

void xsv_html_escaped(FILE *out, const char *text) {
    for (size_t taken; *text; text += taken)
        switch (taken = 1, *text) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            taken = xsv_put_character(text, out);
        }
}

void xsv_html_section(xsv_report_state *r, const char *title, const char *about) {
    fprintf(r->out, "<section>\n<h2>");
    xsv_html_escaped(r->out, title);
    fputs("</h2>\n", r->out);
    if (!about)
        return;
    fputs("<p class=\"about\">", r->out);
    xsv_html_escaped(r->out, about);
    fputs("</p>\n", r->out);
}

void xsv_html_section_end(xsv_report_state *r) { fputs("</section>\n", r->out); }

static int is_number(enum xsv_cell_kind kind) { return kind >= XSV_CELL_COUNT && kind != XSV_CELL_RANK; }

static void put_head(xsv_report_state *r, const xsv_html_table *t) {
    fputs("<div class=\"wide\"><table>\n<thead><tr>", r->out);
    for (int i = 0; t->columns[i].heading; i++) {
        fprintf(r->out, "<th%s>", is_number(t->columns[i].kind) ? " class=\"number\"" : "");
        xsv_html_escaped(r->out, t->columns[i].heading);
        fputs("</th>", r->out);
    }
    if (t->last)
        fprintf(r->out, "<th>%s</th>", t->last_heading);
    fputs("</tr></thead>\n<tbody>\n", r->out);
}

/* Times in their own precision stand in the cell's title. */
static void put_time(xsv_report_state *r, int64_t ns) {
    fprintf(r->out, "<td class=\"number\" title=\"%" PRId64 " ns\">%s</td>", ns, xsv_time(ns).text);
}

static void put_cell(xsv_report_state *r, sqlite3_stmt *s, int column, enum xsv_cell_kind kind) {
    if (xsv_is_null(s, column)) {
        fputs(kind == XSV_CELL_RANK ? "<td>unknown</td>" : "<td class=\"none\">–</td>", r->out);
    } else if (kind == XSV_CELL_TIME || kind == XSV_CELL_SINCE_BEGIN) {
        put_time(r, xsv_number(s, column) - (kind == XSV_CELL_TIME ? 0 : r->begin_ns));
    } else if (kind == XSV_CELL_COUNT) {
        fprintf(r->out, "<td class=\"number\">%s</td>", xsv_count(xsv_number(s, column)).text);
    } else if (kind == XSV_CELL_RANK) {
        fprintf(r->out, "<td>rank %" PRId64 "</td>", xsv_number(s, column));
    } else {
        fprintf(r->out, "<td%s>", kind == XSV_CELL_CODE ? " class=\"code\"" : "");
        xsv_html_escaped(r->out, xsv_text(s, column));
        fputs("</td>", r->out);
    }
}

void xsv_html_rows(xsv_report_state *r, const xsv_html_table *t) {
    int rows = 0;
    for (sqlite3_stmt *s = xsv_ask(r, t->sql); xsv_next(r, s); rows++) {
        if (!rows) {
            xsv_html_section(r, t->title, t->about);
            put_head(r, t);
        }
        fputs("<tr>", r->out);
        for (int i = 0; t->columns[i].heading; i++)
            put_cell(r, s, i, t->columns[i].kind);
        if (t->last) {
            fputs("<td>", r->out);
            t->last(r, s, t->user);
            fputs("</td>", r->out);
        }
        fputs("</tr>\n", r->out);
    }
    if (rows) {
        fputs("</tbody></table></div>\n", r->out);
    } else if (t->none) {
        xsv_html_section(r, t->title, NULL);
        fprintf(r->out, "<p>%s</p>\n", t->none);
    }
    if (rows || t->none)
        xsv_html_section_end(r);
}
