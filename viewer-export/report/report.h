#ifndef XSV_REPORT_H
#define XSV_REPORT_H

#include "database.h"

#include <stdint.h>

#define XSV_REPORT_WIDTH 100
#define XSV_REPORT_LEAST 40

/* Share of the run that `rank` waited for `peer` (-1: not known). */
typedef struct xsv_rank_share {
    int64_t rank, peer, ns;
} xsv_rank_share;

typedef struct xsv_report_state {
    sqlite3 *db;
    FILE *out;
    const xsv_report_options *options;
    uint32_t rows; /* of each list */
    int64_t begin_ns, end_ns;
    xsv_rank_share *shares; /* asked once: it sorts all waits that had to wait */
    int share_count;
    int rc; /* first error; questions after it have no rows */
} xsv_report_state;

/* ---- questions: for (stmt *s = ask(r, sql); next_row(r, s);) ... ; the last next_row finalizes. ---- */
sqlite3_stmt *xsv_ask(xsv_report_state *r, const char *sql);
int xsv_next(xsv_report_state *r, sqlite3_stmt *statement);
int64_t xsv_ask_number(xsv_report_state *r, const char *sql); /* 0 where there is no row */
int64_t xsv_number(sqlite3_stmt *statement, int column);
const char *xsv_text(sqlite3_stmt *statement, int column); /* "" for NULL; valid until the next row */
int xsv_is_null(sqlite3_stmt *statement, int column);

/* ---- units ---- */
typedef struct xsv_words {
    char text[32];
} xsv_words;
xsv_words xsv_time(int64_t ns);                     /* "12.3 us" */
xsv_words xsv_count(int64_t n);                     /* "43,164" */
xsv_words xsv_share(double share);                  /* "41 %", "0.3 %" */
xsv_words xsv_rank_words(sqlite3_stmt *s, int column, int64_t self); /* "rank 2", "itself", "unknown" */
/* `text` in a column of `width` characters, cut where it is longer. */
void xsv_cell(FILE *out, const char *text, int width);
/* A bar of `width` characters, filled by share. */
void xsv_bar(const xsv_report_state *r, double share, int width);

int xsv_width(const xsv_report_state *r); /* columns that sentences may take */
/* Text that ends its line, broken at that width; the first line begins at `column`, others at `indent`. */
void xsv_paragraph(xsv_report_state *r, int column, int indent, const char *text);

enum xsv_color { XSV_PLAIN, XSV_BOLD, XSV_RED, XSV_YELLOW, XSV_GREEN, XSV_DIM };
void xsv_color(const xsv_report_state *r, enum xsv_color color);
void xsv_heading(const xsv_report_state *r, const char *text);

/* ---- parts of the headline: 1 if there was something to say ---- */
int xsv_say_ends(xsv_report_state *r);
int xsv_say_hang(xsv_report_state *r);

/* ---- a finding: its columns and how it is said ---- */
/* file:line of a row that has both, "line N" where the file is not known, NULL where neither is. */
#define XSV_SOURCE "coalesce(file || ':' || line, 'line ' || line) "
/* Findings in order, with the place of each among those like it and their number: 1 of 1 but for what is no error
 * and of low confidence, of which a text tells the first of a detector's in full. */
#define XSV_LIKE "OVER (PARTITION BY severity, detector, confidence"
#define XSV_DOUBTED(value) "iif(severity <> 'error' AND confidence = 'low', " value ", 1) "
#define XSV_FINDINGS(where)                                                                                         \
    "SELECT severity, detector, verdict, cure, owes_rank, owes_block, rank, block, confidence, lost, explains, "     \
    "evidence, key, " XSV_SOURCE ", " XSV_DOUBTED("row_number() " XSV_LIKE " ORDER BY id)") ", "                     \
    XSV_DOUBTED("count(*) " XSV_LIKE ")") "FROM findings " where " ORDER BY id"
int xsv_finding_is_first(sqlite3_stmt *row); /* among those like it */
/* more: if there are others like it, says how many. */
void xsv_say_finding(xsv_report_state *r, sqlite3_stmt *row, int more);

#define XSV_PROCESSES \
    "SELECT pid, host_name, command, device, first_rank, ranks, ended, clean, tail_unknown, abort_reason, exit_status FROM process"

/* ---- sections ---- */
void xsv_section_headline(xsv_report_state *r);
void xsv_section_run(xsv_report_state *r);
void xsv_section_open(xsv_report_state *r);
void xsv_section_findings(xsv_report_state *r);
void xsv_section_blame(xsv_report_state *r);
void xsv_section_share(xsv_report_state *r);
void xsv_section_latency(xsv_report_state *r);
void xsv_section_slowest(xsv_report_state *r);
void xsv_section_health(xsv_report_state *r);

/* ---- forms ---- */
typedef struct xsv_json_part {
    const char *name, *sql;
} xsv_json_part;
/* Ends the object that the caller has begun. */
void xsv_json_parts(xsv_report_state *r, const xsv_json_part *parts, size_t count);
void xsv_report_json(xsv_report_state *r);
void xsv_report_html(xsv_report_state *r, const char *path);

/* Opens the database; 0 or what the public call returns. `options` and `out` stay the caller's. */
int xsv_report_open(xsv_report_state *r, const char *path, const xsv_report_options *options, FILE *out, char **error);
/* Flushes, closes, says what went wrong; r->rc. */
int xsv_report_close(xsv_report_state *r, const char *path, char **error);

#endif
