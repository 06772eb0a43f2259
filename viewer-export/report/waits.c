#include "report.h"

#include <inttypes.h>
#include <string.h>

void xsv_section_open(xsv_report_state *r) {
    int64_t rows = 0, all = xsv_ask_number(r, "SELECT open FROM run"), most = (int64_t)r->rows * 2;
    char sql[192]; /* a statement is asked to its end: that frees it */
    snprintf(sql, sizeof sql,
             "SELECT rank, slot, peer, observed, need, open_ns, writer, supplier_known_from, " XSV_SOURCE
             ", end_lost FROM open_waits "
             "LIMIT %" PRId64,
             most);
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s); rows++) {
        if (!rows) {
            xsv_heading(r, "Open waits, oldest first");
            fputs("   rank  slot                     has    needs  owed by    open for  in writer, at\n", r->out);
        }
        fprintf(r->out, "  %5" PRId64 "  ", xsv_number(s, 0));
        xsv_cell(r->out, xsv_text(s, 1), 19);
        fprintf(r->out, " %8" PRId64 " %8" PRId64 "  ", xsv_number(s, 3), xsv_number(s, 4));
        xsv_cell(r->out, xsv_rank_words(s, 2, xsv_number(s, 0)).text, 9);
        fprintf(r->out, " %9s  ", xsv_time(xsv_number(s, 5)).text);
        fprintf(r->out, "%.30s%s%s%s\n", *xsv_text(s, 6) ? xsv_text(s, 6) : "unknown", xsv_is_null(s, 8) ? "" : ", ",
                xsv_text(s, 8), xsv_number(s, 9) ? ", end lost?" : "");
    }
    if (all > most)
        fprintf(r->out, "  ... and %s more: xs query NAME open_waits\n", xsv_count(all - most).text);
}

/* Who released it, how long after its begin the signal came, how long it took to be seen; or why that is not known. */
static void print_slow(xsv_report_state *r, sqlite3_stmt *s) {
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

void xsv_section_slowest(xsv_report_state *r) {
    int64_t remote = xsv_ask_number(r, "SELECT count(*) FROM (SELECT 1 FROM slowest_remote_waits LIMIT 1)");
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT rank, slot, latency_ns, begin_ns, released_by_rank, late_ns, lag_ns, released_by_reason, result, "
             "result != 'OK' FROM %s LIMIT %u",
             remote ? "slowest_remote_waits" : "slowest_waits", r->rows);
    int rows = 0;
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s); rows++) {
        if (!rows) {
            xsv_heading(r, remote ? "Slowest waits for another rank" : "Slowest waits");
            fputs("   rank  slot                            took   begun at  released by   came after    seen in\n",
                  r->out);
        }
        print_slow(r, s);
    }
    xsv_color(r, XSV_DIM);
    if (rows)
        fputs("  came after: when the signal came, from the wait's begin; seen in: how long until the waiter saw it\n",
              r->out);
    xsv_color(r, XSV_PLAIN);
}

static double share_of_run(const xsv_report_state *r, int64_t ns) {
    double run = (double)(r->end_ns - r->begin_ns);
    return run > 0 ? (double)ns / run : 0;
}

static void say_peer(const xsv_report_state *r, const char *name, int64_t ns) {
    fputs("    for ", r->out);
    xsv_cell(r->out, name, 12);
    fprintf(r->out, " %6s  ", xsv_share(share_of_run(r, ns)).text);
    xsv_bar(r, share_of_run(r, ns), 40);
    fprintf(r->out, " %s\n", xsv_time(ns).text);
}

/* The ranks it waited for most; the rest in one line. Shares of a rank come sorted. */
static void say_rank(xsv_report_state *r, int64_t rank) {
    int64_t all = 0, others = 0;
    int said = 0, left = 0;
    for (int i = 0; i < r->share_count; i++)
        all += r->shares[i].rank == rank ? r->shares[i].ns : 0;
    fprintf(r->out, "  rank %-4" PRId64 "    %6s%s\n", rank, xsv_share(share_of_run(r, all)).text,
            all ? "" : "  waited for no other rank");
    for (int i = 0; i < r->share_count; i++) {
        const xsv_rank_share *e = &r->shares[i];
        char name[32] = "unknown";
        if (e->rank != rank)
            continue;
        if (said >= 4) {
            left++;
            others += e->ns;
            continue;
        }
        if (e->peer >= 0)
            snprintf(name, sizeof name, "rank %" PRId64, e->peer);
        say_peer(r, name, e->ns);
        said++;
    }
    if (left) {
        char name[32];
        snprintf(name, sizeof name, "%d more", left);
        say_peer(r, name, others);
    }
}

static void say_writers(xsv_report_state *r) {
    static const char sql[] =
        "SELECT rank, sum(share), sum(CASE WHEN local THEN share END) FROM wait_share GROUP BY rank "
        "ORDER BY 2 DESC, rank LIMIT ";
    char text[200];
    snprintf(text, sizeof text, "%s%u", sql, r->rows * 2);
    int rows = 0, room = 0; /* of the cell before: no line ends in blanks */
    for (sqlite3_stmt *s = xsv_ask(r, text); xsv_next(r, s); rows++) {
        if (!rows)
            fputs("\n  Time of its writers (warps) in waits, and the part of it for the rank itself (gates and the "
                  "like):\n",
                  r->out);
        char cell[96];
        snprintf(cell, sizeof cell, "rank %" PRId64 " %s (%s)", xsv_number(s, 0),
                 xsv_share(sqlite3_column_double(s, 1)).text, xsv_share(sqlite3_column_double(s, 2)).text);
        fprintf(r->out, "%*s%s", rows % 4 ? room : 0, "", rows % 4 ? "" : rows ? "\n  " : "  ");
        int wide = fprintf(r->out, "%s", cell);
        room = wide < 24 ? 24 - wide : 1;
    }
    if (rows)
        fputc('\n', r->out);
}

void xsv_section_share(xsv_report_state *r) {
    static const char sql[] =
        "SELECT rank FROM (SELECT k.rank, sum(s.waited_ns) AS ns FROM (SELECT DISTINCT rank FROM rank) k "
        "LEFT JOIN rank_share s ON s.rank = k.rank GROUP BY k.rank ORDER BY ns DESC, k.rank LIMIT %u) "
        "ORDER BY rank";
    char text[300];
    int64_t ranks = xsv_ask_number(r, "SELECT count(DISTINCT rank) FROM rank");
    snprintf(text, sizeof text, sql, r->rows * 2);
    xsv_heading(r, "Share of the run that each rank waited for other ranks (at each moment, its oldest open wait)");
    for (sqlite3_stmt *s = xsv_ask(r, text); xsv_next(r, s);)
        say_rank(r, xsv_number(s, 0));
    if (ranks > (int64_t)r->rows * 2)
        fprintf(r->out, "  ... and %s ranks that waited less: xs query NAME rank_share\n",
                xsv_count(ranks - (int64_t)r->rows * 2).text);
    say_writers(r);
}
