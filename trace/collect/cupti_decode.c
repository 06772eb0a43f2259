#include "cupti_decode.h"

#include <string.h>

/* Versions of CUPTI (cupti_version.h) from which on a member is there. Records only grow at their end; what is read
 * here lies in the same place in all of them, which the assertions below hold against the headers. */
#define GRAPH_NODE_OF_KERNEL 12u /* CUDA 10.0 */
#define GRAPH_NODE_OF_COPY 14u   /* CUDA 11.1 */
#define GRAPH 17u                /* CUDA 11.6 */

/* The newest that the headers have. */
#if CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 kernel_record;
#elif CUPTI_API_VERSION >= 19
typedef CUpti_ActivityKernel9 kernel_record;
#else
#error "CUPTI's headers are older than CUDA 12: build with -DXS_CUPTI=OFF"
#endif
typedef CUpti_ActivityMemcpy5 copy_record;
typedef CUpti_ActivityMemcpyPtoP4 peer_record;

#define SAME(newer, older, member)                                     \
    _Static_assert(offsetof(newer, member) == offsetof(older, member), \
                   "records of different versions differ in " #member)
#define SAME_KERNEL(member) SAME(kernel_record, CUpti_ActivityKernel5, member)
SAME_KERNEL(registersPerThread);
SAME_KERNEL(start);
SAME_KERNEL(end);
SAME_KERNEL(deviceId);
SAME_KERNEL(contextId);
SAME_KERNEL(streamId);
SAME_KERNEL(gridX);
SAME_KERNEL(blockX);
SAME_KERNEL(staticSharedMemory);
SAME_KERNEL(dynamicSharedMemory);
SAME_KERNEL(correlationId);
SAME_KERNEL(name);
SAME_KERNEL(graphNodeId);
SAME(kernel_record, CUpti_ActivityKernel7, graphId);
SAME(copy_record, CUpti_ActivityMemcpy, correlationId);
SAME(copy_record, CUpti_ActivityMemcpy, start);
SAME(copy_record, CUpti_ActivityMemcpy4, graphNodeId);
SAME(peer_record, CUpti_ActivityMemcpyPtoP, correlationId);

static int has_times(xs_activity_entry *entry, uint64_t start, uint64_t end) {
    entry->begin = start;
    entry->end = end;
    return start != 0 && end >= start;
}

static int decode_kernel(uint32_t version, const kernel_record *r, xs_activity_entry *e, const char **name) {
    e->kind = XS_ACTIVITY_KERNEL;
    e->correlation = r->correlationId;
    e->device = (int32_t)r->deviceId;
    e->context = r->contextId;
    e->stream = r->streamId;
    e->grid[0] = (uint32_t)r->gridX, e->grid[1] = (uint32_t)r->gridY, e->grid[2] = (uint32_t)r->gridZ;
    e->block[0] = (uint32_t)r->blockX, e->block[1] = (uint32_t)r->blockY, e->block[2] = (uint32_t)r->blockZ;
    e->shared_static = (uint32_t)r->staticSharedMemory;
    e->shared_dynamic = (uint32_t)r->dynamicSharedMemory;
    e->registers = r->registersPerThread;
    e->graph_node = version >= GRAPH_NODE_OF_KERNEL ? r->graphNodeId : 0;
    e->graph = version >= GRAPH ? r->graphId : 0;
    *name = r->name;
    return has_times(e, r->start, r->end) ? XS_ACTIVITY_KERNEL : XS_CUPTI_VOID;
}

static int decode_copy(uint32_t version, const copy_record *r, xs_activity_entry *e) {
    e->kind = XS_ACTIVITY_COPY;
    e->correlation = r->correlationId;
    e->device = (int32_t)r->deviceId;
    e->context = r->contextId;
    e->stream = r->streamId;
    e->bytes = r->bytes;
    e->copy = r->copyKind | (uint32_t)r->srcKind << 8 | (uint32_t)r->dstKind << 16;
    e->graph_node = version >= GRAPH_NODE_OF_COPY ? r->graphNodeId : 0;
    e->graph = version >= GRAPH ? r->graphId : 0;
    return has_times(e, r->start, r->end) ? XS_ACTIVITY_COPY : XS_CUPTI_VOID;
}

static int decode_peer_copy(const peer_record *r, xs_activity_entry *e) {
    e->kind = XS_ACTIVITY_COPY;
    e->correlation = r->correlationId;
    e->device = (int32_t)r->deviceId;
    e->context = r->contextId;
    e->stream = r->streamId;
    e->bytes = r->bytes;
    e->copy = r->copyKind | (uint32_t)r->srcKind << 8 | (uint32_t)r->dstKind << 16;
    e->to_device = (int32_t)r->dstDeviceId;
    return has_times(e, r->start, r->end) ? XS_ACTIVITY_COPY : XS_CUPTI_VOID;
}

static CUpti_CallbackDomain domain_of(const CUpti_Activity *record) {
    return record->kind == CUPTI_ACTIVITY_KIND_DRIVER ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
}

static int decode_call(const xs_cupti_library *cupti, const CUpti_ActivityAPI *r, xs_activity_entry *e,
                       const char **name) {
    if (cupti->callback_name(domain_of((const CUpti_Activity *)r), r->cbid, name) != CUPTI_SUCCESS || !*name ||
        !xs_cupti_call_counts(*name))
        return XS_CUPTI_LEFT_OUT;
    e->kind = XS_ACTIVITY_CALL;
    e->correlation = r->correlationId;
    e->thread = r->threadId;
    e->result = (int32_t)r->returnValue;
    return has_times(e, r->start, r->end) ? XS_ACTIVITY_CALL : XS_CUPTI_VOID;
}

int xs_cupti_decode(const xs_cupti_library *cupti, const CUpti_Activity *record, xs_activity_entry *entry,
                    const char **name) {
    memset(entry, 0, sizeof *entry);
    entry->device = entry->to_device = -1;
    *name = NULL;
    switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        return decode_kernel(cupti->version, (const kernel_record *)record, entry, name);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
        return decode_copy(cupti->version, (const copy_record *)record, entry);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
        return decode_peer_copy((const peer_record *)record, entry);
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
        return decode_call(cupti, (const CUpti_ActivityAPI *)record, entry, name);
    default:
        return XS_CUPTI_UNKNOWN;
    }
}

