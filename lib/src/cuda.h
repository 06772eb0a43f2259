/* Inside the CUDA backend. One context (the primary one) and three streams a device: kernels, copies that must pass a
 * kernel that hangs, and those of records, which hold up neither. Everything that a launch needs exists before the first one. */
#ifndef XS_CUDA_INTERNAL_H
#define XS_CUDA_INTERNAL_H

#include "cuda_driver.h"
#include "objects.h"

typedef struct xs_cuda_device {
    int ordinal;
    CUdevice device;
    CUcontext context;
    CUstream kernels, copies, rings;
    CUmodule clock_module;
    CUfunction clock_function;
    uint32_t first_rank, ranks; /* local ranks on it, contiguous */
    int processors;
    char name[64];
} xs_cuda_device;

typedef struct xs_cuda_memory {
    CUdeviceptr at;
    struct xs_cuda_memory *next;
} xs_cuda_memory;

/* Arrays of base pointers: kernels read a copy in device memory (portable: device 0, peers read it once a launch), the host reads
 * the original. */
typedef struct xs_cuda_bases {
    void *const *host;
    CUdeviceptr device;
    struct xs_cuda_bases *next;
} xs_cuda_bases;

typedef struct xs_cuda_mailbox {
    uint32_t request;
    uint32_t reserved0[31];
    uint64_t time;
    uint32_t answer;
    uint32_t step; /* smallest seen, ns */
    uint32_t reserved1[28];
} xs_cuda_mailbox;

typedef struct xs_cuda_state {
    const xs_cuda_driver *cuda;
    xs_cuda_device *devices;
    uint32_t device_count;
    xs_cuda_memory *memory;
    xs_cuda_bases *bases;
    uint32_t *abort_word;     /* pinned, mapped */
    xs_cuda_mailbox *mailbox; /* pinned, mapped */
    int region_registered;
} xs_cuda_state;

/* 0, or the failure as an xs_error with its words kept. */
int xs_cuda_check(const xs_cuda_state *state, CUresult result, const char *what);
xs_cuda_device *xs_cuda_device_of(const xs_world *world, uint32_t rank);

/* cuda_memory.c */
int xs_cuda_allocate(xs_cuda_state *state, const xs_cuda_device *device, uint64_t bytes, CUdeviceptr *at); /* zeroed; the world's */
int xs_cuda_shared_memory(xs_world *world, const char *name, uint64_t bytes_per_rank, void **base);
int xs_cuda_bases_make(xs_world *world, void *const *host, void *const **kernels);
void *const *xs_cuda_bases_host(const xs_world *world, void *const *kernels);
int xs_cuda_copy(xs_world *world, void *to, const void *from, uint64_t bytes);
void xs_cuda_memory_free(xs_cuda_state *state);

/* cuda_rings.c */
int xs_cuda_rings_open(xs_world *world, void **base);
int xs_cuda_rings_copy(xs_world *world, const xs_ring_span *spans, uint32_t count);

/* cuda_launch.c */
int xs_cuda_launch(xs_world *world, xs_launch_order *order);
int xs_cuda_sync(xs_world *world);

/* cuda_clock.c: samples of %globaltimer between two readings of CLOCK_BOOTTIME, the narrowest journalled. */
int xs_cuda_clock_open(xs_world *world, xs_cuda_device *device);
int xs_cuda_clock_sample(xs_world *world, xs_cuda_device *device);

#endif
