/* Who listens to CUPTI: one world of a process. From its start, or why there is none, to its end. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cupti_buffers.h"
#include "cupti_internal.h"
#include "cupti_others.h"
#include "identity.h"

#define STOP_NS 2000000000u

static struct xs_cupti session;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static int in_use, stuck;

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

static int refuse_failed(xs_cupti *s) {
    CUptiResult result;
    const char *what = xs_cupti_enable_all(s, &result);
    if (!what)
        return 0;
    xs_feed_why(&s->feed, XS_CUPTI_FAILED, "%s: %s", what, xs_cupti_result(s->cupti, result));
    xs_cupti_disable_all(s->cupti);
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
    int number = pthread_create(&s->thread, NULL, xs_cupti_run, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (number) {
        xs_feed_why(&s->feed, XS_CUPTI_FAILED, "no thread: %s", strerror(number));
        xs_cupti_disable_all(s->cupti);
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
    if (refuse_held(s) || refuse_failed(s))
        return 0;
    h->since = h->until = xs_clock_boot();
    xs_feed_round(&s->feed);
    xs_cupti_sample_clock(s);
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
        xs_feed_why(&feed, XS_CUPTI_HELD, "%s",
                    stuck ? "an earlier world's flush of CUPTI has not returned"
                          : "another world of this process listens");
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
    xs_cupti_later(&until, STOP_NS);
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

/* CUPTI does not survive a fork: what was in use, or was just being taken into use, stays so. */
void xs_cupti_forget(void) {
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    if (pthread_mutex_trylock(&one))
        in_use = 1;
    one = fresh;
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
