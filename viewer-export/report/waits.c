#include "report.h"

#include <inttypes.h>

void xsv_section_open(xsv_report_state *r)
{
    static const char sql[] = "SELECT rank, slot, peer, observed, need, open_ns, writer, supplier_known_from, line "
                              "FROM open_waits";
    int64_t rows = 0, all = xsv_ask_number(r, "SELECT open FROM run");
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s); rows++) {
        if (!rows)
            xsv_heading(r, "Open waits, oldest first: who owes the signal");
        if (rows >= (int64_t)r->rows * 2)
            continue;
        fprintf(r->out, "  rank %-4" PRId64 " ", xsv_number(s, 0));
        xsv_cell(r->out, xsv_text(s, 1), 24);
        fprintf(r->out, " has %" PRId64 ", needs %" PRId64 "; owed by %s%s%s%s; open for %s\n", xsv_number(s, 3),
                xsv_number(s, 4), xsv_rank_words(s, 2, xsv_number(s, 0)).text, *xsv_text(s, 7) ? " (" : "",
                xsv_text(s, 7), *xsv_text(s, 7) ? ")" : "", xsv_time(xsv_number(s, 5)).text);
        fputs("            in ", r->out);
        xsv_cell(r->out, *xsv_text(s, 6) ? xsv_text(s, 6) : "unknown writer", 32);
        if (!xsv_is_null(s, 8))
            fprintf(r->out, " line %" PRId64, xsv_number(s, 8));
        fputc('\n', r->out);
    }
    if (all > (int64_t)r->rows * 2)
        fprintf(r->out, "  ... and %s more: xs query NAME open_waits\n", xsv_count(all - (int64_t)r->rows * 2).text);
}

/* Who released it, how long after its begin the signal came, how long it took to be seen; or why that is not known. */
static void print_slow(xsv_report_state *r, sqlite3_stmt *s)
{
    fprintf(r->out, "  %5" PRId64 "  ", xsv_number(s, 0));
    xsv_cell(r->out, xsv_text(s, 1), 26);
    fprintf(r->out, " %9s %10s  ", xsv_time(xsv_number(s, 2)).text, xsv_time(xsv_number(s, 3) - r->begin_ns).text);
    if (xsv_number(s, 9)) {
        fprintf(r->out, "gave up: %s\n", xsv_text(s, 8));
    } else if (xsv_is_null(s, 5)) {
        fprintf(r->out, "- (%s)\n", xsv_text(s, 7));
    } else {
        xsv_cell(r->out, xsv_rank_words(s, 4, xsv_number(s, 0)).text, 11);
        fprintf(r->out, " %9s  %9s\n", xsv_time(xsv_number(s, 5)).text,
                xsv_is_null(s, 6) ? "-" : xsv_time(xsv_number(s, 6)).text);
    }
}

void xsv_section_slowest(xsv_report_state *r)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT rank, slot, latency_ns, begin_ns, released_by_rank, late_ns, lag_ns, released_by_reason, result, "
             "result != 'OK' FROM slowest_waits LIMIT %u",
             r->rows);
    int rows = 0;
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s); rows++) {
        if (!rows) {
            xsv_heading(r, "Slowest waits: who released them, how long after the wait began, and when that was seen");
            fputs("   rank  slot                            took   at (run)  released by   came after    seen in\n",
                  r->out);
        }
        print_slow(r, s);
    }
}

static void say_writers(xsv_report_state *r, int64_t rank)
{
    sqlite3_stmt *s = xsv_ask(r, "SELECT sum(share), sum(CASE WHEN local THEN share END) FROM wait_share WHERE rank = "
                                 "?");
    if (s)
        sqlite3_bind_int64(s, 1, rank);
    while (xsv_next(r, s)) {
        xsv_color(r, XSV_DIM);
        fprintf(r->out, "  its writers spent %s of their time in waits", xsv_share(sqlite3_column_double(s, 0)).text);
        if (!xsv_is_null(s, 1))
            fprintf(r->out, ", %s in those for the rank itself", xsv_share(sqlite3_column_double(s, 1)).text);
        xsv_color(r, XSV_PLAIN);
    }
    fputc('\n', r->out);
}

static void say_rank(xsv_report_state *r, int64_t rank)
{
    double run = (double)(r->end_ns - r->begin_ns), all = 0;
    for (int i = 0; i < r->share_count; i++)
        all += r->shares[i].rank == rank ? (double)r->shares[i].ns : 0;
    fprintf(r->out, "  rank %-4" PRId64 " %6s", rank, xsv_share(run > 0 ? all / run : 0).text);
    say_writers(r, rank);
    for (int i = 0; i < r->share_count; i++) {
        const xsv_rank_share *e = &r->shares[i];
        if (e->rank != rank)
            continue;
        if (e->peer < 0)
            fputs("    for unknown   ", r->out);
        else
            fprintf(r->out, "    for rank %-5" PRId64, e->peer);
        fprintf(r->out, " %6s  ", xsv_share(run > 0 ? (double)e->ns / run : 0).text);
        xsv_bar(r, run > 0 ? (double)e->ns / run : 0, 40);
        fprintf(r->out, " %s\n", xsv_time(e->ns).text);
    }
}

void xsv_section_share(xsv_report_state *r)
{
    xsv_heading(r, "Share of the run that each rank waited for another, by the rank that its oldest open wait was for");
    for (sqlite3_stmt *s = xsv_ask(r, "SELECT DISTINCT rank FROM rank ORDER BY rank"); xsv_next(r, s);)
        say_rank(r, xsv_number(s, 0));
}
