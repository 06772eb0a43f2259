/* Rows `kernels (stream S)`: what CUPTI told of, and, where it told nothing, launches by the host's words. A kernel is
 * drawn on every rank whose writers ran in it, else on those of its launch, else on the first rank of its GPU. */
#include <stdlib.h>
#include <string.h>

#include "kernels.h"

static bool launched_on(const drawing *d, const xsr_launch *l, uint32_t rank) {
    uint32_t number = d->ranks[rank].number;
    return l->process == d->model->ranks[rank].process && number >= l->first_rank && number - l->first_rank < l->ranks;
}

static int by_number(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t pair(uint32_t high, uint32_t low) { return (uint64_t)high << 32 | low; }

static int add(uint64_t **list, uint32_t *count, uint32_t *room, uint64_t value) {
    if (xsv_room(list, room, *count, sizeof **list, 0))
        return XS_E_MEMORY;
    (*list)[(*count)++] = value;
    return XS_OK;
}

/* Sorted, each once. */
static void settle(uint64_t *list, uint32_t *count) {
    uint32_t kept = 0;
    if (*count)
        qsort(list, *count, sizeof *list, by_number);
    for (uint32_t i = 0; i < *count; i++)
        if (kept == 0 || list[i] != list[kept - 1])
            list[kept++] = list[i];
    *count = kept;
}

static int add_item(kernel_list *k, uint32_t rank, uint32_t stream, const xsr_activity *activity,
                    const xsr_launch *launch) {
    if (xsv_room(&k->items, &k->room, k->count, sizeof *k->items, 0))
        return XS_E_MEMORY;
    kernel_item item = {.rank = rank, .stream = stream, .activity = activity, .launch = launch};
    item.begin = activity ? activity->begin : launch->begin;
    item.end = activity ? activity->end : launch->end;
    k->items[k->count++] = item;
    return XS_OK;
}

/* The first rank of the GPU, else of the process; XSR_NONE: it has none. */
static uint32_t home_of(const drawing *d, const xsr_activity *a) {
    uint32_t any = XSR_NONE;
    for (uint32_t i = d->model->rank_count; i-- > 0;) {
        const xsr_rank *r = &d->model->ranks[i];
        if (r->process != a->process)
            continue;
        if (r->device == a->device)
            return i;
        any = i;
    }
    return any;
}

static int add_kernel(const drawing *d, kernel_list *k, const xsr_activity *a, uint32_t rank, told *t) {
    const xsr_launch *l = a->launch == XSR_NONE ? NULL : &d->model->launches[a->launch];
    if (l)
        TRY(add(&t->list, &t->count, &t->room, pair(a->launch, rank)));
    return add_item(k, rank, a->stream, a, l);
}

/* A moment once a second, in a row of its own: the database has it. */
static bool asks_clock(const xsr_model *m, const xsr_activity *a) {
    return a->name != XSR_NONE && strcmp(m->names[a->name].text, XSR_CLOCK_KERNEL) == 0;
}

/* ran: (kernel, rank) of all writers. */
static int add_kernels(const drawing *d, kernel_list *k, const told *ran, told *t) {
    const xsr_model *m = d->model;
    uint32_t at = 0;
    for (uint32_t i = 0; i < m->activity_count; i++) {
        const xsr_activity *a = &m->activities[i];
        uint32_t before = k->count;
        for (; at < ran->count && ran->list[at] >> 32 <= i; at++)
            if (ran->list[at] >> 32 == i)
                TRY(add_kernel(d, k, a, (uint32_t)ran->list[at], t));
        if (a->kind != XS_ACTIVITY_KERNEL || k->count != before || asks_clock(m, a))
            continue;
        for (uint32_t r = 0; a->launch != XSR_NONE && r < m->rank_count; r++)
            if (launched_on(d, &m->launches[a->launch], r) && m->ranks[r].device == a->device)
                TRY(add_kernel(d, k, a, r, t));
        uint32_t home = home_of(d, a);
        if (k->count == before && home != XSR_NONE)
            TRY(add_kernel(d, k, a, home, t));
    }
    return XS_OK;
}

static bool is_told(const told *t, uint32_t launch, uint32_t rank) {
    uint64_t key = pair(launch, rank);
    return t->count && bsearch(&key, t->list, t->count, sizeof *t->list, by_number);
}

static int add_launches(const drawing *d, kernel_list *k, const told *t) {
    const xsr_model *m = d->model;
    for (uint32_t i = 0; i < m->launch_count; i++)
        for (uint32_t r = 0; r < m->rank_count; r++)
            if (launched_on(d, &m->launches[i], r) && !is_told(t, i, r))
                TRY(add_item(k, r, 0, NULL, &m->launches[i]));
    return XS_OK;
}

/* By row, then time. */
static int by_row(const void *a, const void *b) {
    const kernel_item *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->stream != y->stream)
        return x->stream < y->stream ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->activity != y->activity)
        return x->activity < y->activity ? -1 : 1;
    return x->launch < y->launch ? -1 : x->launch > y->launch;
}

