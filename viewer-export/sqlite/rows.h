/* What becomes of events, waits, signals and losses in the flowing tables. */
#ifndef XSV_ROWS_H
#define XSV_ROWS_H

#include "blocked.h"
#include "pipe.h"
#include "rank_waits.h"
#include "tally.h"

#include <xs/read.h>

/* What the sink remembers of each writer. */
typedef struct xsv_writer_state {
    uint64_t epoch, events; /* that it is in; 0: none */
    int64_t epoch_begin, epoch_last;
} xsv_writer_state;

typedef struct xsv_rows {
    const xsr_model *model;
    xsv_pipe *pipe;
    xsv_tally tally;
    xsv_writer_state *writers;
    uint32_t writer_room;
    int64_t last_time; /* newest of all events */
    int64_t *rank_last; /* newest event by index of rank; INT64_MIN: none */
    uint32_t rank_room;
    xsv_blocked blocked;
    xsv_rank_pieces pieces;
    xsv_tally rank_waits; /* by rank and supplier: total_ns of the pieces */
    uint64_t starts_lost, ends_lost;
} xsv_rows;

/* Each returns 0, XS_E_MEMORY, or XS_E_SYSTEM when an insert has failed (the pipe knows why). */
int xsv_rows_event(xsv_rows *rows, const xsr_event *event);
int xsv_rows_wait(xsv_rows *rows, const xsr_wait *wait);
int xsv_rows_signal(xsv_rows *rows, const xsr_signal *signal);
int xsv_rows_lost(xsv_rows *rows, const xsr_loss *loss);
/* Closes the epochs in which writers still are. */
int xsv_rows_finish(xsv_rows *rows);
void xsv_rows_free(xsv_rows *rows);

/* The rank's number, XSR_NONE if the index is. */
static inline uint32_t xsv_rank_number(const xsr_model *m, uint32_t index) {
    return index < m->rank_count ? m->ranks[index].rank : XSR_NONE;
}

#endif
