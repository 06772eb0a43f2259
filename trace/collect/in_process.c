/* How a world's collector runs: a recorder in another process (XS_RECORD), a thread of this process, or, on sim, the
 * scheduler, which calls pass(). */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collector.h"
#include "cupti_session.h"
#include "exit_list.h"
#include "identity.h"
#include "protocol.h"
#include "recorder_client.h"
#include "world.h"

#define SLEEP_LEAST_NS 200000u
#define SLEEP_MOST_NS 5000000u
#define EXIT_WAIT_NS 1000000000u
#define DUMP_WAIT_NS 5000000000ull

typedef struct in_process {
    xs_exit_entry at_exit; /* first */
    xs_world *world;
    struct in_process *next_forgotten;
    int recorder_fd; /* -1: none */
    int recorder_late; /* it has not answered the last DRAIN */
    xs_collector *collector;
    xs_collected *region;
    xs_cupti *cupti; /* NULL: nobody listens to CUPTI */
    pthread_t thread;
    int threaded, stopped, error;
    /* between the thread and others */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int stopping, clean;
    uint64_t dumps_asked, dumps_done;
    int dump_error;
    char why[224];
} in_process;

static volatile sig_atomic_t signals; /* SIGUSR1 seen */

static void on_signal(int number) {
    (void)number;
    signals = signals + 1;
}

