/* A block goes: free list -> filled by the reader -> queue -> inserted -> free list. The number of blocks bounds
 * memory; a reader that is ahead waits for a free one. After a failure the thread only recycles, so that nobody waits
 * for ever. */
#include "pipe.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_A_STATEMENT 100u /* measured: 1.3 to 2 times the rate of one row a step; more gives nothing */
#define BLOCK_ROWS 500u
#define BLOCKS 16u
#define MAX_COLUMNS 40u

_Static_assert(xsv_wait_count < MAX_COLUMNS && xsv_event_count < MAX_COLUMNS, "rows fit a block");

typedef struct block {
    struct block *next;
    enum xsv_table_id table;
    uint32_t rows;
    uint64_t cells[BLOCK_ROWS * (MAX_COLUMNS + 1)];
} block;

struct xsv_pipe {
    sqlite3 *db;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    block *free, *first, *last; /* last is valid where first is not NULL */
    int closing, running;
    atomic_int failed; /* result code of SQLite */
    int failed_errno; /* of the inserting thread, then */
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

static block *next_block(xsv_pipe *p) {
    pthread_mutex_lock(&p->lock);
    while (!p->first && !p->closing)
        pthread_cond_wait(&p->changed, &p->lock);
    block *b = p->first;
    if (b)
        p->first = b->next;
    pthread_mutex_unlock(&p->lock);
    return b;
}

static void give_back(xsv_pipe *p, block *b) {
    pthread_mutex_lock(&p->lock);
    b->next = p->free;
    p->free = b;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

static void *insert_thread(void *pipe) {
    xsv_pipe *p = pipe;
    for (block *b; (b = next_block(p));) {
        if (!p->failed) {
            int rc = insert_block(p, b);
            if (rc != SQLITE_OK) {
                p->failed_errno = errno;
                p->failed = rc;
            }
        }
        give_back(p, b);
    }
    return NULL;
}

static block *take_free(xsv_pipe *p) {
    pthread_mutex_lock(&p->lock);
    while (!p->free)
        pthread_cond_wait(&p->changed, &p->lock);
    block *b = p->free;
    p->free = b->next;
    pthread_mutex_unlock(&p->lock);
    b->rows = 0;
    return b;
}

static void enqueue(xsv_pipe *p, block *b) {
    b->next = NULL;
    pthread_mutex_lock(&p->lock);
    if (p->first)
        p->last->next = b;
    else
        p->first = b;
    p->last = b;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

uint64_t *xsv_pipe_row(xsv_pipe *p, enum xsv_table_id table) {
    block *b = p->open[table];
    if (b && b->rows == BLOCK_ROWS) {
        enqueue(p, b);
        p->open[table] = b = NULL;
    }
    if (atomic_load_explicit(&p->failed, memory_order_relaxed))
        return NULL;
    if (!b) {
        b = p->open[table] = take_free(p);
        b->table = table;
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

static int add_blocks(xsv_pipe *p) {
    /* One block a table may be open while others wait in the queue. */
    for (uint32_t i = 0; i < BLOCKS + XSV_FLOWING; i++) {
        block *b = malloc(sizeof *b);
        if (!b)
            return SQLITE_NOMEM;
        b->next = p->free;
        p->free = b;
    }
    return SQLITE_OK;
}

int xsv_pipe_start(sqlite3 *db, xsv_pipe **pipe) {
    xsv_pipe *p = calloc(1, sizeof *p);
    if (!p)
        return SQLITE_NOMEM;
    p->db = db;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    int rc = add_blocks(p);
    if (rc == SQLITE_OK)
        rc = prepare(p);
    if (rc == SQLITE_OK && pthread_create(&p->thread, NULL, insert_thread, p))
        rc = SQLITE_NOMEM;
    if (rc != SQLITE_OK) {
        xsv_pipe_free(p);
        return rc;
    }
    p->running = 1;
    *pipe = p;
    return SQLITE_OK;
}

int xsv_pipe_stop(xsv_pipe *p) {
    if (p->running) {
        for (uint32_t t = 0; t < XSV_FLOWING; t++) {
            if (p->open[t])
                enqueue(p, p->open[t]);
            p->open[t] = NULL;
        }
        pthread_mutex_lock(&p->lock);
        p->closing = 1;
        pthread_cond_broadcast(&p->changed);
        pthread_mutex_unlock(&p->lock);
        pthread_join(p->thread, NULL);
        p->running = 0;
        if (p->failed)
            errno = p->failed_errno;
    }
    for (uint32_t t = 0; t < XSV_FLOWING; t++) {
        sqlite3_finalize(p->many[t]);
        sqlite3_finalize(p->one[t]);
        p->many[t] = p->one[t] = NULL;
    }
    return p->failed;
}

uint64_t xsv_pipe_rows(const xsv_pipe *p, enum xsv_table_id table) { return p->rows[table]; }

void xsv_pipe_free(xsv_pipe *p) {
    if (!p)
        return;
    xsv_pipe_stop(p);
    for (block *b; (b = p->free);) {
        p->free = b->next;
        free(b);
    }
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
}
