#include "catalog.h"

#include <stddef.h>

#define INT(v) xsv_put_int(&p, (int64_t)(v))
#define INDEX(v) xsv_put_index(&p, v)
#define TIME(v) xsv_put_time(&p, v)
#define TEXT(v) xsv_put_text(&p, v)
/* One table: BEGIN(table, elements, count) names each element `e` and its number `i`. */
#define BEGIN(table, type, elements, count)                   \
    const xsr_model *m = c->model;                            \
    xsv_put p;                                                \
    xsv_put_begin(&p, c, XSV_T_##table);                      \
    for (uint32_t i = 0; i < m->count && p.rc == SQLITE_OK; i++) { \
        const type *e = &m->elements[i];
#define END             \
        xsv_put_row(&p); \
    }                   \
    return xsv_put_end(&p);

static int processes(xsv_catalog *c) {
    BEGIN(process, xsr_process, processes, process_count)
    INT(i), INT(e->host), INT(e->process), TEXT(e->host_name), TEXT(e->command), TEXT(e->executable), INT(e->pid);
    INT(e->device), INT(e->first_rank), INT(e->ranks), INT(e->world_ranks), INT(e->virtual_time), INT(e->ended);
    INT(e->clean), INT(e->tail_unknown), INT(e->abort_reason), INT(e->exit_status), INT(e->no_ring), INT(e->foreign);
    INT(e->no_line), INT(e->journal_lost);
    END
}

static int ranks(xsv_catalog *c) {
    BEGIN(rank, xsr_rank, ranks, rank_count)
    INT(i), INT(e->rank), INDEX(e->process), INT(e->device), INT(e->first_epoch), INT(e->last_epoch);
    TIME(i < c->rows->rank_room ? c->rows->rank_last[i] : INT64_MIN);
    END
}

static int pads(xsv_catalog *c) {
    BEGIN(pad, xsr_pad, pads, pad_count)
    INT(i), TEXT(e->name), TEXT(e->row_label), TEXT(e->column_label), INT(e->rows), INT(e->columns), INT(e->owners);
    INT(e->flags);
    END
}

static int slots(xsv_catalog *c) {
    BEGIN(slot, xsr_slot, slots, slot_count)
    INT(i), INDEX(e->pad), INT(e->owner), INT(e->row), INT(e->column), INDEX(e->supplier_rank);
    if (e->supplier_rank == XSR_NONE)
        INDEX(XSR_NONE);
    else
        INT(e->supplier_origin);
    INDEX(e->supplier_role), TEXT(e->name), TEXT(e->label);
    END
}

static int names(xsv_catalog *c) {
    BEGIN(name, xsr_name, names, name_count)
    INT(i), INT(e->kind), TEXT(e->text);
    END
}

static int names_of(xsv_catalog *c, enum xsv_table_id table, uint32_t kind) {
    xsv_put p;
    xsv_put_begin(&p, c, table);
    for (uint32_t i = 0; i < c->model->name_count; i++) {
        if (c->model->names[i].kind != kind)
            continue;
        INT(i), TEXT(c->model->names[i].text);
        xsv_put_row(&p);
    }
    return xsv_put_end(&p);
}

static int kernels(xsv_catalog *c) { return names_of(c, XSV_T_kernel, XS_NAME_KERNEL); }

static int roles(xsv_catalog *c) { return names_of(c, XSV_T_role, XS_NAME_ROLE); }

/* NULL where nothing is known. */
static void put_room(xsv_put *p, const xs_launch_room *room) {
    static const char *const limits[] = {NULL, "registers", "shared memory", "threads", "blocks"};
    const uint32_t counts[] = {room->blocks, room->plain_blocks, room->registers, room->plain_registers};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        xsv_put_index(p, counts[i] ? counts[i] : XSR_NONE);
    xsv_put_text(p, room->limit < sizeof limits / sizeof limits[0] ? limits[room->limit] : NULL);
    xsv_put_index(p, room->blocks ? room->local : XSR_NONE);
}

static int launches(xsv_catalog *c) {
    BEGIN(launch, xsr_launch, launches, launch_count)
    INT(i), INDEX(e->process), INT(e->id), INDEX(e->kernel), INT(e->grid), INT(e->block), INT(e->first_rank);
    INT(e->ranks), TIME(e->begin), TIME(e->end), INT(e->result);
    put_room(&p, &e->room);
    END
}

static int writers(xsv_catalog *c) {
    BEGIN(writer, xsr_writer, writers, writer_count)
    INT(i), INDEX(e->process), INDEX(xsv_rank_number(m, e->rank)), INDEX(e->ring), INT(e->ordinal), INDEX(e->launch);
    INDEX(e->role), INT(e->block), INT(e->warp), INT(e->sm), INT(e->first_sequence), INT(e->last_sequence);
    TIME(e->begin), TIME(e->end), INDEX(e->kernel), TEXT(e->name);
    END
}

static int rings(xsv_catalog *c) {
    BEGIN(ring, xsr_ring, rings, ring_count)
    INT(i), INDEX(e->process), INT(e->ring), INDEX(xsv_rank_number(m, e->rank)), INT(e->emitted), INT(e->kept);
    INT(e->lost), INT(e->torn), INT(e->at_least), INT(e->tail_unknown);
    END
}

/* NULL where a clock's figure is not known. */
static void put_known(xsv_put *p, int64_t value) {
    if (value < 0)
        xsv_put_index(p, XSR_NONE);
    else
        xsv_put_int(p, value);
}

static int clocks(xsv_catalog *c) {
    BEGIN(clock_line, xsr_clock, clocks, clock_count)
    INT(i), INDEX(e->process), INT(e->device), INT(e->host), INT(e->step_ns);
    put_known(&p, e->residual_ns);
    put_known(&p, e->bound_ns);
    INT(e->samples), INT(e->kernels), INT(e->fault_ns), INT(e->cupti_ns);
    END
}

static int plans(xsv_catalog *c) {
    BEGIN(plan, xsr_plan, plan, plan_count)
    INT(i), INT(e->entry.kind), INT(e->entry.origin), INDEX(e->pad), INDEX(e->entry.owner), INDEX(e->entry.row);
    INDEX(e->entry.column);
    if (e->entry.epoch == UINT64_MAX)
        INDEX(XSR_NONE);
    else
        INT(e->entry.epoch);
    INT(e->entry.a), INT(e->entry.b);
    END
}

static int notes(xsv_catalog *c) {
    BEGIN(note, char *, notes, note_count)
    INT(i), TEXT(*e);
    END
}

int xsv_catalog_model(xsv_catalog *c) {
    static int (*const tables[])(xsv_catalog *) = {processes, ranks,   pads,  slots,  names, kernels, roles,
                                                   launches,  writers, rings, clocks, plans, notes};
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && rc == SQLITE_OK; i++)
        rc = tables[i](c);
    return rc;
}
