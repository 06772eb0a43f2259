#include "compress.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "varint.h"

#define LEVEL 1          /* as fast as packets are made; higher ones gain little here */
#define HEAD_BYTES 16u   /* room for what stands before the frame */
#define FIELD_PACKET 1u  /* of Trace */
#define FIELD_ZSTD 133u  /* of TracePacket: zstd_compressed_packets */

struct compress {
    ZSTD_CCtx *context;
    size_t room;
    uint8_t bytes[]; /* head and frame */
};

compress *compress_new(void) {
    size_t room = ZSTD_compressBound(COMPRESS_BYTES);
    compress *c = malloc(sizeof *c + HEAD_BYTES + room);
    if (!c)
        return NULL;
    c->room = room;
    c->context = ZSTD_createCCtx();
    if (!c->context) {
        free(c);
        return NULL;
    }
    return c;
}

void compress_free(compress *c) {
    if (!c)
        return;
    ZSTD_freeCCtx(c->context);
    free(c);
}

/* Tag and length of a field of bytes. */
static size_t put_field(uint8_t *to, uint32_t field, size_t bytes) {
    size_t n = put_varint(to, field << 3 | 2);
    return n + put_varint(to + n, bytes);
}

int compress_write(compress *c, output *out, const void *packets, size_t bytes) {
    size_t frame = bytes <= COMPRESS_BYTES
                       ? ZSTD_compressCCtx(c->context, c->bytes + HEAD_BYTES, c->room, packets, bytes, LEVEL)
                       : 0;
    if (!frame || ZSTD_isError(frame) || frame + HEAD_BYTES >= bytes)
        return output_write(out, packets, bytes);
    uint8_t head[HEAD_BYTES], inner[HEAD_BYTES];
    size_t inner_bytes = put_field(inner, FIELD_ZSTD, frame);
    size_t head_bytes = put_field(head, FIELD_PACKET, inner_bytes + frame);
    uint8_t *at = c->bytes + HEAD_BYTES - inner_bytes - head_bytes;
    memcpy(at, head, head_bytes);
    memcpy(at + head_bytes, inner, inner_bytes);
    return output_write(out, at, head_bytes + inner_bytes + frame);
}
