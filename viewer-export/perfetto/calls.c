/* Rows `copies (stream S)` of a rank, and a process `NAME (host)` with a row a thread: the calls that launched kernels
 * and copies. */
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

#define FLOW_CALLS (1ull << 62) /* above all event ids */
#define HOST_ORDER (1 << 24)    /* after all ranks */

bool call_flow(const drawing *d, const xsr_activity *a, uint32_t rank, uint64_t *flow) {
    *flow = FLOW_CALLS | (uint64_t)(a - d->model->activities) << 24 | rank;
    return a->call != XSR_NONE && files_window(d, d->model->activities[a->call].end) == files_window(d, a->end);
}

typedef struct edge {
    uint32_t call;
    uint64_t flow;
} edge;
typedef struct edges {
    edge *list;
    uint32_t count, room;
} edges;
typedef struct row {
    uint64_t key;
    uint32_t track;
} row;
typedef struct rows {
    row *list;
    uint32_t count, room;
} rows;

static int add_edge(const drawing *d, edges *e, const xsr_activity *a, uint32_t rank) {
    uint64_t flow;
    if (!call_flow(d, a, rank, &flow))
        return XS_OK;
    if (xsv_room(&e->list, &e->room, e->count, sizeof *e->list, 0))
        return XS_E_MEMORY;
    e->list[e->count++] = (edge){a->call, flow};
    return XS_OK;
}

static int by_call(const void *a, const void *b) {
    const edge *x = a, *y = b;
    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    return (x->flow > y->flow) - (x->flow < y->flow);
}

/* A row made before, or a new one with track 0; NULL: no memory. */
static row *row_at(rows *r, uint32_t high, uint32_t low) {
    uint64_t key = (uint64_t)high << 32 | low;
    for (uint32_t i = r->count; i-- > 0;)
        if (r->list[i].key == key)
            return &r->list[i];
    if (xsv_room(&r->list, &r->room, r->count, sizeof *r->list, 0))
        return NULL;
    r->list[r->count] = (row){key, 0};
    return &r->list[r->count++];
}

/* ---- copies ---- */

static uint32_t rank_of(const drawing *d, const xsr_activity *a) {
    uint32_t any = XSR_NONE;
    for (uint32_t i = d->model->rank_count; i-- > 0;) {
        const xsr_rank *r = &d->model->ranks[i];
        if (r->process == a->process && r->device == a->device)
            return i;
        any = r->process == a->process ? i : any;
    }
    return any;
}

static int draw_copy(drawing *d, const xsr_activity *a, uint32_t rank, rows *r) {
    row *at = row_at(r, rank, a->stream);
    if (!at)
        return XS_E_MEMORY;
    if (!at->track) {
        track_info t = {.parent = d->ranks[rank].process,
                        .name = strings_format(&d->texts, "copies (stream %u)", a->stream)};
        t.description = strings_id(&d->texts, "Copies of this stream, as CUPTI tells of them.");
        at->track = track_add(d, &t);
    }
    args list = {.count = 0};
    uint64_t flow;
    arg_uint(d, &list, KEY_bytes, a->bytes);
    arg_uint(d, &list, KEY_stream, a->stream);
    arg_uint(d, &list, KEY_correlation, a->correlation);
    slice s = {.track = at->track,
               .begin = a->begin,
               .end = a->end > a->begin ? a->end : a->begin + 1,
               .category = d->category[CATEGORY_copy]};
    s.name = strings_id(&d->texts, xsr_copy_name(a->copy));
    s.args = list.list;
    s.arg_count = list.count;
    s.begin_flow_ends = &flow;
    s.begin_flow_end_count = call_flow(d, a, rank, &flow);
    return s.name ? draw_slice(d, SPAN, &s) : XS_E_MEMORY;
}

