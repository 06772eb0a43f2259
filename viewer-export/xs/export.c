#include "command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xs/perfetto.h>
#include <xs/xs.h>

static int want_sqlite, want_perfetto, windows, merge_roles, gpu_events, compress, link_wanted, timing, quiet;
static char *output, *slots;
static const struct poptOption options[] = {
    {"sqlite", 0, POPT_ARG_NONE, &want_sqlite, 0, "write NAME.db (default: both)", NULL},
    {"perfetto", 0, POPT_ARG_NONE, &want_perfetto, 0, "write NAME.perfetto (default: both)", NULL},
    {"windows", 0, POPT_ARG_NONE, &windows, 0, "Perfetto: one file for each window of whole epochs, and an overview",
     NULL},
    {"merge-roles", 0, POPT_ARG_NONE, &merge_roles, 0, "Perfetto: the writers of a role share rows, packed", NULL},
    {"slots", 0, POPT_ARG_STRING, &slots, 0, "Perfetto: a row of states for each slot of such a name, at most 64",
     "PATTERN"},
    {"gpu-events", 0, POPT_ARG_NONE, &gpu_events, 0, "Perfetto: kernels as events of the GPU, too", NULL},
    {"compress", 0, POPT_ARG_NONE, &compress, 0, "Perfetto: a fraction of the size, for viewers from v58 on (zstd)",
     NULL},
    {"link", 0, POPT_ARG_NONE, &link_wanted, 0, "Perfetto: print an address that opens the rows worth looking at",
     NULL},
    {"output", 'o', POPT_ARG_STRING, &output, 0, "name of what is written (that of the first capture)", "NAME"},
    {"timing", 0, POPT_ARG_NONE, &timing, 0, "say how long rows, indices and views took", NULL},
    {"quiet", 'q', POPT_ARG_NONE, &quiet, 0, "no progress, no list of files", NULL},
    OPTION_HELP,
    POPT_TABLEEND};

/* The trace stays here: it is dragged into the page, which then runs the start-up commands. */
static int print_link(const char *perfetto) {
    char *url = NULL;
    int rc = xsv_perfetto_url(perfetto, NULL, &url);
    if (rc)
        return complain(EX_IOERR, "%s.startup.json: %s", perfetto,
                        rc == XS_E_SYSTEM ? strerror(errno) : xs_strerror(rc));
    puts(url);
    free(url);
    return EX_OK;
}

static int export_names(run_names *in, uint32_t count) {
    const char **captures = calloc(count, sizeof *captures);
    run_names out;
    int code = captures ? names_to_make(output ? output : in[0].base, &out) : complain(EX_SOFTWARE, "out of memory");
    if (!code) {
        for (uint32_t i = 0; i < count; i++)
            captures[i] = in[i].capture;
        int both = !want_sqlite && !want_perfetto;
        char *opened = NULL;
        export_job job = {.captures = captures,
                          .count = count,
                          .database = want_sqlite || both ? out.database : NULL,
                          .perfetto = want_perfetto || both ? out.perfetto : NULL,
                          .windows = windows,
                          .merge_roles = merge_roles,
                          .gpu_events = gpu_events,
                          .compress = compress,
                          .slots = slots,
                          .timing = timing,
                          .quiet = quiet,
                          .list = quiet ? NULL : stdout,
                          .opened = &opened};
        code = export_run(&job);
        if (!code && !quiet && count > 1 && !output)
            fprintf(stderr, "xs: %s: %u captures in one, under the name of the first; -o NAME gives another\n",
                    out.base, count);
        if (!code && link_wanted)
            code = print_link(opened);
        free(opened);
        names_free(&out);
    }
    free(captures);
    return code;
}

static int resolve_all(const char **args, uint32_t given, run_names *names, uint32_t *count) {
    int code = EX_OK;
    for (*count = 0; *count < given && !code;) {
        run_names *n = &names[*count];
        if (!(code = names_resolve(args[*count], n)))
            ++*count;
        if (!code && !n->has_capture)
            code = complain(EX_NOINPUT, "%s: there is no such capture%s", n->capture, names_hint(n));
    }
    return code;
}

static int run(const command *self, int argc, const char **argv) {
    poptContext context;
    int code = options_parse(self, options, 0, argc, argv, &context);
    if (code >= 0)
        return code;
    uint32_t given, count = 0;
    const char **args = options_arguments(context, &given);
    given = names_distinct(args, given);
    run_names *names = given ? calloc(given, sizeof *names) : NULL;
    if (!given)
        code = complain(EX_USAGE, "export what? xs export NAME");
    else if (want_sqlite && !want_perfetto &&
             (windows || merge_roles || slots || gpu_events || compress || link_wanted))
        code = complain(EX_USAGE, "%s is for Perfetto traces",
                        windows       ? "--windows"
                        : merge_roles ? "--merge-roles"
                        : slots       ? "--slots"
                        : gpu_events  ? "--gpu-events"
                        : compress    ? "--compress"
                                      : "--link");
    else if (want_perfetto && !want_sqlite && timing)
        code = complain(EX_USAGE, "--timing is for databases");
    else if (slots && !*slots)
        code = complain(EX_USAGE, "--slots needs a pattern, such as 'done[src=2*'");
    else if (!names)
        code = complain(EX_SOFTWARE, "out of memory");
    else
        code = resolve_all(args, given, names, &count);
    if (code == EX_OK)
        code = export_names(names, count);
    for (uint32_t i = 0; i < count; i++)
        names_free(&names[i]);
    free(names);
    free(output);
    free(slots);
    poptFreeContext(context);
    return code;
}

const command command_export = {
    "export", "NAME ...", "make the database and the Perfetto trace of a capture",
    "Reads NAME.xs once and writes NAME.db and NAME.perfetto. Several captures (of several machines, or\n"
    "processes that were recorded apart) become one. Each file gets its name only when it is whole.\n\n"
    "Examples:\n"
    "  xs export run\n"
    "  xs export host1.xs host2.xs -o both\n"
    "  xs export run --perfetto --slots 'rank 0 done[src=2*'\n"
    "  xs export run --sqlite --timing\n"
    "  xs export run --link                 open the address, then drag run.perfetto into the page\n", run};
