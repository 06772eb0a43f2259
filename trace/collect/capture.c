#include "capture_internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xs/frame.h>
#include <xs/xs.h>

#include "world.h"

#define FRAME_MOST (64u << 10)
#define CARRY_MOST (16u << 20)
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

uint64_t xs_capture_carry_most(const xs_capture *c) {
    return c->segment_bytes / 4 < CARRY_MOST ? c->segment_bytes / 4 : CARRY_MOST;
}

int xs_capture_error(const xs_capture *c) { return __atomic_load_n(&c->error, __ATOMIC_RELAXED); }
int xs_capture_crowded(const xs_capture *c) { return c->crowded; }
uint64_t xs_capture_removed_records(const xs_capture *c) { return c->removed_records; }
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

static int open_any(xs_capture *c, const xs_capture_options *options) {
    for (int nth = 1; nth <= MOST_NAMES; nth++) {
        free(c->path);
        c->path = path_of(options, nth);
        if (!c->path)
            return XS_E_MEMORY;
        int rc = xs_capture_find_place(c, options);
        if (rc <= 0)
            return rc;
    }
    return xs_fail(XS_E_SYSTEM, "%s and %d more are being written by other processes", c->path, MOST_NAMES - 1);
}

/* "", ".", ".." and ".xs", alone or behind a folder, name a folder and no file in it: they became ..xs, which no
 * listing shows. */
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
    c->fd = c->folder_fd = c->earlier_fd = -1;
    c->lane_count = 1;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->turn, NULL);
    int rc = xs_capture_make_lane(c, 0);
    if (!rc)
        rc = open_any(c, options);
    if (!rc)
        rc = xs_capture_put_file_frame(c);
    if (rc == XS_E_NO_SPACE)
        rc = xs_capture_put_off(c, options);
    else if (!rc)
        rc = xs_capture_flush(c);
    if (!rc && !options->held && (rc = xs_capture_begin(c)))
        c->begun = 0;
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
    if (c->earlier_fd >= 0)
        close(c->earlier_fd);
    c->fd = c->folder_fd = c->earlier_fd = -1;
}

void xs_capture_forget(xs_capture *c) {
    if (!c->begun)
        xs_capture_give_up(c);
    xs_capture_let_go(c);
    for (uint32_t i = 0; i < XS_CAPTURE_LANES; i++)
        free(c->lanes[i].stage);
    free(c->path);
    free(c->place);
    free(c->beside);
    free(c);
}
