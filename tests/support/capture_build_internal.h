/* Shared by the files of the capture builder. */
#ifndef CAPTURE_BUILD_INTERNAL_H
#define CAPTURE_BUILD_INTERNAL_H

#include "capture_build.h"

#include <stdlib.h>
#include <string.h>

#define CB_PADS 32

typedef struct cb_range { uint64_t first, last; uint32_t cause; } cb_range;

typedef struct cb_ring {
    uint32_t process, ring;
    int32_t device;
    uint64_t first, next; /* of the records held; of the next record */
    uint64_t looked;      /* time of the previous flush */
    uint64_t newest;      /* time of the newest record */
    xs_record *records;
    size_t room;
    cb_range *lost;
    size_t lost_count, lost_room;
} cb_ring;

typedef struct cb_proc {
    xs_region_header region;
    uint32_t next_object, next_name[8], pad_count;
    xs_frame_pad pads[CB_PADS];
    uint64_t journal, activity;
    uint32_t activity_names;
    int ended;
} cb_proc;

struct cb {
    char path[4096];
    unsigned char *bytes;
    size_t size, room;
    uint64_t number, newest;
    cb_proc *processes;
    size_t process_count, process_room;
    cb_ring *rings;
    size_t ring_count, ring_room;
    uint32_t current;
    int no_looks, error;
    xs_launch_room launch_room; /* of launches that begin from here on */
};

#endif
