/* How long each wait kept its writer: waits of one writer that overlap (those of a barrier are polled in turn) count
 * each from where the one before it ended, as they are drawn. Ends come in order with the events; the waits themselves
 * are settled later and in another order, so what was known at an end is kept until its wait comes. */
#ifndef XSV_BLOCKED_H
#define XSV_BLOCKED_H

#include <xs/read.h>

typedef struct xsv_end {
    uint64_t id; /* shifted left by one; the low bit: its wait has come */
    int64_t before; /* end of the writer's wait before this one; INT64_MIN: none */
} xsv_end;

typedef struct xsv_blocked {
    int64_t *until; /* per writer: end of its last wait */
    uint32_t writers;
    xsv_end *ends; /* by id; a ring of `room` entries, a power of two */
    uint64_t first, next, room;
} xsv_blocked;

/* For every WAIT_END event. 0 or XS_E_MEMORY. */
int xsv_blocked_end(xsv_blocked *blocked, const xsr_event *event);
/* For every wait that did not pass; `end` is the capture's end where the wait is open. 0 or XS_E_MEMORY. */
int xsv_blocked_time(xsv_blocked *blocked, const xsr_wait *wait, int64_t end, uint64_t *ns);
void xsv_blocked_free(xsv_blocked *blocked);

#endif
