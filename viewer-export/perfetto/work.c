/* Work, payload and named barriers: what a writer does between its waits. */
#include <stdio.h>
#include <stdlib.h>

#include "lane.h"

static void name_work(const drawing *d, const xsr_event *ev, char *text, size_t size) {
    const char *verb = ev->object < d->model->name_count ? d->model->names[ev->object].text : "work";
    if (ev->further[0] >= XS_NO_PEER)
        snprintf(text, size, "%s", verb);
    else
        snprintf(text, size, "%s %s rank %u", verb, ev->kind == XS_EV_READ_BEGIN ? "from" : "to",
                 (uint32_t)ev->further[0]);
}

static void work_args(const drawing *d, const lane *l, const xsr_event *ev, args *a) {
    uint32_t own = d->ranks[l->rank].number;
    bool peer = ev->further[0] < XS_NO_PEER, read = ev->kind == XS_EV_READ_BEGIN;
    arg_uint(d, a, KEY_src, read && peer ? ev->further[0] : own);
    if (peer)
        arg_uint(d, a, KEY_dst, read ? own : ev->further[0]);
    arg_uint(d, a, KEY_chunk, ev->value);
    arg_uint(d, a, KEY_rows, ev->further[1]);
    arg_uint(d, a, KEY_bytes, ev->further[2]);
    if (d->options.merge_roles)
        arg_text(d, a, KEY_writer, l->writer_text);
    arg_uint(d, a, KEY_epoch, ev->epoch);
}

static int draw_proving(drawing *d, const xsr_event *ev, slice *s) {
    flow_lists flows = {.own = NULL};
    TRY(evidence_join(d, ev->id, s->begin, false, &flows));
    s->flows = flows.starts;
    s->flow_count = flows.start_count;
    s->begin_flow_ends = flows.ends;
    s->begin_flow_end_count = flows.end_count;
    int rc = draw_slice(d, AT_TIME, s);
    free(flows.own);
    return rc;
}

int draw_work(drawing *d, lane *l, const lane_work *work, int64_t end) {
    char text[256];
    args a = {.count = 0};
    name_work(d, &work->event, text, sizeof text);
    if (!d->reduced || d->options.merge_roles)
        work_args(d, l, &work->event, &a);
    slice s = {.track = l->track, .begin = work->begin, .end = end, .name = strings_id(&d->texts, text)};
    s.category = strings_id(&d->texts, role_name(d, work->event.role));
    s.args = a.list;
    s.arg_count = a.count;
    return draw_proving(d, &work->event, &s);
}

/* Inner ones first: at the same end, the file's order closes them inside out. */
int lane_cut_work(drawing *d, lane *l, int64_t time) {
    for (uint32_t i = l->work_count; i > 0; i--)
        if (time > l->work[i - 1].begin)
            TRY(draw_work(d, l, &l->work[i - 1], time));
    return XS_OK;
}

void lane_resume_work(lane *l) {
    for (uint32_t i = 0; i < l->work_count; i++)
        l->work[i].begin = l->cursor++;
}

int draw_block(drawing *d, lane *l, int64_t end) {
    const xsr_event *ev = &l->block.event;
    args a = {.count = 0};
    arg_uint(d, &a, KEY_id, ev->object);
    arg_uint(d, &a, KEY_count, ev->value);
    if (d->options.merge_roles)
        arg_text(d, &a, KEY_writer, l->writer_text);
    arg_uint(d, &a, KEY_epoch, ev->epoch);
    slice s = {.track = l->track, .begin = l->block.begin, .end = end, .category = d->category[CATEGORY_block]};
    s.name = strings_format(&d->texts, "block barrier %u (%llu threads)", ev->object, (unsigned long long)ev->value);
    s.args = a.list;
    s.arg_count = a.count;
    return draw_proving(d, ev, &s);
}
