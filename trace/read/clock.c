/* The table of clocks: one row a host, one a GPU of each process. Times of everything are those of the first host. */
#include "internal.h"

#define UNKNOWN_BOUND 50000000 /* pairing's allowance for a clock without samples: several looks of a collector */

/* realtime - boottime of a process, from its start or its clock pairs. */
static int64_t realtime_offset(const rd_process *p) {
    if (p->region.start_realtime)
        return p->region.start_realtime - (int64_t)p->region.start_time;
    return p->clock_low;
}

/* Times of other hosts are moved onto the first host's clock by their CLOCK_REALTIME. */
static void find_offsets(xsr_reader *reader) {
    for (uint32_t p = 1; p < reader->model.process_count; p++) {
        rd_process *process = &reader->processes[p];
        if (reader->model.processes[p].host != reader->model.processes[0].host && process->known &&
            !process->region.virtual_time)
            process->offset = realtime_offset(process) - realtime_offset(&reader->processes[0]);
    }
}

static void move_launches(xsr_reader *reader) {
    for (uint32_t i = 0; i < reader->model.launch_count; i++) {
        xsr_launch *l = &reader->model.launches[i];
        int64_t offset = reader->processes[l->process].offset;
        l->begin += l->begin == NO_TIME ? 0 : offset;
        l->end += l->end == NO_TIME ? 0 : offset;
    }
}

static void tell_lives(xsr_reader *reader) {
    for (uint32_t p = 0; p < reader->model.process_count; p++) {
        const rd_process *in = &reader->processes[p];
        reader->model.processes[p].start_time = in->known ? (int64_t)in->region.start_time + in->offset : 0;
        reader->model.processes[p].start_realtime = in->known ? in->region.start_realtime : 0;
        reader->model.processes[p].end_time += reader->model.processes[p].end_time == NO_TIME ? 0 : in->offset;
        int64_t *known = &reader->model.processes[p].known_until;
        *known += *known == NO_TIME || *known == INT64_MAX ? 0 : in->offset;
    }
}

static int64_t step_of(const rd_process *p) {
    if (p->region.virtual_time || p->bracket == INT64_MAX)
        return 1;
    return p->bracket;
}

/* Bound of another host: how far its REALTIME moved against its BOOTTIME in this capture (steps of NTP), and a step. */
static void fill_host(xsr_reader *reader, xsr_clock *row, uint32_t p) {
    const rd_process *process = &reader->processes[p];
    bool first_host = row->host == reader->model.processes[0].host;
    int64_t step = step_of(process), moved = process->clock_seen ? process->clock_high - process->clock_low : 0;
    row->step_ns = !row->step_ns || step < row->step_ns ? step : row->step_ns;
    moved = rd_bound(moved);
    row->bound_ns = rd_bound(
        first_host ? row->step_ns
                   : row->step_ns + (moved > row->bound_ns - row->step_ns ? moved : row->bound_ns - row->step_ns));
}

static rd_clock *add_row(xsr_reader *reader, uint32_t p, int32_t device) {
    xsr_model *m = &reader->model;
    uint32_t room = reader->room.clocks;
    if (RD_ROOM(m->clocks, reader->room.clocks, m->clock_count + 1) < 0 ||
        RD_ROOM(reader->clocks, room, m->clock_count + 1) < 0)
        return NULL;
    rd_clock *clock = &reader->clocks[m->clock_count];
    *clock = (rd_clock){.row = {.process = p, .device = device, .host = m->processes[p].host}};
    m->clocks[m->clock_count++] = clock->row;
    return clock;
}

/* One row for all processes of a host. *several: there are several hosts. */
static int host_rows(xsr_reader *reader, rd_map *row_of, bool *several) {
    const xsr_model *m = &reader->model;
    for (uint32_t p = 0; p < m->process_count; p++) {
        uint32_t row = rd_map_get(row_of, m->processes[p].host);
        if (row == XSR_NONE) {
            row = m->clock_count;
            if (!add_row(reader, p, -1) || rd_map_put(row_of, m->processes[p].host, row) < 0)
                return XS_E_MEMORY;
        }
        fill_host(reader, &reader->clocks[row].row, p);
        *several |= m->processes[p].host != m->processes[0].host;
    }
    return 0;
}

