/* xs check: findings and verdicts as text or JSON, and the code that tells. */
#include "report.h"

#include <inttypes.h>
#include <string.h>

static void say_who(xsv_report_state *r, sqlite3_stmt *s, const char *word, int rank, int block) {
    if (xsv_is_null(s, rank))
        return;
    fprintf(r->out, "    %-10s rank %" PRId64, word, xsv_number(s, rank));
    if (!xsv_is_null(s, block))
        fprintf(r->out, " block %" PRId64, xsv_number(s, block));
    fputc('\n', r->out);
}

#define LABEL 15

static void say_part(xsv_report_state *r, const char *label, const char *text) {
    if (!*text)
        return;
    fprintf(r->out, "    %-*s ", LABEL - 5, label);
    xsv_paragraph(r, LABEL, LABEL, text);
}

int xsv_finding_is_first(sqlite3_stmt *s) { return xsv_number(s, 14) == 1; }

void xsv_say_finding(xsv_report_state *r, sqlite3_stmt *s, int more) {
    const char *severity = xsv_text(s, 0);
    xsv_color(r, !strcmp(severity, "error") ? XSV_RED : !strcmp(severity, "warning") ? XSV_YELLOW : XSV_DIM);
    int column = fprintf(r->out, "  %s %s", severity, xsv_text(s, 1));
    xsv_color(r, XSV_PLAIN);
    column += fprintf(r->out, ": ");
    xsv_paragraph(r, column, 4, xsv_text(s, 2));
    say_who(r, s, "owes", 4, 5);
    say_who(r, s, "victim", 6, 7);
    say_part(r, "at", xsv_text(s, 13));
    say_part(r, "cure", xsv_text(s, 3));
    say_part(r, "confidence", xsv_text(s, 8));
    if (xsv_number(s, 9))
        fprintf(r->out, "    %-10s %s records that bear on it\n", "lost", xsv_count(xsv_number(s, 9)).text);
    say_part(r, "explains", xsv_text(s, 10));
    say_part(r, "evidence", xsv_text(s, 11));
    say_part(r, "id", xsv_text(s, 12));
    if (more && xsv_number(s, 15) > 1)
        fprintf(r->out, "    and %s more such of %s, low confidence too: xs check --all\n",
                xsv_count(xsv_number(s, 15) - 1).text, xsv_text(s, 1));
}

static void say_findings(xsv_report_state *r, int all) {
    for (sqlite3_stmt *s = xsv_ask(r, XSV_FINDINGS("")); xsv_next(r, s);)
        if (all || xsv_finding_is_first(s))
            xsv_say_finding(r, s, !all);
}

static void say_verdicts(xsv_report_state *r, int all) {
    sqlite3_stmt *s =
        xsv_ask(r, all ? "SELECT status, detector, why, meaning, cannot, findings FROM verdicts"
                       : "SELECT status, detector, why, meaning, '', findings FROM verdicts WHERE status = 'unknown'");
    while (xsv_next(r, s)) {
        const char *why = xsv_text(s, 2), *cannot = xsv_text(s, 4);
        fprintf(r->out, "  %-8s %-22s ", xsv_text(s, 0), xsv_text(s, 1));
        xsv_paragraph(r, 34, 34, *why ? why : xsv_text(s, 3));
        if (*cannot) {
            fprintf(r->out, "%34scannot know: ", "");
            xsv_paragraph(r, 47, 34, cannot);
        }
    }
}

static int code_of(xsv_report_state *r) {
    if (xsv_ask_number(r, "SELECT count(*) FROM findings WHERE severity = 'error'"))
        return 1;
    return xsv_ask_number(r, "SELECT count(*) FROM verdicts WHERE status = 'unknown'") ? 2 : 0;
}

static void say_sum(xsv_report_state *r, int code) {
    static const char *const words[] = {"clean", "errors were found",
                                        "no error was found, but some verdicts are unknown"};
    int64_t errors = xsv_ask_number(r, "SELECT count(*) FROM findings WHERE severity = 'error'");
    int64_t warnings = xsv_ask_number(r, "SELECT count(*) FROM findings WHERE severity = 'warning'");
    int64_t notes = xsv_ask_number(r, "SELECT count(*) FROM findings WHERE severity = 'note'");
    int64_t ran = xsv_ask_number(r, "SELECT count(*) FROM verdicts WHERE status <> 'not run'");
    xsv_color(r, code == 1 ? XSV_RED : code == 2 ? XSV_YELLOW : XSV_GREEN);
    fprintf(r->out, "%s", words[code]);
    xsv_color(r, XSV_PLAIN);
    fprintf(r->out, ": %" PRId64 " error%s, %" PRId64 " warning%s, %" PRId64 " note%s (%" PRId64 " detectors ran)\n",
            errors, errors == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s", notes, notes == 1 ? "" : "s", ran);
}

static void write_json(xsv_report_state *r, int code) {
    static const xsv_json_part parts[] = {
        {"findings", "SELECT * FROM findings"},
        {"evidence", "SELECT finding, event, part FROM finding_event ORDER BY finding, event"},
        {"verdicts", "SELECT * FROM verdicts"},
        {"processes", XSV_PROCESSES},
        {"blame", "SELECT * FROM blame_parts"},
        {"blame_ranks", "SELECT * FROM blame_ranks"},
        {"blame_slots", "SELECT * FROM blame_slots LIMIT 20"}};
    fprintf(r->out, "{\"code\": %d", code);
    xsv_json_parts(r, parts, sizeof parts / sizeof parts[0]);
}

int xsv_check(const char *path, const xsv_check_options *options, FILE *out, char **error) {
    xsv_check_options own = {.size = sizeof own};
    if (options)
        memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
    xsv_report_options how = {.size = sizeof how, .color = own.color, .width = own.width};
    xsv_report_state r;
    int rc = xsv_report_open(&r, path, &how, out, error);
    if (rc)
        return rc;
    int code = code_of(&r);
    if (own.json)
        write_json(&r, code);
    else if (!own.quiet)
        say_findings(&r, own.all), say_verdicts(&r, own.all), xsv_say_ends(&r), say_sum(&r, code);
    rc = xsv_report_close(&r, path, error);
    return rc ? rc : code;
}
