/* The CUDA driver, looked up at run time: libxs links no CUDA and builds without its headers. The copy that the
 * process has loaded already comes first. Only what is used is declared; values are those of the driver's stable
 * ABI. */
#ifndef XS_CUDA_DRIVER_H
#define XS_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUfunc_st *CUfunction;
typedef struct CUmod_st *CUmodule;
typedef struct CUevent_st *CUevent;
typedef struct CUuuid {
    unsigned char bytes[16];
} CUuuid;
typedef struct CUipcMemHandle {
    char reserved[64];
} CUipcMemHandle;
typedef unsigned long long CUdeviceptr;
typedef void CUhostFn(void *user);

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_ECC_UNCORRECTABLE = 214,
    CUDA_ERROR_NVLINK_UNCORRECTABLE = 220,
    CUDA_ERROR_CONTAINED = 226,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_TIMEOUT = 702,
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    CUDA_ERROR_ASSERT = 710,
    CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720
};

enum {
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_THREADS_A_PROCESSOR = 39,
    CU_DEVICE_ATTRIBUTE_SHARED_A_PROCESSOR = 81,
    CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED = 86,
    CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91,
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
    CU_DEVICE_ATTRIBUTE_BLOCKS_A_PROCESSOR = 106,
    CU_DEVICE_ATTRIBUTE_SHARED_RESERVED_A_BLOCK = 111
};

enum { CU_FUNC_ATTRIBUTE_SHARED_BYTES = 1, CU_FUNC_ATTRIBUTE_LOCAL_BYTES = 3, CU_FUNC_ATTRIBUTE_REGISTERS = 4 };

enum { CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED = 2, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED = 3 };

enum {
    CU_MEMHOST_PORTABLE_MAPPED = 1 | 2,
    CU_STREAM_NON_BLOCKING = 1,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS = 1
};

enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2, CU_STREAM_CAPTURE_MODE_RELAXED = 2 };

/* CUDA_MEMCPY2D */
typedef struct xs_cuda_copy_2d {
    size_t from_x, from_y;
    int from_type;
    const void *from_host;
    CUdeviceptr from_device;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    int to_type;
    void *to_host;
    CUdeviceptr to_device;
    void *to_array;
    size_t to_pitch;
    size_t width, height;
} xs_cuda_copy_2d;

