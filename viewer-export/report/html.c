/* The report as one page: self-contained, no script, the same questions as the text. */
#include "html.h"

#include <inttypes.h>
#include <stdlib.h>

/* In the words of the text report, so that they cannot say different things. */
static void put_headline(xsv_report_state *r) {
    xsv_report_options plain = {.size = sizeof plain, .unicode = 1, .width = 1 << 20}; /* the page breaks lines */
    xsv_report_state text = *r;
    char *words = NULL;
    size_t length;
    text.options = &plain;
    text.out = open_memstream(&words, &length);
    if (text.out)
        xsv_section_headline(&text);
    if (!text.out || fclose(text.out)) {
        free(words);
        r->rc = XS_E_MEMORY;
        return;
    }
    r->rc = text.rc;
    int64_t bad = xsv_ask_number(r, "SELECT open + failed FROM run") +
                  xsv_ask_number(r, "SELECT count(*) FROM findings WHERE severity = 'error'"),
            doubtful = xsv_ask_number(r, "SELECT lost FROM run") +
                       xsv_ask_number(r, "SELECT count(*) FROM process_ends WHERE how != 'in order'");
    fprintf(r->out, "<pre class=\"headline%s\">", bad ? " error" : doubtful ? " warning" : "");
    xsv_html_escaped(r->out, words);
    fputs("</pre>\n", r->out);
    free(words);
}

static void put_run(xsv_report_state *r) {
    static const xsv_html_column columns[] = {{"ranks", XSV_CELL_COUNT},
                                              {"processes", XSV_CELL_COUNT},
                                              {"lasted", XSV_CELL_TIME},
                                              {"events", XSV_CELL_COUNT},
                                              {"waits", XSV_CELL_COUNT},
                                              {"passed at once", XSV_CELL_COUNT},
                                              {"still open", XSV_CELL_COUNT},
                                              {"records", XSV_CELL_COUNT},
                                              {"lost", XSV_CELL_COUNT},
                                              {"clock bound", XSV_CELL_TIME},
                                              {NULL, 0}};
    static const xsv_html_table table = {
        .title = "Run",
        .sql = "SELECT ranks, processes, duration_ns, events, waits, passed, open, emitted, lost, "
               "clock_bound_ns FROM run",
        .columns = columns};
    static const xsv_html_column ends[] = {{"command", XSV_CELL_CODE},    {"pid", XSV_CELL_TEXT},
                                           {"first rank", XSV_CELL_RANK}, {"ranks", XSV_CELL_COUNT},
                                           {"ended", XSV_CELL_TEXT},      {NULL, 0}};
    static const xsv_html_table processes = {
        .title = "Processes",
        .sql = "SELECT p.command, e.pid, e.first_rank, e.ranks, e.how FROM process_ends e JOIN "
               "process p ON p.id = e.process ORDER BY e.first_rank LIMIT 256",
        .columns = ends};
    xsv_html_rows(r, &table);
    xsv_html_rows(r, &processes);
}

static void put_waits(xsv_report_state *r) {
    static const xsv_html_column open[] = {
        {"rank", XSV_CELL_RANK},   {"slot", XSV_CELL_CODE},    {"has", XSV_CELL_TEXT},
        {"needs", XSV_CELL_TEXT},  {"owed by", XSV_CELL_RANK}, {"open for", XSV_CELL_TIME},
        {"writer", XSV_CELL_CODE}, {"at", XSV_CELL_CODE},      {NULL, 0}};
    char sql[256];
    snprintf(
        sql, sizeof sql,
        "SELECT rank, slot, observed, need, peer, open_ns, writer || iif(end_lost, ' (end lost?)', ''), " XSV_SOURCE
        "FROM open_waits LIMIT %u",
        r->rows * 10);
    xsv_html_table table = {.title = "Open waits, oldest first", .sql = sql, .columns = open};
    xsv_html_rows(r, &table);
}

static void put_slowest(xsv_report_state *r) {
    static const xsv_html_column slow[] = {{"rank", XSV_CELL_RANK},
                                           {"slot", XSV_CELL_CODE},
                                           {"took", XSV_CELL_TIME},
                                           {"begun at", XSV_CELL_SINCE_BEGIN},
                                           {"released by", XSV_CELL_RANK},
                                           {"came after", XSV_CELL_TIME},
                                           {"seen in", XSV_CELL_TIME},
                                           {"result", XSV_CELL_TEXT},
                                           {NULL, 0}};
    char sql[320];
    int64_t remote = xsv_ask_number(r, "SELECT count(*) FROM (SELECT 1 FROM slowest_remote_waits LIMIT 1)");
    snprintf(sql, sizeof sql,
             "SELECT rank, slot, latency_ns, begin_ns, released_by_rank, late_ns, lag_ns, result FROM %s LIMIT %u",
             remote ? "slowest_remote_waits" : "slowest_waits", r->rows * 2);
    xsv_html_table table = {
        .title = remote ? "Slowest waits for another rank" : "Slowest waits",
        .about = "Came after: when the signal came, from the wait's begin. Seen in: how long until the waiter saw it.",
        .sql = sql,
        .columns = slow};
    xsv_html_rows(r, &table);
}

