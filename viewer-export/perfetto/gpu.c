/* Launches as GpuRenderStageEvent: what tools that know GPUs read (table gpu_slice). Beside the rows `kernels`,
 * which stand above the blocks that ran in them. A sequence of its own, with its own interned texts, in each file
 * that has a launch. */
#include <stdlib.h>

#include "kernels.h"

#define CLOCK_BOOT 6u
#define API_CUDA 4u
#define CATEGORY_COMPUTE 2u
#define STAGE_IID 1u
#define QUEUE_IID(stream) (2u + (stream)) /* index in the list of streams */
#define MOST_STREAMS 256u /* further ones share the last one's queue */
#define CONTEXT_IID(rank) ((uint64_t)(rank) + 1)

static void stamp(TracePacket *packet, int64_t time) {
    packet->has_timestamp = packet->has_timestamp_clock_id = packet->has_trusted_packet_sequence_id = 1;
    packet->timestamp = time < 0 ? 0 : (uint64_t)time;
    packet->timestamp_clock_id = CLOCK_BOOT;
    packet->trusted_packet_sequence_id = SEQUENCE_GPU;
    packet->has_sequence_flags = 1;
    packet->sequence_flags = 2;
}

/* One GPU a rank: its number is the rank's index, and its process the rank's. */
typedef struct gpu_lists {
    Gpu *gpus;
    GraphicsContext *contexts;
    void **pointers; /* to the one, then to the other */
} gpu_lists;

static int lists_fill(const drawing *d, gpu_lists *l) {
    uint32_t n = d->model->rank_count;
    l->gpus = calloc(n, sizeof *l->gpus);
    l->contexts = calloc(n, sizeof *l->contexts);
    l->pointers = calloc(2 * (size_t)n, sizeof *l->pointers);
    if (!l->gpus || !l->contexts || !l->pointers)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < n; i++) {
        const track_info *process = &d->tracks[d->ranks[i].process];
        gpu__init(&l->gpus[i]);
        l->gpus[i].name = d->texts.text[process->name];
        graphics_context__init(&l->contexts[i]);
        l->contexts[i].has_iid = l->contexts[i].has_pid = l->contexts[i].has_api = 1;
        l->contexts[i].iid = CONTEXT_IID(i);
        l->contexts[i].pid = process->pid;
        l->contexts[i].api = API_CUDA;
        l->pointers[i] = &l->gpus[i];
        l->pointers[n + i] = &l->contexts[i];
    }
    return XS_OK;
}

static void specification(GpuSpecification *to, uint64_t iid, const char *name) {
    gpu_specification__init(to);
    to->has_iid = to->has_category = 1;
    to->iid = iid;
    to->name = (char *)name;
    to->category = CATEGORY_COMPUTE;
}

/* Number 0, of launches that CUPTI tells nothing of, and the numbers of CUPTI's streams: the how many-th this one
 * is. */
typedef struct streams { uint32_t number[MOST_STREAMS], count; } streams;

static uint32_t stream_index(const streams *s, uint32_t number) {
    uint32_t at = 0;
    while (at + 1 < s->count && s->number[at] != number)
        at++;
    return at;
}

static void list_streams(const xsr_model *m, streams *s) {
    s->number[0] = 0;
    s->count = 1;
    for (uint32_t i = 0; i < m->activity_count && s->count < MOST_STREAMS; i++) {
        const xsr_activity *a = &m->activities[i];
        if (a->kind == XS_ACTIVITY_KERNEL && s->number[stream_index(s, a->stream)] != a->stream)
            s->number[s->count++] = a->stream;
    }
}

static int write_first(drawing *d, trace_file *file, int64_t time, const gpu_lists *l) {
    uint32_t n = d->model->rank_count;
    GpuInfo info = GPU_INFO__INIT;
    InternedData interned = INTERNED_DATA__INIT;
    GpuSpecification specs[1 + MOST_STREAMS], *pointers[1 + MOST_STREAMS];
    streams s;
    list_streams(d->model, &s);
    specification(&specs[0], STAGE_IID, "kernel");
    for (uint32_t i = 0; i < s.count; i++) {
        uint32_t name = strings_format(&d->texts, "kernels (stream %u)", s.number[i]);
        specification(&specs[1 + i], QUEUE_IID(i), name ? d->texts.text[name] : NULL);
    }
    for (uint32_t i = 0; i < 1 + s.count; i++)
        pointers[i] = &specs[i];
    info.n_gpus = interned.n_graphics_contexts = n;
    info.gpus = (Gpu **)l->pointers;
    interned.graphics_contexts = (GraphicsContext **)(l->pointers + n);
    interned.n_gpu_specifications = 1 + s.count;
    interned.gpu_specifications = pointers;
    TracePacket gpus = TRACE_PACKET__INIT, first = TRACE_PACKET__INIT;
    stamp(&gpus, time);
    stamp(&first, time);
    first.sequence_flags = 1;
    first.has_first_packet_on_sequence = first.first_packet_on_sequence = 1;
    first.interned_data = &interned;
    TRY(encoder_packet(&file->enc, &first, 64u * (n + s.count) + 256));
    gpus.gpu_info = &info;
    return encoder_packet(&file->enc, &gpus, (STRINGS_TEXT_MAX + 16u) * n);
}

