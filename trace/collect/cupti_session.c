#include "cupti_session.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cupti_buffers.h"
#include "cupti_decode.h"
#include "cupti_feed.h"
#include "cupti_name.h"
#include "cupti_others.h"
#include "identity.h"

#define FLUSH_NS 100000000u
#define STOP_NS 2000000000u
#define SILENT_NS 2000000000u /* launches have ended so long ago, and no kernel was told of: CUPTI is gone */
#define CLOCK_TRIES 8

struct xs_cupti {
    const xs_cupti_library *cupti;
    xs_world *world;
    xs_cupti_feed feed;
    pthread_t thread;
    uint64_t launches, silent_since; /* ended when a kernel was last told of; since when others have ended. 0: not so */
    pthread_mutex_t lock;    /* of what follows */
    pthread_cond_t changed;
    int stopping, over;
    pthread_mutex_t feeding; /* held while the region is written */
    int abandoned;           /* the region may be gone */
};

static struct xs_cupti session;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static int in_use, stuck;

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
static void sample_clock(xs_cupti *s) {
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

/* A tool that registers callbacks of its own gets all records from then on. CUPTI does not say so: launches that end and are never
 * told of do. */
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
    xs_feed_why(&s->feed, XS_CUPTI_LOST, "no kernel of %llu launches was told of%s%s", (unsigned long long)(over - s->launches),
                who[0] ? "; loaded is " : "", who);
}

