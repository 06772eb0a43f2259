/* A driver for machines without a GPU: "device memory" is shared host memory, a kernel is its host form on threads, streams are
 * threads with queues. It keeps to the rules that xs could break: contexts current, cooperative launches all or nothing, errors
 * that stay. XS_CUDA_LIBRARY names it. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <xs/host_thread.h>

#include "cuda_driver.h"

/* What a kernel's `resolve` gives here. */
struct CUfunc_st {
    const struct xs_kernel *kernel;        /* its host form runs */
    void (*enter)(xs_host_thread *thread); /* xs_host_enter of the program: the fake links no xs */
    CUresult fault;                        /* not 0: the context is spoiled by it once all blocks are over */
    int builtin;                           /* fake_builtin + 1: one of libxs's own, from PTX text */
    int registers, local, blocks;          /* 0: none known; blocks of it on a processor, 0: as all others */
};
enum fake_builtin { FAKE_CLOCK, FAKE_STEP, FAKE_RECORD, FAKE_STORE, FAKE_ADD, FAKE_CLAIMS, FAKE_BUILTINS };

enum { FAKE_ALLOCATED, FAKE_IMPORTED, FAKE_PINNED, FAKE_REGISTERED, FAKE_STREAMS, FAKE_EVENTS, FAKE_CONTEXTS, FAKE_MODULES, FAKE_GREEN, FAKE_KINDS };

/* The symbol `fake_cuda` of the library; set before the first call. */
typedef struct fake_control {
    uint32_t gpus, processors, blocks_a_processor;
    uint32_t green_alignment; /* of processors in a green context; 0: the GPU has none */
    int host_native_atomic, peer_native_atomic, peer_access;
    int uuid_base; /* GPU i is device uuid_base + i to the world */
    uint64_t clock_offset; /* ns that the GPUs' clocks are ahead of CLOCK_BOOTTIME, which kernels stamp with all the same */
    int quick_clock; /* the clock kernel answers once and leaves: a handshake between two busy threads takes its time */
    uint64_t calls, fail_at;
    CUresult fail_with;
    int64_t live[FAKE_KINDS]; /* made and not given back */
    uint32_t peers_enabled;
} fake_control;

/* A test kernel with a CUDA form: xs_kernel NAME_gpu from a host function. */
#define FAKE_KERNEL(fn, bytes, fault_)                                                                                   \
    static const struct xs_kernel fn##_host_form = {.name = #fn, .host = fn, .args_bytes = bytes};                       \
    static struct CUfunc_st fn##_function = {&fn##_host_form, xs_host_enter, fault_};                                    \
    static const xs_cuda_entry fn##_entry = {&fn##_function, fake_resolve};                                              \
    static const struct xs_kernel fn##_gpu = {.name = #fn, .host = fn, .cuda = &fn##_entry, .args_bytes = bytes, .traced = XS_RECORD_WORDS}

static inline int fake_resolve(const void *function, void **cufunction) {
    *cufunction = (void *)(uintptr_t)function;
    return 0;
}

#endif
