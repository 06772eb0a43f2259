/* matrix: all faults, their twins, and the bars that the detectors must reach. Exit status 1 when a bar is missed. */
#include "matrix.h"

#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHUNK = 10 }; /* runs that a process takes at a time */
enum { KEY_BACKEND = 256, KEY_SCHEDULER, KEY_DROP, KEY_DROP_RUN, KEY_SHIFT, KEY_ALL, KEY_POLLERS };

static const struct argp_option option_table[] = {
    {"runs", 'n', "N", 0, "runs of each fault (100)", 0},
    {"twins", 't', "N", 0, "runs of each healthy twin (1000)", 0},
    {"only", 'o', "NAME", 0, "this fault alone", 0},
    {"seed", 'S', "N", 0, "seed of the first run (1)", 0},
    {"jobs", 'j', "N", 0, "processes that share the runs (2)", 0},
    {"backend", KEY_BACKEND, "NAME", 0, "host (default) or cuda", 0},
    {"scheduler", KEY_SCHEDULER, "NAME", 0, "sim (default) or threads", 0},
    {"drop", KEY_DROP, "PERCENT", 0, "lose so many of the records", 0},
    {"drop-run", KEY_DROP_RUN, "N", 0, "in runs of up to N", 0},
    {"shift", KEY_SHIFT, "NS", 0, "every rank has a clock known to within NS and is off by up to that", 0},
    {"pollers", KEY_POLLERS, "N", 0, "at most so many pollers in the first five seeds (80000, and no more than the fault asks for; 0: as in the others)", 0},
    {"all", KEY_ALL, NULL, 0, "those too that this setting cannot judge", 0},
    {0},
};

static double number(struct argp_state *state, const char *text, double least, double most) {
    char *end;
    double value = strtod(text, &end);
    if (*text == '\0' || *end != '\0' || !(value >= least && value <= most))
        argp_error(state, "'%s' is not a number from %g to %g", text, least, most);
    return value;
}

