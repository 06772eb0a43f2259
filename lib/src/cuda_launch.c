/* Launching: neighbouring ranks of one GPU are one cooperative launch, rank = range of blocks: the only residency
 * that CUDA guarantees. CPU ranks of the same launch go to the threads scheduler. Launches that share a rank run one
 * after the other; others may run at the same time, each on the stream of its first rank. */
#include <stdlib.h>

#include "cuda_state.h"

static int resolve(const xs_launch_order *order, CUfunction *function) {
    const xs_cuda_entry *entry = order->room.untraced ? order->kernel->plain : order->kernel->cuda;
    if (!entry) return xs_fail(XS_E_UNSUPPORTED, "kernel %s is not compiled for CUDA", order->kernel->name);
    int error = entry->resolve(entry->function, (void **)function);
    return error ? xs_fail(XS_E_SYSTEM, "kernel %s: CUDA runtime error %d", order->kernel->name, error) : 0;
}

/* A launch of one rank alone stays on that rank's part of the GPU, if it has one: cooperative launches of one
 * context wait for each other, whatever their streams. One that is too large for it has the whole GPU, unless parts
 * were asked for. */
static int uses_share(const xs_world *world, const xs_cuda_rank *lead, uint32_t ranks, uint32_t fit, uint32_t blocks) {
    return ranks == 1 && lead->share && (world->config.green > 0 || blocks <= (uint64_t)fit * lead->share_processors);
}

/* All blocks of a cooperative launch must be resident at once: says where, or why not. */
static int choose_stream(xs_world *world, const xs_launch_order *order, const xs_cuda_device *d,
                         const xs_cuda_rank *lead, uint32_t ranks, CUfunction function, CUstream *stream) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    uint32_t blocks = ranks * order->config.grid;
    int fit = 0;
    int rc = xs_cuda_check(state,
                           state->cuda->occupancy(&fit, function, (int)order->config.block, order->config.shared_bytes),
                           "occupancy");
    if (rc) return rc;
    int share = uses_share(world, lead, ranks, (uint32_t)fit, blocks);
    uint64_t room = (uint64_t)fit * (share ? lead->share_processors : (uint32_t)d->processors);
    *stream = share ? lead->share : lead->stream;
    return blocks <= room ? 0
                          : xs_fail(XS_E_NOT_RESIDENT, "%s: %u blocks, GPU %d holds %llu at once", order->kernel->name,
                                    blocks, d->ordinal, (unsigned long long)room);
}

/* Streams that share a connection run one after the other, so that a kernel may wait for one that cannot start. */
static int check_connections(const xs_cuda_state *state, uint32_t device, uint32_t first, const char *kernel) {
    /* and copies' and the clock's */
    uint32_t needed = xs_cuda_parts_streams(state, device, first) + 2 + (state->clock != NULL);
    uint32_t have = xs_cuda_connections();
    if (needed <= have) return 0;
    return xs_fail(XS_E_UNSUPPORTED,
                   "launch of %s: %u streams of GPU %d are needed at once and CUDA_DEVICE_MAX_CONNECTIONS allows %u; "
                   "the driver read it "
                   "before xs could set it: set it to 32 before the program starts",
                   kernel, needed, state->devices[device].ordinal, have);
}

/* Behind whatever was launched on any of these ranks. */
static int wait_for_earlier(xs_world *world, CUstream stream, uint32_t first, uint32_t ranks) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    int rc = 0;
    for (uint32_t r = first; r < first + ranks && !rc; r++)
        rc = xs_cuda_check(state, state->cuda->stream_wait(stream, xs_cuda_rank_of(world, r)->last, 0),
                           "cuStreamWaitEvent");
    return rc;
}

static int mark_behind(xs_world *world, CUstream stream, uint32_t first, uint32_t ranks) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    int rc = 0;
    for (uint32_t r = first; r < first + ranks && !rc; r++)
        rc = xs_cuda_check(state, state->cuda->event_record(xs_cuda_rank_of(world, r)->last, stream), "cuEventRecord");
    return rc;
}

static int enqueue(xs_world *world, const xs_cuda_part *part, CUfunction function) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    const xs_launch_order *order = part->order;
    const xs_cuda_rank *lead = xs_cuda_rank_of(world, part->first);
    xs_handle handle;
    xs_region_handle(world, part->first, order->config.grid, order->id, &handle);
    void *arguments[] = {order->args, &handle};
    int rc = wait_for_earlier(world, part->stream, part->first, part->ranks);
    if (!rc) rc = xs_cuda_claims_free(world, part->first, part->ranks, part->stream);
    if (rc >= 0) rc = xs_cuda_check(state, state->cuda->event_record(lead->before, part->stream), "cuEventRecord");
    if (rc) return rc;
    CUresult result =
        state->cuda->launch_cooperative(function, part->ranks * order->config.grid, 1, 1, order->config.block, 1, 1,
                                        (unsigned)order->config.shared_bytes, part->stream, arguments);
    if (result == CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE)
        return xs_fail(XS_E_NOT_RESIDENT, "%s: %u blocks, more than GPU %d holds at once", order->kernel->name,
                       part->ranks * order->config.grid, state->devices[part->device].ordinal);
    return xs_cuda_check(state, result, order->kernel->name);
}

