/* What kernel code compiled for the host asks of libxs: who am I, what time is it, let others run. Not for
 * applications. A host warp is one thread, so a block of `block` CUDA threads has `warps` host threads, each of one
 * lane. */
#ifndef XS_HOST_THREAD_H
#define XS_HOST_THREAD_H

#include <xs/handle.h>

XS_EXTERN_C_BEGIN

typedef struct xs_host_thread {
    uint32_t block; /* in the grid, over all ranks of the launch */
    uint32_t blocks;
    uint32_t warp; /* in the block */
    uint32_t warps;
    void *scheduler; /* the scheduler's own state of this thread */
} xs_host_thread;

/* The running kernel thread; NULL outside kernels. */
XS_API xs_host_thread *xs_host_self(void);

/* For a kernel thread that xs did not start (a launch of the caller's own with xs_handle_begin): says who the
 * calling thread is. The caller keeps `self` until xs_host_enter(NULL). Such threads share nothing through the calls
 * below and join by their own means: xs_host_block_barrier answers 0 at once and xs_host_shared NULL. */
XS_API void xs_host_enter(xs_host_thread *self);

/* Nanoseconds: CLOCK_BOOTTIME on `threads`, virtual on `sim`. Works outside kernels too. */
XS_API uint64_t xs_host_now(void);

/* A scheduling point: every primitive call, before its memory operation. `threads`: nothing. */
XS_API void xs_host_step(void);
/* A poll failed: let others run for about ns nanoseconds (0: yield). `sim` moves the thread's virtual time. The
 * poll's address is given, so that `sim` can see a deadlock: nothing that runs can change it. bounded: the wait ends
 * by itself some time. */
XS_API void xs_host_poll_failed(const void *address, uint32_t ns, int bounded);
/* Spend ns nanoseconds computing. `threads`: sleeps above 50 us, spins below; `sim`: virtual time. */
XS_API void xs_host_work(uint64_t ns);

/* Joins `count` threads (32 a warp, as on CUDA) of the block at barrier `id` (0 .. 15). Returns 0, or
 * XS_RESULT_ABORTED when the world aborts meanwhile. Orders memory inside the block. */
XS_API int xs_host_block_barrier(uint32_t id, uint32_t count);

/* Memory shared by the block's threads, zeroed at block start. One allocation per key: the same for all threads of
 * the block. */
XS_API void *xs_host_shared(const void *key, size_t bytes);
/* Dynamic shared memory of xs_launch_config. */
XS_API void *xs_host_shared_dynamic(void);

/* Payload through the scheduler: `sim` may hold stores back, seeded, until this thread makes a release or fence of at
 * least `scope` of the addresses' distance (xs_scope); a load sees the thread's own held stores. `threads`: memcpy. */
XS_API void xs_host_store(void *to, const void *from, size_t bytes);
XS_API void xs_host_load(void *to, const void *from, size_t bytes);
/* Called by every release store, release read-modify-write and fence, before it takes effect. */
XS_API void xs_host_release(uint32_t scope);
/* Called by every acquire load that succeeded and by acquire fences. */
XS_API void xs_host_acquire(uint32_t scope);

/* What xs_add_kernels makes of XS_KERNEL. */
typedef void xs_host_entry(const void *args, const xs_handle *handle);
/* Defined by the CUDA compilation: the kernel's symbol, and how its CUfunction in the current context is found (the
 * CUDA runtime is linked by the application, never by libxs). resolve returns a cudaError_t. */
typedef struct xs_cuda_entry {
    const void *function;
    int (*resolve)(const void *function, void **cufunction);
} xs_cuda_entry;
struct xs_kernel {
    const char *name;
    xs_host_entry *host;
    const xs_cuda_entry *cuda; /* NULL: not compiled for CUDA */
    uint64_t args_bytes;
    uint32_t traced; /* 0: compiled without XS_TRACE; else its XS_RECORD_WORDS */
    uint32_t twin;   /* 1: `plain` is there */
    /* the same kernel without tracing, never launched: how much room it takes. NULL: not compiled */
    const xs_cuda_entry *plain;
};
/* Called for every XS_KERNEL when the program or library that holds it is loaded: whether all of them have a CUDA
 * form is part of what the default backend is. Any thread. */
/* form: of the headers that it was compiled with */
XS_API void xs_kernel_known_form(const struct xs_kernel *kernel, uint32_t form);
XS_API void xs_kernel_known(const struct xs_kernel *kernel); /* the same, with headers that did not say */
#define xs_kernel_known(kernel) xs_kernel_known_form(kernel, XS_LAUNCH_FORM)

/* Source files that kernels of the program may name in their records: zero-terminated names, one behind the other,
 * zeros between them skipped. Called when the program or library that holds them is loaded; they are copied. Any
 * thread. */
XS_API void xs_files_known(const char *first, const char *end);

XS_EXTERN_C_END

#endif
