/* xs hang as text: of each pad its open waits as a table, owner (and row) down, column across. */
#include "hang.h"

#include <inttypes.h>
#include <string.h>

#define COLUMNS 8u

static int is_on(const hang_wait *wait, const xs_catalog_place *p, int column_only) {
    return wait->is_slot && !strcmp(wait->slot.pad->name, p->pad->name) && wait->slot.column == p->column &&
           (column_only || (wait->slot.owner == p->owner && wait->slot.row == p->row));
}

/* The first wait, in owner, row, column order, behind `last` (NULL: of all) on that pad. columns: only columns differ.
 */
static const hang_wait *next_place(const hang_world *world, const char *pad, const hang_wait *last, int columns) {
    const hang_wait *best = NULL;
    for (uint32_t i = 0; i < world->wait_count; i++) {
        const hang_wait *w = &world->waits[i];
        if (!w->is_slot || strcmp(w->slot.pad->name, pad))
            continue;
        uint64_t key = columns ? w->slot.column : (uint64_t)w->slot.owner << 32 | w->slot.row;
        uint64_t low = !last     ? 0
                       : columns ? last->slot.column + 1ull
                                 : ((uint64_t)last->slot.owner << 32 | last->slot.row) + 1;
        uint64_t found = !best     ? UINT64_MAX
                         : columns ? best->slot.column
                                   : (uint64_t)best->slot.owner << 32 | best->slot.row;
        if (key >= low && key < found)
            best = w;
    }
    return best;
}

static void print_cell(FILE *out, const hang_world *world, const hang_wait *row, const hang_wait *column) {
    char cell[48] = ".";
    xs_catalog_place p = row->slot;
    p.column = column->slot.column;
    for (uint32_t i = 0; i < world->wait_count; i++)
        if (is_on(&world->waits[i], &p, 0)) {
            snprintf(cell, sizeof cell, "%" PRIu64 "/%" PRIu64, world->waits[i].observed, world->waits[i].need);
            break;
        }
    fprintf(out, " %12s", cell);
}

static void print_pad(FILE *out, const hang_world *world, const char *pad, uint32_t rows) {
    const hang_wait *columns[COLUMNS], *at = NULL;
    uint32_t n = 0, shown = 0;
    while (n < COLUMNS && (at = next_place(world, pad, at, 1)))
        columns[n++] = at;
    int more = n == COLUMNS && next_place(world, pad, columns[n - 1], 1);
    fprintf(out, "  %-22s", pad);
    for (uint32_t i = 0; i < n; i++) {
        char head[40];
        const xs_catalog_pad *p = columns[i]->slot.pad;
        snprintf(head, sizeof head, "%s=%u", *p->column_label ? p->column_label : "col", columns[i]->slot.column);
        fprintf(out, " %12s", p->shape.columns > 1 ? head : "");
    }
    fputs(more ? "  ...\n" : "\n", out);
    for (at = NULL; (at = next_place(world, pad, at, 0)) && shown < rows; shown++) {
        char head[64];
        const xs_catalog_pad *p = at->slot.pad;
        int used = snprintf(head, sizeof head, "rank %u", at->slot.owner);
        if (p->shape.rows > 1)
            snprintf(head + used, sizeof head - (size_t)used, " %s=%u", *p->row_label ? p->row_label : "row",
                     at->slot.row);
        fprintf(out, "    %-20s", head);
        for (uint32_t i = 0; i < n; i++)
            print_cell(out, world, at, columns[i]);
        fputc('\n', out);
    }
}

static int is_first_of_pad(const hang_world *world, uint32_t index) {
    const hang_wait *w = &world->waits[index];
    for (uint32_t i = 0; i < index; i++)
        if (world->waits[i].is_slot && !strcmp(world->waits[i].slot.pad->name, w->slot.pad->name))
            return 0;
    return 1;
}

void hang_print_pads(FILE *out, const hang_world *world, uint32_t rows) {
    int shown = 0;
    for (uint32_t i = 0; i < world->wait_count; i++)
        if (world->waits[i].is_slot && is_first_of_pad(world, i)) {
            if (!shown++)
                fputs("\nPads, open waits alone: observed/needed by owner and column\n", out);
            print_pad(out, world, world->waits[i].slot.pad->name, rows);
        }
}
