/* A finished database, opened to be read. */
#ifndef XSV_DATABASE_H
#define XSV_DATABASE_H

#include <sqlite3.h>
#include <stdio.h>
#include <xs/export.h>

/* Read-only. *error may be set (freed by the caller); on failure *db is NULL. */
int xsv_database_open(const char *path, sqlite3 **db, char **error);
/* Sets *error, unless there is one, to the printed text. Returns `code`. */
int xsv_error(char **error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Rows of a prepared statement to `out`. Return 0, XS_E_FORMAT (a step failed), XS_E_SYSTEM (output), XS_E_MEMORY. */
int xsv_write_json(sqlite3_stmt *statement, FILE *out); /* an array of objects, one a line */
int xsv_write_csv(sqlite3_stmt *statement, FILE *out);
int xsv_write_table(sqlite3_stmt *statement, FILE *out);
void xsv_json_string(const char *text, FILE *out);
/* Puts the character of UTF-8 at `text`, U+FFFD for a byte that begins none: command lines and names may hold any
 * bytes, JSON and HTML may not. Returns the bytes that it took; `text` is not at its end. */
size_t xsv_put_character(const char *text, FILE *out);

#endif