static int device_rows(xsr_reader *reader, const rd_map *host_row_of) {
    const xsr_model *m = &reader->model;
    for (uint32_t i = 0; i < reader->device_count; i++) {
        rd_device *d = &reader->devices[i];
        d->row = m->clock_count;
        rd_clock *clock = add_row(reader, d->process, d->device);
        int rc = clock ? rd_device_measure(reader, d, clock) : XS_E_MEMORY;
        if (rc)
            return rc;
        const xsr_clock *host = &reader->clocks[rd_map_get(host_row_of, m->processes[d->process].host)].row;
        if (clock->row.bound_ns >= 0 && host->host != m->processes[0].host)
            clock->row.bound_ns =
                rd_bound(clock->row.bound_ns + host->bound_ns); /* its times come through that host's clock */
    }
    return 0;
}

/* Of rings, and of ranks: a rank runs on one device. */
static int ring_rows(xsr_reader *reader, const rd_map *host_row_of) {
    const xsr_model *m = &reader->model;
    reader->rank_clock = calloc(m->rank_count + 1, sizeof *reader->rank_clock);
    if (!reader->rank_clock)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < m->ring_count; i++) {
        rd_ring *r = &reader->rings[i];
        r->clock = r->gpu != XSR_NONE ? reader->devices[r->gpu].row
                                      : rd_map_get(host_row_of, m->processes[m->rings[i].process].host);
        reader->rank_clock[m->rings[i].rank] = r->clock;
    }
    return 0;
}

/* Two clocks may be off in opposite ways: the sum of the two worst. */
void rd_clocks_bound(xsr_reader *reader) {
    int64_t worst = 0, second = 0;
    for (uint32_t i = 0; i < reader->model.clock_count; i++) {
        int64_t b = reader->model.clocks[i].bound_ns < 0 ? UNKNOWN_BOUND : reader->model.clocks[i].bound_ns;
        second = b > worst ? worst : b > second ? b : second;
        worst = b > worst ? b : worst;
    }
    reader->bound = worst + second;
    reader->hold = reader->model.clock_count > 1 ? reader->bound : 0;
    bool exact = true; /* virtual times: a signal comes before what it ends, however short the time between */
    for (uint32_t i = 0; i < reader->model.process_count; i++)
        exact &= reader->model.processes[i].virtual_time;
    reader->grace = exact ? reader->bound + 1000 : reader->bound > 1000000 ? reader->bound : 1000000;
}

/* Back to what the samples say; a pass may tighten or widen it. */
void rd_clocks_reset(xsr_reader *reader) {
    for (uint32_t i = 0; i < reader->model.clock_count; i++)
        reader->model.clocks[i] = reader->clocks[i].row;
    rd_map_free(&reader->pair_of);
    reader->pair_count = 0;
    rd_clocks_bound(reader);
}

int rd_clocks_finish(xsr_reader *reader) {
    rd_map host_row_of = {0};
    bool several = false;
    find_offsets(reader);
    move_launches(reader);
    tell_lives(reader);
    int rc = rd_activity_finish(reader);
    if (rc == 0)
        rc = rd_devices_find(reader);
    if (rc == 0)
        rc = rd_activity_move(reader);
    if (rc == 0)
        rc = host_rows(reader, &host_row_of, &several);
    if (rc == 0)
        rc = device_rows(reader, &host_row_of);
    if (rc == 0)
        rc = ring_rows(reader, &host_row_of);
    rd_map_free(&host_row_of);
    if (rc == 0 && several)
        rc = rd_note(reader, "several hosts: their clocks are joined by CLOCK_REALTIME, whose error is not measured");
    return rc;
}
