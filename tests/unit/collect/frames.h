/* Reads captures back for tests of the collector: walks frames, checks every checksum and number, and keeps, per ring, that
 * kept records and losses follow each other without a gap or an overlap. */
#ifndef XS_TEST_FRAMES_H
#define XS_TEST_FRAMES_H

#include <stdint.h>
#include <xs/capture.h>

#define FRAMES_RINGS 256
#define FRAMES_RINGS_OF_PROCESS 64 /* rings[64 * n + r]: ring r of the n-th process seen */

typedef struct ring_account {
    uint64_t next;  /* sequence that must come next; 0: nothing seen */
    uint64_t first; /* of the records kept */
    uint64_t kept, lost, lost_by[XS_LOSS_COUNT];
    uint64_t removed_to; /* with segments */
    uint32_t removed_by; /* cause */
    uint32_t at_least, gaps;
} ring_account;

typedef struct frames {
    uint64_t counts[XS_FRAME_COUNT];
    uint64_t frames, first_number, next_number;
    uint64_t bytes, whole_bytes; /* of the file, and up to the end of its last whole frame */
    int cut;             /* bytes remain after the last whole frame */
    int wrong;           /* a checksum, number, sequence or value is not what it must be: *what says which */
    char what[160];
    ring_account rings[FRAMES_RINGS];
    uint64_t processes[4]; /* their identities, in the order of their first frame */
    int any_value;       /* values are not checked against sequences */
    xs_frame_end end;    /* the last PROCESS_END */
    uint64_t open_waits; /* entries of STATUS frames */
    char note[256], trigger[256];
    uint64_t first_segment, dropped_segments;
    /* called for every frame, if set */
    void (*each)(void *user, const xs_frame *frame, const void *payload);
    void *user;
} frames;

/* A file or a folder of segments. 0, or -1 where there is none. Starts with *f zeroed, but for the inputs. */
int frames_read(frames *f, const char *path);
/* One file's bytes, as the next segment. */
void frames_bytes(frames *f, const void *bytes, uint64_t size);

#endif