static int gpus_begin(drawing *d, trace_file *file, int64_t time) {
    if (file->gpus)
        return XS_OK;
    gpu_lists l = {0};
    int rc = lists_fill(d, &l);
    if (!rc)
        rc = write_first(d, file, time, &l);
    free(l.gpus);
    free(l.contexts);
    free(l.pointers);
    file->gpus = !rc;
    return rc;
}

static void dimensions(Dimensions *to, uint32_t x, uint32_t y, uint32_t z) {
    dimensions__init(to);
    to->has_x = to->has_y = to->has_z = 1;
    to->x = x;
    to->y = y;
    to->z = z;
}

static void number_arg(ComputeArg *to, const char *name, int64_t value) {
    compute_arg__init(to);
    to->name = (char *)name;
    to->has_int_value = 1;
    to->int_value = value;
}

typedef struct kernel_event {
    TracePacket packet;
    GpuRenderStageEvent stage;
    ComputeLaunch launch;
    Dimensions grid, block;
    ComputeArg list[3], *args[3];
} kernel_event;

static void shape_fill(kernel_event *e, const kernel_item *k) {
    const xsr_activity *a = k->activity;
    if (a) {
        dimensions(&e->grid, a->grid[0], a->grid[1], a->grid[2]);
        dimensions(&e->block, a->block[0], a->block[1], a->block[2]);
    } else {
        dimensions(&e->grid, k->launch->grid, 1, 1);
        dimensions(&e->block, k->launch->block, 1, 1);
    }
    e->launch.grid_size = &e->grid;
    e->launch.workgroup_size = &e->block;
}

static void args_fill(kernel_event *e, const kernel_item *k) {
    uint32_t n = 0;
    if (k->launch)
        number_arg(&e->list[n++], "launch_id", k->launch->id);
    number_arg(&e->list[n++], "ended", k->end != INT64_MIN);
    if (k->launch)
        number_arg(&e->list[n++], "result", k->launch->result);
    for (uint32_t i = 0; i < n; i++)
        e->args[i] = &e->list[i];
    e->launch.n_args = n;
    e->launch.args = e->args;
}

static void kernel_fill(const drawing *d, kernel_event *e, const kernel_item *k, const char *name) {
    streams s;
    list_streams(d->model, &s);
    trace_packet__init(&e->packet);
    gpu_render_stage_event__init(&e->stage);
    compute_launch__init(&e->launch);
    shape_fill(e, k);
    args_fill(e, k);
    e->stage.has_event_id = e->stage.has_duration = e->stage.has_context = e->stage.has_gpu_id = 1;
    e->stage.has_hw_queue_iid = e->stage.has_stage_iid = 1;
    e->stage.event_id = (uint64_t)k->rank << 32 |
                        (k->activity ? (uint32_t)(k->activity - d->model->activities) | 1u << 31 : k->launch->id);
    e->stage.context = CONTEXT_IID(k->rank);
    e->stage.gpu_id = (int32_t)k->rank;
    e->stage.hw_queue_iid = QUEUE_IID(stream_index(&s, k->stream));
    e->stage.stage_iid = STAGE_IID;
    e->stage.name = (char *)name;
    e->stage.launch = &e->launch;
    e->packet.gpu_render_stage_event = &e->stage;
}

/* These events have a duration: what never ended lasts to the end of the capture, and its argument `ended` is 0. */
int gpu_kernel(drawing *d, const kernel_item *item, const char *name, int64_t begin, int64_t end) {
    uint32_t first, last;
    kernel_event k;
    int64_t shown = end == INT64_MIN ? drawing_end(d) : end;
    files_touched(d, begin, end, &first, &last);
    kernel_fill(d, &k, item, name);
    stamp(&k.packet, begin);
    k.stage.duration = shown > begin ? (uint64_t)(shown - begin) : 1;
    for (uint32_t i = first; i <= last + (d->overview != NULL); i++) {
        trace_file *file = i <= last ? d->windows[i] : d->overview;
        TRY(file_start(d, file, begin));
        TRY(track_declare(d, file, d->ranks[item->rank].process));
        TRY(gpus_begin(d, file, begin));
        TRY(encoder_packet(&file->enc, &k.packet, STRINGS_TEXT_MAX));
    }
    return XS_OK;
}
