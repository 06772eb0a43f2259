/* Where packets go: one trace, or one a window of whole epochs and an overview of the whole run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../trace/read/search.h"
#include "draw.h"
#include "thin.h"

static bool realtime_offset(const drawing *d, int64_t *offset) {
    for (uint32_t i = 0; i < d->model->process_count; i++) {
        const xsr_process *p = &d->model->processes[i];
        if (p->start_realtime && !p->virtual_time) {
            *offset = p->start_realtime - p->start_time;
            return true;
        }
    }
    *offset = 0;
    return false;
}

static int write_root(trace_file *file) {
    TrackDescriptor root = TRACK_DESCRIPTOR__INIT;
    root.has_uuid = root.has_process_ordering = 1;
    root.process_ordering = 1; /* explicit: by rank */
    TracePacket packet = TRACE_PACKET__INIT;
    packet.track_descriptor = &root;
    return encoder_packet(&file->enc, &packet, 0);
}

static int file_new(drawing *d, const char *path, int64_t start, trace_file **made) {
    trace_file *file = calloc(1, sizeof *file);
    *made = file;
    if (!file)
        return XS_E_MEMORY;
    file->start = start;
    TRY(encoder_open(&file->enc, path, &d->texts));
    if (d->options.compress)
        TRY(encoder_compress(&file->enc));
    TRY(attributes_begin(d, file));
    return write_root(file);
}

static int window_new(drawing *d, int64_t start) {
    trace_file **more = realloc(d->windows, (d->window_count + 1) * sizeof *more);
    if (!more)
        return XS_E_MEMORY;
    d->windows = more;
    char *path = NULL;
    if ((d->split ? asprintf(&path, "%s.%04u.perfetto", d->stem, d->window_count + 1)
                  : asprintf(&path, "%s", d->path)) < 0)
        return XS_E_MEMORY;
    more[d->window_count] = NULL;
    int rc = file_new(d, path, start, &more[d->window_count]);
    if (more[d->window_count])
        d->window_count++;
    free(path);
    return rc;
}

int files_begin(drawing *d) {
    if (d->split) {
        char *path = NULL;
        if (asprintf(&path, "%s.overview.perfetto", d->stem) < 0)
            return XS_E_MEMORY;
        int rc = file_new(d, path, INT64_MIN, &d->overview);
        free(path);
        TRY(rc);
    }
    return window_new(d, INT64_MIN);
}

int files_next_window(drawing *d, int64_t start) { return window_new(d, start); }

static uint32_t window_at(const drawing *d, int64_t time) {
    uint32_t next; /* behind the last that is not later, or behind the first */
    RD_SEARCH(next, 1, d->window_count, d->windows[next]->start <= time);
    return next - 1;
}

trace_file *files_window(const drawing *d, int64_t time) { return d->windows[window_at(d, time)]; }

int file_start(drawing *d, trace_file *file, int64_t time) {
    int64_t offset;
    bool known = realtime_offset(d, &offset);
    return file->enc.started ? XS_OK : encoder_start(&file->enc, time, known, offset);
}

static int write_event(drawing *d, trace_file *file, const event *ev) {
    if (d->texts.failed)
        return XS_E_MEMORY;
    TRY(file_start(d, file, ev->time));
    TRY(track_declare(d, file, ev->track));
    return encoder_event(&file->enc, ev);
}

int draw_event(drawing *d, unsigned where, const event *ev) {
    TRY(write_event(d, files_window(d, ev->time), ev));
    if (!d->overview || !(where & TO_OVERVIEW))
        return XS_OK;
    if (ev->type == EVENT_COUNTER)
        return thin_add(d, ev->track, ev->time, ev->counter);
    return write_event(d, d->overview, ev);
}

static int write_slice(drawing *d, trace_file *file, const slice *s, bool with_flows) {
    event ev = {.type = EVENT_BEGIN, .track = s->track, .time = s->begin, .name = s->name, .category = s->category};
    ev.correlation = s->correlation;
    ev.text = s->text;
    ev.args = s->args;
    ev.arg_count = s->arg_count;
    ev.flows = s->flows;
    ev.flow_count = with_flows ? s->flow_count : 0;
    ev.flow_ends = s->begin_flow_ends;
    ev.flow_end_count = with_flows ? s->begin_flow_end_count : 0;
    TRY(write_event(d, file, &ev));
    if (s->end == INT64_MIN)
        return XS_OK;
    event end = {.type = EVENT_END, .track = s->track, .time = s->end, .flow_ends = s->flow_ends};
    end.flow_end_count = with_flows ? s->flow_end_count : 0;
    return write_event(d, file, &end);
}

void files_touched(const drawing *d, int64_t begin, int64_t end, uint32_t *first, uint32_t *last) {
    *first = window_at(d, begin);
    *last = end == INT64_MIN ? d->window_count - 1 : window_at(d, end);
}

/* Flow ids belong to one file: what spans windows has its edges in the last one and in the overview, where all the open
 * waits are. */
int draw_slice(drawing *d, unsigned where, const slice *s) {
    uint32_t first, last;
    files_touched(d, s->begin, s->end, &first, &last);
    if (!(where & SPAN))
        first = last;
    for (uint32_t i = first; i <= last; i++)
        TRY(write_slice(d, d->windows[i], s, i == last));
    return d->overview && where & TO_OVERVIEW ? write_slice(d, d->overview, s, s->end == INT64_MIN) : XS_OK;
}

static int finish_file(drawing *d, trace_file *file, uint32_t number) {
    TRY(attributes_finish(d, file, number));
    TRY(encoder_close(&file->enc));
    d->summary.files++;
    d->summary.packets += file->enc.packets;
    d->summary.bytes += file->enc.out.bytes;
    return XS_OK;
}

/* All are whole before the first gets its name; the overview, which leads to the windows, is last. */
int files_finish(drawing *d) {
    if (d->overview)
        TRY(thin_finish(d));
    for (uint32_t i = 0; i < d->window_count; i++)
        TRY(finish_file(d, d->windows[i], i + 1));
    if (d->overview)
        TRY(finish_file(d, d->overview, 0));
    for (uint32_t i = 0; i < d->window_count; i++)
        TRY(output_rename(&d->windows[i]->enc.out));
    return d->overview ? output_rename(&d->overview->enc.out) : XS_OK;
}

static void file_free(trace_file *file) {
    if (!file)
        return;
    encoder_free(&file->enc);
    free(file->declared);
    free(file);
}

void files_free(drawing *d) {
    for (uint32_t i = 0; i < d->window_count; i++)
        file_free(d->windows[i]);
    free(d->windows);
    file_free(d->overview);
    thin_free(d);
}
