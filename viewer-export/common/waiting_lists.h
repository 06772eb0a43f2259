/* Inside waiting: open waits, in lists by writer, by role, and by who will end them; each in order of begin. */
#ifndef XSV_WAITING_LISTS_H
#define XSV_WAITING_LISTS_H

#include "waiting.h"

enum xsv_chain { XSV_OF_RANK, XSV_OF_ROLE, XSV_OF_SUPPLIER, XSV_OF_WRITER, XSV_CHAINS };

typedef struct xsv_list {
    uint32_t first, last; /* 0: none */
} xsv_list;

typedef struct xsv_waiter { /* index 0 is no wait */
    uint64_t start;         /* event */
    int64_t begin;
    uint32_t writer, slot, rank, role;
    uint32_t supplier; /* role; local waits alone, XSR_NONE: not known yet */
    bool remote;
    struct {
        uint32_t before, after;
    } chain[XSV_CHAINS];
} xsv_waiter;

typedef struct xsv_role_waits {
    uint32_t role;
    xsv_list own, supplied; /* waits of its writers; local waits that it supplies */
} xsv_role_waits;

typedef struct xsv_rank_waits {
    xsv_list remote, unresolved; /* unresolved: local, their supplier is not known yet */
    xsv_role_waits *roles;
    uint32_t role_count;
    uint64_t open;
    uint32_t counts; /* the wait that counts now */
    int64_t since;
} xsv_rank_waits;

struct xsv_waiting {
    const xsr_model *model;
    const xsv_suppliers *suppliers;
    const xsv_waiting_ops *ops;
    void *user;
    xsv_rank_waits *ranks;
    xsv_list *writers;
    xsv_waiter *pool;
    uint32_t rank_count, writer_room, pool_room, pool_used, pool_free;
};

xsv_role_waits *xsv_role_find(const xsv_rank_waits *rank, uint32_t role); /* NULL: none */
/* Index of a new wait, in all its lists; 0: no memory. */
uint32_t xsv_waiter_add(xsv_waiting *waiting, const xsv_waiter *wait);
/* Its place in the pool may be taken again. */
void xsv_waiter_remove(xsv_waiting *waiting, uint32_t wait);
/* The supplier of an unresolved wait is known now. */
int xsv_waiter_resolve(xsv_waiting *waiting, uint32_t wait);

#endif
