/* How processes ended, in words. */
#include "report.h"

#include <inttypes.h>
#include <string.h>

static void who(char *text, size_t size, sqlite3_stmt *s) {
    int64_t first = xsv_number(s, 1), ranks = xsv_number(s, 2);
    int at = snprintf(text, size, "rank%s %" PRId64, ranks > 1 ? "s" : "", first);
    if (ranks > 1)
        at += snprintf(text + at, size - (size_t)at, " to %" PRId64, first + ranks - 1);
    snprintf(text + at, size - (size_t)at, " (pid %" PRId64 ")", xsv_number(s, 0));
}

static void how_words(char *text, size_t size, sqlite3_stmt *s) {
    const char *how = xsv_text(s, 3), *name = NULL;
    int one = xsv_number(s, 2) <= 1, clean = (int)xsv_number(s, 6);
    if (!strcmp(how, "killed")) {
        name = sigabbrev_np((int)xsv_number(s, 4));
        snprintf(text, size, "%s killed by signal %" PRId64 " (%s%s)", one ? "was" : "were", xsv_number(s, 4),
                 name ? "SIG" : "", name ? name : "unknown");
    } else if (!strcmp(how, "exited")) {
        snprintf(text, size, "exited with status %" PRId64 "%s", xsv_number(s, 5),
                 clean ? ", its world ended in order" : " without ending its world");
    } else if (!strcmp(how, "running")) {
        snprintf(text, size, "%s still running when the capture ended", one ? "was" : "were");
    } else if (!strcmp(how, "unknown")) {
        snprintf(text, size, "%s no end in the capture: killed with %s writer, or still running", one ? "has" : "have",
                 one ? "its" : "their");
    } else if (!strcmp(how, "gone")) {
        snprintf(text, size, "%s killed or left (not known)", one ? "was" : "were");
    } else {
        snprintf(text, size, "left without ending its world");
    }
}

static void say_abort(xsv_report_state *r, sqlite3_stmt *s) {
    if (xsv_number(s, 8))
        fprintf(r->out, "; aborted (%s)", *xsv_text(s, 9) ? xsv_text(s, 9) : "reason of the user's");
}

static void say_process(xsv_report_state *r, sqlite3_stmt *s) {
    char name[64], how[96];
    int in_order = !strcmp(xsv_text(s, 3), "in order");
    who(name, sizeof name, s);
    how_words(how, sizeof how, s);
    xsv_color(r, XSV_RED);
    fprintf(r->out, "%s %s", name, in_order ? "ended in order" : how);
    xsv_color(r, XSV_PLAIN);
    say_abort(r, s);
    static const char tail[] = "; their last records may be missing, uncounted";
    if (xsv_number(s, 7)) {
        int fits = (int)(strlen(name) + 1 + strlen(how) + strlen(tail)) <= xsv_width(r) && !xsv_number(s, 8);
        fprintf(r->out, "%s %s last records may be missing, uncounted", fits ? ";" : ";\n   ",
                xsv_number(s, 2) > 1 ? "their" : "its");
    }
    fputc('\n', r->out);
}

/* Where several are gone, the first one is what to look at. */
static void say_first_silent(xsv_report_state *r) {
    static const char sql[] =
        "SELECT first_rank, ranks, last_ns, (SELECT min(last_ns) FROM process_ends o WHERE o.process != "
        "e.process) FROM process_ends e WHERE last_ns NOT NULL ORDER BY last_ns LIMIT 1";
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s);) {
        if (xsv_is_null(s, 3))
            continue;
        fprintf(r->out, "  the first to fall silent: rank%s %" PRId64, xsv_number(s, 1) > 1 ? "s from" : "",
                xsv_number(s, 0));
        fprintf(r->out, ", %s before the end of the capture", xsv_time(r->end_ns - xsv_number(s, 2)).text);
        fprintf(r->out, "; the next %s later\n", xsv_time(xsv_number(s, 3) - xsv_number(s, 2)).text);
    }
}

int xsv_say_ends(xsv_report_state *r) {
    static const char sql[] =
        "SELECT pid, first_rank, ranks, how, signal, status, clean, tail_unknown, abort_reason, "
        "abort_name FROM process_ends WHERE how != 'in order' OR abort_reason != 0 ORDER BY how = "
        "'running', last_ns, first_rank";
    int64_t rows = 0;
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s); rows++)
        if (rows < (int64_t)r->rows)
            say_process(r, s);
    if (rows > (int64_t)r->rows)
        fprintf(r->out, "... and %s more process%s: xs query NAME process_ends\n", xsv_count(rows - r->rows).text,
                rows - r->rows == 1 ? "" : "es");
    if (rows > 1)
        say_first_silent(r);
    return rows > 0;
}
