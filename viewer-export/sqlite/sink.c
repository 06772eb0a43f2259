/* The SQLite sink: PATH.tmp, one transaction, no journal, renamed when whole. */
#include "catalog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xs/export.h>

typedef struct sqlite_sink {
    xsr_sink sink; /* first: the sink's callbacks get this address */
    xsv_sqlite_options options;
    sqlite3 *db;
    char *path, *temporary, *captures;
    xsv_rows rows;
    uint64_t started;
    int finished, error; /* first xs_error */
    char text[256];
} sqlite_sink;

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int full_disk(int code) { return code == ENOSPC || code == EDQUOT || code == EFBIG; }

static int fail(sqlite_sink *s, int error, const char *why) {
    if (!s->error) {
        s->error = error;
        snprintf(s->text, sizeof s->text, "%s", why);
    }
    return s->error;
}

static int fail_errno(sqlite_sink *s, int code) {
    return fail(s, full_disk(code) ? XS_E_NO_SPACE : XS_E_SYSTEM, strerror(code));
}

/* From a result code of SQLite. It does not hand the cause of every I/O error on: then errno, right after the call,
 * has it. */
static int fail_sqlite(sqlite_sink *s, int rc) {
    int last = errno, code = s->db ? sqlite3_system_errno(s->db) : 0, kind = rc & 0xff;
    if (!code && kind == SQLITE_IOERR)
        code = last;
    if (kind == SQLITE_NOMEM)
        return fail(s, XS_E_MEMORY, "out of memory");
    if (kind == SQLITE_FULL)
        return fail_errno(s, errno = ENOSPC);
    if ((kind == SQLITE_IOERR || kind == SQLITE_CANTOPEN) && code)
        return fail_errno(s, errno = code);
    return fail(s, XS_E_SYSTEM, sqlite3_errstr(rc));
}

