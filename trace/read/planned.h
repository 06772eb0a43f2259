/* Rows of the plan by kind, slot and epoch, whatever of the slot they leave open: the reader and the analysis look
 * for them once a slot, or once an event, in plans of hundreds of thousands of rows. */
#ifndef XS_READ_PLANNED_H
#define XS_READ_PLANNED_H

#include <xs/read.h>

#include "table.h"

#define RD_PLANNED_KINDS 16u

typedef struct rd_planned {
    rd_map rows;       /* (kind, pad, owner, row, column, epoch; ANY stands for itself) -> first such row */
    uint8_t *patterns; /* of (pad, kind): 1 << which of owner, row and column are ANY */
    uint32_t pads;
} rd_planned;

int rd_planned_open(rd_planned *planned, uint32_t pads);
void rd_planned_free(rd_planned *planned);
/* Row `at` of the model's plan, found as one of `kind` (< RD_PLANNED_KINDS). epoch: its own, or UINT64_MAX where
 * epochs do not matter. */
int rd_planned_add(rd_planned *planned, const xsr_plan *row, uint32_t kind, uint64_t epoch, uint32_t at);
/* The first row that names the slot in full, of this epoch before those of every epoch; else the first of all that
 * speak of it. XSR_NONE: there is none. */
uint32_t rd_planned_find(const rd_planned *planned, const xsr_slot *slot, uint32_t kind, uint64_t epoch);

#endif
