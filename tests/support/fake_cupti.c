#include "fake_cupti.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

static fake_cupti fake = {.version = CUPTI_API_VERSION, .single_calls = 1};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *queue; /* size, record, size, record, .. ; all multiples of 8 */
static size_t queued, room;
static CUpti_BuffersCallbackRequestFunc requested;
static CUpti_BuffersCallbackCompleteFunc completed;

PUBLIC fake_cupti *fake_cupti_state(void);
PUBLIC void fake_cupti_push(const void *record, size_t bytes);

/* FAKE_CUPTI_VERSION: before anybody asks for it. */
fake_cupti *fake_cupti_state(void) {
    const char *version = getenv("FAKE_CUPTI_VERSION");
    fake.version = version ? (uint32_t)atoi(version) : fake.version;
    return &fake;
}

void fake_cupti_push(const void *record, size_t bytes) {
    uint64_t size = (bytes + 7) & ~(size_t)7;
    pthread_mutex_lock(&lock);
    if (queued + 8 + size > room) {
        room = 2 * (queued + 8 + size);
        queue = realloc(queue, room);
        if (!queue)
            abort();
    }
    memcpy(queue + queued, &size, 8);
    memset(queue + queued + 8, 0xff, size); /* what lies behind a record is not zero */
    memcpy(queue + queued + 8, record, bytes);
    queued += 8 + size;
    pthread_mutex_unlock(&lock);
}

static size_t record_bytes(const char *at) {
    uint64_t size;
    memcpy(&size, at, 8);
    return 8 + size;
}

static void deliver(void) {
    size_t done = 0;
    while (done < queued) {
        uint8_t *buffer = NULL;
        size_t size = 0, most = 0, used = 0;
        requested(&buffer, &size, &most);
        while (done < queued && used + record_bytes(queue + done) <= size) {
            memcpy(buffer + used, queue + done, record_bytes(queue + done));
            used += record_bytes(queue + done);
            done += record_bytes(queue + done);
        }
        completed(NULL, 0, buffer, size, used);
        if (!used)
            break;
    }
    queued = 0;
}

PUBLIC CUptiResult cuptiActivityFlushAll(uint32_t flag) {
    struct timespec nap = {0, 1000000};
    if (__atomic_load_n(&fake.blocked, __ATOMIC_ACQUIRE))
        __atomic_fetch_add(&fake.held_up, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&fake.blocked, __ATOMIC_ACQUIRE))
        nanosleep(&nap, NULL);
    pthread_mutex_lock(&lock);
    if (completed && !__atomic_load_n(&fake.taken_over, __ATOMIC_ACQUIRE))
        deliver();
    else
        queued = 0;
    fake.forced += flag != 0;
    __atomic_fetch_add(&fake.flushes, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

PUBLIC CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record) {
    char *at = *record ? (char *)*record - 8 : NULL;
    at = at ? at + record_bytes(at) : (char *)buffer;
    if (at >= (char *)buffer + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)(void *)(at + 8);
    return CUPTI_SUCCESS;
}

PUBLIC CUptiResult cuptiGetVersion(uint32_t *version) { return *version = fake.version, CUPTI_SUCCESS; }
PUBLIC CUptiResult cuptiGetResultString(CUptiResult result, const char **text) {
    *text = result == CUPTI_ERROR_NOT_COMPATIBLE ? "CUPTI_ERROR_NOT_COMPATIBLE" : "CUPTI_ERROR_OTHER";
    return CUPTI_SUCCESS;
}

PUBLIC CUptiResult cuptiGetTimestamp(uint64_t *timestamp) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    *timestamp = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    return CUPTI_SUCCESS;
}

PUBLIC CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *user) {
    (void)callback, (void)user;
    *subscriber = NULL;
    if (fake.held_by)
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    fake.subscribers++;
    return CUPTI_SUCCESS;
}
PUBLIC CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *user,
                                     CUpti_SubscriberParams *params) {
    if (fake.held_by && params && params->oldSubscriberName)
        strncpy(params->oldSubscriberName, fake.held_by, params->oldSubscriberSize);
    return cuptiSubscribe(subscriber, callback, user);
}
PUBLIC CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) { return (void)type, CUPTI_SUCCESS; }
PUBLIC CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
    (void)subscriber;
    fake.subscribers--;
    return CUPTI_SUCCESS;
}

PUBLIC CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                                  CUpti_BuffersCallbackCompleteFunc complete) {
    requested = request;
    completed = complete;
    return CUPTI_SUCCESS;
}

PUBLIC CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
    (void)kind;
    if (fake.refuse_enable)
        return CUPTI_ERROR_NOT_COMPATIBLE;
    fake.kinds_enabled++;
    return CUPTI_SUCCESS;
}
PUBLIC CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
    (void)kind;
    fake.kinds_enabled--;
    return CUPTI_SUCCESS;
}

static CUptiResult switch_call(uint8_t enable) {
    if (!fake.single_calls)
        return CUPTI_ERROR_NOT_COMPATIBLE;
    fake.calls_enabled += enable ? 1 : -1;
    return CUPTI_SUCCESS;
}
PUBLIC CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId id, uint8_t enable) {
    return (void)id, switch_call(enable);
}
PUBLIC CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId id, uint8_t enable) {
    return (void)id, switch_call(enable);
}

PUBLIC CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *dropped) {
    (void)context, (void)stream;
    *dropped = __atomic_exchange_n(&fake.dropped, 0, __ATOMIC_ACQ_REL);
    return CUPTI_SUCCESS;
}

PUBLIC CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t id, const char **name) {
    *name = NULL;
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel)
        *name = "cuLaunchCooperativeKernel";
    if (domain == CUPTI_CB_DOMAIN_RUNTIME_API && id == CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000)
        *name = "cudaGraphLaunch_v10000";
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API && id == CUPTI_DRIVER_TRACE_CBID_cuStreamQuery)
        *name = "cuStreamQuery";
    return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
