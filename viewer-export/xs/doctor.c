#include "command.h"
#include "doctor.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <xs/xs.h>

static int json;
static const struct poptOption options[] = {
    {"json", 0, POPT_ARG_NONE, &json, 0, "one JSON object instead of text", NULL}, OPTION_HELP, POPT_TABLEEND};

void doctor_say(enum doctor_health health, const char *what, const char *format, ...) {
    static const char *const marks[] = {"ok ", "BAD", "   "};
    va_list list;
    printf("%s %-18s ", marks[health], what);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    fputc('\n', stdout);
}

static void say_store(const xs_probe *p) {
    unsigned long long torn = p->store16_torn, reads = p->store16_reads, control = p->control_torn;
    if (!p->store16_whole)
        doctor_say(DOCTOR_HALVES, "16-byte stores", "%llu of %llu were seen in halves: " DOCTOR_CURE, torn, reads);
    else if (!control)
        doctor_say(DOCTOR_TOLD, "16-byte stores",
            "0 of %llu torn, but the control (two 8-byte stores) was not seen torn either: not proven", reads);
    else
        doctor_say(DOCTOR_GOOD, "16-byte stores", "0 of %llu torn; the control (two 8-byte stores) %llu of %llu", reads,
                   control, (unsigned long long)p->control_reads);
}

static const char *recorder_path; /* before cuda_works hides it */

static void say_recorder(const xs_probe *p) {
    const char *path = recorder_path;
    if (p->recorder)
        doctor_say(DOCTOR_GOOD, "recorder", "answers at %s", path ? path : "XS_RECORD");
    else if (path && *path)
        doctor_say(DOCTOR_BAD, "recorder", "XS_RECORD is %s, but nobody answers there", path);
    else
        doctor_say(DOCTOR_TOLD, "recorder", "none (this is not under xs record)");
}

/* Whether a world of one GPU can be made; else why not. The environment of a launcher is not meant for it. */
static int cuda_works(char *why, size_t size) {
    static const char *const not_ours[] = {"XS_RECORD",
                                           "XS_CAPTURE",
                                           "XS_RANK",
                                           "XS_RANKS",
                                           "XS_WORLD",
                                           "RANK",
                                           "WORLD_SIZE",
                                           "OMPI_COMM_WORLD_RANK",
                                           "OMPI_COMM_WORLD_SIZE",
                                           "PMI_RANK",
                                           "PMI_SIZE",
                                           "SLURM_PROCID",
                                           "SLURM_STEP_NUM_TASKS",
                                           "XS_SCHEDULER"};
    for (size_t i = 0; i < sizeof not_ours / sizeof not_ours[0]; i++)
        unsetenv(not_ours[i]);
    setenv("XS_BACKEND", "cuda", 1);
    xs_config config = {.size = sizeof config, .version = 1, .ranks = 1};
    xs_world *world = NULL;
    int rc = xs_world_create(&config, &world);
    snprintf(why, size, "%s", rc < 0 ? (*xs_error_detail() ? xs_error_detail() : xs_strerror(rc)) : "");
    if (rc >= 0)
        xs_world_destroy(world);
    return rc >= 0;
}

static void say_cuda(const xs_probe *p, int works, const char *why) {
    if (p->gpus < 0)
        doctor_say(DOCTOR_TOLD, "CUDA driver", "none: kernels run on the host backend");
    else
        doctor_say(p->gpus ? DOCTOR_GOOD : DOCTOR_TOLD, "CUDA driver", "%d GPU%s", p->gpus, p->gpus == 1 ? "" : "s");
    if (works)
        doctor_say(DOCTOR_GOOD, "CUDA backend", "a world on a GPU can be made");
    else
        doctor_say(p->gpus > 0 ? DOCTOR_BAD : DOCTOR_TOLD, "CUDA backend", "not available: %s", why);
    if (p->cupti)
        doctor_say(DOCTOR_GOOD, "CUPTI", "version %u: kernels and copies of GPUs are seen", p->cupti_version);
    else
        doctor_say(p->gpus > 0 ? DOCTOR_BAD : DOCTOR_TOLD, "CUPTI", "not used: %s", p->cupti_why);
    doctor_say(DOCTOR_TOLD, "CUDA kernels", "%s",
        p->built_with_cuda ? "compiled by this build" : "not compiled by this build (XS_CUDA=OFF)");
}