static int draw_copies(drawing *d, edges *e) {
    rows r = {0};
    int rc = XS_OK;
    for (uint32_t i = 0; i < d->model->activity_count && !rc; i++) {
        const xsr_activity *a = &d->model->activities[i];
        uint32_t rank = a->kind == XS_ACTIVITY_COPY ? rank_of(d, a) : XSR_NONE;
        if (rank == XSR_NONE)
            continue;
        rc = draw_copy(d, a, rank, &r);
        if (!rc)
            rc = add_edge(d, e, a, rank);
    }
    free(r.list);
    return rc;
}

/* ---- calls ---- */

static const char *base_of(const xsr_process *p) {
    const char *slash = strrchr(p->executable, '/'), *name = slash ? slash + 1 : p->executable;
    return *name ? name : "process";
}

static uint32_t thread_row(drawing *d, rows *r, const xsr_activity *a) {
    const xsr_process *p = &d->model->processes[a->process];
    row *process = row_at(r, a->process, UINT32_MAX);
    if (process && !process->track) {
        track_info t = {.pid = p->pid > 0 ? p->pid : 1, .order = HOST_ORDER + (int32_t)a->process, .ordered = true};
        t.name = strings_format(&d->texts, "%s (host)", base_of(p));
        t.description =
            strings_id(&d->texts, "CUDA calls of the process that launched kernels or copies: a row a thread.");
        process->track = track_add(d, &t);
    }
    uint32_t parent = process ? process->track : 0;
    row *thread = row_at(r, a->process, a->thread);
    if (thread && !thread->track) {
        track_info t = {.parent = parent};
        t.name = (int32_t)a->thread == p->pid ? strings_id(&d->texts, "main")
                                              : strings_format(&d->texts, "thread %u", a->thread);
        thread->track = track_add(d, &t);
    }
    return thread && parent ? thread->track : 0;
}

/* Calls inside each other (the driver's in the runtime's) nest; CUPTI's order of begin keeps the outer one first. */
static int draw_call(drawing *d, rows *r, const xsr_activity *a, const uint64_t *flows, uint32_t count) {
    args list = {.count = 0};
    arg_uint(d, &list, KEY_correlation, a->correlation);
    if (a->result)
        arg_int(d, &list, KEY_result, a->result);
    slice s = {.track = thread_row(d, r, a),
               .begin = a->begin,
               .end = a->end > a->begin ? a->end : a->begin + 1,
               .category = d->category[CATEGORY_call]};
    s.name = strings_id(&d->texts, a->name < d->model->name_count ? d->model->names[a->name].text : "call");
    s.args = list.list;
    s.arg_count = list.count;
    s.flows = flows;
    s.flow_count = count;
    return s.name && s.track ? draw_slice(d, SPAN, &s) : XS_E_MEMORY;
}

static int draw_calls(drawing *d, const edges *e) {
    uint64_t *flows = malloc((e->count + 1) * sizeof *flows);
    rows r = {0};
    uint32_t at = 0;
    int rc = flows ? XS_OK : XS_E_MEMORY;
    for (uint32_t i = 0; i < e->count && !rc; i++)
        flows[i] = e->list[i].flow;
    for (uint32_t i = 0; i < d->model->activity_count && !rc; i++) {
        uint32_t first = at;
        while (at < e->count && e->list[at].call == i)
            at++;
        if (d->model->activities[i].kind == XS_ACTIVITY_CALL)
            rc = draw_call(d, &r, &d->model->activities[i], flows + first, at - first);
    }
    free(r.list);
    free(flows);
    return rc;
}

int calls_draw(drawing *d, const kernel_list *k) {
    edges e = {0};
    int rc = draw_copies(d, &e);
    for (uint32_t i = 0; i < k->count && !rc; i++)
        if (k->items[i].activity)
            rc = add_edge(d, &e, k->items[i].activity, k->items[i].rank);
    if (!rc && e.count)
        qsort(e.list, e.count, sizeof *e.list, by_call);
    if (!rc)
        rc = draw_calls(d, &e);
    free(e.list);
    return rc;
}
