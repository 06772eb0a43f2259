/* Connections of the recorder: whom it records. What arrives may come from any process of this user, so it is
 * checked: the memory must be a memfd that cannot shrink, and its header must fit (region_view.c). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recorder_internal.h"
#include "world.h"

#define STATUS_WAIT_MS 100 /* for the exit status of a process that is over */
#define END_WAIT_MS 5000   /* for the end of a process whose socket has closed: it may have become another program */
#define BACKLOG 512
#define DRAINS 1000

/* Folders of recorders that were killed: xs-XXXXXX of this user's with a socket at which nobody listens. */
static int is_stale(int base, const char *name) {
    char path[64];
    struct stat st;
    if (strncmp(name, "xs-", 3) || strlen(name) != 9 || fstatat(base, name, &st, AT_SYMLINK_NOFOLLOW) ||
        !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
        return 0;
    snprintf(path, sizeof path, "%s/recorder", name);
    if (fstatat(base, path, &st, AT_SYMLINK_NOFOLLOW) || !S_ISSOCK(st.st_mode))
        return 0;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", base, path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int refused = fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) && errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return refused;
}

static void remove_stale(const char *base) {
    DIR *folder = opendir(base);
    for (struct dirent *e; folder && (e = readdir(folder));) {
        char path[64];
        if (!is_stale(dirfd(folder), e->d_name))
            continue;
        snprintf(path, sizeof path, "%.9s/recorder", e->d_name);
        unlinkat(dirfd(folder), path, 0);
        unlinkat(dirfd(folder), e->d_name, AT_REMOVEDIR); /* stays if something else is in it */
    }
    if (folder)
        closedir(folder);
}

/* Nobody sees a folder of ours whose socket is bound and does not listen yet: it gets its name last. */
static int try_folder(recorder *r, const char *base) {
    if (!base || (size_t)snprintf(r->folder, sizeof r->folder, "%s/xs-XXXXXX", base) >= sizeof r->folder ||
        !mkdtemp(r->folder))
        return 0;
    remove_stale(base);
    return 1;
}

int xs_recorder_listen(recorder *r) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!try_folder(r, getenv("XDG_RUNTIME_DIR")) && !try_folder(r, getenv("TMPDIR")) && !try_folder(r, "/tmp")) {
        r->folder[0] = 0;
        return xs_fail(XS_E_SYSTEM, "no temporary folder for the recorder's socket: %s", strerror(errno));
    }
    snprintf(r->socket_path, sizeof r->socket_path, "%s/recorder", r->folder);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/new", r->folder);
    r->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (r->listener < 0 || bind(r->listener, (const struct sockaddr *)&address, sizeof address) ||
        listen(r->listener, BACKLOG) || rename(address.sun_path, r->socket_path))
        return xs_fail(XS_E_SYSTEM, "cannot listen at %s: %s", r->socket_path, strerror(errno));
    return 0;
}

void xs_recorder_unlisten(recorder *r) {
    if (r->listener >= 0)
        close(r->listener);
    r->listener = -1;
    if (r->socket_path[0])
        unlink(r->socket_path);
    if (r->folder[0])
        rmdir(r->folder);
}

static void free_connection(connection *c) {
    if (c->map)
        munmap(c->map, c->map_bytes);
    if (c->pidfd >= 0)
        close(c->pidfd);
    if (c->fd >= 0)
        close(c->fd);
    free(c);
}

void xs_recorder_accept(recorder *r) {
    int fd;
    while ((fd = accept4(r->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        struct ucred peer;
        socklen_t size = sizeof peer;
        connection *c = calloc(1, sizeof *c);
        if (!c || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) || (peer.uid != geteuid() && peer.uid != 0)) {
            free(c);
            close(fd);
            continue;
        }
        c->fd = fd;
        c->pid = peer.pid;
        c->pidfd = peer.pid > 0 ? (int)syscall(SYS_pidfd_open, peer.pid, 0) : -1;
        c->exit_status = -1;
        c->next = r->connections;
        r->connections = c;
        r->connection_count++;
    }
}

static void answer(const connection *c, uint32_t kind, int32_t result) {
    xs_recorder_message message = {
        .magic = XS_RECORDER_MAGIC, .version = XS_RECORDER_VERSION, .kind = kind, .result = result};
    ssize_t n = send(c->fd, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)n; /* who does not take the answer goes on without */
}

/* Maps what was handed over: it must not be able to shrink, or reading it could kill the recorder. */
static int map_region(connection *c, int fd, uint64_t bytes) {
    struct stat status;
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || fstat(fd, &status) || bytes < sizeof(xs_region_header) ||
        (uint64_t)status.st_size < bytes)
        return XS_E_FORMAT;
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return XS_E_MEMORY;
    c->map = map;
    c->map_bytes = bytes;
    return 0;
}

