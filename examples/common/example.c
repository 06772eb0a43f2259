#include "example.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEY_SLOW_PERCENT = 256, KEY_BACKEND, KEY_SCHEDULER, KEY_RESIDENCY, KEY_COUNTS, KEY_SKEW };

static const struct argp_option option_table[] = {
    {"ranks", 'n', "N", 0, "ranks of the world; else as many as torchrun, mpirun or srun started processes", 0},
    {"rows", 'r', "N", 0, "rows (or bytes, elements) that a round moves at most", 0},
    {"rounds", 'k', "N", 0, "rounds", 0},
    {"work", 'w', "NS", 0, "nanoseconds of work a tile", 0},
    {"slow", 's', "RANK", 0, "this rank works longer", 0},
    {"slow-percent", KEY_SLOW_PERCENT, "P", 0, "how much longer (30)", 0},
    {"seed", 'S', "N", 0, "seed of the payload, the routing and the sim scheduler", 0},
    {"backend", KEY_BACKEND, "NAME", 0, "host or cuda", 0},
    {"scheduler", KEY_SCHEDULER, "NAME", 0, "threads or sim", 0},
    {"residency", KEY_RESIDENCY, "BLOCKS", 0, "blocks that run at once (0: all)", 0},
    {"processes", 'p', NULL, 0, "one process a rank instead of all ranks in one", 0},
    {"skew", KEY_SKEW, NULL, 0, "skewed routing, in which some pairs send nothing", 0},
    {"counts", KEY_COUNTS, "FILE", 0, "append the counts that the kernels kept to FILE", 0},
    {0},
};

static int number(struct argp_state *state, const char *text, uint64_t least, uint64_t most, uint64_t *value) {
    char *end;
    *value = strtoull(text, &end, 0);
    if (*text == '\0' || *text == '-' || *end != '\0' || *value < least || *value > most)
        argp_error(state, "'%s' is not a number from %llu to %llu", text, (unsigned long long)least, (unsigned long long)most);
    return 0;
}

static const char *one_of(struct argp_state *state, const char *text, const char *a, const char *b) {
    if (strcmp(text, a) != 0 && strcmp(text, b) != 0)
        argp_error(state, "'%s' is neither %s nor %s", text, a, b);
    return text;
}

static error_t parse(int key, char *text, struct argp_state *state) {
    example_options *o = state->input;
    uint64_t v = 0;
    switch (key) {
    case 'n': number(state, text, 1, 1024, &v), o->ranks = (uint32_t)v, o->ranks_told = 1; return 0;
    case 'r': number(state, text, 1, 1u << 24, &v), o->rows = (uint32_t)v; return 0;
    case 'k': number(state, text, 1, 1u << 30, &v), o->rounds = (uint32_t)v; return 0;
    case 'w': number(state, text, 0, 10000000000ull, &o->work_ns); return 0;
    case 's': number(state, text, 0, 1023, &v), o->slow_rank = (int32_t)v; return 0;
    case 'S': number(state, text, 0, UINT64_MAX, &o->seed); return 0;
    case 'p': o->processes = 1; return 0;
    case KEY_SLOW_PERCENT: number(state, text, 0, 100000, &v), o->slow_percent = (uint32_t)v; return 0;
    case KEY_BACKEND: o->backend = one_of(state, text, "host", "cuda"); return 0;
    case KEY_SCHEDULER: o->scheduler = one_of(state, text, "threads", "sim"); return 0;
    case KEY_RESIDENCY: number(state, text, 0, 1u << 20, &v), o->residency = (uint32_t)v; return 0;
    case KEY_COUNTS: o->counts = text; return 0;
    case KEY_SKEW: o->skew = 1; return 0;
    case ARGP_KEY_ARG: argp_error(state, "unexpected argument '%s'", text); return 0;
    case ARGP_KEY_END:
        if (o->processes && o->scheduler && strcmp(o->scheduler, "sim") == 0)
            argp_error(state, "the sim scheduler runs all ranks in one process, without --processes");
        return 0;
    default: return ARGP_ERR_UNKNOWN;
    }
}

int example_failed(const char *what, int error) {
    const char *detail = xs_error_detail();
    fprintf(stderr, "%s: %s: %s%s%s\n", program_invocation_short_name, what, xs_strerror(error), *detail ? ": " : "", detail);
    return 1;
}

static int no_such_rank(const example_options *o) {
    fprintf(stderr, "%s: rank %d of --slow is not below the %u ranks of the world\n", program_invocation_short_name, o->slow_rank, o->ranks);
    return 64;
}

