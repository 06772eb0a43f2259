/* Making and checking frames: shared by the catalog (lib), the collector and the reader. Header only. */
#ifndef XS_FRAME_H
#define XS_FRAME_H

#define XXH_INLINE_ALL
#include <string.h>
#include <xs/capture.h>
#include <xxhash.h>

static inline uint64_t xs_frame_padded(uint64_t payload_bytes) { return (payload_bytes + 15u) & ~(uint64_t)15; }

/* Header (with checksum 0), then payload. */
static inline uint64_t xs_frame_checksum(const xs_frame *frame, const void *payload) {
    xs_frame head = *frame;
    head.checksum = 0;
    uint64_t seed = XXH3_64bits(&head, sizeof head);
    return XXH3_64bits_withSeed(payload, frame->payload_bytes, seed);
}

static inline void xs_frame_fill(xs_frame *frame, uint16_t type, const xs_region_header *who, int32_t rank,
                                 uint32_t ring, uint64_t time) {
    memset(frame, 0, sizeof *frame);
    frame->magic = XS_FRAME_MAGIC;
    frame->type = type;
    frame->header_bytes = sizeof *frame;
    frame->device = -1;
    frame->rank = rank;
    frame->ring = ring;
    frame->time = time;
    if (who) {
        frame->host = who->host;
        frame->process = who->process;
        frame->device = who->device;
    }
}

static inline void xs_frame_seal(xs_frame *frame, const void *payload, uint64_t payload_bytes) {
    frame->payload_bytes = payload_bytes;
    frame->checksum = xs_frame_checksum(frame, payload);
}

#endif
