/* Who supplies each slot: the plan's word, and what arrivals and signals have shown so far. Memory grows with slots. */
#ifndef XSV_SUPPLIERS_H
#define XSV_SUPPLIERS_H

#include <xs/read.h>

#define XSV_SEVERAL (XSR_NONE - 1)

typedef struct xsv_supply { /* XSR_NONE: none yet */
    uint32_t arrive_role;   /* of the last arrival: then the slot is a counter */
    uint32_t arrive_rank;   /* number; XSV_SEVERAL: of more than one rank */
    uint32_t signal_rank;   /* number, of the last signal */
    uint32_t signal_writer; /* of the last signal */
} xsv_supply;

typedef struct xsv_suppliers {
    const xsr_model *model;
    xsv_supply *slots;
    uint32_t room;
    uint32_t told; /* the slot whose role the last event was the first to tell; XSR_NONE */
} xsv_suppliers;

/* For every event, in time order. 0 or XS_E_MEMORY. */
int xsv_suppliers_event(xsv_suppliers *suppliers, const xsr_event *event);
xsv_supply xsv_supply_of(const xsv_suppliers *suppliers, uint32_t slot);
/* Number of the rank that owes the slot's signal (of a counter: its owner); XSR_NONE: not known. */
uint32_t xsv_slot_owes(const xsv_suppliers *suppliers, uint32_t slot);
/* Role that signals or arrives at the slot; XSR_NONE: not known. */
uint32_t xsv_slot_role(const xsv_suppliers *suppliers, uint32_t slot);
void xsv_suppliers_free(xsv_suppliers *suppliers);

#endif
