/* One thread decides, the whole block learns: thread 0 is the representative of block-level primitives. Warp 0 should
 * therefore be a recording one. */
#ifndef XS_CELL_H
#define XS_CELL_H

#include <xs/define.h>
#include <xs/self.h>

typedef struct xs_cell {
    uint64_t value;
    int32_t result;
    int32_t reserved0;
} xs_cell;

XS_FN bool xs_block_leads(void) { return xs_thread() == 0; }

/* Joins the block; then every thread has what the representative wrote. Returns its result, or ABORTED. */
XS_FN int xs_cell_read(const xs_cell *cell, uint64_t *value) {
    if (xs_block_join())
        return XS_RESULT_ABORTED;
    if (value)
        *value = cell->value;
    return cell->result;
}

/* The xs_result of the block's first thread, for all of its threads. Joins the block; ABORTED if it could not. */
XS_FN int xs_block_broadcast(int result) {
    XS_SHARED(xs_cell, cell);
    if (xs_block_join())
        return XS_RESULT_ABORTED;
    if (xs_block_leads())
        cell->result = result;
    return xs_cell_read(cell, NULL);
}

#endif
