/* Clocks of GPUs: which there are, and the fit of each. */
#include "internal.h"

#define LONGEST_BRACKET SECOND

static uint32_t find_or_add(xsr_reader *reader, uint32_t process, int32_t device) {
    uint64_t key = (uint64_t)process << 32 | (uint32_t)device;
    uint32_t at = rd_map_get(&reader->device_of, key);
    if (at != XSR_NONE)
        return at;
    at = reader->device_count;
    if (RD_ROOM(reader->devices, reader->room.devices, at + 1) < 0 || rd_map_put(&reader->device_of, key, at) < 0)
        return XSR_NONE;
    reader->devices[at] = (rd_device){.process = process, .device = device, .first = NO_TIME, .last = NO_TIME};
    reader->device_count++;
    return at;
}

static bool makes_sense(const rd_sample *s) {
    return s->host > 0 && s->host < RD_UPTIME_MAX && s->device > 0 && s->device < RD_TIME_MAX && s->bracket >= 0 &&
           s->bracket <= LONGEST_BRACKET;
}

int rd_device_sample(xsr_reader *reader, uint32_t process, int32_t device, const rd_sample *sample) {
    if (!makes_sense(sample) || device < 0)
        return 0;
    uint32_t at = find_or_add(reader, process, device);
    if (at == XSR_NONE)
        return XS_E_MEMORY;
    rd_device *d = &reader->devices[at];
    if (RD_ROOM(d->samples, d->sample_room, d->sample_count + 1) < 0)
        return XS_E_MEMORY;
    d->samples[d->sample_count++] = *sample;
    return 1;
}

uint32_t rd_device_at(const xsr_reader *reader, uint32_t process, int32_t device) {
    return rd_map_get(&reader->device_of, (uint64_t)process << 32 | (uint32_t)device);
}

int rd_device_step(xsr_reader *reader, uint32_t process, int32_t device, int64_t step) {
    uint32_t at = find_or_add(reader, process, device);
    if (at == XSR_NONE)
        return XS_E_MEMORY;
    int64_t *told = &reader->devices[at].told_step;
    if (step > 0 && step < SECOND && (!*told || step < *told))
        *told = step;
    return 1;
}

static int by_device(const void *a, const void *b) {
    const rd_sample *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->host < y->host ? -1 : x->host > y->host;
}

/* Segments repeat the newest part of the journal. */
void rd_sort_samples(rd_device *d) {
    uint32_t kept = 0;
    if (d->sample_count)
        qsort(d->samples, d->sample_count, sizeof *d->samples, by_device);
    for (uint32_t i = 0; i < d->sample_count; i++)
        if (kept == 0 || by_device(&d->samples[i], &d->samples[kept - 1]) != 0)
            d->samples[kept++] = d->samples[i];
    d->sample_count = kept;
}

/* Without samples: where no record is later than the frame that took it. Without a full time in any record either, the
 * low words are read as if they were the host's. */
static void estimate_ring(const xsr_reader *reader, const rd_ring *r, int64_t *device, int64_t *offset) {
    for (uint32_t i = r->span_begin; i < r->span_end; i++) {
        const rd_span *s = &reader->spans[i];
        uint64_t taken = rd_span_head(s)->time;
        int64_t time;
        if (!taken || taken >= (uint64_t)RD_TIME_MAX || !rd_span_last(s, &time) || (int64_t)taken - time >= *offset)
            continue;
        *offset = (int64_t)taken - time;
        *device = time;
    }
}

static int estimate(xsr_reader *reader, rd_device *d) {
    int64_t device = 0, offset = INT64_MAX;
    for (uint32_t i = d->ring_begin; i < d->ring_end; i++)
        estimate_ring(reader, &reader->rings[reader->device_rings[i]], &device, &offset);
    int rc = rd_fit_one(&d->fit, device, offset == INT64_MAX ? 0 : device + offset);
    if (rc == 0)
        rc = rd_note(
            reader,
            "process %d, GPU %d: no sample of its clock: its times are placed so that none is later than the look that "
            "found it; how far they are off is not known",
            reader->model.processes[d->process].pid, d->device);
    return rc;
}

