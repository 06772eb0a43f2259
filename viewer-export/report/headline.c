#include "report.h"

/* Each says the headline and returns 1, if it has something to say; the first one wins. */

static int say_finding(xsv_report_state *r) {
    int said = 0;
    for (sqlite3_stmt *s = xsv_ask(r, "SELECT verdict, cure FROM findings WHERE severity = 'error' LIMIT 1");
         xsv_next(r, s); said = 1) {
        xsv_color(r, XSV_RED);
        fputs("ERROR: ", r->out);
        xsv_paragraph(r, 7, 2, xsv_text(s, 0));
        xsv_color(r, XSV_PLAIN);
        fputs("cure: ", r->out);
        xsv_paragraph(r, 6, 2, xsv_text(s, 1));
    }
    return said;
}

static int say_failed(xsv_report_state *r) {
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

static int say_lost(xsv_report_state *r) {
    int64_t lost = xsv_ask_number(r, "SELECT lost FROM run"), emitted = xsv_ask_number(r, "SELECT emitted FROM run");
    if (!lost)
        return 0;
    xsv_color(r, XSV_YELLOW);
    int bounded = xsv_ask_number(r, "SELECT min(cause = 'bounded') FROM loss_gaps") == 1;
    fprintf(r->out, "%s%s of %s records were lost (%s)%s.",
            xsv_ask_number(r, "SELECT lost_at_least FROM run") ? "At least " : "", xsv_count(lost).text,
            xsv_count(emitted).text, xsv_share((double)lost / (double)(emitted ? emitted : 1)).text,
            bounded ? ": the bound of the capture let them go" : "");
    xsv_color(r, XSV_PLAIN);
    fputs(" What follows is true of the others.\n", r->out);
    int64_t waits = xsv_ask_number(r, "SELECT count(*) FROM wait WHERE open = 1 AND end_lost = 1");
    if (waits)
        fprintf(r->out, "Of %s wait%s the end is not known: it may be among what is lost.\n", xsv_count(waits).text,
                waits == 1 ? "" : "s");
    return 1;
}

/* The rank that the others waited for most. */
static int64_t most_waited_for(const xsv_report_state *r, int64_t *ns) {
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

/* Who made it as long as it was, if that is one. Whom the others wait for may itself wait for that one. */
static void say_blamed(xsv_report_state *r) {
    for (sqlite3_stmt *s = xsv_ask(r, "SELECT rank, share FROM blame_ranks WHERE share > 0.5"); xsv_next(r, s);)
        fprintf(r->out, "Of the critical path %s is blamed on rank %lld.\n",
                xsv_share(sqlite3_column_double(s, 1)).text, (long long)xsv_number(s, 0));
}

static void say_well(xsv_report_state *r, int lost) {
    int64_t ns = 0, rank = most_waited_for(r, &ns), ranks = xsv_ask_number(r, "SELECT ranks FROM run");
    double all = (double)(r->end_ns - r->begin_ns) * (double)(ranks > 1 ? ranks - 1 : 1);
    xsv_color(r, XSV_GREEN);
    fputs(lost ? "Every wait that is known ended" : "Every wait ended", r->out);
    xsv_color(r, XSV_PLAIN);
    if (rank < 0)
        fputs("; no rank waited for another.\n", r->out);
    else
        fprintf(r->out, "; the others waited %s of the run for rank %lld%s.\n",
                xsv_share(all > 0 ? (double)ns / all : 0).text, (long long)rank, ranks > 2 ? ", on average" : "");
    if (ranks > 1)
        say_blamed(r);
}

static int say_nothing(xsv_report_state *r) {
    if (xsv_ask_number(r, "SELECT events FROM run"))
        return 0;
    xsv_color(r, XSV_YELLOW);
    fputs("The capture holds no events.", r->out);
    xsv_color(r, XSV_PLAIN);
    fputs(" Was the kernel built with XS_TRACE=1, and tracing started?\n", r->out);
    return 1;
}

/* Who died and who hangs comes first, and both are said. */
void xsv_section_headline(xsv_report_state *r) {
    int said = say_finding(r);
    said |= xsv_say_ends(r);
    said |= xsv_say_hang(r);
    said |= say_failed(r);
    int lost = say_lost(r);
    if (!said && !say_nothing(r))
        say_well(r, lost);
}

/* Errors and warnings in full; notes, and verdicts that are unknown, as counts. */
void xsv_section_findings(xsv_report_state *r) {
    int rows = 0;
    for (sqlite3_stmt *s = xsv_ask(r, XSV_FINDINGS("WHERE severity <> 'note'")); xsv_next(r, s);) {
        if (!xsv_finding_is_first(s))
            continue;
        if (!rows)
            xsv_heading(r, "Findings");
        if (rows++ < (int)r->rows)
            xsv_say_finding(r, s, 1);
    }
    int64_t notes = xsv_ask_number(r, "SELECT count(*) FROM findings WHERE severity = 'note'"),
            unknown = xsv_ask_number(r, "SELECT count(*) FROM verdicts WHERE status = 'unknown'");
    if (!rows && (notes || unknown))
        xsv_heading(r, "Findings");
    if (rows > (int)r->rows || notes)
        fprintf(r->out, "  %s more%s: xs check\n", xsv_count(rows > (int)r->rows ? rows - r->rows + notes : notes).text,
                rows > (int)r->rows ? "" : " (notes)");
    if (unknown)
        fprintf(r->out, "  %s verdict%s unknown because of lost records: xs check\n", xsv_count(unknown).text,
                unknown == 1 ? " is" : "s are");
}

static void say_end(xsv_report_state *r) {
    int64_t all = xsv_ask_number(r, "SELECT count(*) FROM process_ends"),
            well = xsv_ask_number(r, "SELECT count(*) FROM process_ends WHERE how = 'in order'");
    if (well == all)
        fputs("  ended      in order\n", r->out);
    else
        fprintf(r->out, "  ended      %s of %s processes in order\n", xsv_count(well).text, xsv_count(all).text);
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

void xsv_section_run(xsv_report_state *r) {
    static const char sql[] = "SELECT ranks, processes, duration_ns, events, waits, passed, lost, emitted, "
                              "clock_bound_ns, virtual_time FROM run";
    xsv_heading(r, "Run");
    for (sqlite3_stmt *s = xsv_ask(r, "SELECT DISTINCT command FROM process WHERE command <> '' ORDER BY id LIMIT 3");
         xsv_next(r, s);)
        fprintf(r->out, "  command    %s\n", xsv_text(s, 0)); /* whole: it is there to be run again */
    for (sqlite3_stmt *s = xsv_ask(r, "SELECT value FROM meta WHERE key = 'captures' AND instr(value, ', ')");
         xsv_next(r, s);)
        fprintf(r->out, "  captures   %s, read as one\n", xsv_text(s, 0));
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
