#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xs/errors.h>

ssize_t (*output_system_write)(int fd, const void *data, size_t bytes) = write;

static int system_error(void) { return errno == ENOSPC || errno == EDQUOT ? XS_E_NO_SPACE : XS_E_SYSTEM; }

int output_open(output *o, const char *path) {
    *o = (output){.fd = -1, .path = strdup(path)};
    if (!o->path || asprintf(&o->temporary, "%s.tmp-%ld", path, (long)getpid()) < 0) {
        o->temporary = NULL;
        return XS_E_MEMORY;
    }
    o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return o->fd < 0 ? system_error() : XS_OK;
}

int output_write(output *o, const void *data, size_t bytes) {
    const char *at = data;
    while (bytes) {
        ssize_t n = output_system_write(o->fd, at, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return system_error();
        if (n == 0) {
            errno = EIO; /* a file that takes nothing and gives no reason */
            return XS_E_SYSTEM;
        }
        at += n;
        bytes -= (size_t)n;
        o->bytes += (uint64_t)n;
    }
    return XS_OK;
}

int output_close(output *o) {
    if (o->fd < 0)
        return XS_OK;
    int fd = o->fd;
    o->fd = -1;
    return close(fd) < 0 && errno != EINTR ? system_error() : XS_OK;
}

int output_rename(output *o) {
    if (rename(o->temporary, o->path) < 0)
        return system_error();
    free(o->temporary);
    o->temporary = NULL;
    return XS_OK;
}

void output_free(output *o) {
    int kept = errno; /* the cause that the caller is about to report */
    if (o->fd >= 0)
        close(o->fd);
    if (o->temporary)
        unlink(o->temporary);
    free(o->temporary);
    free(o->path);
    *o = (output){.fd = -1};
    errno = kept;
}
