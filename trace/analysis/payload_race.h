/* State of payload_race.c, and what lies between its files:
 *
 *   payload_race.c    writes and reads as they come, and what guards them; sentences
 *   payload_usual.c   which slot tells of it, as a rule
 *   payload_place.c   which chunk a write or a read is of
 *   payload_early.c   reads of what nobody has written yet */
#ifndef XS_ANALYSIS_PAYLOAD_RACE_H
#define XS_ANALYSIS_PAYLOAD_RACE_H

#include "detectors.h"
#include "payload.h"

#define PAYLOAD_ANY (XSR_NONE - 1)
#define PAYLOAD_ALL (XSR_NONE - 2) /* as who writes: all who write there */

/* A read of a chunk that nobody has written yet. */
typedef struct early {
    uint64_t generation;
    uint32_t name, told; /* told: who has told of it */
    access reads;
} early;

typedef struct chunk {
    uint64_t generation, read_generation;
    uint64_t period, steady; /* from the write before the last to the last, 0: not known; as often the same before */
    access writes, reads;
    uint32_t name;
    uint32_t usual;   /* slot + 1 whose signal told a reader of it; 0: none did */
    uint32_t matched; /* reads of what was written */
    bool written;
    bool ahead;       /* its writer had signalled that number before it wrote it, once at least */
} chunk;

/* Of a writer: what PAYLOAD_END ends. */
typedef struct begun { uint32_t chunk; bool write, any; uint64_t generation; } begun;
/* Of a buffer that is written to; shared: one place for all who write there. */
typedef struct named { uint32_t name; bool shared; } named;

typedef struct races {
    rd_map of; chunk *chunks; uint32_t count, room;
    named *names; uint32_t name_count, name_room;
    begun *writers; uint32_t writer_room;
    guard *guards; uint32_t guard_room;
    hearing heard;
    rd_map usual_of; /* by buffer, who writes and who reads: the slot that tells of its places */
    rd_map early_of; early *earlies; uint32_t early_count, early_room;
    tellings told;
} races;

/* ---- payload_usual.c ---- */
guard payload_guard(const races *r, uint32_t agent); /* of its last wait */
guard payload_guard_of_read(const an *a, const races *r, const an_step *step, const chunk *c);
int payload_learn_usual(const an *a, races *r, chunk *c, const access *read, uint64_t generation);
verdict payload_of_read(an *a, const races *r, const access *reads, const access *writes, uint64_t generation,
                        const chunk *c);

/* ---- payload_race.c ---- */
access payload_begins(const an *a, const races *r, const an_step *step);
bool payload_is_ahead(const an *a, const access *reads, const xsr_event *write);
int payload_say(an *a, verdict v, const an_step *step, const access *other, uint64_t other_generation,
                const char *what);

/* ---- payload_place.c ---- */
uint64_t payload_key(uint32_t src, uint32_t dst, uint64_t index, uint32_t name);
uint32_t payload_peer(const xsr_event *e); /* PAYLOAD_ANY: it names none */
int payload_know_name(races *r, uint32_t name);
bool payload_is_shared(const races *r, uint32_t name);
bool payload_other_name(const races *r, uint32_t read, uint32_t written);
uint32_t payload_written(const an *a, races *r, const xsr_event *e); /* index in chunks; XSR_NONE: no memory */
uint32_t payload_to_read(const an *a, races *r, const xsr_event *e); /* XSR_NONE: none is written to */

/* ---- payload_early.c ---- */
int payload_note_early(an *a, races *r, const an_step *step, const chunk *c); /* c: of its place, or NULL */
int payload_take_early(an *a, races *r, const an_step *step, uint32_t src, uint32_t dst, const chunk *c);
bool payload_no_place(const chunk *c, uint64_t read, uint64_t behind, uint64_t period);
int payload_say_elsewhere(an *a, const access *read, uint32_t told, const xsr_event *e, uint32_t name,
                          uint64_t generation, uint64_t period);

#endif