int kernels_collect(const drawing *d, kernel_list *k) {
    told ran = {0}, t = {0};
    int rc = XS_OK;
    for (uint32_t i = 0; i < d->model->writer_count && !rc; i++)
        if (d->model->writers[i].kernel != XSR_NONE)
            rc = add(&ran.list, &ran.count, &ran.room, pair(d->model->writers[i].kernel, d->model->writers[i].rank));
    settle(ran.list, &ran.count);
    if (!rc)
        rc = add_kernels(d, k, &ran, &t);
    settle(t.list, &t.count);
    if (!rc)
        rc = add_launches(d, k, &t);
    if (k->count)
        qsort(k->items, k->count, sizeof *k->items, by_row);
    free(ran.list);
    free(t.list);
    return rc;
}

/* ---- drawing ---- */

static void arg_shape(drawing *d, args *a, enum draw_key key, const uint32_t shape[3]) {
    if (shape[1] <= 1 && shape[2] <= 1)
        arg_uint(d, a, key, shape[0]);
    else
        arg_text(d, a, key, strings_format(&d->texts, "%u x %u x %u", shape[0], shape[1], shape[2]));
}

static void kernel_args(drawing *d, args *a, const kernel_item *k) {
    const xsr_launch *l = k->launch;
    const uint32_t grid[3] = {l ? l->grid : 0, 1, 1}, block[3] = {l ? l->block : 0, 1, 1};
    arg_shape(d, a, KEY_grid, k->activity ? k->activity->grid : grid);
    arg_shape(d, a, KEY_block, k->activity ? k->activity->block : block);
    if (l)
        arg_uint(d, a, KEY_launch_id, l->id);
    if (l && l->result)
        arg_int(d, a, KEY_result, l->result);
    if (!k->activity)
        return;
    arg_uint(d, a, KEY_stream, k->stream);
    arg_uint(d, a, KEY_registers, k->activity->registers);
    arg_uint(d, a, KEY_correlation, k->activity->correlation);
    if (k->activity->graph_node)
        arg_uint(d, a, KEY_graph_node, k->activity->graph_node);
}

static uint32_t row_of(drawing *d, const kernel_item *k) {
    track_info t = {.parent = d->ranks[k->rank].process,
                    .name = strings_format(&d->texts, "kernels (stream %u)", k->stream)};
    t.description = strings_id(
        &d->texts, k->activity ? "Kernels of this stream, as CUPTI tells of them."
                               : "Launches that ran on this rank, from the host's launch to its last block.");
    return track_add(d, &t);
}

static uint32_t name_of(drawing *d, const kernel_item *k) {
    uint32_t name = k->activity ? k->activity->name : k->launch->kernel;
    return strings_id(&d->texts, name < d->model->name_count ? d->model->names[name].text : "kernel");
}

