/* Looking into traced processes from outside, while they run or hang: finds the regions of this machine's processes
 * through /proc, maps them read-only and takes them apart. No lock is taken, nothing is stopped, no CUDA call is made.
 *
 * A region counts only if it is sealed (so that it cannot shrink under the reader) and its header fits (region_view.h).
 */
#ifndef XS_ATTACH_H
#define XS_ATTACH_H

#include "region_view.h"

/* Who has a rank of a world of several processes, as its shared memory says. */
enum xs_attach_state {
    XS_ATTACH_UNKNOWN = 0, /* there is no such record: a world of one process, or its shared memory cannot be read */
    XS_ATTACH_ALIVE,
    XS_ATTACH_DEAD, /* it never left, and is gone */
    XS_ATTACH_LEFT, /* it destroyed its world */
    XS_ATTACH_NEVER /* no process has come for the rank yet */
};
typedef struct xs_attach_member {
    int32_t pid; /* as the world's processes see it */
    uint32_t state;
} xs_attach_member;

typedef struct xs_attached {
    xs_region_view view;
    uint64_t file[2];  /* device and inode of the memfd: who has the same, has the same region */
    uint64_t world[2]; /* device and inode of the world's shared memory; 0, 0: a world of one process, or unknown */
    int32_t pid; /* of the owner; 0: the owner is gone, and the process `holder` (its child) still has the memory */
    int32_t holder;
    char run_state;            /* of the owner, as in /proc/PID/stat: 'R', 'S', 'T' (stopped), ...; 0: unknown */
    int fd;                    /* its number in the holder */
    xs_attach_member *members; /* head.world_ranks of them; NULL: unknown */
} xs_attached;

typedef struct xs_attach_refusal {
    int32_t pid;
    int error;       /* a negative xs_error */
    const char *why; /* static */
} xs_attach_refusal;

typedef struct xs_attach_set {
    xs_attached *regions;
    uint32_t count, room;
    /* memfds that look like regions and are not usable; processes asked for that cannot be read */
    xs_attach_refusal *refused;
    uint32_t refused_count, refused_room;
} xs_attach_set;

/* Every region of this user's processes. pids: processes asked for by name, whoever owns them; a world counts when one
 * of them, or a descendant of one, is in it (then all its processes of this user are in the set). count 0: all. Returns
 * 0, or XS_E_MEMORY, or XS_E_SYSTEM (no /proc). The set is freed by xs_attach_free in every case. */
int xs_attach_find(const int32_t *pids, uint32_t count, xs_attach_set *set);
void xs_attach_free(xs_attach_set *set);
/* Do both belong to one world? */
int xs_attach_same_world(const xs_attached *a, const xs_attached *b);

#endif
