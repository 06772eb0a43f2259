/* What the compiler at hand is, and what follows from it. The only file that tests __CUDACC__ and
 * __CUDA_ARCH__; everything else uses the macros below. */
#ifndef XS_TARGET_H
#define XS_TARGET_H

#include <stddef.h>
#include <stdint.h>

/* 1: primitives also write events. Set by the CMake option XS_TRACE or by -DXS_TRACE=1. */
#ifndef XS_TRACE
#define XS_TRACE 0
#endif

#if defined(__CUDACC__)
#define XS_CUDA 1
#else
#define XS_CUDA 0
#endif

#if defined(__CUDA_ARCH__)
#define XS_DEVICE_PASS 1
#define XS_ARCH __CUDA_ARCH__ /* 900 for sm_90 */
#else
#define XS_DEVICE_PASS 0
#define XS_ARCH 0
#endif

/* XS_FN: code that runs inside a kernel; always static, so that -rdc makes no weak symbols of it.
 * XS_INLINE: code for either side. */
#if XS_CUDA
#define XS_FN static __device__ __forceinline__
#define XS_INLINE static __host__ __device__ __forceinline__
#else
#define XS_FN static inline __attribute__((always_inline, unused))
#define XS_INLINE static inline __attribute__((always_inline, unused))
#endif

#if defined(__cplusplus)
#define XS_EXTERN_C_BEGIN extern "C" {
#define XS_EXTERN_C_END }
#define XS_STATIC_ASSERT(cond, text) static_assert(cond, text)
#else
#define XS_EXTERN_C_BEGIN
#define XS_EXTERN_C_END
#define XS_STATIC_ASSERT(cond, text) _Static_assert(cond, text)
#endif

/* Exported from libxs; everything else is hidden. */
#define XS_API __attribute__((visibility("default")))

#endif
