#include "cupti_others.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES 64 /* CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN */

/* Parts of file names of libraries, and whose they are. */
static const struct {
    const char *file, *tool;
} tools[] = {
    {"libToolsInjection", "Nsight Systems"},
    {"libcuda-injection", "Nsight Compute"},
    {"libsanitizer-collection", "compute-sanitizer"},
    {"libkineto", "torch.profiler (Kineto)"},
    {"libtorch_cpu", "torch.profiler (Kineto, in libtorch)"},
    {"libtorch_cuda", "torch.profiler (Kineto, in libtorch)"},
    {"libdcgm", "DCGM"},
    {"libcupti_trace_injection", "a CUPTI injection library"},
};

static int known(struct dl_phdr_info *info, size_t size, void *found) {
    (void)size;
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (strstr(info->dlpi_name, tools[i].file)) {
            *(const char **)found = tools[i].tool;
            return 1;
        }
    return 0;
}

void xs_cupti_suspect(char *who, size_t bytes) {
    const char *found = "";
    dl_iterate_phdr(known, &found);
    snprintf(who, bytes, "%s", found);
}

static void CUPTIAPI nothing(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data) {
    (void)user, (void)domain, (void)id, (void)data;
}

/* With the other one's name, where the library and our headers know how. */
static CUptiResult subscribe(const xs_cupti_library *cupti, CUpti_SubscriberHandle *subscriber, char *named,
                             size_t bytes) {
#if CUPTI_API_VERSION >= 130000
    if (cupti->subscribe_named) {
        CUpti_SubscriberParams naming = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
                                         .subscriberName = "xs",
                                         .oldSubscriberName = named,
                                         .oldSubscriberSize = bytes};
        return cupti->subscribe_named(subscriber, nothing, NULL, &naming);
    }
#endif
    (void)named, (void)bytes;
    return cupti->subscribe(subscriber, nothing, NULL);
}

CUptiResult xs_cupti_holder(const xs_cupti_library *cupti, char *who, size_t bytes) {
    char named[NAME_BYTES + 1] = "";
    CUpti_SubscriberHandle subscriber;
    CUptiResult result = subscribe(cupti, &subscriber, named, NAME_BYTES);
    if (result == CUPTI_SUCCESS) {
        cupti->unsubscribe(subscriber);
        return result;
    }
    xs_cupti_suspect(who, bytes);
    if (named[0] && (!who[0] || !strstr(named, "<not provided>"))) /* its own word for no name */
        snprintf(who, bytes, "%s", named);
    return result;
}
