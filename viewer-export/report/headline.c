#include "report.h"

/* Each says the headline and returns 1, if it has something to say; the first one wins. */

static int say_finding(xsv_report_state *r)
{
    int said = 0;
    for (sqlite3_stmt *s = xsv_ask(r, "SELECT verdict, cure FROM findings WHERE severity = 'error' LIMIT 1");
         xsv_next(r, s); said = 1) {
        xsv_color(r, XSV_RED);
        fprintf(r->out, "ERROR: %s\n", xsv_text(s, 0));
        xsv_color(r, XSV_PLAIN);
        fprintf(r->out, "cure: %s\n", xsv_text(s, 1));
    }
    return said;
}

static int say_hang(xsv_report_state *r)
{
    int64_t open = xsv_ask_number(r, "SELECT open FROM run");
    int said = 0;
    for (sqlite3_stmt *s = xsv_ask(r, "SELECT rank, slot, peer, observed, need, open_ns FROM open_waits LIMIT 1");
         xsv_next(r, s); said = 1) {
        xsv_color(r, XSV_RED);
        fprintf(r->out, "%s wait%s never ended. ", xsv_count(open).text, open == 1 ? "" : "s");
        xsv_color(r, XSV_PLAIN);
        fprintf(r->out, "The oldest: rank %lld waits for %s on %s,\nhas %lld, needs %lld, since %s before the end.\n",
                (long long)xsv_number(s, 0), xsv_rank_words(s, 2, xsv_number(s, 0)).text, xsv_text(s, 1),
                (long long)xsv_number(s, 3), (long long)xsv_number(s, 4), xsv_time(xsv_number(s, 5)).text);
    }
    return said;
}

static int say_failed(xsv_report_state *r)
{
    static const char sql[] = "SELECT rank, slot, peer, result, latency_ns FROM waits WHERE id = (SELECT id FROM wait "
                              "WHERE "
                              "result > 0 ORDER BY end_ns, id LIMIT 1)";
    int64_t failed = xsv_ask_number(r, "SELECT failed FROM run");
    if (!failed)
        return 0;
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s);) {
        xsv_color(r, XSV_RED);
        fprintf(r->out, "%s wait%s gave up. ", xsv_count(failed).text, failed == 1 ? "" : "s");
        xsv_color(r, XSV_PLAIN);
        fprintf(r->out, "The first: rank %lld on %s for %s: %s after %s.\n", (long long)xsv_number(s, 0),
                xsv_text(s, 1), xsv_rank_words(s, 2, xsv_number(s, 0)).text, xsv_text(s, 3),
                xsv_time(xsv_number(s, 4)).text);
    }
    return 1;
}

static int say_unclean(xsv_report_state *r)
{
    static const char sql[] = "SELECT pid, first_rank, ranks, exit_status, ended FROM process WHERE clean = 0 LIMIT 1";
    int said = 0;
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s); said = 1) {
        long long first = xsv_number(s, 1), last = first + xsv_number(s, 2) - 1;
        xsv_color(r, XSV_RED);
        fprintf(r->out, "Process %lld (rank%s %lld", (long long)xsv_number(s, 0), last > first ? "s" : "", first);
        if (last > first)
            fprintf(r->out, " to %lld", last);
        fputs(xsv_number(s, 4) ? ") did not end in order." : ") was still running when the capture ended.", r->out);
        xsv_color(r, XSV_PLAIN);
        fputs(" Its last records may be missing.\n", r->out);
    }
    return said;
}

static int say_lost(xsv_report_state *r)
{
    int64_t lost = xsv_ask_number(r, "SELECT lost FROM run"), emitted = xsv_ask_number(r, "SELECT emitted FROM run");
    if (!lost)
        return 0;
    xsv_color(r, XSV_YELLOW);
    fprintf(r->out, "%s%s of %s records were lost (%s).",
            xsv_ask_number(r, "SELECT lost_at_least FROM run") ? "At least " : "", xsv_count(lost).text,
            xsv_count(emitted).text, xsv_share((double)lost / (double)(emitted ? emitted : 1)).text);
    xsv_color(r, XSV_PLAIN);
    fputs(" What follows is true of the others.\n", r->out);
    return 1;
}

/* The rank that the others waited for most. */
static int64_t most_waited_for(const xsv_report_state *r, int64_t *ns)
{
    int64_t worst = -1;
    for (int i = 0; i < r->share_count; i++) {
        int64_t sum = 0;
        for (int k = 0; k < r->share_count; k++)
            sum += r->shares[k].peer == r->shares[i].peer ? r->shares[k].ns : 0;
        if (r->shares[i].peer < 0 || sum <= *ns)
            continue;
        *ns = sum;
        worst = r->shares[i].peer;
    }
    return worst;
}

static void say_well(xsv_report_state *r)
{
    int64_t ns = 0, rank = most_waited_for(r, &ns), ranks = xsv_ask_number(r, "SELECT ranks FROM run");
    double all = (double)(r->end_ns - r->begin_ns) * (double)(ranks > 1 ? ranks - 1 : 1);
    xsv_color(r, XSV_GREEN);
    fputs("Every wait ended", r->out);
    xsv_color(r, XSV_PLAIN);
    if (rank < 0)
        fputs("; no rank waited for another.\n", r->out);
    else
        fprintf(r->out, "; rank %lld was waited for most: each other rank spent %s of the run on it, on average.\n",
                (long long)rank, xsv_share(all > 0 ? (double)ns / all : 0).text);
}

