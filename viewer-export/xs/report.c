#include "command.h"

#include <stdlib.h>

static int json, rows;
static const struct poptOption options[] = {
    {"json", 0, POPT_ARG_NONE, &json, 0, "one JSON object instead of text", NULL},
    {"rows", 'n', POPT_ARG_INT, &rows, 0, "length of each list (10)", "N"},
    OPTION_HELP,
    POPT_TABLEEND};

static int report_one(const char *name) {
    run_names names;
    int code = names_resolve(name, &names);
    if (code)
        return code;
    code = export_database_if_needed(&names);
    xsv_report_options how = {.size = sizeof how, .json = json, .rows = (uint32_t)rows, .color = terminal_has_color(),
                              .unicode = terminal_is_utf8()};
    char *error = NULL;
    int rc = code ? 0 : xsv_report(names.database, &how, stdout, &error);
    if (rc)
        code = complain(rc == XS_E_SYSTEM ? EX_IOERR : exit_code_input(rc), "%s", error ? error : "out of memory");
    free(error);
    names_free(&names);
    return code;
}

static int run(const command *self, int argc, const char **argv) {
    poptContext context;
    int code = options_parse(self, options, 0, argc, argv, &context);
    if (code >= 0)
        return code;
    const char *name = poptGetArg(context);
    if (rows < 0 || rows > 100000)
        code = complain(EX_USAGE, "--rows=%d is not between 0 and 100000", rows);
    else if (!name)
        code = complain(EX_USAGE, "report of which run? xs report NAME");
    else if (json && poptPeekArg(context))
        code = complain(EX_USAGE, "--json takes one run at a time");
    else
        code = report_one(name);
    while (!code && (name = poptGetArg(context))) {
        printf("\n%s\n", name);
        code = report_one(name);
    }
    poptFreeContext(context);
    return code;
}

const command command_report = {
    "report", "NAME ...", "say what happened in a run",
    "Reads NAME.db and says what happened, the most important thing first: waits that never ended and\n"
    "who owes their signal, who waited for whom, latencies by slot class and peer with histograms, the\n"
    "slowest waits, lost records, and what is not known. NAME.db is made from NAME.xs first if it is\n"
    "missing or older.\n\n"
    "Examples:\n"
    "  xs report run\n"
    "  xs report run --json | jq '.wait_share'\n", run};
