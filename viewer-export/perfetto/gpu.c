/* Launches as GpuRenderStageEvent: what tools that know GPUs read (table gpu_slice). Beside the rows `kernels`, which stand
 * above the blocks that ran in them. A sequence of its own, with its own interned texts, in each file that has a launch. */
#include <stdlib.h>

#include "draw.h"

#define CLOCK_BOOT 6u
#define API_CUDA 4u
#define CATEGORY_COMPUTE 2u
#define QUEUE_IID 1u
#define STAGE_IID 2u
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

static int write_first(const drawing *d, trace_file *file, int64_t time, const gpu_lists *l) {
    uint32_t n = d->model->rank_count;
    GpuInfo info = GPU_INFO__INIT;
    InternedData interned = INTERNED_DATA__INIT;
    GpuSpecification specs[2], *pointers[2] = {&specs[0], &specs[1]};
    specification(&specs[0], QUEUE_IID, "kernels (stream 0)");
    specification(&specs[1], STAGE_IID, "kernel");
    info.n_gpus = interned.n_graphics_contexts = n;
    info.gpus = (Gpu **)l->pointers;
    interned.graphics_contexts = (GraphicsContext **)(l->pointers + n);
    interned.n_gpu_specifications = 2;
    interned.gpu_specifications = pointers;
    TracePacket gpus = TRACE_PACKET__INIT, first = TRACE_PACKET__INIT;
    stamp(&gpus, time);
    stamp(&first, time);
    first.sequence_flags = 1;
    first.has_first_packet_on_sequence = first.first_packet_on_sequence = 1;
    first.interned_data = &interned;
    TRY(encoder_packet(&file->enc, &first, 64u * n + 256));
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

static void dimensions(Dimensions *to, uint32_t x) {
    dimensions__init(to);
    to->has_x = to->has_y = to->has_z = 1;
    to->x = x;
    to->y = to->z = 1;
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

static void kernel_fill(kernel_event *k, uint32_t rank, const xsr_launch *l, const char *name) {
    trace_packet__init(&k->packet);
    gpu_render_stage_event__init(&k->stage);
    compute_launch__init(&k->launch);
    dimensions(&k->grid, l->grid);
    dimensions(&k->block, l->block);
    number_arg(&k->list[0], "launch_id", l->id);
    number_arg(&k->list[1], "ended", l->end != INT64_MIN);
    number_arg(&k->list[2], "result", l->result);
    for (int i = 0; i < 3; i++)
        k->args[i] = &k->list[i];
    k->launch.grid_size = &k->grid;
    k->launch.workgroup_size = &k->block;
    k->launch.n_args = 3;
    k->launch.args = k->args;
    k->stage.has_event_id = k->stage.has_duration = k->stage.has_context = k->stage.has_gpu_id = 1;
    k->stage.has_hw_queue_iid = k->stage.has_stage_iid = 1;
    k->stage.event_id = (uint64_t)rank << 32 | l->id;
    k->stage.context = CONTEXT_IID(rank);
    k->stage.gpu_id = (int32_t)rank;
    k->stage.hw_queue_iid = QUEUE_IID;
    k->stage.stage_iid = STAGE_IID;
    k->stage.name = (char *)name;
    k->stage.launch = &k->launch;
    k->packet.gpu_render_stage_event = &k->stage;
}

/* These events have a duration: what never ended lasts to the end of the capture, and its argument `ended` is 0. */
int gpu_kernel(drawing *d, uint32_t rank, const xsr_launch *l, const char *name, int64_t begin, int64_t end) {
    uint32_t first, last;
    kernel_event k;
    int64_t shown = end == INT64_MIN ? drawing_end(d) : end;
    files_touched(d, begin, end, &first, &last);
    kernel_fill(&k, rank, l, name);
    stamp(&k.packet, begin);
    k.stage.duration = shown > begin ? (uint64_t)(shown - begin) : 1;
    for (uint32_t i = first; i <= last + (d->overview != NULL); i++) {
        trace_file *file = i <= last ? d->windows[i] : d->overview;
        TRY(file_start(d, file, begin));
        TRY(track_declare(d, file, d->ranks[rank].process));
        TRY(gpus_begin(d, file, begin));
        TRY(encoder_packet(&file->enc, &k.packet, STRINGS_TEXT_MAX));
    }
    return XS_OK;
}
