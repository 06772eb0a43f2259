/* The CUPTI library, looked up at run time: the copy that the process has loaded comes first. Types are those of the headers that xs
 * was built with; records are read by the version of the library that is found (cupti_decode.c). */
#ifndef XS_CUPTI_LIBRARY_H
#define XS_CUPTI_LIBRARY_H

#include <cupti.h>

/* X(member, function): needed. Y: used where there. */
#define XS_CUPTI_CALLS(X, Y)                                       \
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
    Y(enable_driver_call, cuptiActivityEnableDriverApi)            \
    Y(enable_runtime_call, cuptiActivityEnableRuntimeApi)          \
    Y(subscribe_named, cuptiSubscribe_v2)                          \
    Y(set_thread_ids, cuptiSetThreadIdType)

typedef struct xs_cupti_library {
    void *loaded;
    uint32_t version;
#define X(member, function) __typeof__(function) *member;
    XS_CUPTI_CALLS(X, X)
#undef X
} xs_cupti_library;

/* Loads it, once a process; never unloaded. NULL: *state says why (ABSENT, UNUSABLE), in words too. */
const xs_cupti_library *xs_cupti_load(uint32_t *state, uint32_t *version, const char **why);
const char *xs_cupti_result(const xs_cupti_library *cupti, CUptiResult result);

#endif
