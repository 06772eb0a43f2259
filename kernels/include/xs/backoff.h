/* Back-off of a wait that had to wait, as a function of how often the slot was read: 16 reads at full speed, then 16
 * reads a stage with sleeps of 32, 64, 128 .. 16384 ns between them, then every 20 us for ever (slow poll). A sleep
 * is about 1/16 of the time waited so far, so that a signal is seen at most that much later. Nothing but the count
 * is kept. */
#ifndef XS_BACKOFF_H
#define XS_BACKOFF_H

#include <stdbool.h>
#include <xs/target.h>

#define XS_BACKOFF_READS 16u /* a stage */
#define XS_BACKOFF_STAGES 11u
#define XS_BACKOFF_SLOW_NS 20000u

/* The stage after `reads` reads, from 0 (spinning) to XS_BACKOFF_STAGES (slow poll). */
XS_INLINE uint32_t xs_backoff_stage(uint32_t reads) {
    uint32_t stage = reads / XS_BACKOFF_READS;
    return stage < XS_BACKOFF_STAGES ? stage : XS_BACKOFF_STAGES;
}
/* The sleep after a failed read in that stage. */
XS_INLINE uint32_t xs_backoff_ns(uint32_t stage) {
    return stage == 0 ? 0 : stage < XS_BACKOFF_STAGES ? 16u << stage : XS_BACKOFF_SLOW_NS;
}
/* A stage begins, or 16 more reads of the last one are over: abort word, heartbeat and status line are due. */
XS_INLINE bool xs_backoff_due(uint32_t reads) { return reads % XS_BACKOFF_READS == 0; }

/* The next count. It never wraps to 0: at the end of 32 bits it repeats the last stage. */
XS_INLINE uint32_t xs_backoff_next(uint32_t reads) {
    return reads == UINT32_MAX ? reads - (XS_BACKOFF_READS - 1) : reads + 1;
}

/* What was slept in all before the last of `reads` reads: asked for, not measured. */
XS_INLINE uint64_t xs_backoff_slept(uint32_t reads) {
    uint32_t sleeps = reads - 1, stage = xs_backoff_stage(sleeps);
    if (stage == 0)
        return 0;
    uint32_t before = (16u << stage) - 32; /* one sleep of every stage before this one */
    return before * XS_BACKOFF_READS + (uint64_t)(sleeps - stage * XS_BACKOFF_READS + 1) * xs_backoff_ns(stage);
}

#endif