static error_t parse(int key, char *text, struct argp_state *state) {
    matrix_options *o = state->input;
    switch (key) {
    case 'n': o->runs = (uint32_t)number(state, text, 0, 1e6); return 0;
    case 't': o->twins = (uint32_t)number(state, text, 0, 1e6); return 0;
    case 'o': o->only = text; return 0;
    case 'S': o->seed = (uint64_t)number(state, text, 0, 1e15); return 0;
    case 'j': o->jobs = (uint32_t)number(state, text, 1, 64); return 0;
    case KEY_BACKEND: o->backend = text; return 0;
    case KEY_SCHEDULER: o->scheduler = text; return 0;
    case KEY_DROP: o->drop = number(state, text, 0, 99) / 100; return 0;
    case KEY_DROP_RUN: o->drop_run = (uint32_t)number(state, text, 1, 4096); return 0;
    case KEY_SHIFT: o->shift_ns = (uint64_t)number(state, text, 0, 1e9); return 0;
    case KEY_POLLERS: o->many_pollers = (uint32_t)number(state, text, 0, 1e6); return 0;
    case KEY_ALL: o->all = 1; return 0;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", text); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* Shared by the processes. */
typedef struct board {
    uint64_t next; /* unit of work to be taken next */
    matrix_row row[];
} board;

#define COUNT(field, by) __atomic_fetch_add(&(field), (uint32_t)(by), __ATOMIC_RELAXED)

/* The first miss is told. */
static void keep(uint32_t *taken, uint64_t *seed_at, char *text_at, uint64_t seed, const char *got) {
    if (__atomic_exchange_n(taken, 1, __ATOMIC_RELAXED) == 0) {
        *seed_at = seed;
        snprintf(text_at, sizeof((matrix_row *)0)->miss, "%s", got);
    }
}

static void enter(matrix_row *r, const matrix_options *o, const fault *f, uint64_t seed, bool twin, const matrix_verdict *v) {
    if (!v->ran) {
        COUNT(r->broken, 1);
        keep(&r->missed, &r->miss_seed, r->miss, seed, v->got);
    } else if (twin) {
        COUNT(r->twins, 1), COUNT(r->twin_errors, v->errors != 0), COUNT(r->twin_same, v->listed), COUNT(r->twin_unknown, v->unknown != 0);
        COUNT(r->moved, v->moved);
        if (v->errors || (v->listed && o->drop <= 0))
            keep(&r->twin_missed, &r->twin_seed, r->twin_miss, seed, v->got);
    } else {
        bool right = v->first && v->slot && v->culprit;
        COUNT(r->runs, 1), COUNT(r->first, v->first), COUNT(r->slot, v->first && v->slot), COUNT(r->culprit, v->first && v->culprit);
        COUNT(r->right, right), COUNT(r->named, v->named), COUNT(r->false_errors, v->errors != 0);
        COUNT(r->unknown, v->unknown != 0), COUNT(r->moved, v->moved);
        if (v->errors || v->moved || (f->finding && !(o->drop > 0 ? v->named : right)))
            keep(&r->missed, &r->miss_seed, r->miss, seed, v->got);
    }
}

static void work(const matrix_options *o, board *b, uint32_t job) {
    uint64_t of_fault = (o->runs + CHUNK - 1) / CHUNK, of_twin = (o->twins + CHUNK - 1) / CHUNK, units = of_fault + of_twin;
    char capture[64];
    snprintf(capture, sizeof capture, "/dev/shm/xs-matrix.%ld.%u", (long)getppid(), job);
    for (uint64_t unit; (unit = __atomic_fetch_add(&b->next, 1, __ATOMIC_RELAXED)) < units * fault_count;) {
        uint32_t index = (uint32_t)(unit / units);
        const fault *f = fault_table[index];
        bool twin = unit % units >= of_fault;
        uint64_t from = (unit % units - (twin ? of_fault : 0)) * CHUNK, most = twin ? o->twins : o->runs;
        for (uint64_t i = from; matrix_judges(o, f) && i < from + CHUNK && i < most; i++) {
            matrix_verdict v = matrix_judge(f, o, o->seed + i, twin, capture);
            enter(&b->row[index], o, f, o->seed + i, twin, &v);
        }
    }
}

/* A process that dies takes its chunk along: that is a failure, not a gap. */
static uint32_t run_jobs(const matrix_options *o, board *b) {
    uint32_t died = 0;
    int status;
    fflush(stdout);
    for (uint32_t job = 0; job < o->jobs; job++) {
        pid_t child = fork();
        if (child == 0) {
            work(o, b, job);
            _exit(0);
        }
        died += child < 0;
    }
    while (wait(&status) > 0)
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            died++;
    return died;
}

int main(int argc, char **argv) {
    static const struct argp parser = {option_table, parse, NULL, "Runs the fault matrix.", NULL, NULL, NULL};
    matrix_options o = {.scheduler = "sim", .runs = 100, .twins = 1000, .jobs = 2, .seed = 1, .many_pollers = 80000};
    argp_err_exit_status = 64;
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    if (o.only && !fault_find(o.only))
        return fprintf(stderr, "matrix: no fault is called '%s'\n", o.only), 64;
    if (!o.backend)
        o.backend = "host";
    o.judge = strcmp(o.backend, "cuda") == 0 ? FAULT_CUDA : strcmp(o.scheduler, "threads") == 0 ? FAULT_THREADS : FAULT_SIM;
    size_t bytes = sizeof(board) + fault_count * sizeof(matrix_row);
    board *b = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (b == MAP_FAILED)
        return perror("matrix"), 1;
    uint32_t died = run_jobs(&o, b), missed = matrix_print(&o, b->row);
    if (died)
        printf("FAIL: %u processes died\n", died);
    return missed || died;
}
