/* The journal: launches, clock pairs of the host, samples of device clocks. */
#include "internal.h"

static uint64_t launch_key(uint32_t process, uint32_t id) { return (uint64_t)process << 32 | id; }

static xsr_launch *launch_row(xsr_reader *reader, uint32_t process, uint32_t id) {
    xsr_model *m = &reader->model;
    uint32_t at = rd_map_get(&reader->launch_of, launch_key(process, id));
    if (at != XSR_NONE)
        return &m->launches[at];
    at = m->launch_count;
    if (RD_ROOM(m->launches, reader->room.launches, at + 1) < 0 ||
        rd_map_put(&reader->launch_of, launch_key(process, id), at) < 0)
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
    memcpy(&l->room, &e->g, sizeof l->room);
    reader->windowed |= reader->processes[process].off;
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

/* Tracing was switched. Records are missing for it if a launch ran then: on goes with the first launch, off behind
 * the last. What a filter leaves out is missing at all times. */
static void trace_state(xsr_reader *reader, uint32_t process, const xs_journal_entry *e) {
    const xsr_model *m = &reader->model;
    uint32_t launches = 0, running = 0;
    for (uint32_t i = 0; i < m->launch_count; i++)
        if (m->launches[i].process == process) {
            launches++;
            running += m->launches[i].end == NO_TIME;
        }
    reader->processes[process].off = !(e->a & XS_STARTED);
    reader->windowed |= (e->a & XS_STARTED_FILTERED) != 0;
    reader->windowed |= e->a & XS_STARTED ? launches > 0 : launches == 0 || running > 0;
}

static void clock_pair(rd_process *p, const xs_journal_entry *e) {
    if (e->c >= (uint64_t)RD_UPTIME_MAX || e->d >= 1ull << 62 || e->e >= (uint64_t)RD_UPTIME_MAX) /* nonsense */
        return;
    int64_t difference = (int64_t)(e->d - e->c);
    p->clock_low = !p->clock_seen || difference < p->clock_low ? difference : p->clock_low;
    p->clock_high = !p->clock_seen || difference > p->clock_high ? difference : p->clock_high;
    if (e->e && e->e < (uint64_t)p->bracket)
        p->bracket = (int64_t)e->e;
    p->clock_seen = true;
}

static int clock_entry(xsr_reader *reader, uint32_t process, const xs_journal_entry *e) {
    if (e->a == 0) {
        clock_pair(&reader->processes[process], e);
        return 0;
    }
    rd_sample sample = {
        .host = (int64_t)e->c, .device = (int64_t)e->d, .bracket = (int64_t)e->e, .middle = (int64_t)e->c};
    int rc = rd_device_sample(reader, process, (int32_t)(e->a - 1), &sample);
    if (rc > 0 && e->f)
        rc = rd_device_step(reader, process, (int32_t)(e->a - 1), e->f < INT32_MAX ? (int64_t)e->f : 0);
    return rc < 0 ? rc : 0;
}

/* Segments repeat entries: told by their sequence. */
static int take_entry(xsr_reader *reader, uint32_t p, const xs_journal_entry *e) {
    uint64_t key = (uint64_t)p << 48 ^ e->sequence;
    if (e->sequence && rd_map_get(&reader->journal_of, key) != XSR_NONE)
        return 0;
    if (e->sequence && rd_map_put(&reader->journal_of, key, 0) < 0)
        return XS_E_MEMORY;
    switch (e->kind) {
    case XS_JOURNAL_LAUNCH_BEGIN: return launch_begin(reader, p, e);
    case XS_JOURNAL_LAUNCH_END: return launch_end(reader, p, e);
    case XS_JOURNAL_CLOCK: return clock_entry(reader, p, e);
    case XS_JOURNAL_TRACE_STATE: trace_state(reader, p, e); return 0;
    default: return 0;
    }
}

int rd_take_journal(xsr_reader *reader, const xs_frame *frame, const unsigned char *payload) {
    uint32_t p = rd_process_of(reader, frame);
    if (p == XSR_NONE)
        return XS_E_MEMORY;
    if (frame->payload_bytes % sizeof(xs_journal_entry))
        return 0;
    for (uint64_t i = 0; i < frame->payload_bytes / sizeof(xs_journal_entry); i++) {
        xs_journal_entry e;
        memcpy(&e, payload + i * sizeof e, sizeof e);
        int rc = take_entry(reader, p, &e);
        if (rc < 0)
            return rc;
    }
    return 1;
}
