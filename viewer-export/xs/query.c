#include "command.h"

static int csv, json;
static const struct poptOption options[] = {
    {"csv", 0, POPT_ARG_NONE, &csv, 0, "comma separated values, with a header line", NULL},
    {"json", 0, POPT_ARG_NONE, &json, 0, "an array of objects, one a row", NULL},
    OPTION_HELP,
    POPT_TABLEEND};

static const char list_views[] = "SELECT name AS view FROM sqlite_schema WHERE type = 'view' ORDER BY name";

static int ask(const char *database, void *sql, char **error) {
    enum xsv_format format = json ? XSV_JSON : csv ? XSV_CSV : XSV_TABLE;
    return xsv_query(database, sql ? sql : list_views, format, stdout, error);
}

static int run(const command *self, int argc, const char **argv) {
    poptContext context;
    int code = options_parse(self, options, 0, argc, argv, &context);
    if (code >= 0)
        return code;
    const char *name = poptGetArg(context), *sql = name ? poptGetArg(context) : NULL;
    if (!name)
        code = complain(EX_USAGE, "query of which run? xs query NAME \"SELECT ...\"");
    else if (poptPeekArg(context))
        code = complain(EX_USAGE, "one question at a time: put the SQL in quotes");
    else if (csv && json)
        code = complain(EX_USAGE, "--csv or --json, not both");
    else
        code = answer_from(name, ask, (void *)sql);
    poptFreeContext(context);
    return code;
}

const command command_query = {
    "query", "NAME [\"SQL\" | VIEW]", "ask the database of a run",
    "Runs one SQL statement over NAME.db, read-only, and prints its rows. A bare name shows that view or\n"
    "table; no question lists the views. NAME.db is made from NAME.xs first if it is missing or older.\n"
    "docs/sql.md describes tables and views, with example questions.\n\n"
    "Examples:\n"
    "  xs query run wait_latency\n"
    "  xs query run \"select * from slowest_waits limit 5\"\n"
    "  xs query run --csv \"select * from wait_latency_histogram where pad = 'done'\" > done.csv\n", run};
