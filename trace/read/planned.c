#include "planned.h"

#include <stdlib.h>
#include <string.h>

enum { ALL_OWNERS = 1, ALL_ROWS = 2, ALL_COLUMNS = 4, PATTERNS = 8 };

int rd_planned_open(rd_planned *planned, uint32_t pads) {
    *planned = (rd_planned){.pads = pads, .patterns = calloc(pads * (size_t)RD_PLANNED_KINDS + 1, 1)};
    return planned->patterns ? 0 : XS_E_MEMORY;
}

void rd_planned_free(rd_planned *planned) {
    rd_map_free(&planned->rows);
    free(planned->patterns);
    memset(planned, 0, sizeof *planned);
}

static uint64_t key_of(uint32_t kind, uint32_t pad, uint32_t owner, uint32_t row, uint32_t column, uint64_t epoch) {
    return xs_mixed_place(xs_mixed(1, (uint64_t)pad << 32 | kind), owner, row, column, epoch);
}

int rd_planned_add(rd_planned *planned, const xsr_plan *row, uint32_t kind, uint64_t epoch, uint32_t at) {
    const xs_plan_entry *e = &row->entry;
    uint64_t key = key_of(kind, row->pad, e->owner, e->row, e->column, epoch);
    uint32_t pattern = (e->owner == XS_PLAN_ANY ? ALL_OWNERS : 0u) | (e->row == XS_PLAN_ANY ? ALL_ROWS : 0u) |
                       (e->column == XS_PLAN_ANY ? ALL_COLUMNS : 0u);
    planned->patterns[row->pad * (size_t)RD_PLANNED_KINDS + kind] |= (uint8_t)(1u << pattern);
    return rd_map_get(&planned->rows, key) == XSR_NONE ? rd_map_put(&planned->rows, key, at) : 0;
}

static uint32_t of_pattern(const rd_planned *planned, const xsr_slot *s, uint32_t kind, uint32_t pattern,
                           uint64_t epoch) {
    return rd_map_get(&planned->rows, key_of(kind, s->pad, pattern & ALL_OWNERS ? XS_PLAN_ANY : s->owner,
                                             pattern & ALL_ROWS ? XS_PLAN_ANY : s->row,
                                             pattern & ALL_COLUMNS ? XS_PLAN_ANY : s->column, epoch));
}

uint32_t rd_planned_find(const rd_planned *planned, const xsr_slot *s, uint32_t kind, uint64_t epoch) {
    uint32_t patterns = s->pad < planned->pads ? planned->patterns[s->pad * (size_t)RD_PLANNED_KINDS + kind] : 0,
             first = XSR_NONE;
    for (uint32_t pattern = 0; pattern < PATTERNS && (pattern == 0 || patterns >> pattern); pattern++) {
        if (!(patterns >> pattern & 1))
            continue;
        uint32_t now = of_pattern(planned, s, kind, pattern, epoch);
        uint32_t ever = epoch == UINT64_MAX || (pattern == 0 && now != XSR_NONE)
                            ? XSR_NONE
                            : of_pattern(planned, s, kind, pattern, UINT64_MAX);
        first = now < first ? now : first; /* XSR_NONE is the largest */
        first = ever < first ? ever : first;
        if (pattern == 0 && first != XSR_NONE)
            return first;
    }
    return first;
}
