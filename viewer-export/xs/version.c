#include "command.h"

#include <sqlite3.h>
#include <xs/capture.h>
#include <xs/xs.h>

static const struct poptOption options[] = {OPTION_HELP, POPT_TABLEEND};

static int run(const command *self, int argc, const char **argv) {
    poptContext context;
    int code = options_parse(self, options, 0, argc, argv, &context);
    if (code >= 0)
        return code;
    uint32_t given;
    if (options_arguments(context, &given), given)
        code = complain(EX_USAGE, "version takes no argument");
    poptFreeContext(context);
    if (code >= 0)
        return code;
    uint32_t v = xs_version();
    printf("xs %u.%u.%u (capture format %u, database schema %d, SQLite %s)\n", v >> 16, v >> 8 & 0xff, v & 0xff,
           XS_CAPTURE_VERSION, XSV_SCHEMA_VERSION, sqlite3_libversion());
    return finish_output();
}

const command command_version = {"version", "", "say which version this is",
                                 "Prints the versions of xs, of captures and of databases that it writes.\n", run};
