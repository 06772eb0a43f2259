#include "command.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int terminal_is_utf8(void) { return !strcmp(nl_langinfo(CODESET), "UTF-8"); }

int terminal_has_color(void) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb");
}
