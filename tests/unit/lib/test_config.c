/* Caller's fields, environment, defaults, launchers, and what is refused. */
#include "config.h"
#include "lib_test.h"

static const char *const variables[] = {"XS_BACKEND",
                                        "XS_SCHEDULER",
                                        "XS_SEED",
                                        "XS_RESIDENCY",
                                        "XS_RANK",
                                        "XS_RANKS",
                                        "XS_WORLD",
                                        "XS_TRACE_START",
                                        "XS_PAYLOAD",
                                        "XS_CAPTURE",
                                        "XS_CAPTURE_BYTES",
                                        "XS_CAPTURE_SECONDS",
                                        "XS_CAPTURE_WHEN",
                                        "XS_RING_RECORDS",
                                        "XS_RINGS",
                                        "XS_WAIT_NS",
                                        "XS_PLACEMENT",
                                        "XS_COLLECTORS",
                                        "XS_DEVICES",
                                        "XS_CPU_RANKS",
                                        "XS_START_NS",
                                        "XS_JOIN_NS",
                                        "XS_GREEN",
                                        "XS_PLAIN_STOPPED",
                                        "LOCAL_RANK",
                                        "OMPI_COMM_WORLD_LOCAL_RANK",
                                        "MPI_LOCALRANKID",
                                        "PMI_LOCAL_RANK",
                                        "SLURM_LOCALID",
                                        "RANK",
                                        "WORLD_SIZE",
                                        "OMPI_COMM_WORLD_RANK",
                                        "OMPI_COMM_WORLD_SIZE",
                                        "PMI_RANK",
                                        "PMI_SIZE",
                                        "SLURM_PROCID",
                                        "SLURM_STEP_NUM_TASKS",
                                        "MASTER_ADDR",
                                        "MASTER_PORT",
                                        "SLURM_JOB_ID",
                                        "SLURM_STEP_ID",
                                        "PMIX_NAMESPACE",
                                        "PMI_JOBID",
                                        "OMPI_MCA_ess_base_jobid"};

static int clean(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) unsetenv(variables[i]);
    return 0;
}

static xs_config resolved(const xs_config *given) {
    xs_config out;
    int rc = xs_config_resolve(given, &out);
    if (rc) print_message("%s\n", xs_error_detail());
    assert_int_equal(rc, 0);
    return out;
}

static void refused(const xs_config *given, int error, const char *words) {
    xs_config out;
    assert_int_equal(xs_config_resolve(given, &out), error);
    xs_config_free(&out);
    if (!strstr(xs_error_detail(), words)) fail_msg("\"%s\" does not say \"%s\"", xs_error_detail(), words);
}

static void defaults(void **state) {
    (void)state;
    xs_config c = resolved(NULL);
    assert_string_equal(c.backend, "host");
    assert_string_equal(c.scheduler, "threads");
    assert_null(c.world);
    assert_null(c.capture);
    assert_int_equal(c.ranks, 1);
    assert_int_equal(c.local_ranks, 1);
    assert_int_equal(c.ring_records, XS_SEQUENCE_BITS == 32 ? 4096 : 64);
    assert_int_equal(c.rings, 64);
    assert_int_equal(c.lines, 4);
    assert_int_equal(c.trace_start, 1);
    assert_int_equal(c.payload, 1);
    assert_int_equal(c.shared_bytes, 256 << 20);
    assert_int_equal(c.catalog_bytes, 256 << 20);
    assert_string_equal(c.placement, "mapped");
    assert_int_equal(c.collectors, 1);
    assert_null(c.devices);
    assert_null(c.cpu_ranks);
    assert_true(c.start_ns == 10000000000u && c.join_ns == 60000000000u);
    assert_int_equal(c.green, 0);
    xs_config_free(&c);
    xs_config eight = test_config(8);
    c = resolved(&eight);
    assert_int_equal(c.lines, 8);
    assert_int_equal(c.local_ranks, 8);
    xs_config_free(&c);
}

