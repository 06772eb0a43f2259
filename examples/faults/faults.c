/* faults: runs one fault of the zoo, or its healthy twin, as `xs record -o run -- faults NAME` would. */
#include "fault.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BACKEND = 256, KEY_SCHEDULER, KEY_BOUND, KEY_LATE, KEY_POLLERS, KEY_RUNS };

typedef struct command {
    fault_options run;
    const char *name;
    uint64_t runs;
    int list;
} command;

static const struct argp_option option_table[] = {
    {"list", 'l', NULL, 0, "what there is, one fault a line: name, what must be found, who can judge, whether it is a race, what is wrong", 0},
    {"twin", 't', NULL, 0, "the healthy twin instead of the fault", 0},
    {"seed", 'S', "N", 0, "seed of work and of the sim scheduler", 0},
    {"runs", KEY_RUNS, "N", 0, "as many runs, with seeds from --seed on", 0},
    {"backend", KEY_BACKEND, "NAME", 0, "host or cuda", 0},
    {"scheduler", KEY_SCHEDULER, "NAME", 0, "threads or sim", 0},
    {"rounds", 'k', "N", 0, "rounds", 0},
    {"words", 'r', "N", 0, "32-bit words of a batch", 0},
    {"work", 'w', "NS", 0, "nanoseconds of work a round", 0},
    {"bound", KEY_BOUND, "NS", 0, "after which a wait gives up", 0},
    {"late", KEY_LATE, "NS", 0, "how late the late one is", 0},
    {"pollers", KEY_POLLERS, "N", 0, "threads that poll", 0},
    {0},
};

static uint64_t number(struct argp_state *state, const char *text, uint64_t least, uint64_t most) {
    char *end;
    uint64_t value = strtoull(text, &end, 0);
    if (*text == '\0' || *text == '-' || *end != '\0' || value < least || value > most)
        argp_error(state, "'%s' is not a number from %llu to %llu", text, (unsigned long long)least, (unsigned long long)most);
    return value;
}

static error_t parse(int key, char *text, struct argp_state *state) {
    command *c = state->input;
    switch (key) {
    case 'l': c->list = 1; return 0;
    case 't': c->run.twin = 1; return 0;
    case 'S': c->run.seed = number(state, text, 0, UINT64_MAX); return 0;
    case 'k': c->run.rounds = (uint32_t)number(state, text, 4, FAULT_ROUNDS_MAX); return 0;
    case 'r': c->run.words = (uint32_t)number(state, text, 8, 4096); return 0;
    case 'w': c->run.work_ns = number(state, text, 1, 10000000000ull); return 0;
    case KEY_BACKEND: c->run.backend = text; return 0;
    case KEY_SCHEDULER: c->run.scheduler = text; return 0;
    case KEY_BOUND: c->run.bound_ns = number(state, text, 1, 100000000000ull); return 0;
    case KEY_LATE: c->run.late_ns = number(state, text, 1, 100000000000ull); return 0;
    case KEY_POLLERS: c->run.pollers = (uint32_t)number(state, text, 1, 1u << 20); return 0;
    case KEY_RUNS: c->runs = number(state, text, 1, 1u << 20); return 0;
    case ARGP_KEY_ARG:
        if (c->name)
            argp_error(state, "one fault at a time: '%s' is too much", text);
        c->name = text;
        return 0;
    case ARGP_KEY_END:
        if (!c->name && !c->list)
            argp_error(state, "which fault? --list tells the names");
        if (c->run.scheduler && !c->run.backend)
            c->run.backend = "host"; /* schedulers are the host's */
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

static void list(void) {
    static const char *const races[] = {[FAULT_NO_RACE] = "-", [FAULT_RACE] = "race", [FAULT_RACE_UNSEEN] = "unseen"};
    for (uint32_t i = 0; i < fault_count; i++) {
        const fault *f = fault_table[i];
        printf("%-20s %-22s %-4s %-8s %-5s %-7s %s\n", f->name, f->finding ? f->finding : "(clean)", f->judges & FAULT_SIM ? "sim" : "-",
               f->judges & FAULT_THREADS ? "threads" : "-", f->judges & FAULT_CUDA ? "cuda" : "-", races[f->race], f->story);
    }
}

static void tell(const fault *f, const fault_options *o, const fault_result *r) {
    printf("%s%s, seed %llu: ended%s%s", f->name, o->twin ? " (twin)" : "", (unsigned long long)o->seed, r->error < 0 ? ", " : "",
           r->error < 0 ? xs_strerror(r->error) : "");
    if (r->stale_rounds)
        printf(", stale payload in %u rounds, first in round %u from element %u", r->stale_rounds, r->stale_round, r->stale_index);
    printf("; to be found: %s\n", o->twin || !f->finding ? "nothing" : f->finding);
}

static int run(const fault *f, fault_options o, uint64_t runs) {
    for (uint64_t i = 0; i < runs; i++, o.seed++) {
        fault_result result;
        int rc = fault_execute(f, &o, &result);
        if (rc < 0) {
            const char *detail = xs_error_detail();
            fprintf(stderr, "faults: %s: %s%s%s\n", f->name, xs_strerror(rc), *detail ? ": " : "", detail);
            return 1;
        }
        tell(f, &o, &result);
    }
    return 0;
}

int main(int argc, char **argv) {
    static const struct argp parser = {option_table, parse, "NAME", "Runs a fault of the zoo: a kernel with one mistake.", NULL, NULL, NULL};
    command c = {.runs = 1, .run = {.seed = 1}};
    argp_err_exit_status = 64;
    argp_parse(&parser, argc, argv, 0, NULL, &c);
    if (c.list)
        return list(), 0;
    const fault *f = fault_find(c.name);
    if (!f) {
        fprintf(stderr, "faults: no fault is called '%s'; --list tells the names\n", c.name);
        return 64;
    }
    return run(f, c.run, c.runs);
}