typedef struct limits {
    int64_t memlock, shm_bytes, shm_free; /* -1: no limit, or not known */
} limits;

static limits read_limits(void) {
    limits l = {-1, -1, -1};
    struct rlimit r;
    struct statvfs v;
    if (!getrlimit(RLIMIT_MEMLOCK, &r) && r.rlim_cur != RLIM_INFINITY)
        l.memlock = (int64_t)r.rlim_cur;
    if (!statvfs("/dev/shm", &v)) {
        l.shm_bytes = (int64_t)(v.f_blocks * v.f_frsize);
        l.shm_free = (int64_t)(v.f_bavail * v.f_frsize);
    }
    return l;
}

/* A world of several processes lives in /dev/shm; the driver locks pages, and says itself where it may not. */
static void say_limits(const limits *l) {
    if (l->shm_bytes < 0)
        doctor_say(DOCTOR_BAD, "/dev/shm", "there is none: worlds of several processes cannot be made");
    else
        doctor_say(l->shm_free >= (64 << 20) ? DOCTOR_GOOD : DOCTOR_BAD, "/dev/shm",
                   "%" PRId64 " MiB, %" PRId64 " free", l->shm_bytes >> 20, l->shm_free >> 20);
    if (l->memlock < 0)
        doctor_say(DOCTOR_TOLD, "locked memory", "no limit");
    else
        doctor_say(DOCTOR_TOLD, "locked memory", "at most %" PRId64 " KiB (ulimit -l)", l->memlock >> 10);
}

static void print_text(const xs_probe *p, int works, const char *why, const doctor_gpus *gpus) {
    uint32_t v = xs_version();
    doctor_say(DOCTOR_TOLD, "xs", "%u.%u.%u, SQLite %s", v >> 16, v >> 8 & 0xff, v & 0xff, sqlite3_libversion());
    doctor_say(DOCTOR_TOLD, "processors", "%u", p->cpus);
    doctor_say(p->time_step_ns <= 1000 ? DOCTOR_GOOD : DOCTOR_BAD, "clock", "smallest step %u ns%s", p->time_step_ns,
        p->time_step_ns <= 1000 ? "" : ": too coarse for waits of microseconds");
    say_store(p);
    doctor_say(DOCTOR_TOLD, "cost of a record", "%u.%02u ns", p->record_ns_x100 / 100, p->record_ns_x100 % 100);
    doctor_say(p->memfd_limit >= (64u << 20) ? DOCTOR_GOOD : DOCTOR_BAD, "shared memory",
               "a memfd took %" PRIu64 " MiB%s", p->memfd_limit >> 20,
               p->memfd_limit >= (64u << 20) ? "" : ": use smaller rings (XS_RING_RECORDS, XS_RINGS)");
    limits l = read_limits();
    say_limits(&l);
    say_recorder(p);
    say_cuda(p, works, why);
    doctor_gpus_text(gpus);
    doctor_say(DOCTOR_TOLD, "kernels", "record where their program was built with XS_TRACE=1");
}

void doctor_print_string(const char *text) {
    sqlite3_str *made = sqlite3_str_new(NULL);
    for (; *text; text++)
        sqlite3_str_appendf(made,
                            (unsigned char)*text < 0x20     ? "\\u%04x"
                            : *text == '"' || *text == '\\' ? "\\%c"
                                                            : "%c",
                            *text);
    char *escaped = sqlite3_str_finish(made);
    printf("\"%s\"", escaped ? escaped : "");
    sqlite3_free(escaped);
}