static int open_database(sqlite_sink *s) {
    if (unlink(s->temporary) && errno != ENOENT)
        return fail_errno(s, errno);
    /* SQLite tries again otherwise, and forgets why it could not */
    int fd = open(s->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return fail_errno(s, errno);
    close(fd);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    int rc = sqlite3_open_v2(s->temporary, &s->db, flags, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(s->db, XSV_PRAGMAS, NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = xsv_schema_tables(s->db);
    if (rc == SQLITE_OK)
        rc = xsv_pipe_start(s->db, &s->rows.pipe);
    return rc == SQLITE_OK ? XS_OK : fail_sqlite(s, rc);
}

static int sink_begin(xsr_sink *sink, const xsr_model *model) {
    sqlite_sink *s = (sqlite_sink *)sink;
    s->rows.model = model;
    s->started = now_ns();
    return xsv_rank_waits_begin(&s->rows.pieces, model) ? fail(s, XS_E_MEMORY, "out of memory") : s->error;
}

/* A row that could not be handed on means that an insert failed: ask the pipe why. */
static int row_result(sqlite_sink *s, int rc) {
    if (rc == XS_E_SYSTEM)
        return fail_sqlite(s, xsv_pipe_stop(s->rows.pipe));
    return rc ? fail(s, rc, "out of memory") : XS_OK;
}

static int sink_event(xsr_sink *sink, const xsr_event *event) {
    sqlite_sink *s = (sqlite_sink *)sink;
    int rc = xsv_rows_event(&s->rows, event);
    return rc ? row_result(s, rc) : XS_OK;
}

static int sink_wait(xsr_sink *sink, const xsr_wait *wait) {
    sqlite_sink *s = (sqlite_sink *)sink;
    int rc = xsv_rows_wait(&s->rows, wait);
    return rc ? row_result(s, rc) : XS_OK;
}

static int sink_signal(xsr_sink *sink, const xsr_signal *signal) {
    sqlite_sink *s = (sqlite_sink *)sink;
    int rc = xsv_rows_signal(&s->rows, signal);
    return rc ? row_result(s, rc) : XS_OK;
}

static int sink_lost(xsr_sink *sink, const xsr_loss *loss) {
    sqlite_sink *s = (sqlite_sink *)sink;
    int rc = xsv_rows_lost(&s->rows, loss);
    return rc ? row_result(s, rc) : XS_OK;
}

static int finish_tables(sqlite_sink *s, xsv_sqlite_timing *t) {
    xsv_catalog catalog = {.db = s->db, .model = s->rows.model, .rows = &s->rows, .captures = s->captures};
    const xsa_result *result = s->options.analysis ? xsa_result_of(s->options.analysis) : NULL;
    int rc = xsv_rows_finish(&s->rows);
    if (rc)
        return row_result(s, rc);
    rc = xsv_pipe_stop(s->rows.pipe);
    if (rc == SQLITE_OK)
        rc = xsv_catalog_model(&catalog);
    if (rc == SQLITE_OK)
        rc = xsv_catalog_activities(&catalog);
    if (rc == SQLITE_OK)
        rc = xsv_catalog_words(&catalog);
    if (rc == SQLITE_OK)
        rc = xsv_catalog_counts(&catalog);
    if (rc == SQLITE_OK)
        rc = xsv_catalog_findings(&catalog, result);
    if (rc == SQLITE_OK)
        rc = xsv_catalog_blame(&catalog, result);
    t->rows = catalog.written;
    for (uint32_t table = 0; table < XSV_FLOWING; table++)
        t->rows += xsv_pipe_rows(s->rows.pipe, table);
    return rc == SQLITE_OK ? XS_OK : fail_sqlite(s, rc);
}

static int sync_file(sqlite_sink *s) {
    int fd = open(s->temporary, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(s, errno);
    int rc = fdatasync(fd) && errno != EINVAL && errno != EROFS ? errno : 0;
    if (close(fd) && !rc)
        rc = errno;
    return rc ? fail_errno(s, rc) : XS_OK;
}

static int close_database(sqlite_sink *s) {
    int rc = sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        return fail_sqlite(s, rc);
    rc = sqlite3_close(s->db);
    if (rc != SQLITE_OK)
        return fail_sqlite(s, rc);
    s->db = NULL;
    if (sync_file(s))
        return s->error;
    if (rename(s->temporary, s->path))
        return fail_errno(s, errno);
    s->finished = 1;
    return XS_OK;
}

static int sink_finish(xsr_sink *sink) {
    sqlite_sink *s = (sqlite_sink *)sink;
    xsv_sqlite_timing t = {0};
    if (s->error || finish_tables(s, &t))
        return s->error;
    uint64_t rows = now_ns();
    int rc = xsv_schema_indices(s->db);
    uint64_t indices = now_ns();
    if (rc == SQLITE_OK)
        rc = xsv_schema_views(s->db);
    if (rc != SQLITE_OK)
        return fail_sqlite(s, rc);
    uint64_t views = now_ns();
    if (close_database(s))
        return s->error;
    t.rows_ns = rows - s->started;
    t.index_ns = indices - rows;
    t.views_ns = views - indices;
    t.close_ns = now_ns() - views;
    if (s->options.timing)
        *s->options.timing = t;
    return XS_OK;
}

static void free_sink(sqlite_sink *s) {
    xsv_pipe_free(s->rows.pipe);
    xsv_rows_free(&s->rows);
    sqlite3_close(s->db);
    if (!s->finished && s->temporary)
        unlink(s->temporary);
    free(s->path);
    free(s->temporary);
    free(s->captures);
    free(s);
}

static int copy_options(sqlite_sink *s, const char *path, const xsv_sqlite_options *options) {
    if (options)
        memcpy(&s->options, options, options->size < sizeof s->options ? options->size : sizeof s->options);
    s->path = strdup(path);
    s->captures = strdup(s->options.captures ? s->options.captures : "");
    if (asprintf(&s->temporary, "%s.tmp", path) < 0)
        s->temporary = NULL;
    return s->path && s->captures && s->temporary ? XS_OK : XS_E_MEMORY;
}

int xsv_sqlite_open(const char *path, const xsv_sqlite_options *options, xsr_sink **sink) {
    if (!path || !*path || !sink)
        return XS_E_ARGUMENT;
    sqlite_sink *s = calloc(1, sizeof *s);
    if (!s)
        return XS_E_MEMORY;
    s->sink = (xsr_sink){.name = "sqlite",
                         .begin = sink_begin,
                         .event = sink_event,
                         .wait = sink_wait,
                         .signal = sink_signal,
                         .lost = sink_lost,
                         .finish = sink_finish};
    s->rows.last_time = INT64_MIN;
    int rc = copy_options(s, path, options);
    if (!rc)
        rc = open_database(s);
    if (rc) {
        int cause = errno;
        free_sink(s);
        errno = cause;
        return rc;
    }
    *sink = &s->sink;
    return XS_OK;
}

const char *xsv_sqlite_error(const xsr_sink *sink) { return ((const sqlite_sink *)sink)->text; }

int xsv_sqlite_close(xsr_sink *sink) {
    if (!sink)
        return XS_OK;
    int error = ((sqlite_sink *)sink)->error;
    free_sink((sqlite_sink *)sink);
    return error;
}
