/* hanging WAY RANKS [plan|no-plan] [one|each]: hangs in a known way until it is killed, 10 minutes at most.
 * each: one process a rank, made by fork; the pids of rank 0, 1, .. go to standard output, one a line, when all have
 * made their worlds. WAY `late`: the last rank launches nothing. */
#include "hanging.kernel.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <xs/xs.h>

static int way_of(const char *name) {
    static const char *const names[] = {"missing", "cycle", "away", "slow", "busy", "ends", "skips", "self", "gate", "noted", "host"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (!strcmp(name, names[i]))
            return i;
    return -1;
}

static int add_plan(xs_world *world, const struct hanging_args *args) {
    xs_plan_entry writers[2] = {
        {XS_PLAN_WRITER, 0, args->done.first, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, XS_PLAN_COLUMN, 0},
        {XS_PLAN_WRITER, 0, args->bar.first, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, XS_PLAN_COLUMN, 0}};
    return xs_plan_add(world, writers, 2);
}

/* A pad that the host signals, where the plan says so. */
static int add_host(xs_world *world, struct hanging_args *args, int plan) {
    int rc = xs_pad_create(world, "go", 1, 1, 0, &args->go);
    xs_plan_entry host = {XS_PLAN_HOST_SUPPLIER, 0, args->go.first, XS_PLAN_ANY, XS_PLAN_ANY, XS_PLAN_ANY, UINT64_MAX, 0, 0};
    return rc < 0 || !plan ? rc : xs_plan_add(world, &host, 1);
}

/* ready: where to say that the world stands, or -1. */
static int run(const char *way, uint32_t ranks, int plan, const char *name, uint32_t rank, int ready) {
    xs_config config = {.size = sizeof config,
                        .version = 1,
                        .ranks = ranks,
                        .world = name,
                        .first_rank = rank,
                        .local_ranks = name ? 1 : ranks};
    int late = !strcmp(way, "late");
    struct hanging_args args = {.way = late ? HANGING_MISSING : (uint32_t)way_of(way),
                                .last = !strcmp(way, "slow") ? 1000000
                                        : !strcmp(way, "skips") ? 4
                                        : late               ? 0
                                                             : 2};
    xs_world *world;
    int rc = xs_world_create(&config, &world);
    if (rc < 0 || (rc = xs_pad_create(world, "done", 2, xs_world_ranks(world), 0, &args.done)) < 0 ||
        (rc = xs_pad_create(world, "bar", 1, xs_world_ranks(world), 0, &args.bar)) < 0 ||
        (rc = xs_pad_create(world, "gate", 1, 1, XS_PAD_SHARED, &args.gate)) < 0 ||
        (rc = xs_pad_labels(world, &args.done, "half", "from")) < 0 || (rc = xs_role(world, "pusher")) < 0)
        return rc;
    args.role = (uint32_t)rc;
    if (plan && (rc = add_plan(world, &args)) < 0)
        return rc;
    int host = args.way == HANGING_HOST;
    if (host && (rc = add_host(world, &args, plan)) < 0)
        return rc;
    if (ready >= 0 && write(ready, "", 1) != 1)
        return XS_E_SYSTEM;
    xs_launch_config launch = {.size = sizeof launch, .grid = 1, .block = 32};
    if (!late || rank != ranks - 1)
        rc = xs_launch(world, &hanging_kernel, &launch, &args, sizeof args);
    for (uint64_t seq = 1; host && rank == 0 && seq <= args.last && rc >= 0; seq++) /* and not the one behind */
        rc = xs_slot_write(world, &args.go, 0, 0, 0, seq);
    for (; rc >= 0;)
        pause();
    return rc;
}

static void fork_ranks(const char *way, uint32_t ranks, int plan) {
    char name[64], byte;
    int ready[2];
    snprintf(name, sizeof name, "hanging.%d", (int)getpid());
    if (pipe(ready))
        exit(1);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        pid_t child = fork();
        if (!child) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            alarm(600);
            exit(-run(way, ranks, plan, name, rank, ready[1]));
        }
        printf("%d\n", (int)child);
    }
    close(ready[1]);
    for (uint32_t rank = 0; rank < ranks; rank++)
        if (read(ready[0], &byte, 1) != 1)
            exit(1);
    fflush(stdout);
    for (;;)
        pause();
}

int main(int argc, char **argv) {
    alarm(600);
    if (argc < 5 || (way_of(argv[1]) < 0 && strcmp(argv[1], "late")))
        return 64;
    uint32_t ranks = (uint32_t)atoi(argv[2]);
    int plan = !strcmp(argv[3], "plan");
    if (!strcmp(argv[4], "each"))
        fork_ranks(argv[1], ranks, plan);
    int rc = run(argv[1], ranks, plan, NULL, 0, -1);
    fprintf(stderr, "hanging: %s: %s\n", xs_strerror(rc), xs_error_detail());
    return 1;
}
