#include "report.h"

#include <stdlib.h>
#include <string.h>

/* What matters most comes first: a reader may stop after any line. */
static void write_text(xsv_report_state *r) {
    xsv_section_headline(r);
    xsv_section_findings(r);
    xsv_section_open(r);
    xsv_section_run(r);
    xsv_section_blame(r);
    xsv_section_share(r);
    xsv_section_latency(r);
    xsv_section_slowest(r);
    xsv_section_health(r);
}

static void read_shares(xsv_report_state *r) {
    int room = 0;
    for (sqlite3_stmt *s = xsv_ask(r, "SELECT rank, coalesce(peer, -1), waited_ns FROM rank_share"); xsv_next(r, s);) {
        if (r->share_count == room) {
            xsv_rank_share *bigger = realloc(r->shares, (size_t)(room = room * 2 + 64) * sizeof *bigger);
            if (!bigger) {
                r->rc = XS_E_MEMORY;
                sqlite3_finalize(s);
                return;
            }
            r->shares = bigger;
        }
        r->shares[r->share_count++] = (xsv_rank_share){xsv_number(s, 0), xsv_number(s, 1), xsv_number(s, 2)};
    }
}

static void write_report(xsv_report_state *r, const char *path) {
    if (r->options->json) {
        xsv_report_json(r);
        return;
    }
    read_shares(r);
    if (r->options->html)
        xsv_report_html(r, path);
    else
        write_text(r);
}

int xsv_report(const char *path, const xsv_report_options *options, FILE *out, char **error) {
    xsv_report_options own = {.size = sizeof own};
    if (options)
        memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
    xsv_report_state r;
    int rc = xsv_report_open(&r, path, &own, out, error);
    if (rc)
        return rc;
    write_report(&r, path);
    return xsv_report_close(&r, path, error);
}
