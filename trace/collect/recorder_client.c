#include "recorder_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "protocol.h"

static int64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Waits for one message of `kind`; anything else is passed over. XS_E_RECORDER: the recorder is gone; XS_E_TIMEOUT:
 * it is there. */
static int receive(int fd, uint32_t kind, int64_t ms, xs_recorder_message *message) {
    int64_t end = now_ms() + ms, left = ms;
    do {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        int rc = poll(&wait, 1, (int)left);
        if (rc <= 0)
            continue; /* time, or a signal */
        ssize_t n = recv(fd, message, sizeof *message, MSG_DONTWAIT);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
            return XS_E_RECORDER;
        if (n == (ssize_t)sizeof *message && message->magic == XS_RECORDER_MAGIC && message->kind == kind)
            return 0;
    } while ((left = end - now_ms()) > 0);
    return XS_E_TIMEOUT;
}

int xs_recorder_send(int fd, uint32_t kind, int32_t result, uint32_t abort_reason, const char *text) {
    xs_recorder_message message = {.magic = XS_RECORDER_MAGIC, .version = XS_RECORDER_VERSION, .kind = kind,
                                   .result = result, .abort_reason = abort_reason};
    if (text)
        snprintf(message.text, sizeof message.text, "%s", text);
    ssize_t n = send(fd, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
    return n == (ssize_t)sizeof message ? 0 : XS_E_RECORDER;
}

int xs_recorder_drain(int fd, int *late) {
    xs_recorder_message message;
    int rc = *late ? receive(fd, XS_RECORDER_DRAINED, 0, &message) : 0;
    if (!rc)
        rc = xs_recorder_send(fd, XS_RECORDER_DRAIN, 0, 0, NULL);
    if (!rc)
        rc = receive(fd, XS_RECORDER_DRAINED, XS_RECORDER_DRAIN_MS, &message);
    *late = rc == XS_E_TIMEOUT;
    return *late ? 0 : rc;
}

static int send_hello(int fd, const xs_world *world) {
    xs_recorder_message message = {.magic = XS_RECORDER_MAGIC,
                                   .version = XS_RECORDER_VERSION,
                                   .kind = XS_RECORDER_HELLO,
                                   .region_bytes = world->region_total};
    _Static_assert(sizeof world->shared <= sizeof message.text, "it fits");
    memcpy(message.text, world->shared, sizeof world->shared);
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec part = {&message, sizeof message};
    struct msghdr hello = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    struct cmsghdr *rights = CMSG_FIRSTHDR(&hello);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(rights), &world->region_fd, sizeof(int));
    return sendmsg(fd, &hello, MSG_NOSIGNAL) == (ssize_t)sizeof message ? 0 : XS_E_RECORDER;
}

static int copy_out(const xs_world *world, int fd, uint64_t from, uint64_t to) {
    while (from < to) {
        ssize_t n = pwrite(fd, world->region + from, to - from, (off_t)from);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return -1;
        from += (uint64_t)n;
    }
    return 0;
}

/* All but what the catalog may need one day. */
static int fill_memfd(const xs_world *world, int fd) {
    const xs_region_header *h = xs_region(world);
    if (ftruncate(fd, (off_t)world->region_total) || copy_out(world, fd, 0, h->catalog_offset + h->catalog_used) ||
        copy_out(world, fd, h->journal_offset, world->region_total))
        return -1;
    return fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
}

/* The region's pages become a memfd's, at the same addresses. Before the first launch: nobody writes meanwhile. */
static int share_region(xs_world *world) {
    if (world->region_fd >= 0)
        return 0;
    int fd = memfd_create("xs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return xs_fail(XS_E_SYSTEM, "memfd_create: %s", strerror(errno));
    if (fill_memfd(world, fd) ||
        mmap(world->region, world->region_total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        int rc = xs_fail(XS_E_SYSTEM, "cannot share the rings with the recorder: %s", strerror(errno));
        close(fd);
        return rc;
    }
    world->region_fd = fd;
    return 0;
}

static int hand_over(xs_world *world, int fd, const char *path) {
    xs_recorder_message answer;
    int rc = share_region(world);
    if (rc)
        return rc;
    rc = send_hello(fd, world);
    if (!rc)
        rc = receive(fd, XS_RECORDER_ACK, XS_RECORDER_WAIT_MS, &answer);
    /* One that is alive but slow (a busy disk) has the memory, and will find in it whatever the rings still hold. */
    if (rc == XS_E_TIMEOUT)
        return 0;
    if (rc)
        return xs_fail(XS_E_RECORDER, "the recorder at %s does not answer", path);
    if (answer.result)
        return xs_fail(answer.result < 0 ? answer.result : XS_E_RECORDER, "the recorder refuses: %s",
                       xs_strerror(answer.result));
    return 0;
}

int xs_recorder_connect(xs_world *world, const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path)
        return xs_fail(XS_E_RECORDER, "XS_RECORD=%s: too long for a socket", path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return xs_fail(XS_E_SYSTEM, "socket: %s", strerror(errno));
    int rc;
    if (connect(fd, (const struct sockaddr *)&address, sizeof address))
        rc = xs_fail(XS_E_RECORDER, "no recorder at %s: %s", path, strerror(errno));
    else
        rc = hand_over(world, fd, path);
    if (rc) {
        close(fd);
        return rc;
    }
    return fd;
}