static void print_json(const xs_probe *p, int works, const char *why, const doctor_gpus *gpus) {
    uint32_t v = xs_version();
    printf("{\"xs_version\": \"%u.%u.%u\", \"sqlite_version\": \"%s\", \"schema_version\": %d,\n", v >> 16,
           v >> 8 & 0xff, v & 0xff, sqlite3_libversion(), XSV_SCHEMA_VERSION);
    printf(" \"cpus\": %u, \"gpus\": %d, \"cuda_driver\": %s, \"built_with_cuda\": %s,\n", p->cpus,
           p->gpus < 0 ? 0 : p->gpus, p->gpus < 0 ? "false" : "true", p->built_with_cuda ? "true" : "false");
    printf(" \"time_step_ns\": %u, \"record_ns\": %u.%02u, \"memfd_bytes\": %" PRIu64 ", \"recorder\": %s,\n",
           p->time_step_ns, p->record_ns_x100 / 100, p->record_ns_x100 % 100, p->memfd_limit,
           p->recorder ? "true" : "false");
    printf(" \"store16_whole\": %s, \"store16_reads\": %" PRIu64 ", \"store16_torn\": %" PRIu64 ",\n",
           p->store16_whole ? "true" : "false", p->store16_reads, p->store16_torn);
    limits l = read_limits();
    printf(" \"memlock_bytes\": %" PRId64 ", \"shm_bytes\": %" PRId64 ", \"shm_free_bytes\": %" PRId64 ",\n", l.memlock,
           l.shm_bytes, l.shm_free);
    printf(" \"cuda_backend\": %s, \"cuda_backend_why_not\": ", works ? "true" : "false");
    doctor_print_string(why);
    printf(",\n \"cupti\": %s, \"cupti_version\": %u, \"cupti_why_not\": ", p->cupti ? "true" : "false",
           p->cupti_version);
    doctor_print_string(p->cupti_why);
    printf(",\n");
    doctor_gpus_json(gpus);
    printf(" \"control_reads\": %" PRIu64 ", \"control_torn\": %" PRIu64 "}\n", p->control_reads, p->control_torn);
}

static int run(const command *self, int argc, const char **argv) {
    poptContext context;
    int code = options_parse(self, options, 0, argc, argv, &context);
    if (code >= 0)
        return code;
    if (poptPeekArg(context))
        code = complain(EX_USAGE, "doctor takes no argument");
    poptFreeContext(context);
    if (code >= 0)
        return code;
    xs_probe probe = {.size = sizeof probe};
    int rc = xs_probe_machine(&probe);
    if (rc < 0)
        return complain(EX_SOFTWARE, "the probe failed: %s", *xs_error_detail() ? xs_error_detail() : xs_strerror(rc));
    char why[256];
    recorder_path = getenv("XS_RECORD");
    if (!probe.cupti && probe.gpus < 0)
        probe.cupti_why = "no CUDA driver on this machine"; /* of which CUPTI itself says: an unknown error */
    int works = cuda_works(why, sizeof why);
    doctor_gpus *gpus = doctor_gpus_measure(probe.gpus);
    if (json)
        print_json(&probe, works, why, gpus);
    else
        print_text(&probe, works, why, gpus);
    doctor_gpus_free(gpus);
    return finish_output();
}

const command command_doctor = {
    "doctor", "", "say what this machine can do",
    "Probes what tracing stands on: the clock, whether 16-byte stores are whole (with a control that must\n"
    "tear), what a record costs, how much shared memory there is and may be locked, the recorder, whether the\n"
    "CUDA backend and CUPTI can be used, and if not, why. Of each GPU: its clock's step, what a record costs in\n"
    "host memory and in its own, the test of stores with its control, peer access, and how many increments are\n"
    "lost where both sides of a link add to one word. Some seconds at most; not while kernels run.\n\n"
    "Examples:\n"
    "  xs doctor\n"
    "  xs record -- xs doctor        is the recorder reached from a command?\n", run};
