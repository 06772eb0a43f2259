/* The place of a capture. An earlier one of its name is somebody's only evidence: it stays whole, and locked, until
 * the new one is sure to begin; until then the new one is beside it, NAME.xs.new or, in a folder of segments,
 * first.new. */
#include "capture_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "world.h"

#define LEAST_BOUND (256u << 10)

enum { TAKEN = 1, GONE = 2 };

static int cannot_write(const char *path, int number) {
    return xs_fail(number == ENOSPC || number == EDQUOT ? XS_E_NO_SPACE : XS_E_SYSTEM, "cannot write %s: %s", path,
                   strerror(number));
}

/* 0: ours; TAKEN: another process writes it; GONE: it was replaced while we asked. */
static int lock(int fd, const char *path) {
    struct stat held, named;
    if (flock(fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        return TAKEN;
    return !fstat(fd, &held) && !stat(path, &named) && held.st_dev == named.st_dev && held.st_ino == named.st_ino
               ? 0
               : GONE;
}

/* 0, or errno. What a start that was killed left there goes. */
static int name_beside(xs_capture *c) {
    free(c->beside);
    if (asprintf(&c->beside, "%s.new", c->place) < 0) {
        c->beside = NULL;
        return ENOMEM;
    }
    int left = open(c->beside, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (left >= 0) {
        xs_capture_remove_segments(left);
        unlinkat(left, XS_CAPTURE_FIRST, 0);
        close(left);
        return rmdir(c->beside) ? errno : 0;
    }
    return unlink(c->beside) && errno != ENOENT ? errno : 0;
}

static int open_file_beside(xs_capture *c, const struct stat *earlier) {
    int number = name_beside(c);
    if (number)
        return number;
    c->fd = open(c->beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (c->fd < 0 || flock(c->fd, LOCK_EX | LOCK_NB))
        return c->fd < 0 || errno == EWOULDBLOCK ? errno : 0;
    if (S_ISREG(earlier->st_mode) && fchmod(c->fd, earlier->st_mode & 0777)) {
        /* another's file that we may write: its mode is lost */
    }
    return 0;
}

static int open_folder_beside(xs_capture *c) {
    int number = name_beside(c);
    if (number)
        return number;
    if (mkdir(c->beside, 0777))
        return errno;
    c->folder_fd = open(c->beside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return c->folder_fd < 0 || (flock(c->folder_fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) ? errno : 0;
}

/* Opens what is at c->path, a new file where nothing is (a new folder: `folder`), and locks it. 0, TAKEN, GONE or an
 * error. */
static int find(xs_capture *c, int folder, int *fd, struct stat *st) {
    int made = folder && !mkdir(c->path, 0777), refused = folder && !made && errno != EEXIST ? errno : 0;
    *fd = open(c->path, folder ? O_RDONLY | O_CLOEXEC : O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*fd < 0 && errno == EISDIR)
        *fd = open(c->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return folder && errno == ENOENT && !refused ? GONE : cannot_write(c->path, refused ? refused : errno);
    int state = lock(*fd, c->path);
    free(c->place);
    c->place = state ? NULL : realpath(c->path, NULL);
    if (!state && !c->place && errno == ENOENT) /* open, but without a name: a file in memory, by a link into /proc */
        c->place = strdup(c->path);
    if (!state && (!c->place || fstat(*fd, st)))
        state = cannot_write(c->path, errno);
    if (state)
        close(*fd);
    c->fresh = made || (!state && S_ISREG(st->st_mode) && !st->st_size);
    return state;
}

static uint64_t first_bytes(const xs_capture_options *options) {
    uint64_t least = XS_CAPTURE_RESERVE + XS_CAPTURE_GROW_LEAST;
    return options->preallocate > least ? options->preallocate : least;
}

static int open_file(xs_capture *c, const xs_capture_options *options) {
    struct stat st;
    int fd, number = 0, state = find(c, 0, &fd, &st);
    if (state)
        return state;
    if (S_ISDIR(st.st_mode) || st.st_size) {
        c->earlier_fd = fd;
        if (S_ISDIR(st.st_mode) && !xs_capture_only_segments(fd))
            return xs_fail(XS_E_SYSTEM, "%s is a folder that holds more than a capture", c->path);
        number = open_file_beside(c, &st);
    } else {
        c->fd = fd;
    }
    if (number || ftruncate(c->fd, 0))
        return cannot_write(c->beside ? c->beside : c->path, number ? number : errno);
    number = xs_capture_grow(c, first_bytes(options));
    return number ? xs_fail(xs_capture_failed(c, number), "no space for %s: %s", c->path, strerror(number)) : 0;
}

static int open_folder(xs_capture *c, const xs_capture_options *options) {
    struct stat st;
    int fd, number = 0, state = find(c, 1, &fd, &st);
    if (state)
        return state;
    if (S_ISDIR(st.st_mode)) {
        c->folder_fd = fd;
    } else {
        c->earlier_fd = fd;
        number = open_folder_beside(c);
    }
    if (!number)
        number = xs_capture_first_segment(c, options);
    return number ? cannot_write(c->beside ? c->beside : c->path, number) : 0;
}

int xs_capture_find_place(xs_capture *c, const xs_capture_options *options) {
    int bounded = options->bound_bytes || options->bound_ns, state = GONE;
    if (options->bound_bytes && options->bound_bytes < LEAST_BOUND)
        return xs_fail(XS_E_ARGUMENT, "a capture needs a bound of at least %u bytes", LEAST_BOUND);
    for (int attempt = 0; state == GONE && attempt < 100; attempt++)
        state = bounded ? open_folder(c, options) : open_file(c, options);
    return state == GONE ? xs_fail(XS_E_SYSTEM, "%s comes and goes", c->path) : state;
}

/* What the earlier capture's going gives back. */
static uint64_t earlier_bytes(int fd) {
    struct stat st;
    if (fstat(fd, &st))
        return 0;
    return S_ISDIR(st.st_mode) ? xs_capture_segment_bytes(fd) : (uint64_t)st.st_blocks * 512;
}

int xs_capture_put_off(xs_capture *c, const xs_capture_options *options) {
    int earlier = c->earlier_fd >= 0 ? c->earlier_fd : c->fresh ? -1 : c->folder_fd;
    uint64_t bytes = first_bytes(options);
    struct statvfs disk;
    if (earlier < 0)
        return xs_fail(XS_E_NO_SPACE, "no space for %s", c->path);
    if (c->fd < 0 || fstatvfs(earlier, &disk) ||
        (uint64_t)disk.f_bavail * disk.f_frsize + earlier_bytes(earlier) < bytes)
        return xs_fail(XS_E_NO_SPACE, "no space for %s, nor would there be without the earlier one", c->path);
    c->put_off = bytes;
    c->error = c->full = 0;
    return 0;
}

/* What the open could not do. */
static int make_up(xs_capture *c) {
    int number = c->folder_fd < 0 && c->put_off ? xs_capture_grow(c, c->put_off) : 0;
    if (number)
        return xs_fail(xs_capture_failed(c, number), "no space for %s: %s", c->path, strerror(number));
    int rc = c->put_off ? xs_capture_put_file_frame(c) : 0;
    return rc || !c->put_off ? rc : xs_capture_flush(c);
}

/* The earlier one goes, and the new one has its name. 0 or errno. */
static int replace(xs_capture *c) {
    struct stat earlier;
    if (fstat(c->earlier_fd, &earlier))
        return errno;
    if (S_ISDIR(earlier.st_mode)) {
        xs_capture_remove_segments(c->earlier_fd);
        unlinkat(c->earlier_fd, XS_CAPTURE_FIRST, 0);
        if (rmdir(c->place))
            return errno;
    } else if (c->folder_fd >= 0 && unlink(c->place)) {
        return errno;
    }
    return rename(c->beside, c->place) ? errno : 0;
}

int xs_capture_begin(xs_capture *c) {
    if (c->begun)
        return 0;
    c->begun = 1;
    int number = c->folder_fd >= 0 ? xs_capture_name_first(c) : 0;
    if (!number && c->beside)
        number = replace(c);
    if (c->earlier_fd >= 0)
        close(c->earlier_fd);
    c->earlier_fd = -1;
    if (!number)
        return make_up(c);
    int rc = xs_fail(XS_E_SYSTEM, "%s cannot be replaced (%s): the new capture is %s", c->path, strerror(number),
                     c->beside ? c->beside : XS_CAPTURE_FIRST " in it");
    if (c->beside) {
        free(c->path);
        c->path = c->beside;
        c->beside = NULL;
    }
    return rc;
}

void xs_capture_give_up(xs_capture *c) {
    if (c->folder_fd >= 0)
        unlinkat(c->folder_fd, XS_CAPTURE_FIRST, 0);
    const char *made = c->beside ? c->beside : c->fresh ? c->place : NULL;
    if (made && c->folder_fd >= 0)
        rmdir(made);
    else if (made)
        unlink(made);
}
