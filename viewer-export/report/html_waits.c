/* Who waited for whom, as a table whose cells are as dark as their share; latencies with histograms. */
#include "html.h"

#include <inttypes.h>
#include <string.h>

#define HEAT_MOST 33 /* ranks of a table that is still looked at, and the unknown one */
#define BUCKETS 65

static double share_of_run(const xsv_report_state *r, int64_t ns) {
    double run = (double)(r->end_ns - r->begin_ns);
    return run > 0 ? (double)ns / run : 0;
}

static int64_t waited(const xsv_report_state *r, int64_t rank, int64_t peer) {
    for (int i = 0; i < r->share_count; i++)
        if (r->shares[i].rank == rank && r->shares[i].peer == peer)
            return r->shares[i].ns;
    return 0;
}

/* Peers that somebody waited for, sorted; an unknown one (-1) last. */
static int peers_of(const xsv_report_state *r, int64_t *peer) {
    int count = 0, unknown = 0;
    for (int i = 0; i < r->share_count; i++) {
        int k = 0;
        unknown |= r->shares[i].peer < 0;
        while (k < count && peer[k] != r->shares[i].peer)
            k++;
        if (k < count || r->shares[i].peer < 0)
            continue;
        if (count == HEAT_MOST - 1)
            return HEAT_MOST;
        for (k = count++; k && peer[k - 1] > r->shares[i].peer; k--)
            peer[k] = peer[k - 1];
        peer[k] = r->shares[i].peer;
    }
    if (unknown)
        peer[count++] = -1;
    return count;
}

static void heat_cell(xsv_report_state *r, int64_t ns) {
    double share = share_of_run(r, ns);
    if (!ns) {
        fputs("<td class=\"none\"></td>", r->out);
        return;
    }
    fprintf(r->out, "<td style=\"background: color-mix(in srgb, var(--bar) %.0f%%, transparent)\" title=\"%s\">",
            share > 1 ? 70 : share * 70, xsv_time(ns).text);
    xsv_html_escaped(r->out, xsv_share(share).text); /* "<0.1 %" */
    fputs("</td>", r->out);
}

static void heat_head(xsv_report_state *r, const int64_t *peer, int count) {
    fputs("<div class=\"wide\"><table class=\"heat\">\n<thead><tr><th>waits</th>", r->out);
    for (int i = 0; i < count; i++)
        if (peer[i] < 0)
            fputs("<th class=\"number\">for an unknown rank</th>", r->out);
        else
            fprintf(r->out, "<th class=\"number\">for rank %" PRId64 "</th>", peer[i]);
    fputs("</tr></thead>\n<tbody>\n", r->out);
}

void xsv_html_shares(xsv_report_state *r) {
    int64_t peer[HEAT_MOST];
    int count = peers_of(r, peer);
    if (!count)
        return;
    xsv_html_section(r, "Share of the run that each rank waited for other ranks",
                     "At each moment, what its oldest open wait was for.");
    if (count >= HEAT_MOST) {
        fputs("<p>Too many ranks for a table: <code>xs query NAME rank_share</code></p>\n", r->out);
    } else {
        heat_head(r, peer, count);
        for (sqlite3_stmt *s = xsv_ask(r, "SELECT DISTINCT rank FROM rank ORDER BY rank LIMIT 256"); xsv_next(r, s);) {
            fprintf(r->out, "<tr><th>rank %" PRId64 "</th>", xsv_number(s, 0));
            for (int i = 0; i < count; i++)
                heat_cell(r, waited(r, xsv_number(s, 0), peer[i]));
            fputs("</tr>\n", r->out);
        }
        fputs("</tbody></table></div>\n", r->out);
    }
    xsv_html_section_end(r);
}

/* Buckets from `low` to `high` of the whole database: all rows share their axis. */
typedef struct axis {
    int low, high;
} axis;

static axis common_axis(xsv_report_state *r) {
    axis a = {1, 1};
    for (sqlite3_stmt *s = xsv_ask(r, "SELECT min(bucket), max(bucket) FROM wait_latency_histogram WHERE bucket > 0");
         xsv_next(r, s);)
        if (!xsv_is_null(s, 0))
            a = (axis){(int)xsv_number(s, 0), (int)xsv_number(s, 1)};
    if (a.low < 1 || a.high >= BUCKETS)
        a = (axis){1, BUCKETS - 1};
    return a;
}

typedef struct bars {
    int width, height, label; /* of a bar; of the highest; 1: times below */
} bars;

static void one_bar(xsv_report_state *r, const bars *b, int x, int64_t n, int64_t most, const char *class,
                    const char *title) {
    int height = n ? 1 + (int)((double)n * (b->height - 1) / (double)most) : 0;
    if (n)
        fprintf(r->out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"><title>%s: %s</title></rect>",
                class, x, b->height - height, b->width - 1, height, title, xsv_count(n).text);
}

