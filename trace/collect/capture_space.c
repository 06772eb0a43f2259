/* Space for a capture's file, and writing it: space is made ahead where the file system can do so, so that a full disk
 * is met between frames. */
#include "capture_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <xs/errors.h>

#define GROW_FIRST (256u << 10)
#define GROW_MOST  (8u << 20)
#define RETRY_NS 100000000u

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
        while (sigtimedwait(&set, NULL, &none) < 0 && errno == EINTR) {
        }
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

/* As much as there is already: a short run's capture is small, and on tmpfs every page that is made ahead costs. */
static uint64_t step_of(const xs_capture *c) {
    return c->allocated < GROW_FIRST ? GROW_FIRST : c->allocated > GROW_MOST ? GROW_MOST : c->allocated;
}

/* In large steps, while there are any to be had. */
int xs_capture_grow(xs_capture *c, uint64_t end) {
    uint64_t least = end - c->allocated, step = step_of(c);
    if (c->folder_fd >= 0 && c->segment_limit < c->allocated + step)
        step = c->segment_limit > c->allocated ? c->segment_limit - c->allocated : least;
    if (step < least)
        step = least;
    sigset_t old;
    int was = block_size_signal(&old), number;
    while ((number = allocate(c->fd, c->allocated, step)) && step > least) {
        if (number != ENOSPC && number != EFBIG && number != EDQUOT)
            break;
        step = step / 2 > least && step / 2 > XS_CAPTURE_GROW_LEAST ? step / 2 : least;
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

/* A bounded capture makes its own space. It keeps less than its bound then, which is said as any other loss for want
 * of space is. */
static int make_space(xs_capture *c) {
    if (!xs_capture_remove_oldest(c))
        return 0;
    c->crowded = 1;
    if (!c->error)
        __atomic_store_n(&c->error, XS_E_NO_SPACE, __ATOMIC_RELAXED);
    return 1;
}

int xs_capture_space(xs_capture *c, uint64_t end) {
    if (c->fd < 0)
        return 0;
    if (end <= c->allocated)
        return 1;
    if (c->full && c->now < c->retry_at && !c->closing)
        return 0;
    int number = xs_capture_grow(c, end);
    while ((number == ENOSPC || number == EDQUOT) && make_space(c))
        number = xs_capture_grow(c, end);
    if (number)
        xs_capture_failed(c, number);
    return !number;
}

static int write_all(const xs_capture *c, const xs_capture_lane *lane) {
    uint64_t done = 0;
    while (done < lane->staged) {
        ssize_t n = pwrite(c->fd, lane->stage + done, lane->staged - done, (off_t)(lane->at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? errno : ENOSPC;
        done += (uint64_t)n;
    }
    return 0;
}

int xs_capture_write(const xs_capture *c, const xs_capture_lane *lane) {
    sigset_t old;
    int was = block_size_signal(&old);
    int number = write_all(c, lane);
    unblock_size_signal(&old, was);
    return number;
}
