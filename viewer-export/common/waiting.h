/* For whom a rank waits: at each moment the oldest of its open waits for another rank. A wait for the rank itself does
 * not count; where it is older, and what its supplier (a role of the rank: who arrives at a gate) waits for leads to a
 * remote wait, that one counts in place of the rank's oldest. Runs on the events as they come, in time order. Memory
 * grows with open waits. */
#ifndef XSV_WAITING_H
#define XSV_WAITING_H

#include "suppliers.h"

typedef struct xsv_waiting xsv_waiting;

/* A piece of the run in which this wait was the one that counted for its rank. */
typedef struct xsv_waited {
    uint64_t start_event;
    uint32_t rank, slot; /* indices */
    int64_t begin, end;
} xsv_waited;

typedef struct xsv_waiting_ops { /* non-zero stops and is returned */
    int (*piece)(void *user, const xsv_waited *piece);
    int (*moved)(void *user, uint32_t rank, uint64_t open,
                 int64_t time); /* a wait began or ended: so many are open. May be NULL */
} xsv_waiting_ops;

/* NULL: no memory. Model, suppliers and ops must outlive it. */
xsv_waiting *xsv_waiting_make(const xsr_model *model, const xsv_suppliers *suppliers, const xsv_waiting_ops *ops,
                              void *user);
/* For every event, behind xsv_suppliers_event for the same one. */
int xsv_waiting_event(xsv_waiting *waiting, const xsr_event *event);
/* The wait is over, or is taken to be; nothing is done if it was already. */
int xsv_waiting_close(xsv_waiting *waiting, const xsr_wait *wait, int64_t time);
/* The piece that has begun for this rank (index); `end` is not set. False: the rank waits for no other. */
bool xsv_waiting_now(const xsv_waiting *waiting, uint32_t rank, xsv_waited *piece);
void xsv_waiting_free(xsv_waiting *waiting);

#endif
