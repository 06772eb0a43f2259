/* Finding regions: /proc/PID/fd/N is a link to "/memfd:xs". */
#include "attach.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xs/errors.h>

#include "attach_internal.h"
#include "identity.h"

static int room(void **array, uint32_t *size, uint32_t need, size_t width) {
    if (need <= *size)
        return 0;
    void *larger = realloc(*array, 2 * need * width);
    if (!larger)
        return XS_E_MEMORY;
    *array = larger;
    *size = 2 * need;
    return 0;
}

static int refuse(xs_attach_set *set, int32_t pid, int error, const char *why) {
    if (room((void **)&set->refused, &set->refused_room, set->refused_count + 1, sizeof *set->refused))
        return XS_E_MEMORY;
    set->refused[set->refused_count++] = (xs_attach_refusal){pid, error, why};
    return 0;
}

static int known(xs_attach_set *set, const struct stat *st, xs_attached **region) {
    for (uint32_t i = 0; i < set->count; i++)
        if (set->regions[i].file[0] == st->st_dev && set->regions[i].file[1] == st->st_ino) {
            *region = &set->regions[i];
            return 1;
        }
    return 0;
}

/* The holder owns the region if its pid, in its own namespace, is the one in the header. */
static void claim(xs_attached *region, int32_t holder, int fd) {
    if (xs_attach_inner_pid(holder) != region->view.head.pid && !region->view.head.virtual_time)
        return;
    region->pid = region->holder = holder;
    region->fd = fd;
}

static int map_region(xs_attach_set *set, int fd, const struct stat *st, int32_t pid, int number) {
    int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || !(seals & F_SEAL_SHRINK))
        return refuse(set, pid, XS_E_FORMAT, "its trace memory is not sealed: it could shrink while it is read");
    if (room((void **)&set->regions, &set->room, set->count + 1, sizeof *set->regions))
        return XS_E_MEMORY;
    void *base = st->st_size > 0 ? mmap(NULL, (size_t)st->st_size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (base == MAP_FAILED)
        return refuse(set, pid, XS_E_SYSTEM, "its trace memory cannot be mapped");
    xs_attached region = {.file = {st->st_dev, st->st_ino}, .holder = pid, .fd = number};
    int rc = xs_region_view_open(&region.view, base, (uint64_t)st->st_size);
    if (rc) {
        munmap(base, (size_t)st->st_size);
        return refuse(set, pid, rc,
                      rc == XS_E_VERSION
                          ? "its trace memory is of another version of xs, or its records are in a form not known here"
                      : rc == XS_E_UNSUPPORTED
                          ? "its records are 16 bytes whole, which this machine cannot read (XS_RECORD_WORDS=2)"
                          : "its trace memory is damaged: sizes or offsets do not fit");
    }
    claim(&region, pid, number);
    set->regions[set->count++] = region;
    return 0;
}

static int take_descriptor(xs_attach_set *set, int folder, const char *name, int32_t pid) {
    struct stat st;
    xs_attached *region;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC), rc = 0;
    if (fd < 0)
        return errno == ENOENT ? 0 : refuse(set, pid, XS_E_SYSTEM, "its trace memory may not be read");
    if (!fstat(fd, &st)) {
        if (known(set, &st, &region))
            claim(region, pid, atoi(name));
        else
            rc = map_region(set, fd, &st, pid, atoi(name));
    }
    close(fd);
    return rc;
}

/* "/memfd:xs", and what the kernel adds. */
static int is_region(int folder, const char *name) {
    static const char wanted[] = "/memfd:xs";
    char link[64];
    ssize_t n = readlinkat(folder, name, link, sizeof link - 1);
    if (n < (ssize_t)sizeof wanted - 1)
        return 0;
    link[n] = 0;
    return !strncmp(link, wanted, sizeof wanted - 1) && (!link[sizeof wanted - 1] || link[sizeof wanted - 1] == ' ');
}

