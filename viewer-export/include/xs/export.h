/* Exporters of libxsread: SQLite and the report. (Perfetto: xs/perfetto.h.) */
#ifndef XS_EXPORT_H
#define XS_EXPORT_H

#include <stdio.h>
#include <xs/analyse.h>

XS_EXTERN_C_BEGIN

/* ---- SQLite ---- */

/* Version of tables and views (docs/sql.md). A database of another version is made again from its capture. */
#define XSV_SCHEMA_VERSION 8

typedef struct xsv_sqlite_timing {
    uint64_t rows;     /* of all tables */
    uint64_t rows_ns;  /* from begin to the last row, the reader's pass included */
    uint64_t index_ns; /* indices */
    uint64_t views_ns; /* views */
    uint64_t close_ns; /* commit, sync, rename */
} xsv_sqlite_timing;

typedef struct xsv_sqlite_options {
    uint32_t size;             /* sizeof(xsv_sqlite_options) */
    uint32_t reserved0;
    const char *captures;      /* for the meta table: where this came from; NULL: not said */
    xsv_sqlite_timing *timing; /* filled by finish; NULL: not wanted */
    /* of xsa_open, before this sink in the pass: findings and verdicts; NULL: none. Not owned */
    const xsr_sink *analysis;
} xsv_sqlite_options;

/* For a program, before it opens a database or asks SQLite for anything else: memory for the pages of a database of
 * so many records (xsr_model), for good. Exports are faster by a fifth. Does nothing for few records, the second time,
 * or where SQLite is in use already. */
XS_API void xsv_sqlite_reserve(uint64_t records);
/* A sink that writes PATH. It works on PATH.tmp, which takes the final name only when the database is whole, so that a
 * cut export leaves no half database. One thread of its own inserts rows while the reader decodes; the sink's functions
 * are for one thread. options may be NULL. Returns XS_E_MEMORY, XS_E_NO_SPACE, XS_E_SYSTEM. */
XS_API int xsv_sqlite_open(const char *path, const xsv_sqlite_options *options, xsr_sink **sink);
/* What went wrong, in SQLite's words or errno's; "" if nothing did. Owned by the sink. */
XS_API const char *xsv_sqlite_error(const xsr_sink *sink);
/* Frees the sink; without a successful finish PATH.tmp is removed and PATH is as it was. Returns the first error. */
XS_API int xsv_sqlite_close(xsr_sink *sink);

/* ---- reading the database ---- */

/* 0 if PATH is a whole database of this schema version; XS_E_VERSION (older or newer), XS_E_FORMAT, XS_E_SYSTEM. */
XS_API int xsv_sqlite_check(const char *path);

enum xsv_format { XSV_TABLE = 0, XSV_CSV = 1, XSV_JSON = 2 };

/* Runs one read-only statement and writes its rows to `out`. `sql` is SQL, or the name of a view or table. Several
 * statements, or one that would write, are XS_E_ARGUMENT. *error (NULL: not wanted) is set to text that the caller
 * frees. Errors: XS_E_ARGUMENT, XS_E_FORMAT, XS_E_SYSTEM (output). */
XS_API int xsv_query(const char *path, const char *sql, enum xsv_format format, FILE *out, char **error);

typedef struct xsv_report_options {
    uint32_t size;    /* sizeof(xsv_report_options) */
    uint32_t json;    /* 1: one JSON object */
    uint32_t color;   /* 1: ANSI colours */
    uint32_t unicode; /* 1: block characters; 0: ASCII */
    uint32_t rows;    /* of each list; 0: 10 */
    uint32_t html;    /* 1: one self-contained page; `json` goes first */
    uint32_t width;   /* columns after which sentences are broken, 40 at least; 0: 100. Tables have theirs */
} xsv_report_options;

/* The report is queries over the database alone, so that the two cannot disagree. Errors as xsv_query. */
XS_API int xsv_report(const char *path, const xsv_report_options *options, FILE *out, char **error);

typedef struct xsv_check_options {
    uint32_t size;  /* sizeof(xsv_check_options) */
    uint32_t json;  /* 1: one JSON object: findings, evidence, verdicts */
    uint32_t quiet; /* 1: writes nothing */
    uint32_t all;   /* 1: what each detector says, those that found nothing too */
    uint32_t color; /* 1: ANSI colours */
    uint32_t width; /* as above */
} xsv_check_options;

/* Findings and verdicts of a database. Returns 0: clean, 1: any error finding, 2: none, but a verdict is unknown; or an
 * error as xsv_query. */
XS_API int xsv_check(const char *path, const xsv_check_options *options, FILE *out, char **error);

XS_EXTERN_C_END

#endif
