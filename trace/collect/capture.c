#include "capture_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include <xs/frame.h>
#include <xs/xs.h>

#include "world.h"

#define FRAME_MOST (64u << 10)
#define MOST_NAMES 9

int xs_capture_put_file_frame(xs_capture *c) {
    xs_frame_file file = {.version = XS_CAPTURE_VERSION,
                          .xs_version = xs_version(),
                          .events_hash = xs_events_hash(),
                          .segment = c->segment,
                          .dropped_segments = c->dropped};
    memcpy(file.magic, XS_CAPTURE_MAGIC, sizeof XS_CAPTURE_MAGIC);
    xs_frame frame;
    xs_frame_fill(&frame, XS_FRAME_FILE, NULL, -1, UINT32_MAX, c->now);
    return xs_capture_put(c, &frame, &file, sizeof file);
}

uint64_t xs_capture_frame_most(const xs_capture *c) {
    uint64_t quarter = c->segment_bytes / 4;
    return c->folder_fd >= 0 && quarter < FRAME_MOST ? quarter : FRAME_MOST;
}

int xs_capture_error(const xs_capture *c) { return __atomic_load_n(&c->error, __ATOMIC_RELAXED); }
const char *xs_capture_path(const xs_capture *c) { return c->path; }
void xs_capture_set_time(xs_capture *c, uint64_t now) { c->now = now; }
void xs_capture_set_owner(xs_capture *c, const xs_capture_owner *owner) { c->owner = *owner; }
void xs_capture_closing(xs_capture *c, int on) { c->closing = on; }

/* NAME[suffix][.2 .. .9].xs; free it. */
static char *path_of(const xs_capture_options *options, int nth) {
    size_t length = strlen(options->name);
    if (length > 3 && !strcmp(options->name + length - 3, ".xs"))
        length -= 3;
    char *path = NULL, again[8] = "";
    if (nth > 1)
        snprintf(again, sizeof again, ".%d", nth);
    int n = asprintf(&path, "%.*s%s%s.xs", (int)length, options->name, options->suffix ? options->suffix : "", again);
    return n < 0 ? NULL : path;
}

/* Opens the file at c->path. 1: another process writes it. */
static int open_file(xs_capture *c, const xs_capture_options *options) {
    c->fd = open(c->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (c->fd < 0 && errno == EISDIR) {
        int number = xs_capture_remove_folder(c->path);
        if (number == EBUSY)
            return 1;
        if (number)
            return xs_fail(XS_E_SYSTEM, "%s is a folder that holds more than a capture: %s", c->path, strerror(number));
        c->fd = open(c->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    }
    if (c->fd < 0)
        return xs_fail(errno == ENOSPC ? XS_E_NO_SPACE : XS_E_SYSTEM, "cannot write %s: %s", c->path, strerror(errno));
    if (flock(c->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
        close(c->fd);
        c->fd = -1;
        return 1;
    }
    if (ftruncate(c->fd, 0))
        return xs_fail(XS_E_SYSTEM, "cannot write %s: %s", c->path, strerror(errno));
    uint64_t least = XS_CAPTURE_RESERVE + XS_CAPTURE_GROW_LEAST;
    int number = xs_capture_grow(c, options->preallocate > least ? options->preallocate : least);
    if (number)
        return xs_fail(xs_capture_failed(c, number), "no space for %s: %s", c->path, strerror(number));
    return 0;
}

static int open_any(xs_capture *c, const xs_capture_options *options) {
    for (int nth = 1; nth <= MOST_NAMES; nth++) {
        free(c->path);
        c->path = path_of(options, nth);
        if (!c->path)
            return XS_E_MEMORY;
        int bounded = options->bound_bytes || options->bound_ns;
        int rc = bounded ? xs_capture_open_folder(c, options) : open_file(c, options);
        if (rc <= 0)
            return rc;
    }
    return xs_fail(XS_E_SYSTEM, "%s and %d more are being written by other processes", c->path, MOST_NAMES - 1);
}

/* "", ".", ".." and ".xs", alone or behind a folder, name a folder and no file in it: they became ..xs, which no listing shows. */
static int is_name(const char *name) {
    static const char *const none[] = {"", ".", "..", ".xs"};
    const char *slash = strrchr(name, '/'), *last = slash ? slash + 1 : name;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (!strcmp(last, none[i]))
            return 0;
    return 1;
}

int xs_capture_open(const xs_capture_options *options, xs_capture **capture) {
    if (!options->name || !*options->name)
        return xs_fail(XS_E_ARGUMENT, "the capture has no name");
    if (!is_name(options->name))
        return xs_fail(XS_E_ARGUMENT, "capture \"%s\": expected NAME, or FOLDER/NAME", options->name);
    xs_capture *c = calloc(1, sizeof *c);
    if (!c)
        return XS_E_MEMORY;
    c->fd = c->folder_fd = -1;
    c->lane_count = 1;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->turn, NULL);
    int rc = xs_capture_make_lane(c, 0);
    if (!rc)
        rc = open_any(c, options);
    if (!rc)
        rc = xs_capture_put_file_frame(c);
    if (!rc)
        rc = xs_capture_flush(c);
    if (rc) {
        xs_capture_forget(c);
        return rc;
    }
    *capture = c;
    return 0;
}

int xs_capture_close_file(xs_capture *c) {
    int number = 0;
    if (c->fd < 0)
        return 0;
    if (ftruncate(c->fd, (off_t)c->written)) /* gives back what was allocated ahead */
        number = errno;
    if (close(c->fd) && !number)
        number = errno;
    c->fd = -1;
    return number ? xs_capture_failed(c, number) : 0;
}

int xs_capture_close(xs_capture *c) {
    c->closing = 1;
    xs_capture_flush(c);
    xs_capture_close_file(c);
    int error = c->error;
    xs_capture_forget(c);
    return error;
}

void xs_capture_let_go(xs_capture *c) {
    if (c->fd >= 0)
        close(c->fd);
    if (c->folder_fd >= 0)
        close(c->folder_fd);
    c->fd = c->folder_fd = -1;
}

void xs_capture_forget(xs_capture *c) {
    xs_capture_let_go(c);
    for (uint32_t i = 0; i < XS_CAPTURE_LANES; i++)
        free(c->lanes[i].stage);
    free(c->path);
    free(c);
}
