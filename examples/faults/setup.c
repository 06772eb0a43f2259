/* What set-up functions of faults are made of. The first error stays in run->error, and nothing more is done. */
#include "fault.h"

static void take(fault_run *run, int rc) {
    if (rc < 0 && run->error == 0)
        run->error = rc;
}

void fault_pad(fault_run *run, xs_pad *pad, const char *name, uint32_t rows, uint32_t columns, uint32_t flags) {
    if (run->error == 0)
        take(run, xs_pad_create(run->world, name, rows, columns, flags, pad));
}

void fault_buffers(fault_run *run, uint32_t batches) {
    if (run->error == 0)
        take(run, xs_buffer_create(run->world, "data", (uint64_t)batches * run->args.words * 4, &run->args.data));
    if (run->error == 0)
        take(run, xs_buffer_create(run->world, "stale", FAULT_ROUNDS_MAX * sizeof(uint32_t), &run->args.stale));
}

void fault_plan(fault_run *run, uint32_t kind, const xs_pad *pad, uint32_t owner, uint32_t row, uint32_t column, uint64_t a, uint64_t b) {
    xs_plan_entry entry = {kind, XS_PLAN_DECLARED, pad ? pad->first : XS_PLAN_ANY, owner, row, column, UINT64_MAX, a, b};
    if (run->error == 0)
        take(run, xs_plan_add(run->world, &entry, 1));
}

void fault_writer(fault_run *run, const xs_pad *pad, uint32_t owner, uint32_t row, uint32_t column, uint32_t rank, uint32_t role) {
    fault_plan(run, XS_PLAN_WRITER, pad, owner, row, column, rank, role);
}

void fault_pair(fault_run *run) {
    struct fault_args *a = &run->args;
    fault_pad(run, &a->ready, "ready", 1, 2, 0);
    fault_pad(run, &a->ack, "ack", 1, 1, 0);
    fault_buffers(run, a->rounds);
    fault_writer(run, &a->ready, XS_PLAN_ANY, 0, 0, 0, a->role_produce);
    fault_writer(run, &a->ack, 0, 0, 0, 1, a->role_consume);
}

void fault_election(fault_run *run) {
    struct fault_args *a = &run->args;
    fault_pair(run);
    fault_pad(run, &a->count, "count", 1, 1, XS_PAD_SHARED);
    fault_pad(run, &a->turn, "turn", 1, 1, 0);
    fault_writer(run, &a->turn, 0, 0, 0, 0, a->role_produce);
}

void fault_counted_election(fault_run *run) {
    fault_election(run);
    fault_plan(run, XS_PLAN_ARRIVALS, &run->args.count, 0, 0, 0, run->args.blocks, 0);
}

void fault_adopt(fault_run *run, xs_pad *pad, const char *name, const xs_buffer *memory, uint64_t offset, uint32_t width, uint32_t columns) {
    void *base[8];
    xs_adopt adopt = {.size = sizeof adopt, .rows = 1, .columns = columns, .column_stride = 128, .row_stride = 128 * columns, .width = width,
                      .base = base};
    for (uint32_t rank = 0; rank < run->fault->ranks && run->error == 0; rank++)
        base[rank] = (char *)memory->base[rank] + offset;
    if (run->error == 0)
        take(run, xs_pad_adopt(run->world, name, &adopt, pad));
}

void fault_adopt_32(fault_run *run, xs_pad *pad, const char *name, uint32_t columns, uint64_t value) {
    xs_buffer memory;
    uint32_t word = (uint32_t)value;
    if (run->error == 0)
        take(run, xs_buffer_create(run->world, "memory", 128ull * columns, &memory));
    fault_adopt(run, pad, name, &memory, 0, 32, columns);
    for (uint32_t rank = 0; rank < run->fault->ranks; rank++)
        for (uint32_t c = 0; c < columns && run->error == 0; c++)
            take(run, xs_buffer_write(run->world, &memory, rank, 128ull * c, &word, sizeof word));
}

void fault_slot_write(fault_run *run, const xs_pad *pad, uint32_t owner, uint32_t row, uint32_t column, uint64_t value) {
    if (run->error == 0)
        take(run, xs_slot_write(run->world, pad, owner, row, column, value));
}

const struct xs_kernel *(*fault_kernel_form)(const struct xs_kernel *kernel);

static int launch(fault_run *run, uint32_t first_rank, uint32_t ranks, uint32_t grid) {
    const fault *f = run->fault;
    xs_launch_config config = {.size = sizeof config, .first_rank = first_rank, .ranks = ranks};
    config.grid = grid ? grid : run->cuda && f->cuda.grid ? f->cuda.grid : f->grid;
    config.block = run->cuda && f->cuda.block_threads ? f->cuda.block_threads : f->block_threads;
    run->args.blocks = config.grid;
    const struct xs_kernel *kernel = fault_kernel_form ? fault_kernel_form(f->kernel) : f->kernel;
    return xs_launch(run->world, kernel, &config, &run->args, sizeof run->args);
}

void fault_launch(fault_run *run, uint32_t first_rank, uint32_t ranks, uint32_t grid) {
    if (run->error == 0)
        take(run, launch(run, first_rank, ranks, grid));
}

void fault_launch_filling(fault_run *run, uint32_t rank, uint32_t most) {
    int rc = XS_E_NOT_RESIDENT;
    for (uint32_t grid = most; grid && rc == XS_E_NOT_RESIDENT && run->error == 0; grid--)
        rc = launch(run, rank, 1, grid);
    take(run, rc);
}
