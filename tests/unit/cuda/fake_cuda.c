/* Devices, contexts, memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <unistd.h>

#include "fake_internal.h"

#define API __attribute__((visibility("default")))

API fake_control fake_cuda = {.gpus = 2, .processors = 4, .blocks_a_processor = 2, .green_alignment = 2, .clock_offset = 777000, .peer_access = 1, .peer_native_atomic = 1, .fail_with = 999};
pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fake_changed = PTHREAD_COND_INITIALIZER;
_Thread_local CUcontext fake_current;

static int initialised;
static struct CUctx_st contexts[FAKE_GPUS];

CUresult fake_call(void) {
    uint64_t call = __atomic_add_fetch(&fake_cuda.calls, 1, __ATOMIC_RELAXED);
    if (!initialised) return CUDA_ERROR_NOT_INITIALIZED;
    if (fake_cuda.fail_at && call == fake_cuda.fail_at) return fake_cuda.fail_with;
    return fake_current ? __atomic_load_n(&fake_current->fault, __ATOMIC_ACQUIRE) : CUDA_SUCCESS;
}

void fake_live(int kind, int by) { __atomic_add_fetch(&fake_cuda.live[kind], by, __ATOMIC_RELAXED); }

API CUresult cuInit(unsigned flags) {
    (void)flags;
    initialised = 1;
    return fake_call();
}

API CUresult cuDriverGetVersion(int *version) {
    *version = 13000;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetCount(int *count) {
    FAKE_CALL();
    *count = (int)fake_cuda.gpus;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    FAKE_CALL();
    if (ordinal < 0 || ordinal >= (int)fake_cuda.gpus) return 101;
    *device = ordinal;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetName(char *name, int bytes, CUdevice device) {
    FAKE_CALL();
    snprintf(name, (size_t)bytes, "Fake GPU %d", device);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    FAKE_CALL();
    memset(uuid, 0, sizeof *uuid);
    uuid->bytes[0] = (unsigned char)(1 + fake_cuda.uuid_base + device);
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device) {
    FAKE_CALL();
    (void)device;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: *value = (int)fake_cuda.processors; break;
    case CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED: *value = fake_cuda.host_native_atomic; break;
    case CU_DEVICE_ATTRIBUTE_THREADS_A_PROCESSOR: *value = 2048; break;
    case CU_DEVICE_ATTRIBUTE_BLOCKS_A_PROCESSOR: *value = 32; break;
    case CU_DEVICE_ATTRIBUTE_SHARED_A_PROCESSOR: *value = 233472; break;
    case CU_DEVICE_ATTRIBUTE_SHARED_RESERVED_A_BLOCK: *value = 1024; break;
    default: *value = 1;
    }
    return CUDA_SUCCESS;
}

API CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
    FAKE_CALL();
    *can = device != peer && fake_cuda.peer_access;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetP2PAttribute(int *value, int attribute, CUdevice from, CUdevice to) {
    FAKE_CALL();
    if (from == to) return FAKE_INVALID_VALUE;
    *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED ? fake_cuda.peer_native_atomic : fake_cuda.peer_access;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    FAKE_CALL();
    *context = &contexts[device];
    contexts[device].device = device;
    contexts[device].references++;
    fake_live(FAKE_CONTEXTS, 1);
    return CUDA_SUCCESS;
}

/* Whatever else fails, a context can be let go; with the last reference goes its fault. */
API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    if (!contexts[device].references) return FAKE_INVALID_CONTEXT;
    if (!--contexts[device].references) contexts[device].fault = CUDA_SUCCESS;
    fake_live(FAKE_CONTEXTS, -1);
    return CUDA_SUCCESS;
}

API CUresult cuCtxSetCurrent(CUcontext context) {
    fake_current = NULL;
    FAKE_CALL();
    fake_current = context;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = fake_current;
    return CUDA_SUCCESS;
}

API CUresult cuCtxEnablePeerAccess(CUcontext context, unsigned flags) {
    FAKE_NEEDS_CONTEXT();
    if (flags || context == fake_current) return FAKE_INVALID_VALUE;
    fake_cuda.peers_enabled++;
    return CUDA_SUCCESS;
}

/* ---- memory: each piece is a file that other processes can open while its owner lives ---- */

typedef struct piece {
    void *at;
    size_t bytes;
    int fd;
    int imported;
    struct piece *next;
} piece;
static piece *pieces;

static piece *find(const void *at) {
    for (piece *p = pieces; p; p = p->next)
        if ((const char *)at >= (const char *)p->at && (const char *)at < (const char *)p->at + p->bytes) return p;
    return NULL;
}

