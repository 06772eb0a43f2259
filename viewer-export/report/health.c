#include "report.h"

#include <inttypes.h>

static void say_loss(xsv_report_state *r) {
    static const char sql[] = "SELECT rank, number, lost, emitted, at_least, gaps, (SELECT cause FROM loss_gaps g "
                              "WHERE g.ring = l.ring LIMIT 1) "
                              "FROM loss l WHERE lost > 0 ORDER BY lost DESC";
    int64_t rows = 0, rings = xsv_ask_number(r, "SELECT count(*) FROM loss");
    xsv_heading(r, "Lost records");
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s); rows++) {
        if (rows < (int64_t)r->rows)
            fprintf(r->out, "  rank %-4" PRId64 " ring %-5" PRId64 " %s%s of %s in %s gap%s (%s)\n", xsv_number(s, 0),
                    xsv_number(s, 1), xsv_number(s, 4) ? "at least " : "", xsv_count(xsv_number(s, 2)).text,
                    xsv_count(xsv_number(s, 3)).text, xsv_count(xsv_number(s, 5)).text,
                    xsv_number(s, 5) == 1 ? "" : "s", xsv_text(s, 6));
    }
    if (rows > (int64_t)r->rows)
        fprintf(r->out, "  ... and %s more ring%s: xs query NAME loss\n", xsv_count(rows - (int64_t)r->rows).text,
                rows - (int64_t)r->rows == 1 ? "" : "s");
    if (!rows)
        fprintf(r->out, "  none, in %s rings\n", xsv_count(rings).text);
}

static void say_clock(xsv_report_state *r) {
    xsv_heading(r, "Clocks");
    static const char sql[] = "SELECT host_name, device_name, step_ns, residual_ns, bound_ns, samples, kernels, "
                              "fault_ns, cupti_ns FROM clock LIMIT 16";
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s);) {
        fprintf(r->out, "  %s %s: step %s, precision %s, bound %s", xsv_text(s, 0), xsv_text(s, 1),
                xsv_time(xsv_number(s, 2)).text, xsv_is_null(s, 3) ? "not known" : xsv_time(xsv_number(s, 3)).text,
                xsv_is_null(s, 4) ? "not known" : xsv_time(xsv_number(s, 4)).text);
        fputc('\n', r->out);
        if (xsv_number(s, 5))
            fprintf(r->out, "    through %s answers and %s kernels", xsv_count(xsv_number(s, 5)).text,
                    xsv_count(xsv_number(s, 6)).text);
        if (xsv_number(s, 7))
            fprintf(r->out, ", which contradict each other by %s", xsv_time(xsv_number(s, 7)).text);
        if (xsv_number(s, 8))
            fprintf(r->out, "; CUPTI's own times were off by up to %s, which is taken out of them",
                    xsv_time(xsv_number(s, 8)).text);
        if (xsv_number(s, 5))
            fputc('\n', r->out);
    }
}

static void say_cupti(xsv_report_state *r) {
    static const char sql[] = "SELECT pid, cupti.state, meaning, why, cupti.kernels, cupti.copies, cupti.dropped, "
                              "cupti.lost, void_stamps FROM cupti JOIN "
                              "process ON process.id = cupti.process WHERE cupti.state != 'NONE' LIMIT 16";
    int rows = 0;
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s); rows++) {
        if (!rows)
            xsv_heading(r, "CUPTI");
        fprintf(r->out, "  process %" PRId64 ": %s\n", xsv_number(s, 0), xsv_text(s, 2));
        if (*xsv_text(s, 3))
            fprintf(r->out, "    %s\n", xsv_text(s, 3));
        fprintf(r->out, "    %s kernels, %s copies; %s records dropped, %s without times\n",
                xsv_count(xsv_number(s, 4)).text, xsv_count(xsv_number(s, 5)).text,
                xsv_count(xsv_number(s, 6) + xsv_number(s, 7)).text, xsv_count(xsv_number(s, 8)).text);
    }
}

/* Where the time of the GPUs went. */
static void say_kernels(xsv_report_state *r) {
    static const char sql[] = "SELECT kernel, count(*), sum(duration_ns), max(duration_ns), sum(writers > 0) FROM "
                              "kernels GROUP BY kernel ORDER BY "
                              "sum(duration_ns) DESC LIMIT 8";
    int rows = 0;
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s); rows++) {
        if (!rows)
            xsv_heading(r, "Kernels");
        fprintf(r->out, "  %-32.32s %s times", xsv_text(s, 0), xsv_count(xsv_number(s, 1)).text);
        fprintf(r->out, ", %s in all", xsv_time(xsv_number(s, 2)).text);
        fprintf(r->out, ", longest %s; %s of them traced\n", xsv_time(xsv_number(s, 3)).text,
                xsv_count(xsv_number(s, 4)).text);
    }
}