static void environment_wins(void **state) {
    (void)state;
    setenv("XS_SCHEDULER", "sim", 1);
    setenv("XS_SEED", "0x1234", 1);
    setenv("XS_RESIDENCY", "3", 1);
    setenv("XS_RANKS", "6", 1);
    setenv("XS_TRACE_START", "0", 1);
    setenv("XS_PAYLOAD", "0", 1);
    setenv("XS_CAPTURE", "run7", 1);
    setenv("XS_CAPTURE_BYTES", "64M", 1);
    setenv("XS_CAPTURE_SECONDS", "90", 1);
    setenv("XS_CAPTURE_WHEN", "trigger", 1);
    setenv("XS_RING_RECORDS", "16", 1);
    setenv("XS_RINGS", "128", 1);
    setenv("XS_WAIT_NS", "1000000000", 1);
    setenv("XS_CATALOG_BYTES", "70001", 1);
    setenv("XS_PLACEMENT", "device", 1);
    setenv("XS_COLLECTORS", "2", 1);
    setenv("XS_DEVICES", "1,3", 1);
    setenv("XS_CPU_RANKS", "5", 1);
    setenv("XS_START_NS", "7", 1);
    setenv("XS_JOIN_NS", "8", 1);
    setenv("XS_GREEN", "1", 1);
    xs_config given = test_config(2);
    given.capture = "other";
    xs_config c = resolved(&given);
    assert_string_equal(c.scheduler, "sim");
    assert_int_equal(c.seed, 0x1234);
    assert_int_equal(c.residency, 3);
    assert_int_equal(c.ranks, 6);
    assert_int_equal(c.local_ranks, 6);
    assert_int_equal(c.trace_start, -1);
    assert_int_equal(c.payload, -1);
    assert_string_equal(c.capture, "run7");
    assert_int_equal(c.capture_bytes, 64 << 20);
    assert_int_equal(c.capture_seconds, 90);
    assert_int_equal(c.capture_on_trigger, 1);
    assert_int_equal(c.ring_records, 16);
    assert_int_equal(c.rings, 128);
    assert_int_equal(c.wait_ns, 1000000000);
    assert_int_equal(c.catalog_bytes, 73728); /* whole pages */
    assert_string_equal(c.placement, "device");
    assert_int_equal(c.collectors, 2);
    assert_string_equal(c.devices, "1,3");
    assert_string_equal(c.cpu_ranks, "5");
    assert_true(c.start_ns == 7 && c.join_ns == 8 && c.green == 1);
    xs_config_free(&c);
}

