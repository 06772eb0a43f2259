/* Which world a region belongs to: the processes of one world have the same file of shared memory open
 * (lib/src/segment.h), and its list of members says who has each rank. The file is read, never mapped: it could shrink.
 */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xs/errors.h>

#include "attach_internal.h"
#include "identity.h"
#include "segment_layout.h"

static int whole_read(int fd, void *to, size_t bytes, off_t at) { return pread(fd, to, bytes, at) == (ssize_t)bytes; }

static int is_segment_of(const xs_region_header *h, int fd) {
    struct {
        uint64_t magic;
        uint32_t version, ranks;
    } head; /* as segment_control begins, which is too large for a stack */
    _Static_assert(offsetof(segment_control, control_bytes) == sizeof head, "the start of a segment");
    if (!whole_read(fd, &head, sizeof head, 0))
        return 0;
    return head.magic == XS_SEGMENT_MAGIC && head.version == XS_SEGMENT_VERSION && head.ranks == h->world_ranks;
}

static uint32_t state_of(const segment_member *m, const xs_attached *region) {
    if (m->state == MEMBER_LEFT)
        return XS_ATTACH_LEFT;
    if (m->state != MEMBER_HERE)
        return XS_ATTACH_NEVER;
    /* pids of another namespace say nothing here */
    if (region->pid && region->pid != region->view.head.pid)
        return XS_ATTACH_UNKNOWN;
    return xs_identity_alive(m->pid, m->start) ? XS_ATTACH_ALIVE : XS_ATTACH_DEAD;
}

/* 1: the region's process is a member of this file, and all members are in region->members. */
static int read_members(xs_attached *region, int fd) {
    const xs_region_header *h = &region->view.head;
    size_t bytes = h->world_ranks * sizeof(segment_member);
    segment_member *members = malloc(bytes + 1);
    xs_attach_member *out = calloc(h->world_ranks + (size_t)1, sizeof *out);
    int rc = members && out ? 0 : XS_E_MEMORY;
    if (!rc && whole_read(fd, members, bytes, offsetof(segment_control, members)) &&
        members[h->first_rank].pid == h->pid) {
        for (uint32_t r = 0; r < h->world_ranks; r++)
            out[r] = (xs_attach_member){members[r].pid, state_of(&members[r], region)};
        free(region->members);
        region->members = out;
        out = NULL;
        rc = 1;
    }
    free(members);
    free(out);
    return rc;
}

/* Of several that fit, the one opened next after the region: a process makes its worlds one by one. */
static int is_better(int number, int best, int region) {
    if (best < 0 || (number > region) != (best > region))
        return best < 0 || number > region;
    return number < best;
}

static int try_descriptor(xs_attached *region, int folder, const char *name, int *best) {
    char link[256];
    struct stat st;
    ssize_t n = readlinkat(folder, name, link, sizeof link - 1);
    link[n > 0 ? n : 0] = 0;
    if (strncmp(link, XS_SEGMENT_FOLDER "/", sizeof XS_SEGMENT_FOLDER) || !is_better(atoi(name), *best, region->fd))
        return 0;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = 0; /* it may be a pipe there */
    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && is_segment_of(&region->view.head, fd) &&
        (rc = read_members(region, fd)) > 0) {
        region->world[0] = st.st_dev;
        region->world[1] = st.st_ino;
        *best = atoi(name);
    }
    if (fd >= 0)
        close(fd);
    return rc < 0 ? rc : 0;
}

int xs_attach_world(xs_attached *region) {
    const xs_region_header *h = &region->view.head;
    char path[48];
    if (h->ranks >= h->world_ranks)
        return 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)region->holder);
    DIR *fds = opendir(path);
    int best = -1, rc = 0;
    for (struct dirent *e; fds && !rc && (e = readdir(fds));)
        if (isdigit((unsigned char)e->d_name[0]))
            rc = try_descriptor(region, dirfd(fds), e->d_name, &best);
    if (fds)
        closedir(fds);
    return rc;
}
