#include "report.h"

static const struct {
    const char *name, *sql;
} parts[] = {
    {"run", "SELECT * FROM run"},
    {"processes", "SELECT pid, host_name, command, device, first_rank, ranks, ended, clean, tail_unknown, "
                  "abort_reason, exit_status FROM process"},
    {"findings", "SELECT * FROM findings"},
    {"verdicts", "SELECT * FROM verdicts"},
    {"open_waits", "SELECT * FROM open_waits"},
    {"rank_share", "SELECT * FROM rank_share"},
    {"wait_share", "SELECT * FROM wait_share"},
    {"wait_latency", "SELECT * FROM wait_latency"},
    {"wait_latency_histogram", "SELECT * FROM wait_latency_histogram"},
    {"slowest_waits", "SELECT * FROM slowest_waits LIMIT 100"},
    {"loss", "SELECT * FROM loss"},
    {"clock", "SELECT * FROM clock"},
    {"cupti", "SELECT * FROM cupti"},
    {"not_known", "SELECT * FROM not_known"},
    {"notes", "SELECT text FROM note ORDER BY id"},
};

int xsv_report_json(xsv_report_state *r) {
    int rc = XS_OK;
    fputs("{\"schema_version\": 4", r->out);
    _Static_assert(XSV_SCHEMA_VERSION == 4, "the line above");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && !rc; i++) {
        sqlite3_stmt *s = xsv_ask(r, parts[i].sql);
        if (!s)
            return r->rc;
        fputs(",\n", r->out);
        xsv_json_string(parts[i].name, r->out);
        fputs(": ", r->out);
        rc = xsv_write_json(s, r->out);
        sqlite3_finalize(s);
    }
    fputs("}\n", r->out);
    return rc;
}
