/* Pieces of the run in which one wait was the one that counted for its rank (../common/waiting.h). Who released a wait
 * is known when it is settled, so its pieces are kept until then. Memory grows with open waits. */
#ifndef XSV_RANK_WAITS_H
#define XSV_RANK_WAITS_H

#include "suppliers.h"
#include "map.h"
#include "waiting.h"

typedef struct xsv_piece {
    int64_t begin, end;
    uint32_t next; /* 0: none */
} xsv_piece;

typedef struct xsv_rank_pieces {
    xsv_suppliers suppliers;
    xsv_waiting *waiting;
    xsv_map of_wait; /* start event -> first piece, last piece */
    xsv_piece *pieces;
    uint32_t room, used, free_list;
} xsv_rank_pieces;

/* One piece in which the rank of `wait` waited for xsv_rank_waits_supplier(wait). Non-zero stops. */
typedef int (*xsv_rank_piece)(void *user, const xsr_wait *wait, int64_t begin, int64_t end);

/* 0 or XS_E_MEMORY. *p and *model must stay where they are. */
int xsv_rank_waits_begin(xsv_rank_pieces *p, const xsr_model *model);
int xsv_rank_waits_event(xsv_rank_pieces *p, const xsr_event *event);
/* For every wait that did not pass; `end` is the capture's end where the wait is open. 0, XS_E_MEMORY, or what `piece`
 * returned. */
int xsv_rank_waits_settle(xsv_rank_pieces *p, const xsr_wait *wait, int64_t end, xsv_rank_piece piece, void *user);
/* The number of the rank that owes or released a wait: the reader's word, else the one rank that has arrived at the
 * counter. XSR_NONE: not known. */
uint32_t xsv_rank_waits_supplier(const xsv_rank_pieces *p, const xsr_wait *wait);
void xsv_rank_waits_free(xsv_rank_pieces *p);

#endif
