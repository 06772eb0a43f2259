/* See capture_build.h. This file: what CUPTI tells. */
#include "capture_build_internal.h"

void cb_activity(cb *c, const xs_activity_entry *entry) {
    xs_activity_entry copy = *entry;
    copy.sequence = ++c->processes[c->current].activity;
    cb_frame(c, XS_FRAME_ACTIVITY, UINT32_MAX, c->newest, &copy, sizeof copy);
}

uint32_t cb_activity_name(cb *c, const char *name) {
    uint32_t id = ++c->processes[c->current].activity_names;
    size_t bytes = strlen(name);
    for (size_t at = 0; at < bytes; at += sizeof((xs_activity_name *)0)->text) {
        xs_activity_name part = {
            .kind = XS_ACTIVITY_NAME, .name = id, .offset = (uint32_t)at, .bytes = (uint32_t)bytes};
        xs_activity_entry entry;
        memcpy(part.text, name + at, bytes - at < sizeof part.text ? bytes - at : sizeof part.text);
        memcpy(&entry, &part, sizeof entry);
        cb_activity(c, &entry);
    }
    return id;
}

void cb_tick(cb *c, uint64_t before, uint64_t after, uint64_t time) {
    xs_activity_entry e = {
        .kind = XS_ACTIVITY_CLOCK, .begin = before, .end = after, .device = -1, .to_device = -1, .bytes = time};
    cb_activity(c, &e);
}

void cb_gpu_kernel(cb *c, const char *name, int32_t device, uint32_t stream, uint64_t begin, uint64_t end,
                   uint32_t correlation, uint64_t graph_node, uint32_t grid, uint32_t block) {
    xs_activity_entry e = {.kind = XS_ACTIVITY_KERNEL,
                           .correlation = correlation,
                           .begin = begin,
                           .end = end,
                           .device = device,
                           .context = 1,
                           .stream = stream,
                           .name = cb_activity_name(c, name),
                           .graph_node = graph_node,
                           .graph = graph_node ? 1 : 0,
                           .grid = {grid, 1, 1},
                           .block = {block, 1, 1},
                           .registers = 32,
                           .to_device = -1};
    cb_activity(c, &e);
}

void cb_gpu_copy(cb *c, int32_t device, uint32_t stream, uint64_t begin, uint64_t end, uint32_t correlation,
                 uint32_t kind, uint64_t bytes) {
    xs_activity_entry e = {.kind = XS_ACTIVITY_COPY,
                           .correlation = correlation,
                           .begin = begin,
                           .end = end,
                           .device = device,
                           .context = 1,
                           .stream = stream,
                           .bytes = bytes,
                           .copy = kind,
                           .to_device = -1};
    cb_activity(c, &e);
}

void cb_cuda_call(cb *c, const char *name, uint32_t thread, uint64_t begin, uint64_t end, uint32_t correlation) {
    xs_activity_entry e = {.kind = XS_ACTIVITY_CALL,
                           .correlation = correlation,
                           .begin = begin,
                           .end = end,
                           .device = -1,
                           .name = cb_activity_name(c, name),
                           .thread = thread,
                           .to_device = -1};
    cb_activity(c, &e);
}

void cb_cupti(cb *c, uint32_t state, uint64_t since, uint64_t until, const char *why) {
    xs_cupti_health h = {.state = state, .version = 130000, .built = 130000, .since = since, .until = until};
    memcpy(h.why, why, strnlen(why, sizeof h.why - 1));
    cb_frame(c, XS_FRAME_CUPTI, UINT32_MAX, c->newest, &h, sizeof h);
}
