/* Rows `kernels`: one slice a launch, on every rank that it ran on. */
#include <stdlib.h>

#include "draw.h"

static bool ran_on(const drawing *d, const xsr_launch *l, uint32_t rank) {
    uint32_t number = d->ranks[rank].number;
    return l->process == d->model->ranks[rank].process && number >= l->first_rank && number - l->first_rank < l->ranks;
}

static int by_begin(const void *a, const void *b) {
    const xsr_launch *x = *(xsr_launch *const *)a, *y = *(xsr_launch *const *)b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static int draw_launch(drawing *d, uint32_t rank, const xsr_launch *l, int64_t begin, int64_t end) {
    rank_state *r = &d->ranks[rank];
    if (!r->kernels) {
        track_info t = {.parent = r->process, .name = strings_id(&d->texts, "kernels (stream 0)")};
        t.description = strings_id(&d->texts, "Launches that ran on this rank, from the host's launch to its last block.");
        r->kernels = track_add(d, &t);
    }
    args a = {.count = 0};
    arg_uint(d, &a, KEY_grid, l->grid);
    arg_uint(d, &a, KEY_block, l->block);
    arg_uint(d, &a, KEY_launch_id, l->id);
    if (l->result)
        arg_int(d, &a, KEY_result, l->result);
    slice s = {.track = r->kernels, .begin = begin, .end = end, .category = d->category[CATEGORY_kernel]};
    s.name = strings_id(&d->texts, l->kernel < d->model->name_count ? d->model->names[l->kernel].text : "kernel");
    if (!s.name)
        return XS_E_MEMORY;
    s.args = a.list;
    s.arg_count = a.count;
    if (d->options.gpu_events)
        TRY(gpu_kernel(d, rank, l, d->texts.text[s.name], begin, end));
    return draw_slice(d, SPAN | TO_OVERVIEW, &s);
}

/* Launches of one rank follow each other: what has no end ends where the next begins; the last one stays open. */
static int draw_rank(drawing *d, uint32_t rank, const xsr_launch **list, uint32_t count) {
    int64_t cursor = INT64_MIN;
    for (uint32_t i = 0; i < count; i++) {
        int64_t begin = list[i]->begin > cursor ? list[i]->begin : cursor, end = list[i]->end;
        if (end == INT64_MIN && i + 1 < count)
            end = list[i + 1]->begin;
        if (end != INT64_MIN && end <= begin)
            end = begin + 1;
        TRY(draw_launch(d, rank, list[i], begin, end));
        cursor = end;
    }
    return XS_OK;
}

int kernels_finish(drawing *d) {
    const xsr_launch **list = calloc(d->model->launch_count + 1, sizeof *list);
    if (!list)
        return XS_E_MEMORY;
    int rc = XS_OK;
    for (uint32_t rank = 0; rank < d->model->rank_count && !rc; rank++) {
        uint32_t count = 0;
        for (uint32_t i = 0; i < d->model->launch_count; i++)
            if (ran_on(d, &d->model->launches[i], rank))
                list[count++] = &d->model->launches[i];
        qsort(list, count, sizeof *list, by_begin);
        rc = draw_rank(d, rank, list, count);
    }
    free(list);
    return rc;
}

static int by_length(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* 0 until a launch has ended. Looks at 1024 launches at most, evenly. */
int64_t kernels_median(const drawing *d) {
    int64_t lengths[1024];
    uint32_t count = 0, stride = d->model->launch_count / 1024 + 1;
    for (uint32_t i = 0; i < d->model->launch_count; i += stride)
        if (d->model->launches[i].end != INT64_MIN)
            lengths[count++] = d->model->launches[i].end - d->model->launches[i].begin;
    qsort(lengths, count, sizeof *lengths, by_length);
    return count ? lengths[count / 2] : 0;
}