/* Bucket 0, waits that passed at once, stands apart on the left. */
static void histogram(xsv_report_state *r, const axis *a, const bars *b, const int64_t *bucket) {
    int64_t most = bucket[0];
    for (int i = a->low; i <= a->high; i++)
        most = bucket[i] > most ? bucket[i] : most;
    if (!most)
        return;
    int left = b->width * 2, right = left + (a->high - a->low + 1) * b->width, bottom = b->label ? 18 : 1;
    fprintf(r->out, "<svg width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"histogram\">",
            right + (b->label ? 40 : 0), b->height + bottom);
    one_bar(r, b, 0, bucket[0], most, "passed", "passed at once");
    for (int i = a->low; i <= a->high; i++) {
        char title[80];
        int64_t low = (int64_t)1 << (i - 1);
        snprintf(title, sizeof title, "%s to %s", xsv_time(low).text, i < 63 ? xsv_time(low * 2).text : "more");
        one_bar(r, b, left + (i - a->low) * b->width, bucket[i], most, "bar", title);
        if (b->label && (i - a->low) % 3 == 0)
            fprintf(r->out, "<text x=\"%d\" y=\"%d\">%s</text>", left + (i - a->low) * b->width, b->height + 14,
                    xsv_time(low).text);
    }
    fprintf(r->out, "<path class=\"axis\" d=\"M0 %d.5H%d\"/></svg>", b->height, right);
}

static void read_buckets(xsv_report_state *r, sqlite3_stmt *s, int64_t *bucket) {
    memset(bucket, 0, BUCKETS * sizeof *bucket);
    while (xsv_next(r, s))
        if (xsv_number(s, 0) >= 0 && xsv_number(s, 0) < BUCKETS)
            bucket[xsv_number(s, 0)] = xsv_number(s, 1);
}

static void class_histogram(xsv_report_state *r, sqlite3_stmt *row, const void *user) {
    static const bars small = {7, 22, 0};
    int64_t bucket[BUCKETS];
    sqlite3_stmt *s =
        xsv_ask(r, "SELECT bucket, waits FROM wait_latency_histogram WHERE pad IS ? AND rank IS ? AND peer IS ?");
    for (int i = 0; s && i < 3; i++)
        sqlite3_bind_value(s, i + 1, sqlite3_column_value(row, i));
    read_buckets(r, s, bucket);
    histogram(r, user, &small, bucket);
}

static void whole_histogram(xsv_report_state *r, const axis *a) {
    static const bars large = {22, 160, 1};
    int64_t bucket[BUCKETS];
    read_buckets(r, xsv_ask(r, "SELECT bucket, sum(waits) FROM wait_latency_histogram GROUP BY bucket"), bucket);
    bucket[0] = 0; /* most of them, and no latency: it would flatten the others */
    xsv_html_section(r, "Latency of all waits that had to wait", "Each bar covers a factor of two.");
    histogram(r, a, &large, bucket);
    xsv_html_section_end(r);
}

void xsv_html_latencies(xsv_report_state *r) {
    static const xsv_html_column columns[] = {{"slot class", XSV_CELL_CODE}, {"rank", XSV_CELL_RANK},
                                              {"waits for", XSV_CELL_RANK},  {"waits", XSV_CELL_COUNT},
                                              {"blocked", XSV_CELL_TIME},    {"p50", XSV_CELL_TIME},
                                              {"p90", XSV_CELL_TIME},        {"p99", XSV_CELL_TIME},
                                              {"max", XSV_CELL_TIME},        {NULL, 0}};
    axis a = common_axis(r);
    char sql[256];
    snprintf(sql, sizeof sql,
             "SELECT pad, rank, peer, waits, blocked_ns, p50_ns, p90_ns, p99_ns, max_ns FROM wait_latency WHERE "
             "blocked_ns > 0 ORDER BY blocked_ns DESC, pad, rank, peer LIMIT %u",
             r->rows * 5);
    const xsv_html_table table = {
        .title = "Wait latency by slot class, waiting rank and the rank waited for",
        .about = "Blocked: time that these waits kept their writers, summed. Grey: passed at once.",
        .sql = sql,
        .columns = columns,
        .last_heading = "histogram",
        .last = class_histogram,
        .user = &a};
    xsv_html_rows(r, &table);
    if (xsv_ask_number(r, "SELECT count(*) FROM (SELECT 1 FROM wait_latency_histogram WHERE bucket > 0 LIMIT 1)"))
        whole_histogram(r, &a);
}