static void launchers_tell_ranks(void **state) {
    static const char *const pairs[][2] = {{"RANK", "WORLD_SIZE"},
                                           {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                           {"PMI_RANK", "PMI_SIZE"},
                                           {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
    for (int i = 0; i < 4; i++) {
        clean(state);
        setenv("MASTER_ADDR", "node1", 1);
        setenv("MASTER_PORT", "29500", 1);
        setenv(pairs[i][0], "2", 1);
        setenv(pairs[i][1], "4", 1);
        xs_config given = test_config(0), c = resolved(&given);
        assert_int_equal(c.ranks, 4);
        assert_int_equal(c.first_rank, 2);
        assert_int_equal(c.local_ranks, 1);
        assert_string_equal(c.world, "MASTER_ADDR=node1,29500");
        xs_config_free(&c);
        given.ranks = 3; /* the program says how many: it runs them all, whoever started it */
        c = resolved(&given);
        assert_int_equal(c.ranks, 3);
        assert_int_equal(c.local_ranks, 3);
        assert_null(c.world);
        xs_config_free(&c);
        given.ranks = 4; /* as many as were started: it is one of them. All of them ran in each process */
        for (int told = 0; told < 2; told++) {
            c = resolved(&given);
            assert_true(c.ranks == 4 && c.first_rank == 2 && c.local_ranks == 1);
            assert_string_equal(c.world, "MASTER_ADDR=node1,29500");
            xs_config_free(&c);
            setenv("XS_RANKS", "4", 1);
        }
        unsetenv("XS_RANKS");
        given.local_ranks = 4; /* it says where they run */
        c = resolved(&given);
        assert_true(c.ranks == 4 && c.first_rank == 0 && c.local_ranks == 4 && !c.world);
        xs_config_free(&c);
    }
}

static void own_variables_win_over_launchers(void **state) {
    (void)state;
    setenv("RANK", "2", 1);
    setenv("WORLD_SIZE", "4", 1);
    setenv("XS_RANK", "1", 1);
    setenv("XS_RANKS", "2", 1);
    setenv("XS_WORLD", "mine", 1);
    xs_config c = resolved(NULL);
    assert_int_equal(c.ranks, 2);
    assert_int_equal(c.first_rank, 1);
    assert_int_equal(c.local_ranks, 1);
    assert_string_equal(c.world, "mine");
    xs_config_free(&c);
}

/* The script of a batch job is rank 0 of its one process, whatever the job may start by srun later. */
static void slurm_shell_is_no_rank_of_its_job(void **state) {
    (void)state;
    setenv("SLURM_PROCID", "0", 1);
    setenv("SLURM_NTASKS", "4", 1);
    xs_config given = test_config(0), c;
    given.ranks = 4;
    c = resolved(&given);
    assert_int_equal(c.ranks, 4);
    assert_int_equal(c.local_ranks, 4);
    xs_config_free(&c);
    unsetenv("SLURM_NTASKS");
}

static void job_ids_name_the_world(void **state) {
    (void)state;
    setenv("SLURM_PROCID", "0", 1);
    setenv("SLURM_STEP_NUM_TASKS", "2", 1);
    xs_config given = test_config(0);
    refused(&given, XS_E_ARGUMENT, "XS_WORLD");
    setenv("SLURM_JOB_ID", "77", 1);
    setenv("SLURM_STEP_ID", "1", 1);
    xs_config c = resolved(&given);
    assert_string_equal(c.world, "SLURM_JOB_ID=77,1");
    xs_config_free(&c);
}

static void bad_environment(void **state) {
    static const char *const bad[][2] = {{"XS_RING_RECORDS", "5"},
                                         {"XS_RING_RECORDS", "2"},
                                         {"XS_RING_RECORDS", "131072"},
                                         {"XS_RING_RECORDS", "many"},
                                         {"XS_RING_RECORDS", "-16"},
                                         {"XS_RINGS", "65"},
                                         {"XS_TRACE_START", "2"},
                                         {"XS_CAPTURE_WHEN", "never"},
                                         {"XS_SEED", "12x"},
                                         {"XS_WAIT_NS", "1e9"},
                                         {"XS_RANKS", "0"},
                                         {"XS_RANKS", "5000"},
                                         {"XS_SEED", "99999999999999999999"},
                                         {"XS_CAPTURE_BYTES", "99999999999G"}};
    static const char *const says[] = {"ring_records 5",
                                       "XS_RING_RECORDS=2",
                                       "XS_RING_RECORDS=131072",
                                       "XS_RING_RECORDS=many",
                                       "XS_RING_RECORDS=-16",
                                       "rings 65",
                                       "XS_TRACE_START=2",
                                       "XS_CAPTURE_WHEN=never",
                                       "XS_SEED=12x",
                                       "XS_WAIT_NS=1e9",
                                       "XS_RANKS=0",
                                       "XS_RANKS=5000",
                                       "XS_SEED=99999999999999999999",
                                       "XS_CAPTURE_BYTES=99999999999G"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        clean(state);
        setenv(bad[i][0], bad[i][1], 1);
        refused(NULL, XS_E_ARGUMENT, says[i]);
    }
}

/* The lists that CUDA alone reads were taken as they came by the host backend: `XS_DEVICES=nonsense` ran as if nothing was said. */
static void lists_of_the_other_backend_were_taken_as_they_came(void **state) {
    static const char *const bad[] = {"x", ",", "0,", ",0", "-1", "3-2", "0 1", " 0", "0x", "0,1;2", "4294967296", "99999999999999999999"};
    xs_config four = test_config(4);
    four.backend = "host";
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char says[64];
        clean(state);
        setenv("XS_DEVICES", bad[i], 1);
        snprintf(says, sizeof says, "devices \"%s\"", bad[i]);
        refused(&four, XS_E_ARGUMENT, says);
        clean(state);
        setenv("XS_CPU_RANKS", bad[i], 1);
        snprintf(says, sizeof says, "cpu_ranks \"%s\"", bad[i]);
        refused(&four, XS_E_ARGUMENT, says);
    }
    clean(state);
    setenv("XS_DEVICES", "0,2-3,2", 1);
    refused(&four, XS_E_ARGUMENT, "one of them twice");
    clean(state);
    setenv("XS_CPU_RANKS", "4", 1);
    refused(&four, XS_E_ARGUMENT, "ranks from 0 to 3");
    clean(state);
    four.devices = "one"; /* the caller's own, too */
    refused(&four, XS_E_ARGUMENT, "devices \"one\"");
    four.devices = "7";
    four.cpu_ranks = "0-3";
    xs_config c = resolved(&four);
    xs_config_free(&c);
}

static void bad_fields(void **state) {
    (void)state;
    xs_config c = test_config(4);
    c.first_rank = 3;
    c.local_ranks = 2;
    refused(&c, XS_E_ARGUMENT, "ranks 3 to 4 run here, but the world has 4");
    c = test_config(4);
    c.local_ranks = 2;
    refused(&c, XS_E_ARGUMENT, "XS_WORLD");
    c.world = "w";
    c.scheduler = "sim";
    refused(&c, XS_E_UNSUPPORTED, "sim");
    c.world = "";
    refused(&c, XS_E_NAME, "empty");
    c = test_config(1);
    c.version = 2;
    refused(&c, XS_E_VERSION, "newer");
    c = test_config(1);
    c.placement = "moon";
    refused(&c, XS_E_ARGUMENT, "mapped or device");
    c = test_config(1);
    c.collectors = 9;
    refused(&c, XS_E_ARGUMENT, "collectors");
    c = test_config(1);
    c.size = 0;
    refused(&c, XS_E_ARGUMENT, "size");
    c = test_config(1);
    c.lines = 1u << 20;
    refused(&c, XS_E_ARGUMENT, "lines");
}

/* An older caller's struct is shorter, a newer one's longer: unknown fields must be 0. */
static void other_sizes(void **state) {
    (void)state;
    struct {
        xs_config config;
        uint64_t more;
    } longer = {.config = test_config(2)};
    longer.config.size = sizeof longer;
    xs_config c = resolved(&longer.config);
    xs_config_free(&c);
    longer.more = 1;
    refused(&longer.config, XS_E_VERSION, "does not know");
    xs_config shorter = test_config(2);
    shorter.size = offsetof(xs_config, residency);
    shorter.wait_ns = 5; /* beyond its size: not read */
    c = resolved(&shorter);
    assert_int_equal(c.ranks, 2);
    assert_int_equal(c.wait_ns, 0);
    xs_config_free(&c);
}

static void unknown_names(void **state) {
    (void)state;
    xs_world *world;
    xs_config c = test_config(1);
    c.backend = "abacus";
    assert_int_equal(xs_world_create(&c, &world), XS_E_BACKEND);
    assert_non_null(strstr(xs_error_detail(), "abacus"));
    c = test_config(1);
    c.scheduler = "fair";
    assert_int_equal(xs_world_create(&c, &world), XS_E_ARGUMENT);
    assert_non_null(strstr(xs_error_detail(), "fair"));
}

static void ranges(void **state) {
    (void)state;
    uint64_t a, b;
    assert_int_equal(xs_parse_range("2-5", UINT32_MAX, &a, &b), 0);
    assert_int_equal(a, 2);
    assert_int_equal(b, 5);
    assert_int_equal(xs_parse_range("7", UINT32_MAX, &a, &b), 0);
    assert_int_equal(a, 7);
    assert_int_equal(b, 7);
    static const char *const bad[] = {"", "-", "5-2", "1-", "-3", "1-2-3", "x", "1-99999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(xs_parse_range(bad[i], UINT32_MAX, &a, &b), XS_E_ARGUMENT);
}

static int append_number(void *user, uint64_t number) {
    char *text = user;
    snprintf(text + strlen(text), 8, "%d.", (int)number);
    return 0;
}

static void lists(void **state) {
    (void)state;
    char seen[64] = "";
    assert_int_equal(xs_parse_list("4,0-2,7", 7, append_number, seen), 0);
    assert_string_equal(seen, "4.0.1.2.7.");
    static const char *const bad[] = {",", "1,", ",1", "1,,2", "8", "2-1", "1;2", "0-8"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(xs_parse_list(bad[i], 7, append_number, seen), XS_E_ARGUMENT);
}

static void launchers_tell_the_local_rank(void **state) {
    (void)state;
    static const char *const told[] = {"SLURM_LOCALID", "PMI_LOCAL_RANK", "MPI_LOCALRANKID", "OMPI_COMM_WORLD_LOCAL_RANK", "LOCAL_RANK"};
    uint64_t rank = 99;
    assert_int_equal(xs_config_local_rank(&rank), 0);
    for (size_t i = 0; i < sizeof told / sizeof told[0]; i++) { /* from the last that is asked for to the first */
        char text[8];
        snprintf(text, sizeof text, "%zu", i + 2);
        setenv(told[i], text, 1);
        assert_int_equal(xs_config_local_rank(&rank), 1);
        assert_int_equal(rank, i + 2);
    }
    setenv("LOCAL_RANK", "one", 1);
    assert_int_equal(xs_config_local_rank(&rank), XS_E_ARGUMENT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, clean, clean)
int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(defaults),
        TEST(environment_wins),
        TEST(launchers_tell_ranks),
        TEST(own_variables_win_over_launchers),
        TEST(slurm_shell_is_no_rank_of_its_job),
        TEST(job_ids_name_the_world),
        TEST(bad_environment),
        TEST(lists_of_the_other_backend_were_taken_as_they_came),
        TEST(bad_fields),
        TEST(other_sizes),
        TEST(unknown_names),
        TEST(ranges),
        TEST(lists),
        TEST(launchers_tell_the_local_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