/* X(member, "symbol", parameters) */
#define XS_CUDA_CALLS(X)                                                                                                   \
    X(init, "cuInit", (unsigned flags))                                                                                    \
    X(driver_version, "cuDriverGetVersion", (int *version))                                                                \
    X(device_count, "cuDeviceGetCount", (int *count))                                                                      \
    X(device_get, "cuDeviceGet", (CUdevice * device, int ordinal))                                                         \
    X(device_name, "cuDeviceGetName", (char *name, int bytes, CUdevice device))                                            \
    X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, CUdevice device))                              \
    X(can_access_peer, "cuDeviceCanAccessPeer", (int *can, CUdevice device, CUdevice peer))                                \
    X(device_uuid, "cuDeviceGetUuid_v2", (CUuuid * uuid, CUdevice device))                                                 \
    X(peer_attribute, "cuDeviceGetP2PAttribute", (int *value, int attribute, CUdevice from, CUdevice to))                  \
    X(context_retain, "cuDevicePrimaryCtxRetain", (CUcontext * context, CUdevice device))                                  \
    X(context_release, "cuDevicePrimaryCtxRelease_v2", (CUdevice device))                                                  \
    X(context_set, "cuCtxSetCurrent", (CUcontext context))                                                                 \
    X(context_get, "cuCtxGetCurrent", (CUcontext * context))                                                               \
    X(enable_peer, "cuCtxEnablePeerAccess", (CUcontext context, unsigned flags))                                           \
    X(allocate, "cuMemAlloc_v2", (CUdeviceptr * at, size_t bytes))                                                         \
    X(free, "cuMemFree_v2", (CUdeviceptr at))                                                                              \
    X(set8, "cuMemsetD8Async", (CUdeviceptr at, unsigned char value, size_t bytes, CUstream stream))                       \
    X(address_range, "cuMemGetAddressRange_v2", (CUdeviceptr * base, size_t *bytes, CUdeviceptr at))                       \
    X(ipc_handle, "cuIpcGetMemHandle", (CUipcMemHandle * handle, CUdeviceptr at))                                          \
    X(ipc_open, "cuIpcOpenMemHandle_v2", (CUdeviceptr * at, CUipcMemHandle handle, unsigned flags))                        \
    X(ipc_close, "cuIpcCloseMemHandle", (CUdeviceptr at))                                                                  \
    X(host_allocate, "cuMemHostAlloc", (void **at, size_t bytes, unsigned flags))                                          \
    X(host_free, "cuMemFreeHost", (void *at))                                                                              \
    X(host_register, "cuMemHostRegister_v2", (void *at, size_t bytes, unsigned flags))                                     \
    X(host_unregister, "cuMemHostUnregister", (void *at))                                                                  \
    X(host_pointer, "cuMemHostGetDevicePointer_v2", (CUdeviceptr * device, void *at, unsigned flags))                      \
    X(copy, "cuMemcpyAsync", (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                            \
    X(copy_2d, "cuMemcpy2DAsync_v2", (const xs_cuda_copy_2d *copy, CUstream stream))                                       \
    X(stream_create, "cuStreamCreate", (CUstream * stream, unsigned flags))                                                \
    X(stream_destroy, "cuStreamDestroy_v2", (CUstream stream))                                                             \
    X(stream_sync, "cuStreamSynchronize", (CUstream stream))                                                               \
    X(stream_query, "cuStreamQuery", (CUstream stream))                                                                    \
    X(stream_wait, "cuStreamWaitEvent", (CUstream stream, CUevent event, unsigned flags))                                  \
    X(event_create, "cuEventCreate", (CUevent * event, unsigned flags))                                                    \
    X(event_destroy, "cuEventDestroy_v2", (CUevent event))                                                                 \
    X(event_record, "cuEventRecord", (CUevent event, CUstream stream))                                                     \
    X(event_query, "cuEventQuery", (CUevent event))                                                                        \
    X(host_function, "cuLaunchHostFunc", (CUstream stream, CUhostFn * function, void *user))                               \
    X(module_load, "cuModuleLoadData", (CUmodule * module, const void *image))                                             \
    X(module_unload, "cuModuleUnload", (CUmodule module))                                                                  \
    X(module_function, "cuModuleGetFunction", (CUfunction * function, CUmodule module, const char *name))                  \
    X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (int *blocks, CUfunction function, int threads, size_t shared)) \
    X(function_attribute, "cuFuncGetAttribute", (int *value, int attribute, CUfunction function))                          \
    X(launch, "cuLaunchKernel",                                                                                            \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,         \
       unsigned block_z, unsigned shared, CUstream stream, void **arguments, void **extra))                                \
    X(launch_cooperative, "cuLaunchCooperativeKernel",                                                                     \
      (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,         \
       unsigned block_z, unsigned shared, CUstream stream, void **arguments))                                              \
    X(capture_mode, "cuThreadExchangeStreamCaptureMode", (int *mode))                                                      \
    X(error_name, "cuGetErrorName", (CUresult error, const char **name))

typedef struct xs_cuda_driver {
#define X(member, symbol, parameters) CUresult(*member) parameters;
    XS_CUDA_CALLS(X)
#undef X
    void *loaded;
} xs_cuda_driver;

/* Loads the driver and initialises it, once a process; NULL where there is none. Never unloaded. */
const xs_cuda_driver *xs_cuda_load(void);
/* 1: there is a driver, usable or not. */
int xs_cuda_present(void);
/* How many streams of one GPU can run at once: CUDA_DEVICE_MAX_CONNECTIONS as it was when the driver started. */
uint32_t xs_cuda_connections(void);
/* The error leaves the context useless: every later call answers it. */
int xs_cuda_is_sticky(CUresult error);
/* "CUDA_ERROR_..." */
const char *xs_cuda_error(const xs_cuda_driver *cuda, CUresult error);

/* What is current for the calling thread (cudaSetDevice) is the caller's business: it comes back at the end of the
 * block. */
typedef struct xs_cuda_caller {
    const xs_cuda_driver *cuda; /* NULL: nothing is to come back */
    CUcontext context;
} xs_cuda_caller;
static inline xs_cuda_caller xs_cuda_caller_of(const xs_cuda_driver *cuda) {
    xs_cuda_caller caller = {cuda, NULL};
    if (cuda) cuda->context_get(&caller.context);
    return caller;
}
static inline void xs_cuda_caller_back(xs_cuda_caller *caller) {
    if (caller->cuda) caller->cuda->context_set(caller->context);
}
#define XS_CUDA_KEEP_CALLER(cuda) \
    xs_cuda_caller caller __attribute__((cleanup(xs_cuda_caller_back))) = xs_cuda_caller_of(cuda)

#endif