static void flush(xs_cupti *s, uint32_t how) {
    uint64_t now = xs_clock_boot();
    CUptiResult result = s->cupti->flush_all(how);
    pthread_mutex_lock(&s->feeding);
    if (!s->abandoned) {
        uint64_t kernels = s->feed.health.kernels;
        xs_feed_round(&s->feed);
        sample_clock(s);
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

static void later(struct timespec *when, uint64_t ns) {
    clock_gettime(CLOCK_MONOTONIC, when);
    ns += (uint64_t)when->tv_nsec;
    when->tv_sec += (time_t)(ns / 1000000000u);
    when->tv_nsec = (long)(ns % 1000000000u);
}

/* 0: stop. */
static int rest(xs_cupti *s) {
    struct timespec until;
    later(&until, FLUSH_NS);
    pthread_mutex_lock(&s->lock);
    int late = 0;
    while (!s->stopping && !late)
        late = pthread_cond_timedwait(&s->changed, &s->lock, &until) == ETIMEDOUT;
    int go_on = !s->stopping;
    pthread_mutex_unlock(&s->lock);
    return go_on;
}

static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2};

static void disable_all(const xs_cupti_library *cupti) {
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        cupti->disable(kinds[i]);
    xs_cupti_disable_calls(cupti);
}

static void *run(void *user) {
    xs_cupti *s = user;
    pthread_setname_np(pthread_self(), "xs cupti");
    while (rest(s))
        flush(s, 0);
    flush(s, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    if (s->feed.health.state != XS_CUPTI_LOST) /* else they are another tool's */
        disable_all(s->cupti);
    pthread_mutex_lock(&s->lock);
    s->over = 1;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* Start. Each step says why it did not go on. */

static int refuse_held(xs_cupti *s) {
    char who[96] = "";
    CUptiResult result = xs_cupti_holder(s->cupti, who, sizeof who);
    if (result == CUPTI_SUCCESS || s->world->config.cupti == 1)
        return 0;
    int held = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || result == CUPTI_ERROR_MAX_LIMIT_REACHED;
    if (held)
        xs_feed_why(&s->feed, XS_CUPTI_HELD, "%s has subscribed", who[0] ? who : "a tool that gives no name");
    else
        xs_feed_why(&s->feed, XS_CUPTI_FAILED, "cuptiSubscribe: %s", xs_cupti_result(s->cupti, result));
    return 1;
}

static int refuse_failed(xs_cupti *s, CUptiResult result, const char *what) {
    if (result == CUPTI_SUCCESS)
        return 0;
    xs_feed_why(&s->feed, XS_CUPTI_FAILED, "%s: %s", what, xs_cupti_result(s->cupti, result));
    disable_all(s->cupti);
    return 1;
}

static int enable(xs_cupti *s) {
    if (refuse_failed(s, xs_buffers_register(s->cupti), "cuptiActivityRegisterCallbacks"))
        return 0;
    if (refuse_failed(s, s->cupti->enable(kinds[0]), "cuptiActivityEnable(CONCURRENT_KERNEL)"))
        return 0;
    if (s->cupti->set_thread_ids)
        s->cupti->set_thread_ids(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    for (size_t i = 1; i < sizeof kinds / sizeof *kinds; i++)
        s->cupti->enable(kinds[i]); /* without copies it is worth while, too */
    xs_cupti_enable_calls(s->cupti);
    return 1;
}

static int start_thread(xs_cupti *s) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->feeding, NULL);
    pthread_cond_init(&s->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int number = pthread_create(&s->thread, NULL, run, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (number) {
        xs_feed_why(&s->feed, XS_CUPTI_FAILED, "no thread: %s", strerror(number));
        disable_all(s->cupti);
    }
    return !number;
}

static int start(xs_cupti *s) {
    xs_cupti_health *h = &s->feed.health;
    const char *why;
    h->built = CUPTI_API_VERSION;
    s->cupti = xs_cupti_load(&h->state, &h->version, &why);
    if (!s->cupti) {
        xs_feed_why(&s->feed, h->state, "%s", why);
        return 0;
    }
    if (refuse_held(s) || !enable(s))
        return 0;
    h->since = h->until = xs_clock_boot();
    xs_feed_round(&s->feed);
    sample_clock(s);
    xs_feed_why(&s->feed, XS_CUPTI_ON, "%s", "");
    return start_thread(s);
}

xs_cupti *xs_cupti_start(xs_world *world) {
    xs_cupti *started = NULL;
    xs_cupti_feed feed;
    xs_feed_open(&feed, world->region);
    if (!feed.head)
        return NULL;
    pthread_mutex_lock(&one);
    if (world->config.cupti < 0) {
        xs_feed_why(&feed, XS_CUPTI_OFF, "%s", "");
    } else if (in_use) {
        xs_feed_why(&feed, XS_CUPTI_HELD, "%s", stuck ? "an earlier world's flush of CUPTI has not returned" : "another world of this process listens");
    } else {
        memset(&session, 0, sizeof session);
        session.world = world;
        session.feed = feed;
        memset(&feed, 0, sizeof feed);
        if (start(&session))
            started = &session;
        else
            xs_feed_close(&session.feed);
        in_use = started != NULL;
    }
    pthread_mutex_unlock(&one);
    xs_feed_close(&feed);
    return started;
}

/* 1: the thread is over. */
static int wait_for_thread(xs_cupti *s) {
    struct timespec until;
    later(&until, STOP_NS);
    pthread_mutex_lock(&s->lock);
    s->stopping = 1;
    pthread_cond_broadcast(&s->changed);
    int late = 0;
    while (!s->over && !late)
        late = pthread_cond_timedwait(&s->changed, &s->lock, &until) == ETIMEDOUT;
    int over = s->over;
    pthread_mutex_unlock(&s->lock);
    return over;
}

void xs_cupti_stop(xs_cupti *s) {
    if (!s)
        return;
    int over = wait_for_thread(s);
    pthread_mutex_lock(&s->feeding);
    if (s->feed.health.state == XS_CUPTI_ON && over)
        xs_feed_why(&s->feed, XS_CUPTI_ENDED, "%s", "");
    else if (!over)
        xs_feed_why(&s->feed, s->feed.health.state, "%s", "the last flush has not returned: a kernel may still run");
    s->abandoned = 1;
    pthread_mutex_unlock(&s->feeding);
    if (over)
        pthread_join(s->thread, NULL);
    else
        pthread_detach(s->thread);
    pthread_mutex_lock(&one);
    if (over) {
        xs_feed_close(&s->feed);
        pthread_cond_destroy(&s->changed);
        pthread_mutex_destroy(&s->lock);
        pthread_mutex_destroy(&s->feeding);
        in_use = 0;
    } else {
        stuck = 1; /* its thread may yet come back, and finds that it is abandoned */
    }
    pthread_mutex_unlock(&one);
}

void xs_cupti_forget(xs_cupti *s) {
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    if (!s)
        return;
    one = fresh;
    in_use = 1; /* CUPTI does not survive a fork */
    stuck = 0;
    xs_buffers_forget();
}

uint32_t xs_cupti_probe(uint32_t *version, const char **why) {
    static char words[160];
    uint32_t state;
    const xs_cupti_library *cupti = xs_cupti_load(&state, version, why);
    if (!cupti)
        return state;
    char who[96] = "";
    CUptiResult result = xs_cupti_holder(cupti, who, sizeof who);
    if (result == CUPTI_SUCCESS)
        return XS_CUPTI_ON;
    int held = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || result == CUPTI_ERROR_MAX_LIMIT_REACHED;
    snprintf(words, sizeof words, "%s%s", held ? "held by " : xs_cupti_result(cupti, result), held ? who : "");
    *why = words;
    return held ? XS_CUPTI_HELD : XS_CUPTI_FAILED;
}
