/* XS_KERNEL: one source, compiled as C for the host backend and as CUDA (cmake/XsKernels.cmake compiles both).
 *
 *   struct ping_args { xs_pad pad; uint64_t rounds; };
 *   XS_KERNEL(ping, struct ping_args) { ... args.pad ... xs ... }
 *
 * `args` and `xs` (the handle, last parameter, by value) are in scope. Host code launches `ping_kernel`. The header may be
 * included for the arguments alone: the kernel is made in the one C file that defines XS_KERNELS_HERE (xs_add_kernels does).
 *
 * XS_KERNEL_CAPPED(name, struct args, registers): the same, and where it is traced ptxas is told to make do with so many
 * registers a thread (__maxnreg__, CUDA 12.4; before that: nvcc -maxrregcount for the file). May depend on XS_ARCH. A plain kernel is not touched. */
#ifndef XS_DEFINE_H
#define XS_DEFINE_H

#include <xs/host_thread.h>

/* For the file that launches: extern const struct xs_kernel NAME_kernel. */
#define XS_KERNEL_DECLARE(name) \
    XS_EXTERN_C_BEGIN extern const struct xs_kernel name##_kernel; \
    XS_EXTERN_C_END

#if XS_CUDA

static inline int xs_cuda_resolve(const void *function, void **cufunction) {
    return (int)cudaGetFuncBySymbol((cudaFunction_t *)cufunction, function);
}

#define XS_KERNEL_ENTRY(name, args_type, ...) \
    extern "C" __global__ void __VA_ARGS__ name(const __grid_constant__ args_type args, const __grid_constant__ xs_handle xs)
#define XS_KERNEL_CUDA(name)                \
    extern "C" const xs_cuda_entry name##_cuda; \
    const xs_cuda_entry name##_cuda = {(const void *)name, xs_cuda_resolve};

#if XS_TRACE /* each block says that it has started; nothing stands before the body of a plain kernel */
#include <xs/started.h>
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1204
#define XS_REGISTERS(most) __maxnreg__(most)
#else
#define XS_REGISTERS(most)
#endif
#define XS_KERNEL(name, args_type) XS_KERNEL_TRACED(name, args_type, )
#define XS_KERNEL_CAPPED(name, args_type, registers) XS_KERNEL_TRACED(name, args_type, XS_REGISTERS(registers))
#define XS_KERNEL_TRACED(name, args_type, ...)                                                   \
    static __device__ __forceinline__ void name##_body(const args_type &args, const xs_handle &xs); \
    XS_KERNEL_ENTRY(name, args_type, __VA_ARGS__) {                                              \
        xs_block_started(&xs);                                                                   \
        name##_body(args, xs);                                                                   \
    }                                                                                            \
    XS_KERNEL_CUDA(name)                                                                         \
    static __device__ __forceinline__ void name##_body(const args_type &args, const xs_handle &xs)
#else
#if XS_KERNELS_PLAIN /* beside the traced one, in the same program */
#define XS_KERNEL(name, args_type) XS_KERNEL_UNTRACED(name##_plain, args_type)
#else
#define XS_KERNEL(name, args_type) XS_KERNEL_UNTRACED(name, args_type)
#endif
#define XS_KERNEL_UNTRACED(name, args_type) \
    XS_KERNEL_ENTRY(name, args_type, );     \
    XS_KERNEL_CUDA(name)                    \
    XS_KERNEL_ENTRY(name, args_type, )
#endif

/* `type *const name`: one object shared by the threads of the block. Not initialised on CUDA, zeroed on the host. */
#define XS_SHARED(type, name)       \
    __shared__ type name##_storage; \
    type *const name = &name##_storage
#define XS_SHARED_DYNAMIC(type, name)                                            \
    extern __shared__ __align__(16) unsigned char xs_shared_dynamic_storage[]; \
    type *const name = (type *)xs_shared_dynamic_storage

#elif !defined(XS_KERNELS_HERE)

/* A file that needs the arguments or launches the kernel: xs_add_kernels compiles it elsewhere. */
#define XS_KERNEL(name, args_type)                                                                                   \
    XS_KERNEL_DECLARE(name)                                                                                          \
    static inline __attribute__((unused)) void name##_unused(const args_type args __attribute__((unused)), const xs_handle xs __attribute__((unused)))

#else

/* The CUDA entry is looked up weakly: a program whose kernels were not compiled for CUDA links all the same. */
#define XS_KERNEL(name, args_type)                                                                                   \
    XS_EXTERN_C_BEGIN                                                                                                \
    extern const struct xs_kernel name##_kernel;                                                                     \
    extern const xs_cuda_entry name##_cuda __attribute__((weak));                                                    \
    extern const xs_cuda_entry name##_plain_cuda __attribute__((weak));                                              \
    XS_EXTERN_C_END                                                                                                  \
    static void name##_body(const args_type args, const xs_handle xs);                                               \
    static void name##_host(const void *args, const xs_handle *xs) { name##_body(*(const args_type *)args, *xs); }   \
    const struct xs_kernel name##_kernel = {#name, name##_host, &name##_cuda, sizeof(args_type),                     \
                                            XS_TRACE ? XS_RECORD_WORDS : 0, 1, &name##_plain_cuda};                  \
    static __attribute__((constructor)) void name##_known(void) { xs_kernel_known(&name##_kernel); }                 \
    static void name##_body(const args_type args __attribute__((unused)), const xs_handle xs __attribute__((unused)))

#endif

#if !(XS_CUDA && XS_TRACE)
#define XS_KERNEL_CAPPED(name, args_type, registers) XS_KERNEL(name, args_type)
#endif

#if !XS_CUDA
/* The address of `name##_key` names the object: the same for every thread of the block, zeroed at block start. */
#define XS_SHARED(type, name)    \
    static const char name##_key = 0; \
    type *const name = (type *)xs_host_shared(&name##_key, sizeof(type))
#define XS_SHARED_DYNAMIC(type, name) type *const name = (type *)xs_host_shared_dynamic()

#endif

#endif
