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

void fault_adopt_32(fault_run *run, xs_pad *pad, const char *name, uint32_t columns, uint64_t value) {
    xs_buffer memory;
    xs_adopt adopt = {.size = sizeof adopt, .rows = 1, .columns = columns, .column_stride = 128, .row_stride = 128 * columns, .width = 32};
    if (run->error == 0)
        take(run, xs_buffer_create(run->world, "memory", 128ull * columns, &memory));
    if (run->error < 0)
        return;
    adopt.base = memory.base;
    take(run, xs_pad_adopt(run->world, name, &adopt, pad));
    uint32_t word = (uint32_t)value;
    for (uint32_t rank = 0; rank < run->fault->ranks; rank++)
        for (uint32_t c = 0; c < columns && run->error == 0; c++)
            take(run, xs_buffer_write(run->world, &memory, rank, 128ull * c, &word, sizeof word));
}

void fault_slot_write(fault_run *run, const xs_pad *pad, uint32_t owner, uint32_t row, uint32_t column, uint64_t value) {
    if (run->error == 0)
        take(run, xs_slot_write(run->world, pad, owner, row, column, value));
}

void fault_launch(fault_run *run, uint32_t first_rank, uint32_t ranks, uint32_t grid) {
    const fault *f = run->fault;
    xs_launch_config launch = {.size = sizeof launch, .first_rank = first_rank, .ranks = ranks};
    launch.grid = grid ? grid : f->grid;
    launch.block = run->cuda && f->cuda_block_threads ? f->cuda_block_threads : f->block_threads;
    run->args.blocks = launch.grid;
    if (run->error == 0)
        take(run, xs_launch(run->world, f->kernel, &launch, &run->args, sizeof run->args));
}
