/* For whom a rank waits: at each moment the oldest of its open waits for another rank. A wait for the rank itself does
 * not count; where it is older, and what its supplier (a role of the rank: who arrives at a gate) waits for leads to a
 * remote wait, that one counts in place of the rank's oldest. The rows `rank N waits for` of the Perfetto trace follow
 * the same rule. Runs on the events as they come, in time order; who released a wait is known when it is settled, so
 * its pieces are kept until then. Memory grows with open waits. */
#ifndef XSV_OLDEST_H
#define XSV_OLDEST_H

#include <xs/read.h>

typedef struct xsv_oldest xsv_oldest;

/* One piece of the run in which the rank of `wait` waited for wait->supplier_rank. Non-zero stops. */
typedef int (*xsv_oldest_piece)(void *user, const xsr_wait *wait, int64_t begin, int64_t end);

xsv_oldest *xsv_oldest_make(const xsr_model *model); /* NULL: no memory; *model must outlive it */
/* For every event. 0 or XS_E_MEMORY. */
int xsv_oldest_event(xsv_oldest *oldest, const xsr_event *event);
/* For every wait that did not pass; `end` is the capture's end where the wait is open. 0, XS_E_MEMORY, or what `piece`
 * returned. */
int xsv_oldest_wait(xsv_oldest *oldest, const xsr_wait *wait, int64_t end, xsv_oldest_piece piece, void *user);
/* The number of the rank that owes or released a wait: the reader's word, else the one rank that has arrived at the
 * counter. XSR_NONE: not known. */
uint32_t xsv_oldest_supplier(const xsv_oldest *oldest, const xsr_wait *wait);
void xsv_oldest_free(xsv_oldest *oldest);

#endif