static int look_into(xs_attach_set *set, int32_t pid, int asked_for) {
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *fds = opendir(path);
    if (!fds)
        return asked_for ? refuse(set, pid, XS_E_SYSTEM,
                                  errno == ENOENT ? "there is no such process" : "it may not be looked into")
                         : 0;
    int rc = 0;
    for (struct dirent *e; !rc && (e = readdir(fds));)
        if (isdigit((unsigned char)e->d_name[0]) && is_region(dirfd(fds), e->d_name))
            rc = take_descriptor(set, dirfd(fds), e->d_name, pid);
    closedir(fds);
    return rc;
}

static int is_mine(int32_t pid) {
    char path[48];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%d", (int)pid);
    return !stat(path, &st) && st.st_uid == geteuid();
}

static int listed(const int32_t *pids, uint32_t count, int32_t pid) {
    for (uint32_t i = 0; i < count; i++)
        if (pids[i] == pid)
            return 1;
    return 0;
}

static int look_into_all(const int32_t *pids, uint32_t count, xs_attach_set *set) {
    DIR *proc = opendir("/proc");
    if (!proc)
        return XS_E_SYSTEM;
    int rc = 0;
    for (struct dirent *e; !rc && (e = readdir(proc));) {
        int32_t pid = isdigit((unsigned char)e->d_name[0]) ? (int32_t)atoi(e->d_name) : 0;
        if (pid > 0 && !listed(pids, count, pid) && is_mine(pid))
            rc = look_into(set, pid, 0);
    }
    closedir(proc);
    for (uint32_t i = 0; !rc && i < count; i++)
        rc = look_into(set, pids[i], 1);
    return rc;
}

/* The processes asked for, and what they started: torchrun, mpirun and xs record have no region of their own. */
static int is_asked_for(const int32_t *pids, uint32_t count, int32_t pid) {
    for (int depth = 0; pid > 1 && depth < 64; depth++, pid = xs_attach_parent(pid))
        if (listed(pids, count, pid))
            return 1;
    return 0;
}

int xs_attach_same_world(const xs_attached *a, const xs_attached *b) {
    return a == b || (a->view.head.host == b->view.head.host && a->world[1] && a->world[0] == b->world[0] &&
                      a->world[1] == b->world[1]);
}

static void drop(xs_attached *region) {
    munmap(region->view.base, region->view.bytes);
    free(region->members);
}

/* Worlds in which none of the processes asked for takes part go. */
static int keep_asked_for(const int32_t *pids, uint32_t count, xs_attach_set *set) {
    uint32_t kept = 0;
    char *keep = calloc(set->count + 1, 1);
    if (!keep)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < set->count; i++)
        for (uint32_t j = 0; j < set->count && !keep[i]; j++)
            keep[i] = xs_attach_same_world(&set->regions[i], &set->regions[j]) &&
                      is_asked_for(pids, count, set->regions[j].holder);
    for (uint32_t i = 0; i < set->count; i++)
        if (keep[i])
            set->regions[kept++] = set->regions[i];
        else
            drop(&set->regions[i]);
    set->count = kept;
    uint32_t told = 0;
    for (uint32_t i = 0; i < set->refused_count; i++)
        if (is_asked_for(pids, count, set->refused[i].pid))
            set->refused[told++] = set->refused[i];
    set->refused_count = told;
    free(keep);
    return 0;
}

int xs_attach_find(const int32_t *pids, uint32_t count, xs_attach_set *set) {
    memset(set, 0, sizeof *set);
    int rc = look_into_all(pids, count, set);
    for (uint32_t i = 0; !rc && i < set->count; i++) {
        set->regions[i].run_state = xs_attach_run_state(set->regions[i].pid);
        rc = xs_attach_world(&set->regions[i]);
    }
    return rc || !count ? rc : keep_asked_for(pids, count, set);
}

void xs_attach_free(xs_attach_set *set) {
    for (uint32_t i = 0; i < set->count; i++)
        drop(&set->regions[i]);
    free(set->regions);
    free(set->refused);
    memset(set, 0, sizeof *set);
}