static int say_nothing(xsv_report_state *r)
{
    if (xsv_ask_number(r, "SELECT events FROM run"))
        return 0;
    xsv_color(r, XSV_YELLOW);
    fputs("The capture holds no events.", r->out);
    xsv_color(r, XSV_PLAIN);
    fputs(" Was the kernel built with XS_TRACE=1, and tracing started?\n", r->out);
    return 1;
}

void xsv_section_headline(xsv_report_state *r)
{
    if (!say_finding(r) && !say_hang(r) && !say_failed(r) && !say_unclean(r) && !say_lost(r) && !say_nothing(r))
        say_well(r);
}

void xsv_section_findings(xsv_report_state *r)
{
    int rows = 0;
    for (sqlite3_stmt *s = xsv_ask(r, "SELECT severity, detector, verdict, cure FROM findings"); xsv_next(r, s);
         rows++) {
        if (!rows)
            xsv_heading(r, "Findings");
        fprintf(r->out, "  %s %s: %s\n    cure: %s\n", xsv_text(s, 0), xsv_text(s, 1), xsv_text(s, 2), xsv_text(s, 3));
    }
}

static void say_end(xsv_report_state *r)
{
    static const char sql[] =
        "SELECT process.pid, process.first_rank, process.ended, process.clean, process.exit_status, "
        "process.tail_unknown, process.abort_reason, word.name FROM process LEFT JOIN word ON "
        "word.class = 'error' AND word.id = abs(process.abort_reason - CASE WHEN process.abort_reason > "
        "2147483647 THEN 4294967296 ELSE 0 END) WHERE clean = 0 OR abort_reason != 0 LIMIT 8";
    int rows = 0;
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s); rows++) {
        fprintf(r->out, "  ended      pid %lld (rank %lld on): %s", (long long)xsv_number(s, 0),
                (long long)xsv_number(s, 1),
                xsv_number(s, 3)   ? "in order"
                : xsv_number(s, 2) ? "not in order"
                                   : "not seen");
        if (xsv_number(s, 4) >= 0)
            fprintf(r->out, ", wait status 0x%llx", (unsigned long long)xsv_number(s, 4));
        if (xsv_number(s, 6))
            fprintf(r->out, ", the world was aborted (%s)", *xsv_text(s, 7) ? xsv_text(s, 7) : "reason of the user's");
        fputs(xsv_number(s, 5) ? ", last records may be missing, uncounted\n" : "\n", r->out);
    }
    if (!rows)
        fputs("  ended      in order\n", r->out);
    if (!xsv_ask_number(r, "SELECT closed FROM run"))
        fputs("  capture    not closed: whoever wrote it went away first\n", r->out);
    int64_t damaged = xsv_ask_number(r, "SELECT damaged_frames FROM run"),
            missing = xsv_ask_number(r, "SELECT missing_frames FROM run");
    if (xsv_ask_number(r, "SELECT cut FROM run"))
        fputs("  capture    cut off behind its last whole frame\n", r->out);
    if (damaged || missing)
        fprintf(r->out, "  capture    %s damaged and %s missing frames\n", xsv_count(damaged).text,
                xsv_count(missing).text);
}

void xsv_section_run(xsv_report_state *r)
{
    static const char sql[] = "SELECT ranks, processes, duration_ns, events, waits, passed, lost, emitted, "
                              "clock_bound_ns, virtual_time FROM run";
    xsv_heading(r, "Run");
    for (sqlite3_stmt *s = xsv_ask(r, "SELECT DISTINCT command FROM process ORDER BY id LIMIT 3"); xsv_next(r, s);) {
        fprintf(r->out, "  command    %.*s\n", XSV_REPORT_WIDTH - 14, xsv_text(s, 0));
    }
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s);) {
        double waits = (double)xsv_number(s, 4);
        fprintf(r->out, "  ranks      %s in %s process%s\n", xsv_count(xsv_number(s, 0)).text,
                xsv_count(xsv_number(s, 1)).text, xsv_number(s, 1) == 1 ? "" : "es");
        fprintf(r->out, "  lasted     %s%s\n", xsv_time(xsv_number(s, 2)).text,
                xsv_number(s, 9) ? " (virtual time)" : "");
        fprintf(r->out, "  events     %s; %s waits, %s of them satisfied at the first poll\n",
                xsv_count(xsv_number(s, 3)).text, xsv_count(xsv_number(s, 4)).text,
                xsv_share(waits > 0 ? (double)xsv_number(s, 5) / waits : 0).text);
        fprintf(r->out, "  lost       %s of %s records\n", xsv_count(xsv_number(s, 6)).text,
                xsv_count(xsv_number(s, 7)).text);
        if (xsv_is_null(s, 8))
            fputs("  clock      bound not known\n", r->out);
        else
            fprintf(r->out, "  clock      times of different devices compare within %s\n",
                    xsv_time(xsv_number(s, 8)).text);
    }
    say_end(r);
}