/* Only where the application has no handler of its own. */
static void catch_signal(void) {
    struct sigaction old, mine = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    if (!sigaction(SIGUSR1, NULL, &old) && !(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)
        sigaction(SIGUSR1, &mine, NULL);
}

static uint64_t now_boot(void *user) {
    (void)user;
    return xs_clock_boot();
}
static uint64_t now_world(void *user) { return xs_world_now(user); }

static uint32_t abort_reason(const in_process *p) {
    return p->world->abort_word ? __atomic_load_n(p->world->abort_word, __ATOMIC_RELAXED) : 0;
}

static int end_capture(in_process *p, int clean) {
    xs_frame_end end = {.clean = (uint32_t)clean, .exit_status = -1, .abort_reason = abort_reason(p)};
    xs_collector *collector = p->collector;
    xs_collector_end(collector, p->region, &end);
    p->collector = NULL; /* first: a child that is forked now must not look at what is being freed */
    return xs_collector_close(collector);
}

/* The thread. */

static uint64_t pass_and_triggers(in_process *p, sig_atomic_t *signals_seen) {
    if (abort_reason(p))
        xs_world_set_abort(p->world, abort_reason(p)); /* by another process: the region does not say it yet */
    uint64_t taken = xs_collector_pass(p->collector);
    if (!p->world->config.capture_on_trigger)
        return taken;
    if (signals != *signals_seen) {
        *signals_seen = signals;
        xs_collector_dump(p->collector, "SIGUSR1");
    }
    return taken;
}

/* With the lock held; gives it back while it works. */
static void answer_dump(in_process *p) {
    char why[sizeof p->why];
    uint64_t asked = p->dumps_asked;
    memcpy(why, p->why, sizeof why);
    pthread_mutex_unlock(&p->lock);
    int rc = xs_collector_dump(p->collector, why);
    pthread_mutex_lock(&p->lock);
    p->dump_error = rc;
    p->dumps_done = asked;
    pthread_cond_broadcast(&p->changed);
}

static void later(struct timespec *when, clockid_t clock, uint64_t ns) {
    clock_gettime(clock, when);
    ns += (uint64_t)when->tv_nsec;
    when->tv_sec += (time_t)(ns / 1000000000u);
    when->tv_nsec = (long)(ns % 1000000000u);
}

/* Sleeps until something is asked or the time is over. 0: stop. */
static int rest(in_process *p, uint64_t ns) {
    struct timespec until;
    later(&until, CLOCK_MONOTONIC, ns);
    pthread_mutex_lock(&p->lock);
    if (!p->stopping && p->dumps_done == p->dumps_asked && ns)
        pthread_cond_timedwait(&p->changed, &p->lock, &until);
    if (p->dumps_done != p->dumps_asked)
        answer_dump(p);
    int go_on = !p->stopping;
    pthread_mutex_unlock(&p->lock);
    return go_on;
}

static void *run(void *user) {
    in_process *p = user;
    sig_atomic_t signals_seen = signals;
    const uint64_t busy = xs_region(p->world)->ring_records / 4;
    uint64_t sleep = SLEEP_LEAST_NS, taken;
    pthread_setname_np(pthread_self(), "xs collector");
    pthread_mutex_lock(&p->lock); /* until the capture has begun */
    pthread_mutex_unlock(&p->lock);
    do {
        taken = pass_and_triggers(p, &signals_seen);
        sleep = taken ? SLEEP_LEAST_NS : sleep * 2 < SLEEP_MOST_NS ? sleep * 2 : SLEEP_MOST_NS;
    } while (rest(p, taken >= busy ? 0 : sleep));
    p->error = end_capture(p, p->clean);
    return NULL;
}

/* Signals are the application's: none is delivered to the thread. */
static int start_thread(in_process *p) {
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (p->world->config.capture_on_trigger)
        catch_signal();
    sigset_t all, old;
    sigfillset(&all);
    pthread_mutex_lock(&p->lock);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int number = pthread_create(&p->thread, NULL, run, p);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    p->threaded = !number;
    int rc = number ? xs_fail(XS_E_SYSTEM, "no thread for the collector: %s", strerror(number))
                    : xs_capture_begin(xs_collector_capture(p->collector));
    p->stopping = rc != 0;
    pthread_mutex_unlock(&p->lock);
    if (rc && p->threaded) /* it ends the capture */
        pthread_join(p->thread, NULL);
    return rc;
}

/* Start. */

static int open_capture(const xs_world *world, xs_capture **capture) {
    char suffix[32] = "";
    const xs_config *config = &world->config;
    if (config->ranks > config->local_ranks)
        snprintf(suffix, sizeof suffix, ".rank%u", config->first_rank);
    xs_capture_options options = {.name = config->capture, .suffix = suffix, .bound_bytes = config->capture_bytes,
                                  .bound_ns = config->capture_seconds * 1000000000ull, .held = 1};
    return xs_capture_open(&options, capture);
}

static int start_capture(in_process *p, const char *note) {
    xs_world *world = p->world;
    xs_capture *capture;
    int is_virtual = xs_region(world)->virtual_time != 0;
    int rc = open_capture(world, &capture);
    if (rc)
        return rc;
    xs_collector_options options = {.capture = capture, .now = is_virtual ? now_world : now_boot, .user = world,
                                    .threads = is_virtual ? 1 : world->config.collectors,
                                    .on_trigger = world->config.capture_on_trigger > 0};
    rc = xs_collector_create(&options, &p->collector);
    if (rc) {
        xs_capture_close(capture);
        return rc;
    }
    rc = xs_collector_add(p->collector, world->region, world->region_total, 0, &p->region);
    if (!rc && note)
        rc = xs_collector_note(p->collector, note);
    if (!rc && is_virtual)
        return xs_capture_begin(capture);
    return rc ? rc : start_thread(p);
}

static int start_any(in_process *p) {
    const char *path = getenv("XS_RECORD");
    char note[256] = "";
    if (path && *path) {
        p->recorder_fd = xs_recorder_connect(p->world, path);
        if (p->recorder_fd >= 0)
            return 1;
        snprintf(note, sizeof note, "recorded by the process itself, since %s", xs_error_detail());
    }
    if (!p->world->config.capture)
        return 0;
    int rc = start_capture(p, *note ? note : NULL);
    return rc ? rc : 1;
}

static int stop(void *state, int clean);

static void stop_at_exit(xs_exit_entry *entry) {
    in_process *p = (in_process *)entry;
    xs_placement_flush(p->world, EXIT_WAIT_NS);
    stop(p, 0);
}

static int start(xs_world *world, void **state) {
    *state = NULL;
    in_process *p = calloc(1, sizeof *p);
    if (!p)
        return XS_E_MEMORY;
    p->world = world;
    p->recorder_fd = -1;
    int rc = start_any(p);
    if (rc > 0) {
        p->cupti = xs_cupti_start(world);
        p->at_exit.stop = stop_at_exit;
        xs_exit_add(&p->at_exit);
        *state = p;
        return 0;
    }
    if (p->collector)
        xs_collector_forget(p->collector);
    free(p);
    return rc;
}

/* The rest of the table. */

static void pass(void *state) {
    in_process *p = state;
    if (p->stopped || p->threaded)
        return;
    xs_placement_pass(p->world);
    if (p->collector) {
        xs_collector_pass(p->collector);
    } else if (p->recorder_fd >= 0 && xs_recorder_drain(p->recorder_fd, &p->recorder_late)) {
        close(p->recorder_fd); /* gone: the run goes on */
        p->recorder_fd = -1;
    }
}

static int dump_by_thread(in_process *p, const char *why) {
    struct timespec until;
    later(&until, CLOCK_MONOTONIC, DUMP_WAIT_NS);
    pthread_mutex_lock(&p->lock);
    uint64_t mine = ++p->dumps_asked;
    snprintf(p->why, sizeof p->why, "%s", why);
    pthread_cond_broadcast(&p->changed);
    int late = 0;
    while (p->dumps_done < mine && !late)
        late = pthread_cond_timedwait(&p->changed, &p->lock, &until) == ETIMEDOUT;
    int rc = late ? XS_E_TIMEOUT : p->dump_error;
    pthread_mutex_unlock(&p->lock);
    return rc;
}

static int dump(void *state, const char *why) {
    in_process *p = state;
    if (p->stopped)
        return 0;
    if (p->threaded)
        return dump_by_thread(p, why);
    if (p->collector)
        return xs_collector_dump(p->collector, why);
    return p->recorder_fd >= 0 ? xs_recorder_send(p->recorder_fd, XS_RECORDER_DUMP, 0, 0, why) : XS_E_RECORDER;
}

static void stop_thread(in_process *p, int clean) {
    pthread_mutex_lock(&p->lock);
    p->clean = clean;
    p->stopping = 1;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
}

/* A world that outlives exit() is stopped there, and once more when somebody destroys it yet. */
static int stop(void *state, int clean) {
    in_process *p = state;
    if (!p->stopped) {
        p->stopped = 1;
        xs_cupti_stop(p->cupti); /* its last entries come before the end */
        p->cupti = NULL;
        if (p->recorder_fd >= 0) {
            xs_recorder_send(p->recorder_fd, XS_RECORDER_BYE, clean, abort_reason(p), NULL);
            close(p->recorder_fd);
        } else if (p->threaded) {
            stop_thread(p, clean);
        } else if (p->collector) {
            p->error = end_capture(p, clean);
        }
    }
    int rc = p->error;
    if (!xs_exit_remove(&p->at_exit))
        free(p);
    return rc;
}

static void forked(void) {
    xs_exit_forget();
    xs_cupti_forget();
}

/* The memory is kept: the thread that is not here may have been changing it, or have held the allocator's lock. */
static void forget(void *state) {
    static in_process *forgotten;
    in_process *p = state;
    if (p->recorder_fd >= 0)
        close(p->recorder_fd);
    if (p->collector)
        xs_capture_let_go(xs_collector_capture(p->collector));
    p->next_forgotten = forgotten;
    forgotten = p;
}

static void probe(xs_probe *probe) {
    probe->cupti = xs_cupti_probe(&probe->cupti_version, &probe->cupti_why) == XS_CUPTI_ON;
}

const xs_collect_ops xs_collect = {start, pass, dump, stop, forked, forget, probe};
