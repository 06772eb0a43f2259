#include "input.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xs/frame.h>

#include "check.h"

uint32_t input_check(const unsigned char *bytes, size_t size) {
    char path[64];
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    uint32_t errors = check_capture(path, 0);
    check_hang(path);
    close(fd);
    return errors;
}

size_t input_frame(const unsigned char *bytes, size_t size, size_t at, xs_frame *frame) {
    for (; at + sizeof *frame <= size; at += 16) {
        memcpy(frame, bytes + at, sizeof *frame);
        if (frame->magic == XS_FRAME_MAGIC && frame->header_bytes >= sizeof *frame &&
            frame->header_bytes <= size - at && frame->payload_bytes <= size - at - frame->header_bytes)
            return at;
    }
    return size;
}

void input_seal(unsigned char *bytes, size_t size) {
    xs_frame frame;
    for (size_t at = 0; (at = input_frame(bytes, size, at, &frame)) < size;) {
        frame.checksum = xs_frame_checksum(&frame, bytes + at + frame.header_bytes);
        memcpy(bytes + at, &frame, sizeof frame);
        at += frame.header_bytes + xs_frame_padded(frame.payload_bytes);
    }
}
