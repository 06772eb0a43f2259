/* XS_HERE: where a primitive or a note is called, its line and the number of its file (file_id.h), as one constant
 * of the compiler's. The macros of primitives pass it on, so it is where the macro was written, be that the kernel's
 * file or a header that it includes. The names of the files go to libxs when the program is loaded: of a kernel
 * compiled for the host, too, those of all files in which XS_HERE stands; of a file that is compiled for CUDA alone
 * its own (docs/limits.md). */
#ifndef XS_HERE_H
#define XS_HERE_H

#include <xs/file_id.h>

#define XS_SOURCE(line, file) ((uint64_t)(line) | (uint64_t)(file) << 32)
#define XS_SOURCE_LINE(source) ((uint32_t)(source))
#define XS_SOURCE_FILE(source) ((uint32_t)((source) >> 32)) /* 0: not known */
#define XS_SOURCE_NAMED(name) XS_SOURCE(__LINE__, xs_file_id(name, sizeof(name) - 1))

#if !XS_TRACE
#define XS_HERE 0
#elif XS_CUDA
#define XS_HERE (xs_constant<XS_SOURCE_NAMED(__FILE__)>::value)
#elif defined(__cplusplus)
#define XS_HERE __extension__({ XS_HERE_NAME(__FILE__); xs_constant<XS_SOURCE_NAMED(__FILE__)>::value; })
#else
#define XS_HERE __extension__({ XS_HERE_NAME(__FILE__); XS_SOURCE_NAMED(__FILE__); })
#endif

/* Names lie side by side in a section of their own, each with its zero; zeros between them are padding. */
#define XS_HERE_NAME(name) static const char xs_here_name[] __attribute__((section("xs_files"), used)) = name

#if XS_TRACE
#if defined(__cplusplus)
template <uint64_t constant> struct xs_constant { enum : uint64_t { value = constant }; };
#endif

XS_EXTERN_C_BEGIN
/* Of libxs; a program without it, which links a traced file all the same, does not need it. */
extern void xs_files_known(const char *first, const char *end) __attribute__((weak));
#if XS_CUDA
#if !defined(XS_KERNELS_HERE) && !XS_DEVICE_PASS /* xs_add_kernels compiles the same file for the host */
static __attribute__((constructor)) void xs_here_known(void) {
    static const char name[] = __BASE_FILE__;
    if (xs_files_known)
        xs_files_known(name, name + sizeof name);
}
#endif
#else
extern const char __start_xs_files[] __attribute__((weak, visibility("hidden")));
extern const char __stop_xs_files[] __attribute__((weak, visibility("hidden")));
/* Each file of a program has this function, and the first one tells the names of all of them. */
__attribute__((weak, visibility("hidden"))) char xs_here_told;
static __attribute__((constructor)) void xs_here_known(void) {
    if (xs_files_known && !xs_here_told++)
        xs_files_known(__start_xs_files, __stop_xs_files);
}
#endif
XS_EXTERN_C_END
#endif

#endif