/* How many processes torchrun, mpirun or srun have started, of which this is one. 0: none but this one. */
static uint32_t started_here(int *first) {
    static const char *const told[][2] = {{"RANK", "WORLD_SIZE"}, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                          {"PMI_RANK", "PMI_SIZE"}, {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const char *rank = getenv(told[i][0]), *size = getenv(told[i][1]);
        if (rank && size && atol(size) > 1)
            return *first = atol(rank) == 0, (uint32_t)atol(size);
    }
    return 0;
}

/* Ranks to ask for: as many as processes were started, unless --ranks says another number; then each is a world. */
static uint32_t ranks_asked(const example_options *o) {
    int first = 0;
    uint32_t started = getenv("XS_RANK") || getenv("XS_RANKS") ? 0 : started_here(&first);
    if (started && !o->ranks_told)
        return 0;
    if (started && started != o->ranks && first)
        fprintf(stderr, "%s: %u processes were started, and --ranks says %u: each of them runs all ranks of a world of its own\n",
                program_invocation_short_name, started, o->ranks);
    return o->ranks;
}

static int run_world(const example_options *o, const char *world_name, uint32_t rank, example_run *run) {
    xs_config config = {.size = sizeof config,
                        .version = 1,
                        .backend = o->backend,
                        .scheduler = o->scheduler,
                        .world = world_name,
                        .ranks = world_name ? o->ranks : ranks_asked(o),
                        .first_rank = rank,
                        .local_ranks = world_name ? 1 : 0, /* 0: all, or one where torchrun, mpirun, srun or XS_RANK say which */
                        .residency = o->residency,
                        .seed = o->seed};
    xs_world *world;
    int error = xs_world_create(&config, &world);
    if (error < 0)
        return example_failed("making the world", error), error == XS_E_ARGUMENT ? 64 : 1; /* an option or a variable was meant */
    example_options here = *o;
    here.ranks = xs_world_ranks(world); /* the environment wins */
    int failed = here.slow_rank < (int32_t)here.ranks ? run(&here, world) : no_such_rank(&here);
    error = xs_world_destroy(world);
    return error < 0 ? example_failed("ending the world", error) : failed;
}

/* The environment would win over what each process is told here, and all would be the same rank. */
static int told_elsewhere(void) {
    static const char *const told[] = {"XS_RANK", "XS_RANKS", "XS_WORLD"};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++)
        if (getenv(told[i])) {
            fprintf(stderr, "%s: --processes starts all ranks itself, and %s is set\n", program_invocation_short_name, told[i]);
            return 64;
        }
    return 0;
}

static int run_processes(const example_options *o, example_run *run) {
    char name[64];
    if (told_elsewhere())
        return 64;
    snprintf(name, sizeof name, "%s.%ld", program_invocation_short_name, (long)getpid());
    int failed = 0;
    for (uint32_t r = 0; r < o->ranks; r++) {
        pid_t child = fork();
        if (child == 0)
            exit(run_world(o, name, r, run));
        if (child < 0)
            perror("fork"), failed = 1;
    }
    int status;
    while (wait(&status) > 0) {
        int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
        failed = code > failed ? code : failed;
    }
    return failed;
}

int example_main(int argc, char **argv, const char *doc, const example_options *defaults, example_run *run) {
    example_options o = *defaults;
    const struct argp parser = {option_table, parse, NULL, doc, NULL, NULL, NULL};
    argp_err_exit_status = 64;
    argp_parse(&parser, argc, argv, 0, NULL, &o);
    setvbuf(stdout, NULL, _IOLBF, 0);
    return o.processes ? run_processes(&o, run) : run_world(&o, NULL, 0, run);
}

static void add(example_counts *to, const example_counts *from) {
    uint64_t *a = (uint64_t *)to;
    const uint64_t *b = (const uint64_t *)from;
    for (size_t i = 0; i < sizeof *to / sizeof *a; i++)
        a[i] += b[i];
}

static int print(FILE *file, const char *name, uint32_t first, uint32_t ranks, const example_counts *c, int wrong) {
    return fprintf(file,
                   "%s: ranks %u..%u result %s, kept by the kernels: signals %llu waits %llu skips %llu arrivals %llu "
                   "elections %llu gates %llu barriers %llu bytes %llu\n",
                   name, first, first + ranks - 1, wrong ? "WRONG" : "right", (unsigned long long)c->signals,
                   (unsigned long long)c->waits, (unsigned long long)c->skips, (unsigned long long)c->arrivals,
                   (unsigned long long)c->elections, (unsigned long long)c->gates, (unsigned long long)c->barriers,
                   (unsigned long long)c->bytes);
}

int example_report(const example_options *o, xs_world *world, const char *name, const xs_buffer *buffer, uint32_t rows, int wrong) {
    uint32_t first = xs_world_first_rank(world), ranks = xs_world_local_ranks(world);
    example_counts sum = {0};
    for (uint32_t r = first; r < first + ranks; r++)
        for (uint32_t i = 0; i < rows; i++) {
            example_counts c;
            int error = xs_buffer_read(world, buffer, r, i * sizeof c, &c, sizeof c);
            if (error < 0)
                return example_failed("reading the counts", error);
            add(&sum, &c);
        }
    print(wrong ? stderr : stdout, name, first, ranks, &sum, wrong);
    FILE *file = o->counts ? fopen(o->counts, "a") : NULL;
    if (o->counts && !file)
        return perror(o->counts), 1;
    if (file)
        wrong |= print(file, name, first, ranks, &sum, wrong) < 0, wrong |= fclose(file) != 0;
    return wrong;
}