int xs_cupti_call_counts(const char *name) {
    if (strstr(name, "Memcpy"))
        return !strstr(name, "Graph"); /* nodes of a graph: nothing is copied yet */
    return strstr(name, "Launch") && !strstr(name, "LaunchHostFunc");
}

/* CUPTI numbers calls from 1. Returns how many it switched. */
static int switch_calls(const xs_cupti_library *cupti, CUpti_CallbackDomain domain, CUpti_CallbackId count,
                        xs_cupti_switch *set, uint8_t on) {
    int done = 0;
    for (CUpti_CallbackId id = 1; set && id < count; id++) {
        const char *name = NULL;
        if (cupti->callback_name(domain, id, &name) == CUPTI_SUCCESS && name && xs_cupti_call_counts(name))
            done += set(id, on) == CUPTI_SUCCESS;
    }
    return done;
}

static int switch_all(const xs_cupti_library *cupti, uint8_t on) {
    int driver =
        switch_calls(cupti, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_SIZE, cupti->enable_driver_call, on);
    return switch_calls(cupti, CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_SIZE, cupti->enable_runtime_call,
                        on) &&
           driver;
}

/* Where the library cannot switch single calls, whole kinds are asked for, and what does not count is left out when it
 * is read. */
CUptiResult xs_cupti_enable_calls(const xs_cupti_library *cupti) {
    if (switch_all(cupti, 1))
        return CUPTI_SUCCESS;
    CUptiResult result = cupti->enable(CUPTI_ACTIVITY_KIND_RUNTIME);
    return result == CUPTI_SUCCESS ? cupti->enable(CUPTI_ACTIVITY_KIND_DRIVER) : result;
}

void xs_cupti_disable_calls(const xs_cupti_library *cupti) {
    if (switch_all(cupti, 0))
        return;
    cupti->disable(CUPTI_ACTIVITY_KIND_RUNTIME);
    cupti->disable(CUPTI_ACTIVITY_KIND_DRIVER);
}
