/* What one pass over captures leaves: who recorded what last, and which waits never ended. */
#ifndef XS_HANG_CAPTURE_H
#define XS_HANG_CAPTURE_H

#include "hang.h"

#define HANG_NEVER INT64_MIN

typedef struct hang_seen_writer {
    int64_t last; /* record that is no heartbeat */
    uint64_t epoch, value;
    uint32_t role;
    uint32_t slot; /* signalled last; XSR_NONE: none */
    uint64_t passes; /* waits that it has passed */
    int seen;
} hang_seen_writer;

typedef struct hang_seen_slot {
    int64_t changed;
    uint64_t value;
    uint32_t rank; /* number, of whoever signalled it or arrived at it */
    int seen, several, signalled;
    uint32_t signaller, waiter; /* writers of the last signal and of the last wait that was passed, + 1; 0: none */
    uint64_t signals, passes, most; /* of the signaller; its waits passed at the last signal, and between two at most */
} hang_seen_slot;

typedef struct hang_seen_process {
    int64_t last;      /* as of a writer, over all of its writers */
    uint32_t given_up; /* waits */
    int seen;
} hang_seen_process;

typedef struct hang_facts {
    xsr_sink sink;
    const xsr_model *model;
    hang_seen_writer *writers;
    hang_seen_slot *slots;
    hang_seen_process *processes;
    uint32_t writer_room, slot_room, process_room;
    xsr_wait *open;
    uint32_t open_count, open_room;
    uint32_t *newest; /* [ring]: its newest writer + 1 */
    uint32_t *at;     /* [ring]: where that stands among its world's writers, + 1 */
} hang_facts;

/* hang_model.c: the worlds of the captures, with their processes, writers and waits. 0 or XS_E_MEMORY. */
int hang_model_worlds(hang_report *report, hang_facts *facts);

#endif
