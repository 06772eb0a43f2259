/* The kernels of the examples, traced and plain, in one program: each is compiled twice, in files of its own (gpu.cmake). */
#ifndef EXAMPLE_OVERHEAD_H
#define EXAMPLE_OVERHEAD_H

#define OVERHEAD_EXAMPLES(X) X(combine) X(pipeline) X(barrier) X(publish)
#define OVERHEAD_DECLARE(name) extern const void *const overhead_##name##_plain, *const overhead_##name##_traced;
#ifdef __cplusplus
extern "C" {
#endif
OVERHEAD_EXAMPLES(OVERHEAD_DECLARE)
#ifdef __cplusplus
}
#endif

#endif
