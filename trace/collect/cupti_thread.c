/* The thread that listens to CUPTI. */
#include <errno.h>

#include "cupti_buffers.h"
#include "cupti_decode.h"
#include "cupti_internal.h"
#include "cupti_name.h"
#include "cupti_others.h"
#include "identity.h"

#define FLUSH_NS 100000000u
#define SILENT_NS 2000000000u /* launches have ended so long ago, and no kernel was told of: CUPTI is gone */
#define CLOCK_TRIES 8

static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                           CUPTI_ACTIVITY_KIND_MEMCPY2};
#define KINDS (sizeof kinds / sizeof *kinds)

const char *xs_cupti_enable_all(xs_cupti *s, CUptiResult *result) {
    *result = xs_buffers_register(s->cupti);
    if (*result != CUPTI_SUCCESS)
        return "cuptiActivityRegisterCallbacks";
    *result = s->cupti->enable(kinds[0]);
    if (*result != CUPTI_SUCCESS)
        return "cuptiActivityEnable(CONCURRENT_KERNEL)";
    s->cupti->set_thread_ids(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    for (size_t i = 1; i < KINDS; i++)
        s->cupti->enable(kinds[i]); /* without copies it is worth while, too */
    xs_cupti_enable_calls(s->cupti);
    return NULL;
}

void xs_cupti_disable_all(const xs_cupti_library *cupti) {
    for (size_t i = 0; i < KINDS; i++)
        cupti->disable(kinds[i]);
    xs_cupti_disable_calls(cupti);
}

/* One record. */
static void take(void *user, const CUpti_Activity *record) {
    xs_cupti *s = user;
    xs_cupti_health *h = &s->feed.health;
    xs_activity_entry entry;
    const char *name;
    int kind = xs_cupti_decode(s->cupti, record, &entry, &name);
    h->void_stamps += kind == XS_CUPTI_VOID;
    h->unknown += kind == XS_CUPTI_UNKNOWN;
    h->kernels += kind == XS_ACTIVITY_KERNEL;
    h->copies += kind == XS_ACTIVITY_COPY;
    h->calls += kind == XS_ACTIVITY_CALL;
    if (kind < 0)
        return;
    entry.name = xs_feed_name_of(&s->feed, name, kind == XS_ACTIVITY_KERNEL ? xs_cupti_plain_name : NULL);
    xs_feed_put(&s->feed, &entry);
}

/* CUPTI's clock between two readings of ours. */
void xs_cupti_sample_clock(xs_cupti *s) {
    xs_activity_entry best = {.kind = XS_ACTIVITY_CLOCK, .device = -1, .to_device = -1, .begin = 0, .end = UINT64_MAX};
    for (int i = 0; i < CLOCK_TRIES; i++) {
        uint64_t time = 0, before = xs_clock_boot();
        CUptiResult result = s->cupti->timestamp(&time);
        uint64_t after = xs_clock_boot();
        if (result != CUPTI_SUCCESS || after - before >= best.end - best.begin)
            continue;
        best.begin = before;
        best.end = after;
        best.bytes = time;
    }
    if (best.bytes)
        xs_feed_put(&s->feed, &best);
}

/* A tool that registers callbacks of its own gets all records from then on. CUPTI does not say so: launches that end
 * and are never told of do. */
static void watch_silence(xs_cupti *s, uint64_t kernels_before, uint64_t now) {
    uint64_t over = __atomic_load_n(&s->world->launches_over, __ATOMIC_RELAXED);
    if (s->feed.health.kernels != kernels_before) {
        s->launches = over;
        s->silent_since = 0;
        if (s->feed.health.state == XS_CUPTI_LOST)
            xs_feed_why(&s->feed, XS_CUPTI_ON, "%s", "");
        return;
    }
    if (over == s->launches || s->feed.health.state != XS_CUPTI_ON)
        return;
    if (!s->silent_since)
        s->silent_since = now;
    if (now - s->silent_since < SILENT_NS)
        return;
    char who[96];
    xs_cupti_suspect(who, sizeof who);
    xs_feed_why(&s->feed, XS_CUPTI_LOST, "no kernel of %llu launches was told of%s%s",
                (unsigned long long)(over - s->launches), who[0] ? "; loaded is " : "", who);
}

static void flush(xs_cupti *s, uint32_t how) {
    uint64_t now = xs_clock_boot();
    CUptiResult result = s->cupti->flush_all(how);
    pthread_mutex_lock(&s->feeding);
    if (!s->abandoned) {
        uint64_t kernels = s->feed.health.kernels;
        xs_feed_round(&s->feed);
        xs_cupti_sample_clock(s);
        s->feed.health.dropped += xs_buffers_take(s->cupti, take, s);
        watch_silence(s, kernels, now);
        if (result == CUPTI_SUCCESS && s->feed.health.state == XS_CUPTI_ON)
            s->feed.health.until = now;
        if (result != CUPTI_SUCCESS && s->feed.health.state == XS_CUPTI_ON)
            xs_feed_why(&s->feed, XS_CUPTI_FAILED, "cuptiActivityFlushAll: %s", xs_cupti_result(s->cupti, result));
        xs_feed_tell(&s->feed);
    }
    pthread_mutex_unlock(&s->feeding);
}

void xs_cupti_later(struct timespec *when, uint64_t ns) {
    clock_gettime(CLOCK_MONOTONIC, when);
    ns += (uint64_t)when->tv_nsec;
    when->tv_sec += (time_t)(ns / 1000000000u);
    when->tv_nsec = (long)(ns % 1000000000u);
}

/* 0: stop. */
static int rest(xs_cupti *s) {
    struct timespec until;
    xs_cupti_later(&until, FLUSH_NS);
    pthread_mutex_lock(&s->lock);
    int late = 0;
    while (!s->stopping && !late)
        late = pthread_cond_timedwait(&s->changed, &s->lock, &until) == ETIMEDOUT;
    int go_on = !s->stopping;
    pthread_mutex_unlock(&s->lock);
    return go_on;
}

void *xs_cupti_run(void *user) {
    xs_cupti *s = user;
    pthread_setname_np(pthread_self(), "xs cupti");
    while (rest(s))
        flush(s, 0);
    flush(s, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    if (s->feed.health.state != XS_CUPTI_LOST) /* else they are another tool's */
        xs_cupti_disable_all(s->cupti);
    pthread_mutex_lock(&s->lock);
    s->over = 1;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}
