/* What lies at the start of a segment. Private to segment*.c. */
#ifndef XS_SEGMENT_LAYOUT_H
#define XS_SEGMENT_LAYOUT_H

#include <pthread.h>
#include <xs/target.h>

#include "segment.h"

#define XS_SEGMENT_MAGIC   0x31746e656d676573ull
#define XS_SEGMENT_VERSION 2u
#define XS_SEGMENT_AREAS   1024u
#define XS_SEGMENT_KEY     176u

enum member_state { MEMBER_NONE = 0, MEMBER_HERE = 1, MEMBER_LEFT = 2 };

/* One a rank: the process that has it. */
typedef struct segment_member {
    uint64_t start; /* ticks */
    int32_t pid;
    uint32_t state;
} segment_member;

typedef struct segment_area {
    char key[XS_SEGMENT_KEY]; /* name and shape: what must be the same in every process */
    uint64_t bytes;
    uint64_t offset; /* in a rank's part */
} segment_area;

typedef struct segment_control {
    uint64_t magic;
    uint32_t version;
    uint32_t ranks;
    uint64_t control_bytes;
    uint64_t shared_bytes; /* a rank */
    pthread_mutex_t lock;  /* robust, process-shared: a killed holder does not wedge the others */
    uint32_t retired;      /* unlinked: whoever waited for the lock must look again */
    uint32_t area_count;   /* an area counts once this covers it */
    uint64_t used;         /* of shared_bytes */
    uint64_t left_time;    /* when the last member left */
    uint64_t placement;    /* backend and CPU ranks: the same in every process */
    uint8_t pad0[56];
    uint32_t abort_word __attribute__((aligned(128)));
    segment_area areas[XS_SEGMENT_AREAS] __attribute__((aligned(128)));
    segment_member members[]; /* one a rank */
} segment_control;

struct xs_segment {
    segment_control *control; /* the whole mapping */
    uint64_t bytes;
    uint32_t first_rank, local_ranks;
    uint32_t next_area; /* how many this process has created */
    int fd;
    char name[64];
};

uint64_t xs_segment_placement(const xs_world *world);
uint64_t xs_segment_control_bytes(uint32_t ranks);
/* segment_file.c: the file and its mapping. */
#define XS_SEGMENT_FOLDER "/dev/shm"
void xs_segment_name(char *name, size_t size, const char *world); /* world "": the prefix of all */
int xs_segment_make(xs_segment *s, const xs_world *world);        /* without a name, this process its member */
int xs_segment_give_name(const xs_segment *s);                    /* 1: done; 0: another process was first */
int xs_segment_find(xs_segment *s);                               /* 1: there is one, mapped; 0: none */
int xs_segment_reserve(int fd, uint64_t offset, uint64_t bytes);
void xs_segment_unmap(xs_segment *s);
void xs_segment_retire(xs_segment *s); /* lock held: unlinked, whoever waits looks again */
void xs_segment_sweep(void);           /* retires stale ones of any name of this user's */
int xs_segment_lock(segment_control *control);
int xs_segment_try_lock(segment_control *control); /* 1: taken */
void xs_segment_unlock(segment_control *control);
/* segment_members.c; lock held. */
enum { XS_JOIN = 1, XS_REPLACE = 2 };
int xs_segment_may_join(const segment_control *control, uint32_t first,
                        uint32_t count);                 /* XS_JOIN, XS_REPLACE or an error */
int xs_segment_is_stale(const segment_control *control); /* 1: nobody has it and nobody is to come */
void xs_segment_enter(segment_control *control, uint32_t first, uint32_t count);
/* 1: nobody is left and nobody is to come. */
int xs_segment_leave(segment_control *control, uint32_t first, uint32_t count);

#endif