static void say_room(xsv_report_state *r, sqlite3_stmt *s) {
    fprintf(r->out, "%" PRId64 " block%s of %" PRId64 " threads per SM", xsv_number(s, 2),
            xsv_number(s, 2) == 1 ? "" : "s", xsv_number(s, 1));
    if (xsv_is_null(s, 3))
        fprintf(r->out, ", plain: not known (registers %" PRId64, xsv_number(s, 4));
    else
        fprintf(r->out, ", plain: %" PRId64 " (registers %" PRId64 " and %" PRId64, xsv_number(s, 3), xsv_number(s, 4),
                xsv_number(s, 5));
    if (!xsv_is_null(s, 6))
        fprintf(r->out, "; limited by %s", xsv_text(s, 6));
    if (xsv_number(s, 7))
        fprintf(r->out, "; %" PRId64 " bytes of local memory a thread%s", xsv_number(s, 7),
                xsv_is_null(s, 3) ? "" : " more");
    fputc(')', r->out);
}

/* Whether tracing leaves the kernels the room that they have without it. */
static void say_residency(xsv_report_state *r) {
    static const char sql[] = "SELECT kernel, threads, blocks_per_sm, plain_blocks_per_sm, registers, plain_registers, "
                              "limited_by, local_bytes, "
                              "changed FROM residency ORDER BY coalesce(changed, 0) DESC LIMIT 16";
    int rows = 0;
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s); rows++) {
        if (!rows)
            xsv_heading(r, "Room on the GPU");
        if (xsv_number(s, 8))
            xsv_color(r, XSV_YELLOW);
        fprintf(r->out, "  %s, traced: ", xsv_text(s, 0));
        say_room(r, s);
        fputs(xsv_number(s, 8) ? ": tracing changes what runs at once\n" : "\n", r->out);
        xsv_color(r, XSV_PLAIN);
    }
}

/* Times a condition that hides events was met. */
static int say_counter(xsv_report_state *r, const char *sql, const char *text) {
    int64_t n = xsv_ask_number(r, sql);
    if (n)
        fprintf(r->out, "  %s %s\n", xsv_count(n).text, text);
    return n != 0;
}

static int say_reasons(xsv_report_state *r, int explained) {
    int rows = 0;
    for (sqlite3_stmt *s = xsv_ask(r, "SELECT relation, waits, meaning, explained FROM not_known"); xsv_next(r, s);) {
        if (xsv_number(s, 3) != explained)
            continue;
        fprintf(r->out, "  %s of %s wait%s: %s\n",
                xsv_text(s, 0)[2] == 'a' ? "the signal read" : "the releasing signal", xsv_count(xsv_number(s, 1)).text,
                xsv_number(s, 1) == 1 ? "" : "s", xsv_text(s, 2));
        rows++;
    }
    return rows;
}

static void say_not_known(xsv_report_state *r) {
    xsv_heading(r, "What is not known");
    int rows = say_reasons(r, 0);
    rows += say_counter(r, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'starts_lost'",
                        "waits whose start was lost: their latency is not known");
    rows += say_counter(r, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'ends_lost'",
                        "waits whose end was lost: their latency is not known");
    rows +=
        say_counter(r, "SELECT torn FROM run", "events that are incomplete, since other records of theirs were lost");
    rows +=
        say_counter(r, "SELECT no_ring FROM run", "writers that found no free ring: they recorded nothing (XS_RINGS)");
    rows += say_counter(r, "SELECT foreign_calls FROM run", "record calls from another lane than the writer's");
    rows += say_counter(r, "SELECT no_line FROM run", "waits that found no free status line");
    rows += say_counter(r, "SELECT journal_lost FROM run", "host entries (launches, clock pairs) lost");
    rows += say_counter(r, "SELECT count(*) FROM process WHERE tail_unknown = 1",
                        "processes that may have written records after the last ones seen, uncounted");
    if (!rows)
        fputs("  nothing: every wait has its signal, or a reason to have none\n", r->out);
    if (xsv_ask_number(r, "SELECT count(*) FROM not_known WHERE explained = 1")) {
        xsv_heading(r, "Waits that need no one signal");
        say_reasons(r, 1);
    }
}

void xsv_section_health(xsv_report_state *r) {
    say_loss(r);
    say_clock(r);
    say_cupti(r);
    say_kernels(r);
    say_residency(r);
    say_not_known(r);
    int rows = 0;
    for (sqlite3_stmt *s = xsv_ask(r, "SELECT text FROM note ORDER BY id LIMIT 50"); xsv_next(r, s); rows++) {
        if (!rows)
            xsv_heading(r, "Notes");
        fprintf(r->out, "  %s\n", xsv_text(s, 0));
    }
}
