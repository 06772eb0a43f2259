/* Where the time went: the critical path by part, rank and slot. */
#include "report.h"

#include <inttypes.h>
#include <string.h>

static void say_parts(xsv_report_state *r) {
    for (sqlite3_stmt *s =
             xsv_ask(r, "SELECT part, blamed_ns, share FROM blame_parts WHERE blamed_ns > 0 ORDER BY blamed_ns DESC");
         xsv_next(r, s);) {
        double share = sqlite3_column_double(s, 2);
        fputs("  ", r->out);
        xsv_cell(r->out, xsv_text(s, 0), 14);
        fprintf(r->out, " %6s  ", xsv_share(share).text);
        xsv_bar(r, share, 40);
        fprintf(r->out, " %s\n", xsv_time(xsv_number(s, 1)).text);
    }
}

static void say_rank_parts(xsv_report_state *r, sqlite3_stmt *s) {
    static const char *const names[] = {"compute", "publish", "link", "detection lag", "head of line",
                                        "late",    "start",   "owed", "unknown"};
    char text[512] = "";
    size_t at = 0;
    for (int i = 0; i < 9; i++)
        if (xsv_number(s, 3 + i) * 50 > xsv_number(s, 1)) /* 2 % of it */
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s %s", at ? ", " : "", names[i],
                                   xsv_time(xsv_number(s, 3 + i)).text);
    if (!xsv_is_null(s, 12) && sqlite3_column_double(s, 12) >= 1.2)
        snprintf(text + at, sizeof text - at, "; works %.2f times as long as the median rank",
                 sqlite3_column_double(s, 12));
    xsv_paragraph(r, 21, 21, text);
}

static void say_ranks(xsv_report_state *r) {
    static const char sql[] = "SELECT rank, blamed_ns, share, compute_ns, publish_ns, link_ns, detection_lag_ns, "
                              "head_of_line_ns, late_rank_ns, start_ns, "
                              "owed_ns, unknown_ns, slow FROM blame_ranks WHERE blamed_ns > 0 LIMIT ";
    char text[320];
    int rows = 0;
    snprintf(text, sizeof text, "%s%u", sql, r->rows);
    for (sqlite3_stmt *s = xsv_ask(r, text); xsv_next(r, s); rows++) {
        if (!rows)
            fputs("\n  On whom it is blamed:\n", r->out);
        fprintf(r->out, "  rank %-4" PRId64 " %6s  ", xsv_number(s, 0), xsv_share(sqlite3_column_double(s, 2)).text);
        say_rank_parts(r, s);
    }
}

static void say_slots(xsv_report_state *r) {
    static const char sql[] =
        "SELECT owes_rank, slot, blamed_ns, share, lag_ns, slack_ns FROM blame_slots WHERE blamed_ns > 0 LIMIT ";
    char text[200];
    int rows = 0;
    snprintf(text, sizeof text, "%s%u", sql, r->rows);
    for (sqlite3_stmt *s = xsv_ask(r, text); xsv_next(r, s); rows++) {
        if (!rows)
            fputs("\n  owed by    slot                                  time   share  of it lag      slack\n", r->out);
        char rank[32] = "unknown";
        if (!xsv_is_null(s, 0))
            snprintf(rank, sizeof rank, "rank %" PRId64, xsv_number(s, 0));
        fputs("  ", r->out);
        xsv_cell(r->out, rank, 10);
        fputc(' ', r->out);
        xsv_cell(r->out, xsv_text(s, 1), 30);
        fprintf(r->out, " %11s %7s %10s", xsv_time(xsv_number(s, 2)).text, xsv_share(sqlite3_column_double(s, 3)).text,
                xsv_time(xsv_number(s, 4)).text);
        fprintf(r->out, " %10s\n", xsv_is_null(s, 5) ? "-" : xsv_time(xsv_number(s, 5)).text);
    }
    xsv_color(r, XSV_DIM);
    if (rows)
        fputs("  time: of the path, until a signal that somebody waited for was seen; lag: from it until then;\n"
              "  slack: each signal of the slot, alone, could have come so much later without moving the end\n",
              r->out);
    xsv_color(r, XSV_PLAIN);
}

static int64_t part(xsv_report_state *r, const char *which) {
    char sql[160];
    snprintf(sql, sizeof sql, "SELECT coalesce(sum(blamed_ns), 0) FROM blame_parts WHERE part IN (%s)", which);
    return xsv_ask_number(r, sql);
}

static void say_bounds(xsv_report_state *r, int64_t length) {
    int64_t lag = part(r, "'link', 'detection-lag'"), line = part(r, "'head-of-line'");
    if (lag > length / 200) /* else it would last as long */
        fprintf(r->out, "  Were every signal seen at once, the run would still last at least %s.\n",
                xsv_time(length - lag).text);
    if (line > length / 200)
        fprintf(r->out, "  Were what is ready taken first, it would still last at least %s.\n",
                xsv_time(length - line).text);
}

static void say_unknown(xsv_report_state *r) {
    static const char sql[] =
        "SELECT why, sum(blamed_ns), sum(share) FROM blame WHERE part = 'unknown' GROUP BY why ORDER BY 2 DESC";
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s);)
        fprintf(r->out, "  Not known: %s (%s): %s.\n", xsv_time(xsv_number(s, 1)).text,
                xsv_share(sqlite3_column_double(s, 2)).text, xsv_text(s, 0));
    int64_t cuts = xsv_ask_number(r, "SELECT cuts FROM blame_path");
    if (cuts)
        fprintf(
            r->out,
            "  The run is long: in %s place%s the path was settled before its end was known, and goes on elsewhere.\n",
            xsv_count(cuts).text, cuts == 1 ? "" : "s");
}

void xsv_section_blame(xsv_report_state *r) {
    int64_t length = xsv_ask_number(r, "SELECT end_ns - begin_ns FROM blame_path");
    char heading[160];
    if (length <= 0)
        return;
    snprintf(heading, sizeof heading, "Where the time went: the critical path, walked back from %s (%s)",
             xsv_ask_number(r, "SELECT hang FROM blame_path") ? "the wait that hangs" : "the end",
             xsv_time(length).text);
    xsv_heading(r, heading);
    say_parts(r);
    say_ranks(r);
    say_slots(r);
    say_bounds(r, length);
    say_unknown(r);
}
