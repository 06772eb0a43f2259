/* A run made by hand: a model and waits from a seed, fed to a sink as the reader would, and kept to compare with. */
#ifndef FAKE_RUN_H
#define FAKE_RUN_H

#include <xs/export.h>

#define FAKE_RANKS 4u
#define FAKE_PADS 3u
#define FAKE_SLOTS 24u
#define FAKE_WRITERS 12u
#define FAKE_STARTS (1u << 30) /* ids of starts from here on */

typedef struct fake_run {
    xsr_model model;
    xsr_process process;
    xsr_rank ranks[FAKE_RANKS];
    xsr_pad pads[FAKE_PADS];
    xsr_slot slots[FAKE_SLOTS];
    xsr_name names[3];
    xsr_launch launch;
    xsr_writer writers[FAKE_WRITERS];
    xsr_ring rings[FAKE_WRITERS];
    xsr_clock clock;
    xsr_plan plan[2];
    const char *notes[1];
    xsr_wait *waits;
    uint32_t wait_count;
    char text[FAKE_SLOTS + FAKE_WRITERS][48];
    char label[FAKE_SLOTS][64];
} fake_run;

/* Waits of a writer do not run backwards; some overlap, some pass, a few fail, the last of some writers stay open. */
fake_run *fake_run_make(uint32_t waits, uint64_t seed);
/* begin, events and waits, finish. The first error. */
int fake_run_feed(fake_run *run, xsr_sink *sink);
/* open, feed, close. */
int fake_run_export(fake_run *run, const char *path);
void fake_run_free(fake_run *run);

#endif