static int draw_item(drawing *d, const kernel_item *k, uint32_t track, int64_t begin, int64_t end) {
    args a = {.count = 0};
    uint64_t flow;
    kernel_args(d, &a, k);
    slice s = {
        .track = track, .begin = begin, .end = end, .category = d->category[CATEGORY_kernel], .name = name_of(d, k)};
    if (!s.name)
        return XS_E_MEMORY;
    s.args = a.list;
    s.arg_count = a.count;
    s.begin_flow_ends = &flow;
    s.begin_flow_end_count = k->activity && call_flow(d, k->activity, k->rank, &flow);
    if (d->options.gpu_events)
        TRY(gpu_kernel(d, k, d->texts.text[s.name], begin, end));
    return draw_slice(d, SPAN | TO_OVERVIEW, &s);
}

static bool same_row(const kernel_item *a, const kernel_item *b) {
    return a->rank == b->rank && a->stream == b->stream;
}

/* Kernels of a stream follow each other: what has no end ends where the next begins; the last one stays open. */
int kernels_draw(drawing *d, const kernel_list *k) {
    int64_t cursor = INT64_MIN;
    uint32_t track = 0;
    for (uint32_t i = 0; i < k->count; i++) {
        const kernel_item *item = &k->items[i], *next = i + 1 < k->count && same_row(item, item + 1) ? item + 1 : NULL;
        if (i == 0 || !same_row(item, item - 1)) {
            cursor = INT64_MIN;
            track = row_of(d, item);
        }
        int64_t begin = item->begin > cursor ? item->begin : cursor, end = item->end;
        if (end == INT64_MIN && next)
            end = next->begin;
        if (end != INT64_MIN && end <= begin)
            end = begin + 1;
        TRY(draw_item(d, item, track, begin, end));
        cursor = end;
    }
    return XS_OK;
}

int kernels_finish(drawing *d) {
    kernel_list k = {0};
    int rc = kernels_collect(d, &k);
    if (!rc)
        rc = kernels_draw(d, &k);
    if (!rc)
        rc = calls_draw(d, &k);
    free(k.items);
    return rc;
}

static int by_length(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

#define LENGTHS 1024u /* looked at for the median, evenly */
typedef struct lengths {
    int64_t value[LENGTHS];
    uint32_t count;
} lengths;

static int64_t median_of(lengths *l) {
    if (l->count)
        qsort(l->value, l->count, sizeof *l->value, by_length);
    return l->count ? l->value[l->count / 2] : 0;
}

static bool is_launched(const xsr_model *m, uint32_t name) {
    for (uint32_t i = 0; name != XSR_NONE && i < m->launch_count && i < LENGTHS; i++)
        if (m->launches[i].kernel == name)
            return true;
    return false;
}

/* Kernels that CUPTI told of, of the names that xs launched: a launch that is replayed lasts from its first kernel to
 * its last. */
static void kernel_lengths(const xsr_model *m, lengths *l) {
    uint32_t step = m->activity_count / LENGTHS + 1, seen = 0, name = XSR_NONE;
    bool launched = false;
    for (uint32_t i = 0; i < m->activity_count; i++) {
        const xsr_activity *a = &m->activities[i];
        if (a->kind != XS_ACTIVITY_KERNEL)
            continue;
        launched = a->name == name ? launched : is_launched(m, a->name);
        name = a->name;
        if (launched && seen++ % step == 0)
            l->value[l->count++] = a->end - a->begin;
    }
}

static void launch_lengths(const xsr_model *m, lengths *l) {
    uint32_t stride = m->launch_count / LENGTHS + 1;
    for (uint32_t i = 0; i < m->launch_count; i += stride)
        if (m->launches[i].end != INT64_MIN)
            l->value[l->count++] = m->launches[i].end - m->launches[i].begin;
}

/* 0 until a launch has ended. */
int64_t kernels_median(const drawing *d) {
    lengths l = {.count = 0};
    kernel_lengths(d->model, &l);
    if (!l.count)
        launch_lengths(d->model, &l);
    return median_of(&l);
}
