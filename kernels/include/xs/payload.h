/* Payload accesses: plain (weak) loads and stores. On the host they go through the scheduler, so that `sim` can hold a
 * store back until something orders it: that is how a missing release or fence bites there. */
#ifndef XS_PAYLOAD_H
#define XS_PAYLOAD_H

#include <xs/define.h>

#if XS_CUDA

#define XS_STORE(at, value) (*(at) = (value))
#define XS_LOAD(at) (*(at))

/* One thread's copy: by 16 bytes where both sides and the size allow it, else by 4, else by 1. */
XS_FN void xs_copy(void *to, const void *from, size_t bytes) {
    size_t both = (size_t)to | (size_t)from | bytes;
    if (both % 16 == 0)
        for (size_t i = 0; i < bytes / 16; i++)
            ((uint4 *)to)[i] = ((const uint4 *)from)[i];
    else if (both % 4 == 0)
        for (size_t i = 0; i < bytes / 4; i++)
            ((uint32_t *)to)[i] = ((const uint32_t *)from)[i];
    else
        for (size_t i = 0; i < bytes; i++)
            ((char *)to)[i] = ((const char *)from)[i];
}
XS_FN void xs_copy_out(void *to, const void *from, size_t bytes) { xs_copy(to, from, bytes); }
XS_FN void xs_copy_in(void *to, const void *from, size_t bytes) { xs_copy(to, from, bytes); }

#else

/* The type without const: a copy of it is assigned to. */
#if defined(__cplusplus)
#include <type_traits>
#define XS_UNQUALIFIED(expression) std::remove_cv_t<std::remove_reference_t<decltype(expression)>>
#else
#define XS_UNQUALIFIED(expression) __typeof__(((void)0, (expression)))
#endif

#define XS_STORE(at, value)                                    \
    do {                                                       \
        XS_UNQUALIFIED(*(at)) xs_stored_ = (value);            \
        xs_host_store((at), &xs_stored_, sizeof xs_stored_);   \
    } while (0)
#define XS_LOAD(at)                                            \
    __extension__({                                            \
        XS_UNQUALIFIED(*(at)) xs_loaded_;                      \
        xs_host_load(&xs_loaded_, (at), sizeof xs_loaded_);    \
        xs_loaded_;                                            \
    })

/* From this thread's own memory to shared memory, and back. */
XS_FN void xs_copy_out(void *to, const void *from, size_t bytes) { xs_host_store(to, from, bytes); }
XS_FN void xs_copy_in(void *to, const void *from, size_t bytes) { xs_host_load(to, from, bytes); }

#endif

#endif