static CUresult map(int fd, size_t bytes, int imported, CUdeviceptr *at) {
    piece *p = malloc(sizeof *p);
    void *mapped = p ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (mapped == MAP_FAILED) {
        free(p);
        close(fd);
        return FAKE_OUT_OF_MEMORY;
    }
    *p = (piece){mapped, bytes, fd, imported, NULL};
    pthread_mutex_lock(&fake_lock);
    p->next = pieces;
    pieces = p;
    pthread_mutex_unlock(&fake_lock);
    fake_live(imported ? FAKE_IMPORTED : FAKE_ALLOCATED, 1);
    *at = (uintptr_t)mapped;
    return CUDA_SUCCESS;
}

static CUresult unmap(CUdeviceptr at, int imported) {
    pthread_mutex_lock(&fake_lock);
    piece **link = &pieces;
    while (*link && ((uintptr_t)(*link)->at != at || (*link)->imported != imported)) link = &(*link)->next;
    piece *p = *link;
    if (p) *link = p->next;
    pthread_mutex_unlock(&fake_lock);
    if (!p) return FAKE_INVALID_VALUE;
    munmap(p->at, p->bytes);
    close(p->fd);
    free(p);
    fake_live(imported ? FAKE_IMPORTED : FAKE_ALLOCATED, -1);
    return CUDA_SUCCESS;
}

API CUresult cuMemAlloc_v2(CUdeviceptr *at, size_t bytes) {
    FAKE_NEEDS_CONTEXT();
    int fd = memfd_create("fake gpu", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bytes)) {
        if (fd >= 0) close(fd);
        return FAKE_OUT_OF_MEMORY;
    }
    CUresult result = map(fd, bytes, 0, at);
    if (!result) memset((void *)(uintptr_t)*at, 0xa5, bytes < 4096 ? bytes : 4096); /* whatever was there */
    return result;
}

API CUresult cuMemFree_v2(CUdeviceptr at) {
    CUresult failed = fake_call();
    pthread_mutex_lock(&fake_lock);
    while (fake_pending) pthread_cond_wait(&fake_changed, &fake_lock); /* as the driver: not under work that may use it */
    pthread_mutex_unlock(&fake_lock);
    CUresult freed = unmap(at, 0); /* a spoiled context's memory goes with it */
    return failed ? failed : freed;
}

API CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *bytes, CUdeviceptr at) {
    FAKE_NEEDS_CONTEXT();
    pthread_mutex_lock(&fake_lock);
    piece *p = find((void *)(uintptr_t)at);
    if (p) *base = (uintptr_t)p->at, *bytes = p->bytes;
    pthread_mutex_unlock(&fake_lock);
    return p ? CUDA_SUCCESS : FAKE_INVALID_VALUE;
}

typedef struct handle_words {
    int pid, fd, device;
    size_t bytes;
} handle_words;

API CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr at) {
    FAKE_NEEDS_CONTEXT();
    pthread_mutex_lock(&fake_lock);
    piece *p = find((void *)(uintptr_t)at);
    int whole = p && (uintptr_t)p->at == at && !p->imported;
    handle_words words = {(int)getpid(), whole ? p->fd : -1, fake_current->device, whole ? p->bytes : 0};
    pthread_mutex_unlock(&fake_lock);
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &words, sizeof words);
    return whole ? CUDA_SUCCESS : FAKE_INVALID_VALUE;
}

API CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *at, CUipcMemHandle handle, unsigned flags) {
    FAKE_NEEDS_CONTEXT();
    handle_words words;
    char path[64];
    memcpy(&words, &handle, sizeof words);
    if (words.pid == (int)getpid() || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) return FAKE_INVALID_CONTEXT;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", words.pid, words.fd);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    return fd < 0 ? FAKE_INVALID_HANDLE : map(fd, words.bytes, 1, at);
}

API CUresult cuIpcCloseMemHandle(CUdeviceptr at) {
    CUresult failed = fake_call();
    CUresult closed = unmap(at, 1);
    return failed ? failed : closed;
}

API CUresult cuMemHostAlloc(void **at, size_t bytes, unsigned flags) {
    FAKE_NEEDS_CONTEXT();
    if (flags != CU_MEMHOST_PORTABLE_MAPPED) return FAKE_INVALID_VALUE;
    *at = aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
    if (!*at) return FAKE_OUT_OF_MEMORY;
    fake_live(FAKE_PINNED, 1);
    return CUDA_SUCCESS;
}

