/* Captures as bytes. */
#include "matrix.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

char *matrix_load(const char *path, uint64_t *size) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *bytes = fd >= 0 && fstat(fd, &st) == 0 ? malloc((size_t)st.st_size) : NULL;
    *size = bytes ? (uint64_t)st.st_size : 0;
    if (bytes && read(fd, bytes, *size) != (ssize_t)*size) {
        free(bytes);
        bytes = NULL;
    }
    if (fd >= 0)
        close(fd);
    return bytes;
}

int matrix_store(const char *path, const char *bytes, uint64_t size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool whole = fd >= 0 && write(fd, bytes, size) == (ssize_t)size;
    if (fd >= 0 && close(fd) != 0)
        whole = false;
    return whole ? 0 : XS_E_SYSTEM;
}
