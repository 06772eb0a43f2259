#include "report.h"

#include <inttypes.h>
#include <string.h>

#define NAMES_AND_SPARK \
    25 /* columns for the slot class and the histogram; the column of waits that passed at once is extra */
#define SPARK_MOST 24
#define BUCKETS 65

/* A row's histogram, one character for `step` buckets from `low` on; the first character is bucket 0: no wait at all.
 * */
typedef struct scale {
    int low, high, step;
    int name; /* width of the slot classes */
} scale;

static scale common_scale(xsv_report_state *r) {
    scale s = {1, 1, 1, 0};
    for (sqlite3_stmt *q = xsv_ask(r, "SELECT min(bucket), max(bucket) FROM wait_latency_histogram WHERE bucket > 0");
         xsv_next(r, q);) {
        s.low = xsv_is_null(q, 0) ? 1 : (int)xsv_number(q, 0);
        s.high = xsv_is_null(q, 1) ? 1 : (int)xsv_number(q, 1);
    }
    s.name = (int)xsv_ask_number(r, "SELECT max(length(name)) FROM pad WHERE id IN (SELECT pad FROM wait_tally)");
    s.name = s.name < 10 ? 10 : s.name > 18 ? 18 : s.name;
    s.step = (s.high - s.low) / (NAMES_AND_SPARK - s.name) + 1;
    return s;
}

static void spark(const xsv_report_state *r, const scale *s, const int64_t *buckets) {
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char ascii[] = " .:-=+*%#";
    int64_t columns[SPARK_MOST + 1] = {buckets[0]}, most = buckets[0];
    for (int b = s->low; b <= s->high; b++) {
        int64_t *column = &columns[1 + (b - s->low) / s->step];
        *column += buckets[b];
        most = *column > most ? *column : most;
    }
    int last = (s->high - s->low) / s->step + 1;
    for (int i = 0; i <= last; i++) {
        int level = columns[i] ? 1 + (int)((double)columns[i] * 7 / (double)most) : 0;
        if (r->options->unicode)
            fputs(blocks[level], r->out);
        else
            fputc(ascii[level], r->out);
        if (i == 0 || i == last)
            fputc('|', r->out);
    }
    fputc('\n', r->out);
}

static void read_buckets(xsv_report_state *r, const char *pad, sqlite3_stmt *row, int64_t *buckets) {
    memset(buckets, 0, BUCKETS * sizeof *buckets);
    sqlite3_stmt *s = xsv_ask(r, "SELECT bucket, waits FROM wait_latency_histogram WHERE pad IS ? AND rank IS ? AND "
                                 "peer IS ?");
    if (s) {
        sqlite3_bind_text(s, 1, pad, -1, SQLITE_TRANSIENT);
        sqlite3_bind_value(s, 2, sqlite3_column_value(row, 1));
        sqlite3_bind_value(s, 3, sqlite3_column_value(row, 2));
    }
    while (xsv_next(r, s))
        if (xsv_number(s, 0) >= 0 && xsv_number(s, 0) < BUCKETS)
            buckets[xsv_number(s, 0)] = xsv_number(s, 1);
}

static void print_class(xsv_report_state *r, sqlite3_stmt *s, const scale *axis) {
    int64_t buckets[BUCKETS];
    read_buckets(r, xsv_text(s, 0), s, buckets);
    fputs("  ", r->out);
    xsv_cell(r->out, xsv_text(s, 0), axis->name);
    fprintf(r->out, " %4" PRId64 "  ", xsv_number(s, 1));
    xsv_cell(r->out, xsv_rank_words(s, 2, xsv_number(s, 1)).text, 8);
    fprintf(r->out, "%9s", xsv_count(xsv_number(s, 3)).text);
    for (int i = 4; i < 9; i++)
        fprintf(r->out, "%9s", xsv_time(xsv_number(s, i)).text);
    fputc(' ', r->out);
    spark(r, axis, buckets);
}

static void explain_spark(xsv_report_state *r, const scale *s) {
    int64_t low = (int64_t)1 << (s->low - 1);
    int last = (s->high - s->low) / s->step;
    xsv_color(r, XSV_DIM);
    fprintf(r->out, "  blocked: time that these waits kept their writers, summed, by which rows are sorted\n"
                    "  histogram: left of the bar, passed at once; then from %s", xsv_time(low).text);
    fprintf(r->out, " to %s, a factor of %d each\n", xsv_time(low << (last + 1) * s->step).text, 1 << s->step);
    xsv_color(r, XSV_PLAIN);
}

/* All waits that had to wait, a line a bucket. */
static void whole_histogram(xsv_report_state *r) {
    int64_t most = xsv_ask_number(r, "SELECT max(n) FROM (SELECT sum(waits) AS n FROM wait_latency_histogram WHERE "
                                     "bucket > 0 GROUP BY bucket)");
    if (!most)
        return;
    xsv_heading(r, "Latency of all waits that had to wait");
    int64_t next = 0;
    for (sqlite3_stmt *s = xsv_ask(r, "SELECT bucket, low_ns, sum(waits) FROM wait_latency_histogram WHERE bucket > 0 "
                                      "GROUP BY bucket ORDER BY bucket");
         xsv_next(r, s);) {
        if (next && xsv_number(s, 0) > next)
            fprintf(r->out, "  %9s\n", "...");
        next = xsv_number(s, 0) + 1;
        fprintf(r->out, "  %9s to %9s  ", xsv_time(xsv_number(s, 1)).text, xsv_time(xsv_number(s, 1) * 2).text);
        xsv_bar(r, (double)xsv_number(s, 2) / (double)most, 50);
        fprintf(r->out, " %s\n", xsv_count(xsv_number(s, 2)).text);
    }
}

void xsv_section_latency(xsv_report_state *r) {
    int64_t classes = xsv_ask_number(r, "SELECT count(*) FROM (SELECT 1 FROM wait_tally WHERE bucket >= 0 GROUP BY "
                                        "pad, rank, supplier_rank)");
    if (!classes)
        return;
    scale axis = common_scale(r);
    xsv_heading(r, "Wait latency by slot class, waiting rank and the rank waited for");
    fputs("  ", r->out);
    xsv_cell(r->out, "slot class", axis.name);
    fputs(" rank  for         waits  blocked      p50      p90      p99      max  histogram\n", r->out);
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT pad, rank, peer, waits, blocked_ns, p50_ns, p90_ns, p99_ns, max_ns FROM wait_latency WHERE "
             "blocked_ns > 0 ORDER BY blocked_ns DESC, pad, rank, peer LIMIT %u", r->rows * 2);
    for (sqlite3_stmt *s = xsv_ask(r, sql); xsv_next(r, s); classes--)
        print_class(r, s, &axis);
    if (classes > 0)
        fprintf(r->out, "  ... and %s more that waited less, or not at all: xs query NAME wait_latency\n",
                xsv_count(classes).text);
    explain_spark(r, &axis);
    whole_histogram(r);
}
