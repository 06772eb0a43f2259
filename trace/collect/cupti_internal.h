/* Between the files of the session. */
#ifndef XS_CUPTI_INTERNAL_H
#define XS_CUPTI_INTERNAL_H

#include <pthread.h>
#include <time.h>

#include "cupti_feed.h"
#include "cupti_library.h"
#include "cupti_session.h"

struct xs_cupti {
    const xs_cupti_library *cupti;
    xs_world *world;
    xs_cupti_feed feed;
    pthread_t thread;
    uint64_t launches, silent_since; /* ended when a kernel was last told of; since when others have ended. 0: not so */
    pthread_mutex_t lock;            /* of what follows */
    pthread_cond_t changed;
    int stopping, over;
    pthread_mutex_t feeding; /* held while the region is written */
    int abandoned;           /* the region may be gone */
};

/* cupti_thread.c: flushes until it is told to stop, then once more; sets `over`. */
void *xs_cupti_run(void *session);
/* CLOCK_MONOTONIC, ns from now. */
void xs_cupti_later(struct timespec *when, uint64_t ns);
/* What CUPTI is asked for, and the first sample of its clock. NULL: all of it; else what refused, *result why. */
const char *xs_cupti_enable_all(xs_cupti *session, CUptiResult *result);
void xs_cupti_disable_all(const xs_cupti_library *cupti);
void xs_cupti_sample_clock(xs_cupti *session);

#endif
