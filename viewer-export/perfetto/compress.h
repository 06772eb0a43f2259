/* Many packets as one: a packet whose only field is a zstd frame of whole packets (zstd_compressed_packets). */
#ifndef XSV_COMPRESS_H
#define XSV_COMPRESS_H

#include "output.h"

/* Readers take packets below 512 KB; this much of whole packets at a time, at most. */
#define COMPRESS_BYTES (448u << 10)

typedef struct compress compress;

compress *compress_new(void); /* NULL: no memory */
/* Writes `bytes` of whole packets; as they are where they are too many, or get no smaller. Errors as output_write. */
int compress_write(compress *c, output *out, const void *packets, size_t bytes);
void compress_free(compress *c); /* NULL is allowed */

#endif
