/* Protobuf's varint: 7 bits a byte, the lowest first, all but the last with a continuation bit. */
#ifndef XSV_VARINT_H
#define XSV_VARINT_H

#include <stddef.h>
#include <stdint.h>

/* At most 10 bytes. Returns how many. */
static inline size_t put_varint(uint8_t *to, uint64_t value) {
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        to[n++] = (uint8_t)(value | 0x80);
    to[n++] = (uint8_t)value;
    return n;
}

#endif
