/* The CUPTI library, looked up at run time: the copy that the process has loaded comes first. Types are those of the
 * headers that xs was built with; records are read by the version of the library that is found (cupti_decode.c). */
#ifndef XS_CUPTI_LIBRARY_H
#define XS_CUPTI_LIBRARY_H

#include <cupti.h>

/* X(member, function): needed. */
#define XS_CUPTI_CALLS(X)                                          \
    X(get_version, cuptiGetVersion)                                \
    X(result_string, cuptiGetResultString)                         \
    X(timestamp, cuptiGetTimestamp)                                \
    X(subscribe, cuptiSubscribe)                                   \
    X(unsubscribe, cuptiUnsubscribe)                               \
    X(register_callbacks, cuptiActivityRegisterCallbacks)          \
    X(enable, cuptiActivityEnable)                                 \
    X(disable, cuptiActivityDisable)                               \
    X(flush_all, cuptiActivityFlushAll)                            \
    X(next_record, cuptiActivityGetNextRecord)                     \
    X(dropped_records, cuptiActivityGetNumDroppedRecords)          \
    X(callback_name, cuptiGetCallbackName)                         \
    X(set_thread_ids, cuptiSetThreadIdType)

/* What only newer libraries have, and what only newer headers know of. */
typedef CUptiResult CUPTIAPI xs_cupti_switch(CUpti_CallbackId id, uint8_t on); /* CUDA 12.5 */
#if CUPTI_API_VERSION >= 130000
typedef CUpti_SubscriberParams xs_cupti_naming;
#else
typedef void xs_cupti_naming;
#endif
typedef CUptiResult CUPTIAPI xs_cupti_subscribe_named(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                                                      void *user, xs_cupti_naming *naming); /* CUDA 13.0 */

/* Y(member, "function", type): NULL where it is not there. */
#define XS_CUPTI_NEWER_CALLS(Y)                                                    \
    Y(enable_driver_call, "cuptiActivityEnableDriverApi", xs_cupti_switch)         \
    Y(enable_runtime_call, "cuptiActivityEnableRuntimeApi", xs_cupti_switch)       \
    Y(subscribe_named, "cuptiSubscribe_v2", xs_cupti_subscribe_named)

typedef struct xs_cupti_library {
    void *loaded;
    uint32_t version;
#define X(member, function) __typeof__(function) *member;
#define Y(member, symbol, type) type *member;
    XS_CUPTI_CALLS(X)
    XS_CUPTI_NEWER_CALLS(Y)
#undef X
#undef Y
} xs_cupti_library;

/* Loads it, once a process; never unloaded. NULL: *state says why (ABSENT, UNUSABLE), in words too. */
const xs_cupti_library *xs_cupti_load(uint32_t *state, uint32_t *version, const char **why);
const char *xs_cupti_result(const xs_cupti_library *cupti, CUptiResult result);

#endif
