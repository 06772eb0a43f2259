#include "capture_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xs/frame.h>
#include <xs/xs.h>

#include "world.h"

#define STAGE_BYTES (512u << 10)
#define STAGE_MOST (64u << 20)
#define GROW_BYTES (8u << 20)
#define GROW_LEAST (64u << 10)
#define FRAME_MOST (64u << 10)
#define RETRY_NS 100000000u
#define MOST_NAMES 9

static void lock(xs_capture *c) {
    if (c->lane_count > 1)
        pthread_mutex_lock(&c->lock);
}
static void unlock(xs_capture *c) {
    if (c->lane_count > 1)
        pthread_mutex_unlock(&c->lock);
}

int xs_capture_failed(xs_capture *c, int number) {
    int full = number == ENOSPC || number == EFBIG || number == EDQUOT;
    int error = full ? XS_E_NO_SPACE : XS_E_SYSTEM;
    if (!c->error)
        __atomic_store_n(&c->error, error, __ATOMIC_RELAXED);
    c->full = 1;
    c->retry_at = c->now + RETRY_NS;
    errno = number;
    return error;
}

/* A process at its file size limit gets SIGXFSZ, which would end it: the application must not die of its trace. */
static int block_size_signal(sigset_t *old) {
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &set, old);
    sigpending(&pending);
    return sigismember(&pending, SIGXFSZ);
}

static void unblock_size_signal(const sigset_t *old, int was_pending) {
    sigset_t set;
    struct timespec none = {0, 0};
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    if (!was_pending)
        while (sigtimedwait(&set, NULL, &none) < 0 && errno == EINTR) {}
    pthread_sigmask(SIG_SETMASK, old, NULL);
}

static int allocate(int fd, uint64_t from, uint64_t bytes) {
    struct rlimit limit;
    int rc;
    /* Some file systems allocate beyond the limit, and refuse the write. */
    if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY && from + bytes > limit.rlim_cur)
        return EFBIG;
    do
        rc = fallocate(fd, FALLOC_FL_KEEP_SIZE, (off_t)from, (off_t)bytes);
    while (rc && errno == EINTR);
    return rc ? errno : 0;
}

/* Makes space up to `end`, in large steps while there are any to be had. 0, or errno. */
static int grow(xs_capture *c, uint64_t end) {
    uint64_t least = end - c->allocated, step = GROW_BYTES;
    if (c->folder_fd >= 0 && c->segment_bytes < c->allocated + step)
        step = c->segment_bytes > c->allocated ? c->segment_bytes - c->allocated : least;
    if (step < least)
        step = least;
    sigset_t old;
    int was = block_size_signal(&old), number;
    while ((number = allocate(c->fd, c->allocated, step)) && step > least) {
        if (number != ENOSPC && number != EFBIG && number != EDQUOT)
            break;
        step = step / 2 > least && step / 2 > GROW_LEAST ? step / 2 : least;
    }
    unblock_size_signal(&old, was);
    if (!number)
        c->allocated += step;
    else if (number == EOPNOTSUPP || number == ENOSYS || number == EINVAL || number == EPERM || number == EBADF) {
        c->allocated = UINT64_MAX; /* the write will tell */
        number = 0;
    }
    return number;
}

/* Is there space up to `end`? */
static int space(xs_capture *c, uint64_t end) {
    if (c->fd < 0)
        return 0;
    if (end <= c->allocated)
        return 1;
    if (c->full && c->now < c->retry_at && !c->closing)
        return 0;
    int number = grow(c, end);
    while (number == ENOSPC && xs_capture_remove_oldest(c)) /* a bounded capture makes its own space */
        number = grow(c, end);
    if (number)
        xs_capture_failed(c, number);
    return !number;
}

