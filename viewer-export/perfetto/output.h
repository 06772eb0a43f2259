/* A file that appears under its name only when it is whole: written beside it under a temporary name, renamed at the
 * end. */
#ifndef XSV_OUTPUT_H
#define XSV_OUTPUT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct output {
    int fd; /* -1: closed */
    char *path, *temporary;
    uint64_t bytes;
} output;

/* 0, XS_E_MEMORY, XS_E_NO_SPACE or XS_E_SYSTEM (errno). */
int output_open(output *o, const char *path);
int output_write(output *o, const void *data, size_t bytes);
int output_close(output *o);  /* everything is on its way to the disk; still under the temporary name */
int output_rename(output *o); /* after output_close */
void output_free(output *o);  /* removes what has not been renamed */

/* Tests make the n-th write fail through this. */
extern ssize_t (*output_system_write)(int fd, const void *data, size_t bytes);

#endif
