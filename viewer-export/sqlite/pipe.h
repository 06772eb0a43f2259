/* Rows of the flowing tables, handed in blocks to a thread that inserts them: decoding and inserting share two cores.
 * */
#ifndef XSV_PIPE_H
#define XSV_PIPE_H

#include "schema.h"

typedef struct xsv_pipe xsv_pipe;

/* `db` belongs to the pipe's thread until xsv_pipe_stop. */
int xsv_pipe_start(sqlite3 *db, xsv_pipe **pipe);
/* The next row of a table, all columns 0: row[0] is a bit a column that is NULL, row[1 + column] the value. NULL when
 * an insert has failed. The row is taken with the next call. */
uint64_t *xsv_pipe_row(xsv_pipe *pipe, enum xsv_table_id table);
/* Inserts what is left and ends the thread. Returns a result code of SQLite (SQLITE_OK: every row is in);
 * after a failure errno is that of the failed insert. */
int xsv_pipe_stop(xsv_pipe *pipe);
/* Rows so far, of one table; valid after stop. */
uint64_t xsv_pipe_rows(const xsv_pipe *pipe, enum xsv_table_id table);
void xsv_pipe_free(xsv_pipe *pipe);

#endif
