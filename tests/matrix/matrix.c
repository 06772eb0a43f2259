/* matrix: all faults, their twins, and the bars that the detectors must reach. Exit status 1 when a bar is missed. */
#include "matrix.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEY_BACKEND = 256, KEY_SCHEDULER, KEY_DROP, KEY_DROP_RUN, KEY_SHIFT, KEY_KNOWN, KEY_ALL, KEY_POLLERS, KEY_EACH, KEY_MISSES, KEY_KEEP, KEY_SECONDS, KEY_PATIENCE, KEY_PART, KEY_TABLE, KEY_BUT, KEY_TIMELESS, KEY_BRIEF,
       KEY_BOUND, KEY_TWIN_BOUND, KEY_SLOWER };

static const struct argp_option option_table[] = {
    {"runs", 'n', "N", 0, "runs of each fault (100)", 0},
    {"twins", 't', "N", 0, "runs of each healthy twin (1000)", 0},
    {"only", 'o', "NAMES", 0, "these faults alone (commas between them)", 0},
    {"but", KEY_BUT, "NAMES", 0, "not these", 0},
    {"timeless", KEY_TIMELESS, NULL, 0, "none whose finding depends on times", 0},
    {"bound", KEY_BOUND, "MS", 0, "after which waits of faults give up", 0},
    {"slower", KEY_SLOWER, "N", 0, "work takes N times as long: for machines that are late by as much", 0},
    {"twin-bound", KEY_TWIN_BOUND, "MS", 0, "and those of twins", 0},
    {"seed", 'S', "N", 0, "seed of the first run (1)", 0},
    {"jobs", 'j', "N", 0, "processes that share the runs (2)", 0},
    {"backend", KEY_BACKEND, "NAME", 0, "host (default) or cuda", 0},
    {"scheduler", KEY_SCHEDULER, "NAME", 0, "sim (default) or threads", 0},
    {"drop", KEY_DROP, "PERCENT", 0, "lose so many of the records; of several (commas between them) each gets its table, of the same runs", 0},
    {"drop-run", KEY_DROP_RUN, "N", 0, "in runs of up to N; several, as above", 0},
    {"shift", KEY_SHIFT, "NS", 0, "every rank has a clock known to within NS and is off by up to that; several, as above", 0},
    {"known", KEY_KNOWN, "NS", 0, "with --shift: those clocks say that they are right to within NS", 0},
    {"pollers", KEY_POLLERS, "N", 0, "at most so many pollers in the first five seeds (80000, and no more than the fault asks for; 0: as in the others)", 0},
    {"all", KEY_ALL, NULL, 0, "those too that this setting cannot judge", 0},
    {"each", KEY_EACH, NULL, 0, "a process a fault, one after the other, and watched (always so on CUDA)", 0},
    {"misses", KEY_MISSES, NULL, 0, "tell every miss, not the first of each fault alone", 0},
    {"keep", KEY_KEEP, "NAME", 0, "leave each capture as NAME.xs: the last one stays (with one job)", 0},
    {"seconds", KEY_SECONDS, "S", 0, "with --each: in so much time; each fault gets its share", 0},
    {"patience", KEY_PATIENCE, "S", 0, "with --each: a run that takes longer is killed (60)", 0},
    {"part", KEY_PART, "K/N", 0, "the K-th of N parts of the faults", 0},
    {"table", KEY_TABLE, "FILE", 0, "write the table there too", 0},
    {"brief", KEY_BRIEF, NULL, 0, "print only what misses its bar, in less than 10 kB; the file has all", 0},
    {0},
};

/* Lists: what is lost and shifted. */
typedef struct request {
    matrix_options options;
    const char *drops, *runs, *shifts;
    matrix_settings settings;
} request;

