/* Streams, events, modules, launches. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake_internal.h"

#define API __attribute__((visibility("default")))

/* Arguments in order: 8, 4 bytes. */
static const struct {
    const char *name, *sizes;
} builtins[FAKE_BUILTINS] = {{"xs_clock", "844"}, {"xs_probe_step", "84"}, {"xs_probe_record", "8844"}, {"xs_probe_store", "844"}, {"xs_probe_add", "884"}, {"xs_claims_free", "88"}};
static struct CUfunc_st builtin_functions[FAKE_BUILTINS];

uint64_t fake_pending;

static void end_op(fake_op *op) {
    fake_pending--;
    free(op->args);
    free(op);
}

static void copy_rows(const xs_cuda_copy_2d *c) {
    const char *from = (const char *)(uintptr_t)c->from_device + c->from_y * c->from_pitch + c->from_x;
    char *to = (char *)c->to_host + c->to_y * c->to_pitch + c->to_x;
    for (size_t row = 0; row < c->height; row++) memcpy(to + row * c->to_pitch, from + row * c->from_pitch, c->width);
}

/* lock held */
static void run_op(CUstream stream, fake_op *op) {
    if (op->kind == FAKE_RECORD_OP) op->event->reached = op->count;
    while (op->kind == FAKE_WAIT_OP && op->event->reached < op->count) pthread_cond_wait(&fake_changed, &fake_lock);
    if (op->kind == FAKE_COPY_OP) memcpy((void *)(uintptr_t)op->to, (void *)(uintptr_t)op->from, op->bytes);
    if (op->kind == FAKE_SET_OP) {
        pthread_mutex_unlock(&fake_lock);
        nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL); /* so that who does not wait for it is found out */
        memset((void *)(uintptr_t)op->to, (int)op->count, op->bytes);
        pthread_mutex_lock(&fake_lock);
    }
    if (op->kind == FAKE_COPY_2D_OP) copy_rows(&op->rows);
    if (op->kind == FAKE_KERNEL_OP) fake_run_kernel(stream, op);
    if (op->kind != FAKE_HOST_OP) return;
    pthread_mutex_unlock(&fake_lock);
    op->host(op->user);
    pthread_mutex_lock(&fake_lock);
}

/* A spoiled context runs nothing more; host functions are left out too. */
static void *stream_main(void *argument) {
    CUstream stream = argument;
    pthread_mutex_lock(&fake_lock);
    while (!stream->closing || stream->first) {
        fake_op *op = stream->first;
        if (!op) {
            pthread_cond_wait(&fake_changed, &fake_lock);
            continue;
        }
        stream->busy = 1;
        if (!stream->context->fault) run_op(stream, op);
        stream->first = op->next;
        end_op(op);
        stream->busy = 0;
        pthread_cond_broadcast(&fake_changed);
    }
    pthread_mutex_unlock(&fake_lock);
    return NULL;
}

static CUresult enqueue(CUstream stream, const fake_op *given) {
    fake_op *op = malloc(sizeof *op);
    if (!op) return FAKE_OUT_OF_MEMORY;
    *op = *given;
    op->next = NULL;
    pthread_mutex_lock(&fake_lock);
    fake_op **link = &stream->first;
    while (*link) link = &(*link)->next;
    *link = op;
    fake_pending++;
    pthread_cond_broadcast(&fake_changed);
    pthread_mutex_unlock(&fake_lock);
    return CUDA_SUCCESS;
}

#define FAKE_NEEDS_STREAM(stream)                                                                                        \
    do {                                                                                                                 \
        FAKE_NEEDS_CONTEXT();                                                                                            \
        if (!(stream) || (stream)->context != fake_current) return FAKE_INVALID_HANDLE;                                  \
    } while (0)

API CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
    FAKE_NEEDS_CONTEXT();
    if (flags != CU_STREAM_NON_BLOCKING) return FAKE_INVALID_VALUE;
    CUstream made = calloc(1, sizeof *made);
    if (!made) return FAKE_OUT_OF_MEMORY;
    made->context = fake_current;
    if (pthread_create(&made->thread, NULL, stream_main, made)) {
        free(made);
        return FAKE_OUT_OF_MEMORY;
    }
    fake_live(FAKE_STREAMS, 1);
    *stream = made;
    return CUDA_SUCCESS;
}

API CUresult cuStreamDestroy_v2(CUstream stream) {
    CUresult failed = fake_call();
    pthread_mutex_lock(&fake_lock);
    stream->closing = 1;
    pthread_cond_broadcast(&fake_changed);
    pthread_mutex_unlock(&fake_lock);
    pthread_join(stream->thread, NULL);
    free(stream);
    fake_live(FAKE_STREAMS, -1);
    return failed;
}

/* Of threads that capture: there are none. Not counted as a call: a thread of the library's own makes it at a time of its own. */
API CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
    *mode = 0;
    return CUDA_SUCCESS;
}