static int record_region(recorder *r, connection *c, const char *shared) {
    xs_region_view view;
    int rc = xs_region_view_open(&view, c->map, c->map_bytes);
    if (!rc)
        rc = xs_recorder_world_join(r, &view.head, shared, &c->world);
    if (rc)
        return rc;
    rc = xs_collector_add(c->world->collector, c->map, c->map_bytes, view.head.virtual_time != 0, &c->region);
    if (rc)
        xs_recorder_world_left(r, c->world);
    else
        r->result->worlds[c->world->index].processes++;
    return rc;
}

static void hello(recorder *r, connection *c, const xs_recorder_message *message, int fd) {
    int rc = XS_E_FORMAT;
    if (message->version > XS_RECORDER_VERSION)
        rc = XS_E_VERSION;
    else if (fd >= 0 && !c->region)
        rc = map_region(c, fd, message->region_bytes);
    if (!rc)
        rc = record_region(r, c, message->text);
    if (rc)
        r->result->refused++;
    else
        r->result->processes++;
    if (!rc)
        r->joined_at = xs_recorder_ms();
    answer(c, XS_RECORDER_ACK, rc);
}

static void end_region(recorder *r, connection *c, int clean, uint32_t abort_reason) {
    if (!c->region)
        return;
    xs_frame_end end = {.clean = (uint32_t)clean, .exit_status = c->exit_status, .abort_reason = abort_reason};
    xs_collector_end(c->world->collector, c->region, &end);
    if (!clean)
        r->result->unclean++;
    c->region = NULL;
    xs_recorder_world_left(r, c->world);
}

/* sim runs in virtual time and would leave the recorder behind. */
static void drain(const connection *c) {
    for (int i = 0; i < DRAINS && c->region && xs_collector_pass(c->world->collector); i++)
        ;
    answer(c, XS_RECORDER_DRAINED, 0);
}

static void handle(recorder *r, connection *c, xs_recorder_message *message, int fd) {
    message->text[sizeof message->text - 1] = 0;
    switch (message->kind) {
    case XS_RECORDER_HELLO: hello(r, c, message, fd); break;
    case XS_RECORDER_DUMP:
        if (c->region)
            xs_collector_dump(c->world->collector, message->text);
        break;
    case XS_RECORDER_DRAIN: drain(c); break;
    case XS_RECORDER_BYE: end_region(r, c, message->result == 1, message->abort_reason); break;
    default: break;
    }
}

/* The descriptor that came with a message, -1 if none; more than one is not ours. */
static int received_descriptor(struct msghdr *head) {
    int fd = -1;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(head); part; part = CMSG_NXTHDR(head, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count; i++) {
            if (fd >= 0)
                close(fd);
            memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
        }
    }
    return fd;
}

void xs_recorder_gone(connection *c) {
    if (c->gone_since)
        return;
    c->gone_since = xs_recorder_ms();
    if (c->region)
        xs_collector_gone(c->world->collector, c->region);
}

static void closed(connection *c) {
    if (!c->closed_since)
        c->closed_since = xs_recorder_ms();
    if (c->pidfd < 0 || !c->region)
        xs_recorder_gone(c);
}

void xs_recorder_serve(recorder *r, connection *c) {
    xs_recorder_message message;
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(4 * sizeof(int))];
    } control;
    struct iovec part = {&message, sizeof message};
    struct msghdr head = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes};
    ssize_t n = recvmsg(c->fd, &head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == ECONNRESET) /* it went without reading an answer: told once, before what it sent last */
        n = recvmsg(c->fd, &head, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        closed(c);
        return;
    }
    int fd = received_descriptor(&head);
    if (n == (ssize_t)sizeof message && message.magic == XS_RECORDER_MAGIC)
        handle(r, c, &message, fd);
    if (fd >= 0)
        close(fd);
}

void xs_recorder_child_ended(recorder *r, pid_t pid, int status) {
    for (connection *c = r->connections; c; c = c->next)
        if (c->pid == pid && pid > 0) {
            c->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            c->status_known = 1;
            xs_recorder_gone(c);
        }
}

/* What a process sent before it died is still in the socket: even its hello, where the recorder was slow. */
static void last_messages(recorder *r, connection *c) {
    struct pollfd wait = {.fd = c->fd, .events = POLLIN};
    for (int i = 0; i < DRAINS && !c->closed_since && poll(&wait, 1, 0) > 0 && (wait.revents & POLLIN); i++)
        xs_recorder_serve(r, c);
}

void xs_recorder_bury(recorder *r) {
    connection **link = &r->connections;
    while (*link) {
        connection *c = *link;
        if (c->closed_since && xs_recorder_ms() - c->closed_since >= END_WAIT_MS)
            xs_recorder_gone(c);
        int waits = c->region && !c->status_known && xs_recorder_ms() - c->gone_since < STATUS_WAIT_MS;
        if (!c->gone_since || waits) {
            link = &c->next;
            continue;
        }
        last_messages(r, c);
        end_region(r, c, 0, 0);
        *link = c->next;
        r->connection_count--;
        free_connection(c);
    }
}
