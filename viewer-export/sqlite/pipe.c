/* Blocks of rows on a belt, whose one consumer inserts them. One block a table is being filled. */
#include "pipe.h"

#include "../../trace/read/belt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_A_STATEMENT 100u /* measured: 1.3 to 2 times the rate of one row a step; more gives nothing */
#define BLOCK_ROWS 500u
#define BLOCKS 16u
#define MAX_COLUMNS 40u

_Static_assert(xsv_wait_count < MAX_COLUMNS && xsv_event_count < MAX_COLUMNS, "rows fit a block");

typedef struct block {
    enum xsv_table_id table;
    uint32_t rows;
    uint64_t cells[BLOCK_ROWS * (MAX_COLUMNS + 1)];
} block;

struct xsv_pipe {
    sqlite3 *db;
    rd_belt *belt;
    block *open[XSV_FLOWING];
    sqlite3_stmt *many[XSV_FLOWING], *one[XSV_FLOWING];
    uint64_t rows[XSV_FLOWING];
};

static int bind_row(sqlite3_stmt *s, int at, const uint64_t *row, uint32_t columns) {
    int rc = SQLITE_OK;
    uint64_t nulls = row[0];
    for (uint32_t c = 0; c < columns; c++) {
        if (nulls >> c & 1)
            rc |= sqlite3_bind_null(s, at++);
        else
            rc |= sqlite3_bind_int64(s, at++, (sqlite3_int64)row[1 + c]);
    }
    return rc;
}

static int insert_rows(sqlite3_stmt *s, const uint64_t *cells, uint32_t rows, uint32_t columns) {
    int rc = SQLITE_OK;
    for (uint32_t r = 0; r < rows; r++)
        rc |= bind_row(s, (int)(r * columns) + 1, cells + (size_t)r * (columns + 1), columns);
    if (rc != SQLITE_OK)
        return SQLITE_NOMEM; /* a bind fails for nothing else here */
    rc = sqlite3_step(s);
    int reset = sqlite3_reset(s);
    return rc == SQLITE_DONE ? SQLITE_OK : reset;
}

static int insert_block(xsv_pipe *p, const block *b) {
    uint32_t columns = xsv_tables[b->table].count, r = 0;
    int rc = SQLITE_OK;
    for (; rc == SQLITE_OK && r + ROWS_A_STATEMENT <= b->rows; r += ROWS_A_STATEMENT)
        rc = insert_rows(p->many[b->table], b->cells + (size_t)r * (columns + 1), ROWS_A_STATEMENT, columns);
    for (; rc == SQLITE_OK && r < b->rows; r++)
        rc = insert_rows(p->one[b->table], b->cells + (size_t)r * (columns + 1), 1, columns);
    return rc;
}

static int use_block(void *pipe, const void *batch) { return insert_block(pipe, batch); }

static int code_of(int error) { return error ? SQLITE_NOMEM : SQLITE_OK; } /* a thread, too, fails for want of memory */

uint64_t *xsv_pipe_row(xsv_pipe *p, enum xsv_table_id table) {
    block *b = p->open[table];
    if (b && b->rows == BLOCK_ROWS) {
        rd_belt_send(p->belt, b);
        p->open[table] = b = NULL;
    }
    if (rd_belt_failed(p->belt))
        return NULL;
    if (!b) {
        b = p->open[table] = rd_belt_take(p->belt);
        b->table = table;
        b->rows = 0;
    }
    uint32_t width = xsv_tables[table].count + 1;
    uint64_t *row = b->cells + (size_t)b->rows++ * width;
    p->rows[table]++;
    return memset(row, 0, width * sizeof *row);
}

static int prepare(xsv_pipe *p) {
    int rc = SQLITE_OK;
    for (uint32_t t = 0; t < XSV_FLOWING && rc == SQLITE_OK; t++) {
        rc = xsv_schema_insert(p->db, &xsv_tables[t], ROWS_A_STATEMENT, &p->many[t]);
        if (rc == SQLITE_OK)
            rc = xsv_schema_insert(p->db, &xsv_tables[t], 1, &p->one[t]);
    }
    return rc;
}

int xsv_pipe_start(sqlite3 *db, xsv_pipe **pipe) {
    xsv_pipe *p = calloc(1, sizeof *p);
    if (!p)
        return SQLITE_NOMEM;
    p->db = db;
    rd_consumer inserts = {use_block, p};
    int rc = prepare(p);
    if (rc == SQLITE_OK) /* one block a table may be open while others wait */
        rc = code_of(rd_belt_start(&p->belt, BLOCKS + XSV_FLOWING, sizeof(block), &inserts, 1));
    if (rc != SQLITE_OK) {
        xsv_pipe_free(p);
        return rc;
    }
    *pipe = p;
    return SQLITE_OK;
}

int xsv_pipe_stop(xsv_pipe *p) {
    for (uint32_t t = 0; t < XSV_FLOWING; t++) {
        if (p->open[t])
            rd_belt_send(p->belt, p->open[t]);
        p->open[t] = NULL;
    }
    int rc = p->belt ? rd_belt_stop(p->belt) : SQLITE_OK, number = errno;
    for (uint32_t t = 0; t < XSV_FLOWING; t++) {
        sqlite3_finalize(p->many[t]);
        sqlite3_finalize(p->one[t]);
        p->many[t] = p->one[t] = NULL;
    }
    errno = number;
    return rc;
}

uint64_t xsv_pipe_rows(const xsv_pipe *p, enum xsv_table_id table) { return p->rows[table]; }

void xsv_pipe_free(xsv_pipe *p) {
    if (!p)
        return;
    xsv_pipe_stop(p);
    rd_belt_free(p->belt);
    free(p);
}
