/* The journal: launches and clock pairs; and the table of clocks. */
#include "internal.h"

static uint64_t launch_key(uint32_t process, uint32_t id) { return (uint64_t)process << 32 | id; }

static xsr_launch *launch_row(xsr_reader *reader, uint32_t process, uint32_t id) {
    xsr_model *m = &reader->model;
    uint32_t at = rd_map_get(&reader->launch_of, launch_key(process, id));
    if (at != XSR_NONE)
        return &m->launches[at];
    at = m->launch_count;
    if (RD_ROOM(m->launches, reader->room.launches, at + 1) < 0 || rd_map_put(&reader->launch_of, launch_key(process, id), at) < 0)
        return NULL;
    m->launches[at] = (xsr_launch){.process = process, .id = id, .kernel = XSR_NONE, .begin = NO_TIME, .end = NO_TIME};
    m->launch_count++;
    return &m->launches[at];
}

static int launch_begin(xsr_reader *reader, uint32_t process, const xs_journal_entry *e) {
    xsr_launch *l = launch_row(reader, process, e->a);
    if (!l)
        return XS_E_MEMORY;
    l->kernel = rd_name(reader, process, XS_NAME_KERNEL, (uint32_t)e->b);
    l->begin = (int64_t)e->c;
    l->grid = (uint32_t)e->d;
    l->block = (uint32_t)e->e;
    l->first_rank = (uint32_t)e->f;
    l->ranks = (uint32_t)(e->f >> 32);
    return 0;
}

static int launch_end(xsr_reader *reader, uint32_t process, const xs_journal_entry *e) {
    xsr_launch *l = launch_row(reader, process, e->a);
    if (!l)
        return XS_E_MEMORY;
    l->end = (int64_t)e->c;
    l->result = (int32_t)e->d;
    return 0;
}

static void clock_pair(rd_process *p, const xs_journal_entry *e) {
    int64_t difference = (int64_t)(e->d - e->c);
    if (e->a != 0)
        return; /* a device's clock: not the host's */
    p->clock_low = !p->clock_seen || difference < p->clock_low ? difference : p->clock_low;
    p->clock_high = !p->clock_seen || difference > p->clock_high ? difference : p->clock_high;
    if (e->e && e->e < (uint64_t)p->bracket)
        p->bracket = (int64_t)e->e;
    p->clock_seen = true;
}

int rd_take_journal(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload) {
    uint32_t p = rd_process_of(reader, frame);
    if (p == XSR_NONE)
        return XS_E_MEMORY;
    if (frame->payload_bytes % sizeof(xs_journal_entry))
        return 0;
    for (uint64_t i = 0; i < frame->payload_bytes / sizeof(xs_journal_entry); i++) {
        xs_journal_entry e;
        int rc = 0;
        memcpy(&e, payload + i * sizeof e, sizeof e);
        if (e.kind == XS_JOURNAL_LAUNCH_BEGIN)
            rc = launch_begin(reader, p, &e);
        else if (e.kind == XS_JOURNAL_LAUNCH_END)
            rc = launch_end(reader, p, &e);
        else if (e.kind == XS_JOURNAL_CLOCK)
            clock_pair(&reader->processes[p], &e);
        else if (e.kind == XS_JOURNAL_TRACE_STATE)
            reader->windowed = true;
        if (rc < 0)
            return rc;
    }
    return 1;
}

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
        if (reader->model.processes[p].host != reader->model.processes[0].host && process->known && !process->region.virtual_time)
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

static void tell_starts(xsr_reader *reader) {
    for (uint32_t p = 0; p < reader->model.process_count; p++) {
        const rd_process *in = &reader->processes[p];
        reader->model.processes[p].start_time = in->known ? (int64_t)in->region.start_time + in->offset : 0;
        reader->model.processes[p].start_realtime = in->known ? in->region.start_realtime : 0;
    }
}

static int64_t step_of(const rd_process *p) {
    if (p->region.virtual_time || p->bracket == INT64_MAX)
        return 1;
    return p->bracket;
}

/* Bound of another host: how far its REALTIME moved against its BOOTTIME in this capture (steps of NTP), and a step. */
static void fill_clock(xsr_reader *reader, xsr_clock *row, uint32_t p) {
    const rd_process *process = &reader->processes[p];
    bool first_host = row->host == reader->model.processes[0].host;
    int64_t step = step_of(process), moved = process->clock_seen ? process->clock_high - process->clock_low : 0;
    row->step_ns = !row->step_ns || step < row->step_ns ? step : row->step_ns;
    row->bound_ns = first_host ? row->step_ns : row->step_ns + (moved > row->bound_ns - row->step_ns ? moved : row->bound_ns - row->step_ns);
}

static int clock_row(xsr_reader *reader, uint32_t p, uint32_t *found) {
    xsr_model *m = &reader->model;
    const xsr_process *process = &m->processes[p];
    for (*found = 0; *found < m->clock_count; ++*found) {
        const xsr_clock *c = &m->clocks[*found];
        if (c->host == process->host && c->device == process->device && (c->device < 0 || c->process == p))
            return 0;
    }
    if (RD_ROOM(m->clocks, reader->room.clocks, m->clock_count + 1) < 0)
        return XS_E_MEMORY;
    m->clocks[m->clock_count++] = (xsr_clock){.process = p, .device = process->device, .host = process->host};
    return 0;
}

int rd_clocks_finish(xsr_reader *reader) {
    find_offsets(reader);
    move_launches(reader);
    tell_starts(reader);
    bool several_hosts = false;
    for (uint32_t p = 0; p < reader->model.process_count; p++) {
        uint32_t row;
        if (clock_row(reader, p, &row) < 0)
            return XS_E_MEMORY;
        fill_clock(reader, &reader->model.clocks[row], p);
        several_hosts |= reader->model.processes[p].host != reader->model.processes[0].host;
    }
    for (uint32_t i = 0; i < reader->model.clock_count; i++)
        if (reader->model.clocks[i].bound_ns > reader->bound)
            reader->bound = reader->model.clocks[i].bound_ns;
    reader->grace = reader->bound > 1000000 ? reader->bound : 1000000;
    return several_hosts ? rd_note(reader, "several hosts: their clocks are joined by CLOCK_REALTIME, whose error is not measured") : 0;
}
