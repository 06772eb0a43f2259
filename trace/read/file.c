/* The files behind a name: NAME or NAME.xs, one file or a folder of segments; mapped read-only. */
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int rd_fail(xsr_reader *reader, int error, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(reader->error, sizeof reader->error, format, list);
    va_end(list);
    return error;
}

static int fail_system(xsr_reader *reader, const char *path, const char *what) {
    return rd_fail(reader, XS_E_SYSTEM, "%s: cannot %s: %s", path, what, strerror(errno));
}

static int map_file(xsr_reader *reader, const char *path, int fd, uint64_t size) {
    if (RD_ROOM(reader->files, reader->room.files, reader->file_count + 1) < 0)
        return XS_E_MEMORY;
    rd_file *file = &reader->files[reader->file_count];
    *file = (rd_file){.path = strdup(path), .size = size};
    if (!file->path)
        return XS_E_MEMORY;
    reader->file_count++;
    if (size == 0)
        return rd_fail(reader, XS_E_FORMAT, "%s: empty, not a capture", path);
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return fail_system(reader, path, "map");
    file->bytes = bytes;
    reader->file_bytes += size;
    return 0;
}

static int open_file(xsr_reader *reader, const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is refused below, not waited for */
    if (fd < 0)
        return fail_system(reader, path, "open");
    struct stat st;
    int rc = fstat(fd, &st) < 0 ? fail_system(reader, path, "open") : 0;
    if (rc == 0 && !S_ISREG(st.st_mode))
        rc = rd_fail(reader, XS_E_FORMAT, "%s: neither a file nor a folder, so not a capture", path);
    if (rc == 0)
        rc = map_file(reader, path, fd, (uint64_t)st.st_size);
    close(fd);
    return rc;
}

static int is_segment(const struct dirent *entry) {
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".seg") == 0;
}

/* Segments of a folder, by number; a folder without any is no capture. */
static int open_folder(xsr_reader *reader, const char *path) {
    struct dirent **list = NULL;
    int n = scandir(path, &list, is_segment, alphasort), rc = 0;
    if (n < 0)
        return fail_system(reader, path, "read folder");
    if (n == 0)
        rc = rd_fail(reader, XS_E_FORMAT, "%s: a folder without segments, not a capture", path);
    for (int i = 0; i < n; i++) {
        char *name = NULL;
        if (rc == 0 && asprintf(&name, "%s/%s", path, list[i]->d_name) < 0)
            rc = XS_E_MEMORY;
        if (rc == 0)
            rc = open_file(reader, name);
        if (rc == XS_E_FORMAT && reader->files && reader->files[reader->file_count - 1].size == 0)
            rc = 0; /* a segment that was made and not yet written */
        free(name);
        free(list[i]);
    }
    free(list);
    return rc;
}

static bool has_segments(const char *path) {
    struct dirent **list = NULL;
    int n = scandir(path, &list, is_segment, NULL);
    for (int i = 0; i < n; i++)
        free(list[i]);
    free(list);
    return n > 0;
}

int rd_open_path(xsr_reader *reader, const char *path) {
    struct stat st, with;
    char *longer = NULL;
    if (asprintf(&longer, "%s.xs", path) < 0)
        return XS_E_MEMORY;
    bool there = stat(path, &st) == 0, long_there = stat(longer, &with) == 0;
    bool use_longer = long_there && (!there || (S_ISDIR(st.st_mode) && !has_segments(path)));
    const char *use = use_longer ? longer : path;
    bool folder = S_ISDIR(use_longer ? with.st_mode : st.st_mode) && (there || use_longer);
    int rc = folder ? open_folder(reader, use) : open_file(reader, use);
    free(longer);
    return rc;
}

void rd_close_files(xsr_reader *reader) {
    for (uint32_t i = 0; i < reader->file_count; i++) {
        if (reader->files[i].bytes)
            munmap((void *)reader->files[i].bytes, reader->files[i].size);
        free(reader->files[i].path);
    }
    free(reader->files);
    reader->files = NULL;
    reader->file_count = 0;
}
