#include "report.h"

static const xsv_json_part parts[] = {
    {"run", "SELECT * FROM run"},
    {"processes", XSV_PROCESSES},
    {"findings", "SELECT * FROM findings"},
    {"verdicts", "SELECT * FROM verdicts"},
    {"blame_parts", "SELECT * FROM blame_parts"},
    {"blame", "SELECT * FROM blame"},
    {"blame_slots", "SELECT * FROM blame_slots"},
    {"blame_ranks", "SELECT * FROM blame_ranks"},
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

void xsv_report_json(xsv_report_state *r) {
    fprintf(r->out, "{\"schema_version\": %d", XSV_SCHEMA_VERSION);
    xsv_json_parts(r, parts, sizeof parts / sizeof parts[0]);
}
