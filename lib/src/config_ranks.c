/* Who am I among how many: XS_RANK and XS_RANKS, then the caller's fields, then the variables of the usual
 * launchers. */
#include <stdio.h>
#include <stdlib.h>

#include "config.h"

#define RANKS_MAX 4095u /* the heartbeat pad has ranks x ranks slots, object ids have 24 bits */

typedef struct launcher {
    const char *rank, *size;
} launcher;

static const launcher launchers[] = {{"RANK", "WORLD_SIZE"},
                                     {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                     {"PMI_RANK", "PMI_SIZE"},
                                     /* SLURM_NTASKS stands in the shell of an allocation too */
                                     {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};

/* What the processes of one job share and other jobs do not: the second is joined to the first. */
static const char *const jobs[][2] = {{"MASTER_ADDR", "MASTER_PORT"},
                                      {"PMIX_NAMESPACE", NULL},
                                      {"OMPI_MCA_ess_base_jobid", NULL},
                                      {"PMI_JOBID", NULL},
                                      {"SLURM_JOB_ID", "SLURM_STEP_ID"}};

static int set(xs_config *config, uint64_t rank, uint64_t ranks) {
    config->first_rank = (uint32_t)rank;
    config->ranks = (uint32_t)ranks;
    config->local_ranks = 1;
    return 0;
}

/* A program that says nothing but how many ranks the world has is one of as many where that many were started. */
static int is_of(const xs_config *config, uint64_t started) {
    return !config->ranks || (config->ranks == started && !config->first_rank && !config->local_ranks);
}

/* 1: a launcher started us and its variables were taken. */
static int from_launcher(xs_config *config) {
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++) {
        uint64_t rank = 0, ranks = 0;
        int has_rank = xs_env_number(launchers[i].rank, 0, RANKS_MAX - 1, &rank);
        int has_ranks = xs_env_number(launchers[i].size, 1, RANKS_MAX, &ranks);
        if (has_rank < 0 || has_ranks < 0) return XS_E_ARGUMENT;
        if (!has_rank || !has_ranks || !is_of(config, ranks)) continue;
        set(config, rank, ranks);
        return 1;
    }
    return 0;
}

int xs_config_local_rank(uint64_t *rank) {
    static const char *const told[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK",
                                       "SLURM_LOCALID"};
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) {
        int has = xs_env_number(told[i], 0, RANKS_MAX - 1, rank);
        if (has) return has;
    }
    return 0;
}

static int from_environment(xs_config *config) {
    uint64_t rank = 0, ranks = 0;
    int has_rank = xs_env_number("XS_RANK", 0, RANKS_MAX - 1, &rank);
    int has_ranks = xs_env_number("XS_RANKS", 1, RANKS_MAX, &ranks);
    if (has_rank < 0 || has_ranks < 0) return XS_E_ARGUMENT;
    if (has_ranks) config->ranks = (uint32_t)ranks;
    if (!has_rank) {
        int rc = from_launcher(config);
        return rc < 0 ? rc : 0;
    }
    if (!config->ranks)
        return xs_fail(XS_E_ARGUMENT, "XS_RANK is set, but neither XS_RANKS nor the program says how many ranks");
    config->first_rank = (uint32_t)rank;
    if (!config->local_ranks) config->local_ranks = 1;
    return 0;
}

static int world_from_job(xs_config *config) {
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        const char *first = getenv(jobs[i][0]), *second = jobs[i][1] ? getenv(jobs[i][1]) : NULL;
        if (!first || !*first || (i == 0 && !second)) continue;
        char name[256];
        snprintf(name, sizeof name, "%s=%s,%s", jobs[i][0], first, second ? second : "");
        return xs_config_string(&config->world, name);
    }
    return xs_fail(XS_E_ARGUMENT,
                   "ranks %u to %u of %u run here, but no XS_WORLD (nor MASTER_ADDR and MASTER_PORT, nor a job id) "
                   "names the world",
                   config->first_rank, config->first_rank + config->local_ranks - 1, config->ranks);
}

int xs_config_ranks(xs_config *config) {
    int rc = from_environment(config);
    const char *world = getenv("XS_WORLD");
    if (!rc && world && *world) rc = xs_config_string(&config->world, world);
    if (rc) return rc;
    if (config->world && !*config->world) return xs_fail(XS_E_NAME, "the name of the world is empty");
    if (!config->ranks) config->ranks = 1;
    if (config->ranks > RANKS_MAX) return xs_fail(XS_E_ARGUMENT, "ranks %u: at most %u", config->ranks, RANKS_MAX);
    if (!config->local_ranks) config->local_ranks = config->world ? 1 : config->ranks;
    uint64_t end = (uint64_t)config->first_rank + config->local_ranks;
    if (end > config->ranks)
        return xs_fail(XS_E_ARGUMENT, "ranks %u to %llu run here, but the world has %u", config->first_rank,
                       (unsigned long long)end - 1, config->ranks);
    return config->local_ranks < config->ranks && !config->world ? world_from_job(config) : 0;
}