API CUresult cuStreamQuery(CUstream stream) {
    FAKE_NEEDS_STREAM(stream);
    pthread_mutex_lock(&fake_lock);
    int busy = stream->first || stream->busy;
    CUresult fault = stream->context->fault;
    pthread_mutex_unlock(&fake_lock);
    return fault ? fault : busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

API CUresult cuStreamSynchronize(CUstream stream) {
    FAKE_NEEDS_STREAM(stream);
    pthread_mutex_lock(&fake_lock);
    while (stream->first || stream->busy) pthread_cond_wait(&fake_changed, &fake_lock);
    CUresult fault = stream->context->fault;
    pthread_mutex_unlock(&fake_lock);
    return fault;
}

API CUresult cuEventCreate(CUevent *event, unsigned flags) {
    FAKE_NEEDS_CONTEXT();
    if (flags != CU_EVENT_DISABLE_TIMING) return FAKE_INVALID_VALUE;
    *event = calloc(1, sizeof **event);
    if (!*event) return FAKE_OUT_OF_MEMORY;
    fake_live(FAKE_EVENTS, 1);
    return CUDA_SUCCESS;
}

API CUresult cuEventDestroy_v2(CUevent event) {
    CUresult failed = fake_call();
    free(event);
    fake_live(FAKE_EVENTS, -1);
    return failed;
}

API CUresult cuEventRecord(CUevent event, CUstream stream) {
    FAKE_NEEDS_STREAM(stream);
    fake_op op = {.kind = FAKE_RECORD_OP, .event = event, .count = ++event->recorded};
    return enqueue(stream, &op);
}

API CUresult cuEventQuery(CUevent event) {
    FAKE_NEEDS_CONTEXT();
    pthread_mutex_lock(&fake_lock);
    int there = event->reached >= event->recorded;
    pthread_mutex_unlock(&fake_lock);
    return there ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
    FAKE_NEEDS_STREAM(stream);
    if (flags) return FAKE_INVALID_VALUE;
    fake_op op = {.kind = FAKE_WAIT_OP, .event = event, .count = event->recorded};
    return enqueue(stream, &op);
}

API CUresult cuLaunchHostFunc(CUstream stream, CUhostFn *function, void *user) {
    FAKE_NEEDS_STREAM(stream);
    fake_op op = {.kind = FAKE_HOST_OP, .host = function, .user = user};
    return enqueue(stream, &op);
}

API CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
    FAKE_NEEDS_STREAM(stream);
    fake_op op = {.kind = FAKE_COPY_OP, .to = to, .from = from, .bytes = bytes};
    CUresult result = enqueue(stream, &op);
    pthread_mutex_lock(&fake_lock); /* as the driver does with memory that is not pinned: it is not touched after the return */
    while (!result && (stream->first || stream->busy)) pthread_cond_wait(&fake_changed, &fake_lock);
    pthread_mutex_unlock(&fake_lock);
    return result;
}

API CUresult cuMemsetD8Async(CUdeviceptr at, unsigned char value, size_t bytes, CUstream stream) {
    FAKE_NEEDS_STREAM(stream);
    fake_op op = {.kind = FAKE_SET_OP, .to = at, .bytes = bytes, .count = value};
    return enqueue(stream, &op);
}

API CUresult cuMemcpy2DAsync_v2(const xs_cuda_copy_2d *copy, CUstream stream) {
    FAKE_NEEDS_STREAM(stream);
    if (copy->from_type != CU_MEMORYTYPE_DEVICE || copy->to_type != CU_MEMORYTYPE_HOST) return FAKE_INVALID_VALUE;
    fake_op op = {.kind = FAKE_COPY_2D_OP, .rows = *copy};
    return enqueue(stream, &op);
}

API CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    FAKE_NEEDS_CONTEXT();
    if (!image || strncmp(image, ".version", 8)) return 218;
    *module = calloc(1, sizeof **module);
    if (!*module) return FAKE_OUT_OF_MEMORY;
    fake_live(FAKE_MODULES, 1);
    return CUDA_SUCCESS;
}

API CUresult cuModuleUnload(CUmodule module) {
    CUresult failed = fake_call();
    free(module);
    fake_live(FAKE_MODULES, -1);
    return failed;
}

API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    FAKE_NEEDS_CONTEXT();
    (void)module;
    for (int i = 0; i < FAKE_BUILTINS; i++)
        if (!strcmp(name, builtins[i].name)) {
            builtin_functions[i].builtin = i + 1;
            *function = &builtin_functions[i];
            return CUDA_SUCCESS;
        }
    return 500;
}

API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared) {
    FAKE_NEEDS_CONTEXT();
    (void)threads, (void)shared;
    *blocks = function->blocks ? function->blocks : (int)fake_cuda.blocks_a_processor;
    return CUDA_SUCCESS;
}

API CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction function) {
    FAKE_NEEDS_CONTEXT();
    *value = attribute == CU_FUNC_ATTRIBUTE_REGISTERS     ? function->registers
             : attribute == CU_FUNC_ATTRIBUTE_LOCAL_BYTES ? function->local
                                                          : 0;
    return CUDA_SUCCESS;
}

API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                            unsigned block_z, unsigned shared, CUstream stream, void **arguments, void **extra) {
    FAKE_NEEDS_STREAM(stream);
    (void)grid_y, (void)grid_z, (void)block_y, (void)block_z, (void)shared;
    if (!function->builtin || extra) return FAKE_INVALID_HANDLE;
    fake_op op = {.kind = FAKE_KERNEL_OP, .function = *function, .blocks = grid_x * block_x};
    const char *sizes = builtins[function->builtin - 1].sizes;
    for (int i = 0; sizes[i]; i++) op.numbers[i] = sizes[i] == '8' ? *(uint64_t *)arguments[i] : *(uint32_t *)arguments[i];
    return enqueue(stream, &op);
}

API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                       unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void **arguments) {
    FAKE_NEEDS_STREAM(stream);
    (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z, (void)shared;
    if (grid_x > fake_cuda.processors * fake_cuda.blocks_a_processor) return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    fake_op op = {.kind = FAKE_KERNEL_OP, .function = *function, .blocks = grid_x, .handle = *(const xs_handle *)arguments[1]};
    op.args = malloc(function->kernel->args_bytes + 1);
    if (!op.args) return FAKE_OUT_OF_MEMORY;
    memcpy(op.args, arguments[0], function->kernel->args_bytes);
    return enqueue(stream, &op);
}
