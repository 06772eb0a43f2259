#include "database.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int xsv_error(char **error, int code, const char *format, ...) {
    if (!error || *error)
        return code;
    va_list list;
    va_start(list, format);
    if (vasprintf(error, format, list) < 0)
        *error = NULL;
    va_end(list);
    return code;
}

int xsv_database_open(const char *path, sqlite3 **db, char **error) {
    *db = NULL;
    if (access(path, R_OK))
        return xsv_error(error, XS_E_SYSTEM, "%s: %m", path);
    int rc = sqlite3_open_v2(path, db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK) {
        rc = sqlite3_exec(*db, "PRAGMA query_only = 1; PRAGMA cache_size = -65536; SELECT 1 FROM sqlite_schema", NULL,
                          NULL, NULL);
    }
    if (rc == SQLITE_OK)
        return XS_OK;
    xsv_error(error, 0, "%s: %s", path, *db ? sqlite3_errmsg(*db) : "out of memory");
    sqlite3_close(*db);
    *db = NULL;
    return (rc & 0xff) == SQLITE_NOMEM ? XS_E_MEMORY : XS_E_FORMAT;
}

static int meta_number(sqlite3 *db, const char *key, int64_t *value) {
    sqlite3_stmt *s;
    if (sqlite3_prepare_v2(db, "SELECT CAST(value AS INTEGER) FROM meta WHERE key = ?", -1, &s, NULL) != SQLITE_OK)
        return 0;
    sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC);
    int found = sqlite3_step(s) == SQLITE_ROW;
    if (found)
        *value = sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return found;
}

int xsv_sqlite_check(const char *path) {
    sqlite3 *db;
    int rc = xsv_database_open(path, &db, NULL);
    if (rc)
        return rc;
    int64_t version = 0, complete = 0;
    if (!meta_number(db, "schema_version", &version) || !meta_number(db, "complete", &complete) || !complete)
        rc = XS_E_FORMAT;
    else if (version != XSV_SCHEMA_VERSION)
        rc = XS_E_VERSION;
    sqlite3_close(db);
    return rc;
}

static int is_name(const char *sql) {
    size_t n = strspn(sql, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    return n > 0 && !sql[n];
}

/* The connection is read-only, but ATTACH would make a file. */
static int allow(void *user, int action, const char *a, const char *b, const char *c, const char *d) {
    (void)user, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_ATTACH || action == SQLITE_DETACH ? SQLITE_DENY : SQLITE_OK;
}

/* One statement, that reads. */
static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **statement, char **error) {
    char *whole = is_name(sql) ? sqlite3_mprintf("SELECT * FROM \"%w\"", sql) : sqlite3_mprintf("%s", sql);
    if (!whole)
        return XS_E_MEMORY;
    const char *tail = NULL;
    sqlite3_set_authorizer(db, allow, NULL);
    sqlite3_stmt *more = NULL;
    int rc = sqlite3_prepare_v2(db, whole, -1, statement, &tail);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(db, tail, -1, &more, NULL);
    int result = XS_OK;
    if (rc != SQLITE_OK && is_name(sql))
        result = xsv_error(error, XS_E_ARGUMENT, "no view or table %s; xs query NAME lists the views", sql);
    else if (rc != SQLITE_OK)
        result = xsv_error(error, XS_E_ARGUMENT, "%s", sqlite3_errmsg(db));
    else if (!*statement)
        result = xsv_error(error, XS_E_ARGUMENT, "no statement was given");
    else if (more)
        result = xsv_error(error, XS_E_ARGUMENT, "one statement at a time");
    else if (!sqlite3_stmt_readonly(*statement))
        result = xsv_error(error, XS_E_ARGUMENT, "the database is only read: the statement would write");
    sqlite3_finalize(more);
    sqlite3_free(whole);
    return result;
}

int xsv_query(const char *path, const char *sql, enum xsv_format format, FILE *out, char **error) {
    static int (*const writers[])(sqlite3_stmt *, FILE *) = {xsv_write_table, xsv_write_csv, xsv_write_json};
    if (error)
        *error = NULL;
    if (!path || !sql || !out || (unsigned)format > XSV_JSON)
        return xsv_error(error, XS_E_ARGUMENT, "an argument is missing");
    sqlite3 *db;
    int rc = xsv_database_open(path, &db, error);
    if (rc)
        return rc;
    sqlite3_stmt *statement = NULL;
    rc = prepare(db, sql, &statement, error);
    if (!rc && (rc = writers[format](statement, out)))
        xsv_error(error, rc, "%s", rc == XS_E_SYSTEM ? strerror(errno) : sqlite3_errmsg(db));
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return rc;
}
