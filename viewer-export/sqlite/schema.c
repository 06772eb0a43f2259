#include "schema.h"

#include <stddef.h>


#define C(name, type) {#name, type},
#define T(name) static const xsv_column name##_columns[] = {XSV_COLUMNS_##name(C)};
XSV_TABLES(T)
#undef T
#undef C

#define T(name) {#name, name##_columns, sizeof name##_columns / sizeof name##_columns[0]},
const xsv_table xsv_tables[XSV_TABLE_COUNT] = {XSV_TABLES(T)};
#undef T

static int run(sqlite3 *db, char *sql) {
    int rc = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return rc;
}

static int create_table(sqlite3 *db, const xsv_table *table) {
    sqlite3_str *s = sqlite3_str_new(db);
    sqlite3_str_appendf(s, "CREATE TABLE %s(", table->name);
    for (uint32_t i = 0; i < table->count; i++)
        sqlite3_str_appendf(s, "%s\"%s\" %s", i ? ", " : "", table->columns[i].name, table->columns[i].type);
    sqlite3_str_appendall(s, ")");
    return run(db, sqlite3_str_finish(s));
}

int xsv_schema_tables(sqlite3 *db) {
    int rc = SQLITE_OK;
    for (uint32_t i = 0; i < XSV_TABLE_COUNT && rc == SQLITE_OK; i++)
        rc = create_table(db, &xsv_tables[i]);
    return rc;
}

int xsv_schema_insert(sqlite3 *db, const xsv_table *table, uint32_t rows, sqlite3_stmt **statement) {
    sqlite3_str *s = sqlite3_str_new(db);
    sqlite3_str_appendf(s, "INSERT INTO %s VALUES ", table->name);
    for (uint32_t r = 0; r < rows; r++) {
        sqlite3_str_appendall(s, r ? ",(" : "(");
        for (uint32_t i = 0; i < table->count; i++)
            sqlite3_str_appendall(s, i ? ",?" : "?");
        sqlite3_str_appendall(s, ")");
    }
    char *sql = sqlite3_str_finish(s);
    int rc = sql ? sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, statement, NULL) : SQLITE_NOMEM;
    sqlite3_free(sql);
    return rc;
}

static int create_objects(sqlite3 *db, const xsv_object *objects, uint32_t count) {
    int rc = SQLITE_OK;
    for (uint32_t i = 0; i < count && rc == SQLITE_OK; i++)
        rc = sqlite3_exec(db, objects[i].sql, NULL, NULL, NULL);
    return rc;
}

int xsv_schema_indices(sqlite3 *db) { return create_objects(db, xsv_indices, xsv_index_count); }

int xsv_schema_views(sqlite3 *db) { return create_objects(db, xsv_views, xsv_view_count); }
