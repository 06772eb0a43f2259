#include "command.h"
#include "missing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <recorder.h>
#include <unistd.h>
#include <xs/xs.h>

static char *output, *max_bytes, *max_seconds, *preallocate;
static int trigger, no_export;
static const struct poptOption options[] = {
    {"output", 'o', POPT_ARG_STRING, &output, 0, "name of the run (run)", "NAME"},
    {"max-bytes", 0, POPT_ARG_STRING, &max_bytes, 0, "bound of the capture; K, M, G are understood", "BYTES"},
    {"max-seconds", 0, POPT_ARG_STRING, &max_seconds, 0, "keep about this much of the newest past", "SECONDS"},
    {"preallocate", 0, POPT_ARG_STRING, &preallocate, 0, "space made for the capture before the command starts",
     "BYTES"},
    {"trigger", 0, POPT_ARG_NONE, &trigger, 0, "dump the rings only when a wait gives up, at abort, exit, SIGUSR1",
     NULL},
    {"no-export", 0, POPT_ARG_NONE, &no_export, 0, "make NAME.xs and nothing else", NULL},
    OPTION_HELP,
    POPT_TABLEEND};

/* "64M" */
static int parse_bytes(const char *option, const char *text, uint64_t *bytes) {
    static const char units[] = "KMGT";
    char *end = NULL;
    *bytes = 0;
    if (!text)
        return EX_OK;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (errno || *text < '0' || *text > '9' || !n || (*end && (!unit || end[1])) || n > UINT64_MAX >> shift)
        return complain(EX_USAGE, "%s=%s is not a number of bytes, such as 64M", option, text);
    *bytes = (uint64_t)n << shift;
    return EX_OK;
}

static void say_recorded(const xs_recorder_result *r) {
    for (uint32_t i = 0; i < r->world_count; i++) {
        const xs_recorder_world *w = &r->worlds[i];
        char of[32] = "";
        if (w->kept < w->records)
            snprintf(of, sizeof of, "of %llu ", (unsigned long long)w->records);
        fprintf(stderr, "xs: %s: %llu %srecords of %u process%s%s\n", w->path, (unsigned long long)w->kept, of,
                w->processes, w->processes == 1 ? "" : "es", *of ? " are kept, the newest" : "");
    }
    if (r->world_count > 1)
        fprintf(stderr,
                "xs: %u worlds were made, each is a run of its own; processes of one world have the same XS_WORLD, and "
                "a rank each\n",
                r->world_count);
    if (!r->processes)
        fputs("xs: no traced process was seen: was the program built with XS_TRACE=1, and does it make a world?\n",
              stderr);
    else if (!r->records)
        fputs("xs: no kernel recorded anything: was it built with XS_TRACE=1, and was tracing started?\n", stderr);
    if (r->unclean)
        fprintf(stderr,
                "xs: %u of them did not end in order; their last records may be missing, the report says which\n",
                r->unclean);
    if (r->refused)
        fprintf(stderr, "xs: %u connected, but handed over nothing that this recorder understands (another version?)\n",
                r->refused);
}

/* Of the capture that was written: NAME.2.xs where another recorder writes NAME.xs. */
static int export_recorded(const char *path, int next) {
    run_names names;
    int code = names_resolve(path, &names);
    if (code)
        return code;
    const char *captures[] = {names.capture};
    char *opened = NULL;
    export_job job = {.captures = captures,
                      .count = 1,
                      .database = names.database,
                      .perfetto = names.perfetto,
                      .list = stderr,
                      .opened = &opened};
    code = export_run(&job);
    char *xs = names_quoted(program_invocation_name), *base = names_quoted(names.base);
    if (code)
        fprintf(stderr, "xs: the capture is kept; try again with: %s export %s\n", xs, base);
    else if (next)
        fprintf(stderr,
                "xs: next: %s report %s\n"
                "xs:       %s query %s wait_latency_histogram\n"
                "xs:       open %s in https://ui.perfetto.dev\n",
                xs, base, xs, base, opened);
    free(opened);
    free(xs);
    free(base);
    names_free(&names);
    return code;
}

/* They look as if they were of this one. */
static void say_older(const char *path) {
    run_names names;
    if (names_resolve(path, &names))
        return;
    int drawn = !access(names.perfetto, F_OK);
    char *xs = names_quoted(program_invocation_name), *base = names_quoted(names.base);
    if (names.has_database || drawn)
        fprintf(stderr, "xs: of an earlier run: %s%s%s; %s export %s makes them of this one\n",
                names.has_database ? names.database : "", names.has_database && drawn ? ", " : "",
                drawn ? names.perfetto : "", xs, base);
    free(xs);
    free(base);
    names_free(&names);
}