API CUresult cuMemFreeHost(void *at) {
    CUresult failed = fake_call();
    free(at);
    fake_live(FAKE_PINNED, -1);
    return failed;
}

/* Each page once, as the driver has it. */
static struct {
    char *at;
    size_t bytes;
} registered[4096];

API CUresult cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags) {
    FAKE_NEEDS_CONTEXT();
    if ((uintptr_t)at % 4096 || !bytes || flags != CU_MEMHOST_PORTABLE_MAPPED) return FAKE_INVALID_VALUE;
    CUresult result = FAKE_OUT_OF_MEMORY;
    pthread_mutex_lock(&fake_lock);
    for (size_t i = 0; i < 4096; i++)
        if (registered[i].at && (char *)at < registered[i].at + registered[i].bytes && registered[i].at < (char *)at + bytes) {
            pthread_mutex_unlock(&fake_lock);
            return 712;
        }
    for (size_t i = 0; i < 4096 && result; i++)
        if (!registered[i].at) {
            registered[i].at = at, registered[i].bytes = (bytes + 4095) & ~(size_t)4095;
            result = CUDA_SUCCESS;
            fake_live(FAKE_REGISTERED, 1);
        }
    pthread_mutex_unlock(&fake_lock);
    return result;
}

API CUresult cuMemHostUnregister(void *at) {
    CUresult result = fake_call();
    pthread_mutex_lock(&fake_lock);
    for (size_t i = 0; i < 4096; i++)
        if (registered[i].at == at) {
            registered[i].at = NULL;
            fake_live(FAKE_REGISTERED, -1);
            pthread_mutex_unlock(&fake_lock);
            return result;
        }
    pthread_mutex_unlock(&fake_lock);
    return 713;
}

API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *at, unsigned flags) {
    (void)flags;
    *device = (uintptr_t)at;
    return CUDA_SUCCESS;
}

API CUresult cuGetErrorName(CUresult error, const char **name) {
    *name = error == CUDA_ERROR_ILLEGAL_ADDRESS ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : error == CUDA_ERROR_LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED"
            : error == FAKE_OUT_OF_MEMORY       ? "CUDA_ERROR_OUT_OF_MEMORY"
                                                : "CUDA_ERROR_OF_THE_FAKE";
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags);

/* ---- green contexts: parts of a GPU's processors, streams on them ---- */

typedef struct fake_resource {
    int type;
    unsigned char padding[92];
    unsigned count;
    unsigned char room[44];
} fake_resource;

API CUresult cuDeviceGetDevResource(CUdevice device, fake_resource *resource, int type) {
    FAKE_CALL();
    (void)device;
    if (!fake_cuda.green_alignment) return 801;
    *resource = (fake_resource){.type = type, .count = fake_cuda.processors};
    return CUDA_SUCCESS;
}

API CUresult cuDevSmResourceSplitByCount(fake_resource *groups, unsigned *count, const fake_resource *all, fake_resource *rest, unsigned flags,
                                         unsigned least) {
    FAKE_CALL();
    unsigned each = (least + fake_cuda.green_alignment - 1) / fake_cuda.green_alignment * fake_cuda.green_alignment;
    (void)rest;
    if (flags || !each) return FAKE_INVALID_VALUE;
    if (*count > all->count / each) *count = all->count / each;
    for (unsigned i = 0; i < *count; i++) groups[i] = (fake_resource){.type = all->type, .count = each};
    return CUDA_SUCCESS;
}

API CUresult cuDevResourceGenerateDesc(void **description, fake_resource *resources, unsigned count) {
    FAKE_CALL();
    if (count != 1) return FAKE_INVALID_VALUE;
    *description = resources;
    return CUDA_SUCCESS;
}

API CUresult cuGreenCtxCreate(void **green, void *description, CUdevice device, unsigned flags) {
    FAKE_CALL();
    (void)description;
    if (flags != 1) return FAKE_INVALID_VALUE;
    *green = &contexts[device];
    fake_live(FAKE_GREEN, 1);
    return CUDA_SUCCESS;
}

API CUresult cuGreenCtxDestroy(void *green) {
    CUresult failed = fake_call();
    (void)green;
    fake_live(FAKE_GREEN, -1);
    return failed;
}

API CUresult cuGreenCtxStreamCreate(CUstream *stream, void *green, unsigned flags, int priority) {
    FAKE_NEEDS_CONTEXT();
    (void)priority;
    return green == fake_current ? cuStreamCreate(stream, flags) : FAKE_INVALID_CONTEXT;
}
