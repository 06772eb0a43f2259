/* Listening to CUPTI in the traced process: kernels, copies and the calls that launched them go into the region of a
 * world, and from there into its capture. A thread of its own flushes CUPTI's buffers ten times a second: that may
 * block, and nothing that dumps a hang waits for it. CUPTI is one a process: while one world listens, others say so and
 * go without. docs/clocks.md, docs/capture.md. */
#ifndef XS_CUPTI_SESSION_H
#define XS_CUPTI_SESSION_H

#include "world.h"

typedef struct xs_cupti xs_cupti;

/* NULL: nobody listens; the region then says why. Never fails a run. */
xs_cupti *xs_cupti_start(xs_world *world);
/* Delivers what there is, waits at most two seconds for it. The region may go away afterwards. */
void xs_cupti_stop(xs_cupti *cupti);
/* In a forked child: CUPTI is the parent's. A signal handler may call it. */
void xs_cupti_forget(void);
/* What a world would get: XS_CUPTI_ON or why not, in words (static); *version: of the library. */
uint32_t xs_cupti_probe(uint32_t *version, const char **why);

#endif