/* An earlier run that made more worlds has left their captures. */
static void say_older_world(const run_names *names, uint32_t worlds) {
    char path[4096];
    int length = snprintf(path, sizeof path, "%s.world%u.xs", names->base, (worlds ? worlds : 1) + 1);
    if (length < (int)sizeof path && !access(path, F_OK))
        fprintf(stderr, "xs: of an earlier run, which made more worlds: %s\n", path);
}

static int captures_failed(const xs_recorder_result *r) {
    int code = EX_OK;
    for (uint32_t i = 0; i < r->world_count; i++)
        if (r->worlds[i].capture_error)
            code = complain(EX_IOERR, "%s: %s; the capture says what is missing", r->worlds[i].path,
                            xs_strerror(r->worlds[i].capture_error));
    return code;
}

static int could_not_record(const run_names *names, int rc, const xs_recorder_result *result) {
    const char *why = *xs_error_detail() ? xs_error_detail() : xs_strerror(rc);
    int named = strstr(why, names->capture) != NULL;
    if (result->exit_status) /* 126 or 127, as a shell says that it could not start a command */
        return complain(result->exit_status, "%s", why);
    return complain(rc == XS_E_ARGUMENT ? EX_USAGE : exit_code_output(rc), "%s%s%s", named ? "" : names->capture,
                    named ? "" : ": ", why);
}

/* What the command gave back comes first; trouble of ours is told by the code where the command had none. */
static int record(const run_names *names, xs_recorder_options *how, const char **command_line) {
    xs_recorder_result result = {0};
    how->capture = names->capture;
    how->quiet = missing_say;
    how->user = stderr;
    errno = 0;
    int rc = xs_recorder_run(how, (char *const *)command_line, &result);
    if (rc) {
        int code = could_not_record(names, rc, &result);
        xs_recorder_result_free(&result);
        return code;
    }
    say_recorded(&result);
    int code = captures_failed(&result);
    if (strcmp(result.path, names->capture))
        fprintf(stderr, "xs: %s belongs to another process, or could not be replaced: this run is %s\n", names->capture,
                result.path);
    for (uint32_t i = 0; i < result.world_count; i++) {
        const char *path = result.worlds[i].path;
        int exported = !no_export && result.processes ? export_recorded(path, i + 1 == result.world_count)
                                                      : (say_older(path), EX_OK);
        code = code ? code : exported;
    }
    say_older_world(names, result.world_count);
    int status = result.exit_status;
    xs_recorder_result_free(&result);
    return status ? status : code;
}

static int run(const command *self, int argc, const char **argv) {
    poptContext context;
    int code = options_parse(self, options, 1, argc, argv, &context);
    if (code >= 0)
        return code;
    const char **command_line = poptGetArgs(context);
    xs_recorder_options how = {.on_trigger = trigger};
    uint32_t seconds = 0;
    code = options_number("--max-seconds", max_seconds, 0, UINT32_MAX, &seconds);
    how.bound_seconds = seconds;
    if (!code)
        code = parse_bytes("--max-bytes", max_bytes, &how.bound_bytes);
    if (!code)
        code = parse_bytes("--preallocate", preallocate, &how.preallocate);
    if (!code && (!command_line || !command_line[0]))
        code = complain(EX_USAGE, "record what? xs record -- COMMAND ...");
    run_names names;
    if (!code && !(code = names_to_make(output ? output : "run", &names))) {
        code = record(&names, &how, command_line);
        names_free(&names);
    }
    free(output);
    free(max_bytes);
    free(max_seconds);
    free(preallocate);
    poptFreeContext(context);
    return code;
}

const command command_record = {
    "record", "[OPTIONS] [--] COMMAND ...", "run a program and keep what its kernels did",
    "Runs a command and keeps what every traced process records that it starts, in NAME.xs; then makes\n"
    "NAME.db and NAME.perfetto. The recorder survives a crash, a hang and a SIGKILL of the program.\n"
    "The exit code is that of the command, 128 + n after signal n.\n\n"
    "Examples:\n"
    "  xs record -- ./combine --ranks 4\n"
    "  xs record -o night --max-bytes 2G -- torchrun --nproc-per-node 8 train.py\n"
    "  xs record --trigger -- ./server       nothing is written until a wait gives up\n", run};