static int64_t on_device(const rd_ring *r, uint64_t host) {
    return host && host < (uint64_t)RD_TIME_MAX ? rd_own_time(r, (int64_t)host) : NO_TIME;
}

/* How far the records of a device reach; from frames where no record holds its time in full. */
static void find_reach(const xsr_reader *reader, rd_device *d) {
    for (uint32_t i = d->ring_begin; i < d->ring_end; i++) {
        const rd_ring *r = &reader->rings[reader->device_rings[i]];
        int64_t first, last;
        if (r->span_begin == r->span_end)
            continue;
        const rd_span *from = &reader->spans[r->span_begin], *to = &reader->spans[r->span_end - 1];
        if (!rd_span_first(from, &first))
            first = on_device(r, rd_span_head(from)->looked_before);
        if (!rd_span_last(to, &last))
            last = on_device(r, rd_span_head(to)->time);
        if (first != NO_TIME && (d->first == NO_TIME || first < d->first))
            d->first = first;
        if (last != NO_TIME && (d->last == NO_TIME || last > d->last))
            d->last = last;
    }
}

static int name_rings(xsr_reader *reader) {
    xsr_model *m = &reader->model;
    for (uint32_t i = 0; i < m->ring_count; i++) {
        rd_ring *r = &reader->rings[i];
        const xsr_process *p = &m->processes[m->rings[i].process];
        bool told = r->device != RD_NO_DEVICE;
        r->device = told ? r->device : p->device;
        r->device = r->device < 0 || p->virtual_time ? -1 : r->device;
        r->gpu = r->device < 0 ? XSR_NONE : find_or_add(reader, m->rings[i].process, r->device);
        r->offset = reader->processes[m->rings[i].process].offset;
        if (r->device >= 0 && r->gpu == XSR_NONE)
            return XS_E_MEMORY;
        if (told && !p->virtual_time)
            m->ranks[m->rings[i].rank].device = r->device;
    }
    return 0;
}

/* Which rings each device has; and the rings' fits: devices do not move any more. */
static int list_rings(xsr_reader *reader) {
    uint32_t rings = reader->model.ring_count, end = 0;
    reader->device_rings = malloc((rings + 1) * sizeof *reader->device_rings);
    if (!reader->device_rings)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < rings; i++)
        if (reader->rings[i].gpu != XSR_NONE)
            reader->devices[reader->rings[i].gpu].ring_end++;
    for (uint32_t i = 0; i < reader->device_count; i++) {
        rd_device *d = &reader->devices[i];
        d->ring_begin = end;
        end += d->ring_end;
        d->ring_end = d->ring_begin;
    }
    for (uint32_t i = 0; i < rings; i++) {
        rd_ring *r = &reader->rings[i];
        if (r->gpu == XSR_NONE)
            continue;
        r->fit = &reader->devices[r->gpu].fit;
        reader->device_rings[reader->devices[r->gpu].ring_end++] = i;
    }
    return 0;
}

/* Where answers lie in their brackets is told by a first fit through the middles. */
static int fit_answers(rd_device *d) {
    int rc = rd_fit_make(&d->fit, d->samples, d->sample_count);
    rc = rc ? rc : rd_answers_place(d);
    return rc ? rc : rd_fit_make(&d->fit, d->samples, d->sample_count);
}

int rd_devices_find(xsr_reader *reader) {
    int rc = name_rings(reader);
    if (rc == 0)
        rc = list_rings(reader);
    for (uint32_t i = 0; i < reader->device_count && rc == 0; i++) {
        rd_device *d = &reader->devices[i];
        rd_sort_samples(d);
        rc = d->sample_count ? fit_answers(d) : estimate(reader, d);
        if (rc == 0)
            rc = rd_brackets_find(reader, d);
        if (rc == 0)
            rd_device_centre(reader, d);
        if (rc == 0)
            find_reach(reader, d);
    }
    return rc;
}
