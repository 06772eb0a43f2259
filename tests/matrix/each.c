/* A process a fault: all its runs and those of its twin, in turn, each in a world of its own. The process is watched: one that hangs, in
 * the GPU's driver too, is killed, and another goes on behind the run that it was in. The time that there is is shared out over the
 * faults that are left. Nothing here calls CUDA. */
#include "matrix.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SPOILT = 3, DEATHS = 3, SPOILING_RUNS = 10 }; /* exit status; of one fault, then it is given up; runs that take a process each */

/* Of the fault under way, shared with its process. */
typedef struct progress {
    uint32_t runs, twins;   /* begun */
    uint32_t descriptors;   /* behind the first run of the process */
    uint64_t seed;
    double began;           /* the run under way; 0: none */
} progress;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint32_t descriptors(void) {
    DIR *open = opendir("/proc/self/fd");
    uint32_t count = 0;
    while (open && readdir(open))
        count++;
    if (open)
        closedir(open);
    return count;
}

static bool spoils(const matrix_options *o, const fault *f) { return f->cuda.spoils && o->judge == FAULT_CUDA; }
static uint32_t runs_of(const matrix_options *o, const fault *f) {
    return spoils(o, f) && o->runs > SPOILING_RUNS ? SPOILING_RUNS : o->runs;
}
static bool all_made(const matrix_options *o, const fault *f, const progress *p) { return p->runs >= runs_of(o, f) && p->twins >= o->twins; }
/* Whichever is further behind, the fault first. */
static bool twin_is_next(const matrix_options *o, const fault *f, const progress *p) {
    return p->runs >= runs_of(o, f) || (p->twins < o->twins && (uint64_t)p->twins * runs_of(o, f) < (uint64_t)p->runs * o->twins);
}

static matrix_verdict make_run(const matrix_settings *settings, const fault *f, progress *p, bool twin, const char *capture) {
    const matrix_options *o = &settings->of[0];
    p->seed = o->seed + (twin ? p->twins++ : p->runs++); /* whatever comes of it, it is not made again */
    p->began = now();
    matrix_verdict v;
    matrix_judge(f, settings, p->seed, twin, capture, &v);
    p->began = 0;
    return v;
}

static void name_capture(char *to, size_t size, pid_t process, const char *ending) {
    snprintf(to, size, "/dev/shm/xs-matrix.%ld%s", (long)process, ending);
}

static void run_fault(const matrix_settings *settings, const fault *f, matrix_row *row, progress *p, double until) {
    const matrix_options *o = &settings->of[0];
    char capture[64];
    name_capture(capture, sizeof capture, getpid(), "");
    const char *to = o->keep ? o->keep : capture;
    for (uint32_t made = 0; !all_made(o, f, p) && (now() < until || p->runs == 0); made++) {
        bool twin = twin_is_next(o, f, p);
        matrix_verdict v = make_run(settings, f, p, twin, to);
        matrix_enter(row, o, f, p->seed, twin, &v);
        if (v.spoilt || (!twin && spoils(o, f)))
            _exit(SPOILT);
        p->descriptors = made == 0 ? descriptors() : p->descriptors;
        if (made && descriptors() > p->descriptors && descriptors() - p->descriptors > row->leaked)
            row->leaked = descriptors() - p->descriptors;
    }
    _exit(0);
}

/* Its exit status; -1: it died, or was killed since a run of it took too long. */
static int watch(const matrix_options *o, pid_t child, const progress *p, char *why, size_t size) {
    int status;
    snprintf(why, size, "its process could not be watched");
    for (bool killed = false;; usleep(5000)) {
        pid_t ended = waitpid(child, &status, WNOHANG);
        double began = *(volatile const double *)&p->began;
        if (ended < 0)
            return -1;
        if (ended == child && WIFEXITED(status))
            return WEXITSTATUS(status);
        if (ended == child) {
            if (!killed)
                snprintf(why, size, "its process died: %s", strsignal(WTERMSIG(status)));
            return -1;
        }
        if (!killed && began > 0 && now() - began > o->patience) {
            snprintf(why, size, "no end within %.0f s", o->patience);
            kill(child, SIGKILL);
            killed = true;
        }
    }
}

/* The number of processes that died. */
static uint32_t take_fault(const matrix_settings *settings, const fault *f, matrix_row *row, progress *p, double until) {
    const matrix_options *o = &settings->of[0];
    double begin = now();
    uint32_t died = 0;
    char why[128], left[64];
    memset(p, 0, sizeof *p);
    for (int code = SPOILT; code != 0 && died < DEATHS && !all_made(o, f, p);) {
        pid_t parent = getpid(), child;
        if (now() >= until && p->runs)
            break;
        fflush(NULL);
        if ((child = fork()) == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() == parent)
                run_fault(settings, f, row, p, until);
            _exit(1);
        }
        code = child < 0 ? -1 : watch(o, child, p, why, sizeof why);
        if (code == 0 || code == SPOILT)
            continue;
        died++;
        name_capture(left, sizeof left, child, ".xs"); /* of the run that it was in */
        unlink(left);
        matrix_enter_broken(row, p->seed, why);
        p->began = 0;
    }
    row->short_runs = !all_made(o, f, p);
    row->seconds = now() - begin;
    return died;
}

uint32_t matrix_each(const matrix_settings *settings, matrix_row *rows) {
    const matrix_options *o = &settings->of[0];
    progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double end = o->seconds > 0 ? now() + o->seconds : 1e300;
    uint32_t left = 0, died = 0;
    if (p == MAP_FAILED)
        return 1;
    for (uint32_t i = 0; i < fault_count; i++)
        left += matrix_takes(o, i);
    /* Those that spoil their GPU last: the driver takes seconds to tell of each, and the others leave time over. */
    for (uint32_t n = 0; n < 2 * fault_count; n++) {
        uint32_t i = n % fault_count;
        if (!matrix_takes(o, i) || spoils(o, fault_table[i]) != (n >= fault_count))
            continue;
        double share = (end - now()) / left--;
        died += take_fault(settings, fault_table[i], &rows[i], p, now() + (share > 0 ? share : 0));
        (void)matrix_print_row(o, fault_table[i], &rows[i]);
    }
    munmap(p, sizeof *p);
    return died;
}