static void put_devices(xsv_report_state *r) {
    static const xsv_html_column kernels[] = {{"kernel", XSV_CELL_CODE},  {"launches", XSV_CELL_COUNT},
                                              {"in all", XSV_CELL_TIME},  {"longest", XSV_CELL_TIME},
                                              {"traced", XSV_CELL_COUNT}, {NULL, 0}};
    static const xsv_html_column room[] = {{"kernel", XSV_CELL_CODE},
                                           {"threads a block", XSV_CELL_COUNT},
                                           {"blocks per SM", XSV_CELL_COUNT},
                                           {"plain", XSV_CELL_COUNT},
                                           {"registers", XSV_CELL_COUNT},
                                           {"plain", XSV_CELL_COUNT},
                                           {"limited by", XSV_CELL_TEXT},
                                           {"local bytes a thread", XSV_CELL_COUNT},
                                           {"tracing changes it", XSV_CELL_TEXT},
                                           {NULL, 0}};
    static const xsv_html_column clocks[] = {{"host", XSV_CELL_TEXT},  {"device", XSV_CELL_TEXT},
                                             {"step", XSV_CELL_TIME},  {"precision", XSV_CELL_TIME},
                                             {"bound", XSV_CELL_TIME}, {NULL, 0}};
    static const xsv_html_column cupti[] = {{"process", XSV_CELL_TEXT}, {"CUPTI", XSV_CELL_TEXT},
                                            {"why", XSV_CELL_TEXT},     {"kernels", XSV_CELL_COUNT},
                                            {"copies", XSV_CELL_COUNT}, {NULL, 0}};
    static const xsv_html_table tables[] = {
        {.title = "Kernels",
         .columns = kernels,
         .sql = "SELECT kernel, count(*), sum(duration_ns), max(duration_ns), sum(writers > 0) FROM kernels GROUP BY "
                "kernel ORDER BY 3 DESC LIMIT 64"},
        {.title = "Room on the GPU",
         .columns = room,
         .about = "What an SM holds at once of each kernel, traced and plain.",
         .sql = "SELECT kernel, threads, blocks_per_sm, plain_blocks_per_sm, registers, plain_registers, limited_by, "
                "local_bytes, CASE "
                "changed WHEN 1 THEN 'yes' WHEN 0 THEN 'no' ELSE 'not known' END FROM residency ORDER BY "
                "coalesce(changed, 0) DESC LIMIT 64"},
        {.title = "Clocks",
         .columns = clocks,
         .about = "Times of two devices compare within their bounds; order is judged by values, never by times.",
         .sql = "SELECT host_name, device_name, step_ns, residual_ns, bound_ns FROM clock LIMIT 64"},
        {.title = "CUPTI",
         .columns = cupti,
         .sql = "SELECT pid, meaning, why, cupti.kernels, cupti.copies FROM cupti JOIN process ON process.id = "
                "cupti.process WHERE cupti.state != 'NONE' LIMIT 64"}};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        xsv_html_rows(r, &tables[i]);
}

static void put_health(xsv_report_state *r) {
    static const xsv_html_column loss[] = {{"rank", XSV_CELL_RANK},  {"ring", XSV_CELL_TEXT},
                                           {"lost", XSV_CELL_COUNT}, {"emitted", XSV_CELL_COUNT},
                                           {"gaps", XSV_CELL_COUNT}, {NULL, 0}};
    static const xsv_html_column reasons[] = {
        {"relation", XSV_CELL_CODE}, {"waits", XSV_CELL_COUNT}, {"why", XSV_CELL_TEXT}, {NULL, 0}};
    static const xsv_html_column notes[] = {{"note", XSV_CELL_TEXT}, {NULL, 0}};
    static const xsv_html_table tables[] = {
        {.title = "Lost records",
         .columns = loss,
         .none = "None.",
         .sql = "SELECT rank, number, lost, emitted, gaps FROM loss WHERE lost > 0 ORDER BY lost DESC LIMIT 64"},
        {.title = "What is not known",
         .columns = reasons,
         .none = "Every wait has its signal, or a reason to have none.",
         .sql = "SELECT relation, waits, meaning FROM not_known WHERE explained = 0"},
        {.title = "Waits that need no one signal",
         .columns = reasons,
         .sql = "SELECT relation, waits, meaning FROM not_known WHERE explained = 1"},
        {.title = "Notes", .columns = notes, .sql = "SELECT text FROM note ORDER BY id LIMIT 50"}};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        xsv_html_rows(r, &tables[i]);
}

void xsv_report_html(xsv_report_state *r, const char *path) {
    fputs("<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
          "content=\"width=device-width\"/>\n<title>xs: ",
          r->out);
    xsv_html_escaped(r->out, path);
    fputs("</title>\n", r->out);
    xsv_html_style(r->out);
    fputs("<h1>", r->out);
    xsv_html_escaped(r->out, path);
    fputs("</h1>\n", r->out);
    put_headline(r);
    xsv_html_findings(r);
    put_waits(r);
    put_run(r);
    xsv_html_blame(r);
    xsv_html_shares(r);
    xsv_html_latencies(r);
    put_slowest(r);
    put_devices(r);
    put_health(r);
    fputs("<footer>Everything here is a question to the database beside this run: <code>xs query NAME</code> lists its "
          "views.</footer>\n</html>\n",
          r->out);
}