/* Asked of a process of its own: this one must stay without the driver. */
static bool has_gpu(void) {
    xs_probe probe = {.size = sizeof probe};
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(xs_probe_machine(&probe) == 0 && probe.gpus > 0 ? 0 : 1);
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static double number(struct argp_state *state, const char *text, double least, double most) {
    char *end;
    double value = strtod(text, &end);
    if (*text == '\0' || *end != '\0' || !(value >= least && value <= most))
        argp_error(state, "'%s' is not a number from %g to %g", text, least, most);
    return value;
}

static error_t check_names(struct argp_state *state, const char *names) {
    char name[64];
    for (const char *at = names; *at; at += strcspn(at, ","), at += *at == ',') {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        if (!fault_find(name))
            argp_error(state, "no fault is called '%s'", name);
    }
    return 0;
}

static error_t parse(int key, char *text, struct argp_state *state) {
    request *r = state->input;
    matrix_options *o = &r->options;
    switch (key) {
    case 'n': o->runs = (uint32_t)number(state, text, 0, 1e6); return 0;
    case 't': o->twins = (uint32_t)number(state, text, 0, 1e6); return 0;
    case 'o': o->only = text; return check_names(state, text);
    case KEY_BUT: o->but = text; return check_names(state, text);
    case KEY_TIMELESS: o->timeless = 1; return 0;
    case KEY_BOUND: o->bound_ns = (uint64_t)(number(state, text, 1, 1e5) * 1e6); return 0;
    case KEY_SLOWER: o->slower = (uint32_t)number(state, text, 1, 1e4); return 0;
    case KEY_TWIN_BOUND: o->twin_bound_ns = (uint64_t)(number(state, text, 1, 1e5) * 1e6); return 0;
    case 'S': o->seed = (uint64_t)number(state, text, 0, 1e15); return 0;
    case 'j': o->jobs = (uint32_t)number(state, text, 1, 64); return 0;
    case KEY_BACKEND: o->backend = text; return 0;
    case KEY_SCHEDULER: o->scheduler = text; return 0;
    case KEY_DROP: r->drops = text; return 0;
    case KEY_DROP_RUN: r->runs = text; return 0;
    case KEY_SHIFT: r->shifts = text; return 0;
    case KEY_POLLERS: o->many_pollers = (uint32_t)number(state, text, 0, 1e6); return 0;
    case KEY_KNOWN: o->known_ns = (uint64_t)number(state, text, 1, 1e9); return 0;
    case KEY_ALL: o->all = 1; return 0;
    case KEY_EACH: o->each = 1; return 0;
    case KEY_MISSES: o->misses = 1; return 0;
    case KEY_KEEP: o->keep = text; return 0;
    case KEY_SECONDS: o->seconds = number(state, text, 1, 1e6); return 0;
    case KEY_PATIENCE: o->patience = number(state, text, 1, 1e6); return 0;
    case KEY_PART:
        if (sscanf(text, "%u/%u", &o->part, &o->parts) != 2 || o->part == 0 || o->part > o->parts)
            argp_error(state, "'%s' is no part: 1/2 is the first of two", text);
        return 0;
    case KEY_BRIEF: o->brief = 1; return 0;
    case KEY_TABLE:
        if (!(o->table = fopen(text, "w")))
            argp_error(state, "%s: %s", text, strerror(errno));
        return 0;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", text); return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

/* What the backend needs: the GPU's context does not outlive a fault, and a fork of a process that has one is of no use. */
static void complete(matrix_options *o) {
    if (!o->backend)
        o->backend = "host";
    o->judge = strcmp(o->backend, "cuda") == 0 ? FAULT_CUDA : strcmp(o->scheduler, "threads") == 0 ? FAULT_THREADS : FAULT_SIM;
    o->each |= o->judge == FAULT_CUDA;
    o->scheduler = o->judge == FAULT_CUDA ? NULL : o->scheduler; /* schedulers are the host's */
}

static void make_settings(request *r) {
    if (!matrix_settings_make(&r->settings, &r->options, r->drops, r->runs, r->shifts)) {
        fputs("matrix: --drop takes numbers from 0 to 99, --drop-run from 1 to 4096, --shift from 0 to 1e9, at most 8 of each and 24 settings\n", stderr);
        exit(64);
    }
    if (r->options.each && r->settings.count > 1) {
        fputs("matrix: with --each, and on CUDA, what is lost and shifted is one setting\n", stderr);
        exit(64);
    }
}

static uint32_t run_all(const matrix_settings *settings, matrix_row *rows) {
    bool each = settings->of[0].each;
    if (each) /* row by row, as they come */
        matrix_print_head(&settings->of[0]);
    uint32_t died = each ? matrix_each(settings, rows) : matrix_pool(settings, rows), bad = 0;
    for (uint32_t i = 0; i < settings->count; i++) {
        if (!each)
            matrix_print_head(&settings->of[i]);
        bad += matrix_print_end(&settings->of[i], rows + i * fault_count, died);
    }
    return bad;
}

int main(int argc, char **argv) {
    static const struct argp parser = {option_table, parse, NULL, "Runs the fault matrix.", NULL, NULL, NULL};
    static request r = {.options = {.scheduler = "sim", .runs = 100, .twins = 1000, .jobs = 2, .seed = 1, .many_pollers = 80000, .patience = 60}};
    argp_err_exit_status = 64;
    argp_parse(&parser, argc, argv, 0, NULL, &r);
    complete(&r.options);
    make_settings(&r);
    if (r.options.judge == FAULT_CUDA && !has_gpu())
        return puts("skipped: no GPU"), 77;
    matrix_row *rows = mmap(NULL, r.settings.count * fault_count * sizeof *rows, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (rows == MAP_FAILED)
        return perror("matrix"), 1;
    return run_all(&r.settings, rows) != 0;
}