/* The kernel runs, but the stream will not tell of its end: xs_cuda_sync finds it. */
static void follow(xs_world *world, xs_cuda_part *part) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    CUstream stream = part->stream;
    int rc = mark_behind(world, stream, part->first, part->ranks);
    if (xs_cuda_check(state, state->cuda->host_function(stream, xs_cuda_part_ended, part), "cuLaunchHostFunc")) {
        part->untold = 1;
        rc = XS_E_SYSTEM;
    }
    if (rc) xs_launch_fail(part->order, rc);
    if (rc) xs_abort(world, rc);
}

/* What can be known before anything runs. Makes the device's context current. */
static int check_gpu(xs_world *world, const xs_launch_order *order, uint32_t device, uint32_t first, uint32_t ranks,
                     CUfunction *function, CUstream *stream) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    const xs_cuda_device *d = &state->devices[device];
    int rc = check_connections(state, device, first, order->kernel->name);
    if (!rc) rc = xs_cuda_enter(state, d);
    if (!rc) rc = resolve(order, function);
    return rc ? rc : choose_stream(world, order, d, xs_cuda_rank_of(world, first), ranks, *function, stream);
}

static int launch_on_gpu(xs_world *world, xs_launch_order *order, uint32_t device, uint32_t first, uint32_t ranks) {
    xs_cuda_state *state = xs_cuda_state_of(world);
    CUfunction function = NULL;
    CUstream stream = NULL;
    int rc = check_gpu(world, order, device, first, ranks, &function, &stream);
    if (rc) return rc;
    xs_cuda_part *part = xs_cuda_part_make(state, order, device, first, ranks);
    if (!part) return XS_E_MEMORY;
    part->stream = stream;
    rc = enqueue(world, part, function);
    if (!rc) {
        follow(world, part);
        return 0;
    }
    part->claimed = part->over = 1;
    xs_cuda_parts_reap(state);
    return rc;
}

static int launch_on_cpu(xs_world *world, xs_launch_order *order, uint32_t first, uint32_t ranks) {
    xs_launch_order *part = xs_launch_part(order, first, ranks);
    if (!part) return XS_E_MEMORY;
    int rc = xs_scheduler_threads.launch(xs_cuda_state_of(world)->cpu, part);
    if (rc) xs_launch_part_drop(part);
    return rc;
}

/* End of the ranks from `first` on that run in the same place. */
static uint32_t neighbours_end(const xs_world *world, uint32_t first, uint32_t end) {
    uint32_t r = first + 1;
    while (r < end && xs_cuda_rank_of(world, r)->device == xs_cuda_rank_of(world, first)->device) r++;
    return r;
}

typedef int each_part(xs_world *world, xs_launch_order *order, int device, uint32_t first, uint32_t ranks);

/* The first error ends it; *done: parts before that. */
static int for_each_part(xs_world *world, xs_launch_order *order, each_part *act, uint32_t *done) {
    uint32_t first = order->config.first_rank, end = first + order->config.ranks;
    int rc = 0;
    for (uint32_t next; first < end && !rc; first = next) {
        next = neighbours_end(world, first, end);
        rc = act(world, order, xs_cuda_rank_of(world, first)->device, first, next - first);
        *done += !rc;
    }
    return rc;
}

static int check_part(xs_world *world, xs_launch_order *order, int device, uint32_t first, uint32_t ranks) {
    CUfunction function;
    CUstream stream;
    if (device != XS_CUDA_CPU) {
        int rc = check_gpu(world, order, (uint32_t)device, first, ranks, &function, &stream);
        if (!rc && !order->room.untraced) xs_cuda_room(xs_cuda_state_of(world), (uint32_t)device, function, order);
        return rc;
    }
    return order->kernel->host
               ? 0
               : xs_fail(XS_E_UNSUPPORTED, "kernel %s is not compiled for the host", order->kernel->name);
}

static int launch_part(xs_world *world, xs_launch_order *order, int device, uint32_t first, uint32_t ranks) {
    return device == XS_CUDA_CPU ? launch_on_cpu(world, order, first, ranks)
                                 : launch_on_gpu(world, order, (uint32_t)device, first, ranks);
}

/* Tracing is stopped, and nothing is to be spent on it. A twin that the runtime does not know was not compiled for
 * this GPU. */
static int runs_untraced(const xs_world *world, const xs_kernel *kernel) {
    void *function;
    if (world->config.plain_stopped <= 0 || !kernel->traced || !kernel->twin || !kernel->plain) return 0;
    if (__atomic_load_n(&xs_region_control(xs_region(world))->started, __ATOMIC_RELAXED) & XS_STARTED) return 0;
    return !kernel->plain->resolve(kernel->plain->function, &function);
}

/* A launch that is refused has not begun; one of which a part fails is aborted, since what runs would wait for it
 * for ever. */
int xs_cuda_launch(xs_world *world, xs_launch_order *order) {
    XS_CUDA_KEEP_CALLER(xs_cuda_state_of(world)->cuda);
    uint32_t parts = 0, started = 0;
    xs_cuda_parts_reap(xs_cuda_state_of(world));
    order->room.untraced = (uint8_t)runs_untraced(world, order->kernel);
    int rc = for_each_part(world, order, check_part, &parts);
    if (rc) return rc;
    order->parts = parts + 1; /* one for this function, so that the order stays until it is done here */
    xs_launch_begun(order);
    rc = for_each_part(world, order, launch_part, &started);
    if (rc) {
        xs_launch_fail(order, rc);
        if (started) xs_abort(world, rc);
        __atomic_sub_fetch(&order->parts, parts - started, __ATOMIC_ACQ_REL);
    }
    xs_launch_ended(order);
    return started ? 0 : rc;
}