static int write_all(const xs_capture *c, const xs_capture_lane *lane) {
    uint64_t done = 0;
    while (done < lane->staged) {
        ssize_t n = pwrite(c->fd, lane->stage + done, lane->staged - done, (off_t)(c->written + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : ENOSPC;
        done += (uint64_t)n;
    }
    return 0;
}

/* 0, or errno; the file then ends as before. */
static int write_lane(const xs_capture *c, const xs_capture_lane *lane) {
    sigset_t old;
    int was = block_size_signal(&old);
    int number = write_all(c, lane);
    if (number) {
        int ignored = ftruncate(c->fd, (off_t)c->written); /* whole frames only */
        (void)ignored;
    }
    unblock_size_signal(&old, was);
    return number;
}

static void seal_lane(const xs_capture_lane *lane, uint64_t number) {
    for (char *at = lane->stage; at < lane->stage + lane->staged;) {
        xs_frame *frame = (xs_frame *)(void *)at;
        uint64_t bytes = frame->payload_bytes;
        frame->number = number++;
        xs_frame_seal(frame, frame + 1, bytes);
        at += sizeof *frame + xs_frame_padded(bytes);
    }
}

/* Numbers for the frames of this lane, sealed with them; returns when it is the lane's turn to write. Lock held. */
static void take_turn(xs_capture *c, const xs_capture_lane *lane) {
    for (;;) {
        uint64_t generation = c->generation, first = c->promised;
        c->promised += lane->frames;
        unlock(c);
        seal_lane(lane, first);
        lock(c);
        while (c->generation == generation && c->number != first)
            pthread_cond_wait(&c->turn, &c->lock);
        if (c->generation == generation)
            return;
    }
}

static void written(xs_capture *c, xs_capture_lane *lane) {
    c->written += lane->staged;
    c->claimed -= lane->staged;
    lane->claimed -= lane->staged;
    c->number += lane->frames;
    lane->staged = lane->frames = 0;
    if (c->allocated == UINT64_MAX)
        c->full = 0;
}

/* Lock held. */
static int flush_lane(xs_capture *c, xs_capture_lane *lane) {
    if (!lane->staged)
        return 0;
    if (c->fd < 0 || (c->full && c->allocated == UINT64_MAX && c->now < c->retry_at && !c->closing))
        return c->error;
    take_turn(c, lane);
    unlock(c); /* nobody else writes, or moves c->written, before this lane has */
    int number = write_lane(c, lane), rc = 0;
    lock(c);
    if (!number) {
        written(c, lane);
    } else {
        rc = xs_capture_failed(c, number);
        c->generation++;
        c->promised = c->number;
    }
    if (c->lane_count > 1)
        pthread_cond_broadcast(&c->turn);
    return rc;
}

int xs_lane_flush(xs_capture_lane *lane) {
    lock(lane->capture);
    int rc = flush_lane(lane->capture, lane);
    unlock(lane->capture);
    return rc;
}

int xs_capture_flush(xs_capture *c) {
    int first = 0;
    for (uint32_t i = 0; i < c->lane_count; i++) {
        int rc = xs_lane_flush(&c->lanes[i]);
        if (rc && !first)
            first = rc;
    }
    return first;
}

/* The buffer holds `need` more bytes, or is made to. */
static int stage_room(xs_capture *c, xs_capture_lane *lane, uint64_t need) {
    if (need <= lane->stage_bytes - lane->staged)
        return 1;
    if (flush_lane(c, lane) && need > lane->stage_bytes - lane->staged)
        return 0;
    if (need <= lane->stage_bytes - lane->staged)
        return 1;
    if (need > STAGE_MOST - lane->staged)
        return 0;
    char *larger = realloc(lane->stage, lane->staged + need);
    if (!larger)
        return 0;
    lane->stage = larger;
    lane->stage_bytes = lane->staged + need;
    return 1;
}

static int has_space(xs_capture *c) {
    if (c->full && c->allocated == UINT64_MAX)
        c->full = c->now < c->retry_at;
    else if (c->full && space(c, c->written + c->claimed + XS_CAPTURE_RESERVE + GROW_LEAST))
        c->full = 0;
    return !c->full;
}

/* Lock held. */
static void *reserve_in(xs_capture *c, xs_capture_lane *lane, uint32_t type, uint64_t payload_bytes) {
    uint64_t need = sizeof(xs_frame) + xs_frame_padded(payload_bytes);
    /* Records leave the whole reserve, other frames half of it, for the frames that end the capture. */
    uint64_t reserve = type == XS_FRAME_RECORDS ? XS_CAPTURE_RESERVE : XS_CAPTURE_RESERVE / 2;
    if ((c->closing && type != XS_FRAME_RECORDS) || c->folder_fd >= 0)
        reserve = 0;
    if (c->folder_fd >= 0 && xs_capture_bound(c, need))
        return NULL;
    if (!stage_room(c, lane, need) || !space(c, c->written + c->claimed + need + reserve))
        return NULL;
    if (type == XS_FRAME_RECORDS && !has_space(c))
        return NULL;
    lane->claimed += need;
    c->claimed += need;
    return lane->stage + lane->staged + sizeof(xs_frame);
}

void *xs_lane_reserve(xs_capture_lane *lane, uint32_t type, uint64_t payload_bytes) {
    if (payload_bytes > STAGE_MOST / 2)
        return NULL;
    lock(lane->capture);
    void *at = reserve_in(lane->capture, lane, type, payload_bytes);
    unlock(lane->capture);
    return at;
}

/* What was claimed for the frame at hand and not used is free again. */
static void unclaim(xs_capture_lane *lane) {
    xs_capture *c = lane->capture;
    lock(c);
    c->claimed -= lane->claimed - lane->staged;
    lane->claimed = lane->staged;
    unlock(c);
}

void xs_lane_commit(xs_capture_lane *lane, xs_frame *frame, uint64_t payload_bytes) {
    char *at = lane->stage + lane->staged, *payload = at + sizeof(xs_frame);
    uint64_t padded = xs_frame_padded(payload_bytes);
    frame->payload_bytes = payload_bytes;
    memcpy(at, frame, sizeof *frame);
    memset(payload + payload_bytes, 0, padded - payload_bytes);
    lane->staged += sizeof *frame + padded;
    lane->frames++;
    unclaim(lane);
}

void xs_lane_cancel(xs_capture_lane *lane) { unclaim(lane); }

int xs_lane_put(xs_capture_lane *lane, xs_frame *frame, const void *payload, uint64_t payload_bytes) {
    void *to = xs_lane_reserve(lane, frame->type, payload_bytes);
    if (!to)
        return xs_capture_error(lane->capture) ? xs_capture_error(lane->capture) : XS_E_MEMORY;
    if (payload_bytes)
        memcpy(to, payload, payload_bytes);
    xs_lane_commit(lane, frame, payload_bytes);
    return 0;
}

void *xs_capture_reserve(xs_capture *c, uint32_t type, uint64_t bytes) { return xs_lane_reserve(&c->lanes[0], type, bytes); }
void xs_capture_commit(xs_capture *c, xs_frame *frame, uint64_t bytes) { xs_lane_commit(&c->lanes[0], frame, bytes); }
void xs_capture_cancel(xs_capture *c) { xs_lane_cancel(&c->lanes[0]); }
int xs_capture_put(xs_capture *c, xs_frame *frame, const void *payload, uint64_t bytes) {
    return xs_lane_put(&c->lanes[0], frame, payload, bytes);
}

int xs_capture_put_file_frame(xs_capture *c) {
    xs_frame_file file = {.version = XS_CAPTURE_VERSION, .xs_version = xs_version(), .events_hash = xs_events_hash(),
                          .segment = c->segment, .dropped_segments = c->dropped};
    memcpy(file.magic, XS_CAPTURE_MAGIC, sizeof XS_CAPTURE_MAGIC);
    xs_frame frame;
    xs_frame_fill(&frame, XS_FRAME_FILE, NULL, -1, UINT32_MAX, c->now);
    return xs_capture_put(c, &frame, &file, sizeof file);
}

int xs_capture_has_space(xs_capture *c) {
    lock(c);
    int is = has_space(c);
    unlock(c);
    return is;
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
    uint64_t least = XS_CAPTURE_RESERVE + GROW_LEAST;
    int number = grow(c, options->preallocate > least ? options->preallocate : least);
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

static int make_lane(xs_capture *c, uint32_t index) {
    xs_capture_lane *lane = &c->lanes[index];
    *lane = (xs_capture_lane){.capture = c, .stage = malloc(STAGE_BYTES), .stage_bytes = STAGE_BYTES};
    return lane->stage ? 0 : XS_E_MEMORY;
}

uint32_t xs_capture_lanes(xs_capture *c, uint32_t count) {
    while (c->folder_fd < 0 && c->lane_count < count && c->lane_count < XS_CAPTURE_LANES && !make_lane(c, c->lane_count))
        c->lane_count++;
    return c->lane_count;
}

xs_capture_lane *xs_capture_lane_of(xs_capture *c, uint32_t index) { return &c->lanes[index]; }

int xs_capture_open(const xs_capture_options *options, xs_capture **capture) {
    if (!options->name || !*options->name || !strcmp(options->name, ".xs"))
        return xs_fail(XS_E_ARGUMENT, "the capture has no name");
    xs_capture *c = calloc(1, sizeof *c);
    if (!c)
        return XS_E_MEMORY;
    c->fd = c->folder_fd = -1;
    c->lane_count = 1;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->turn, NULL);
    int rc = make_lane(c, 0);
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

void xs_capture_forget(xs_capture *c) {
    if (c->fd >= 0)
        close(c->fd);
    if (c->folder_fd >= 0)
        close(c->folder_fd);
    for (uint32_t i = 0; i < XS_CAPTURE_LANES; i++)
        free(c->lanes[i].stage);
    free(c->path);
    free(c);
}
