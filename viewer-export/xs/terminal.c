#include "command.h"

#include <langinfo.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>

int terminal_is_utf8(void) { return !strcmp(nl_langinfo(CODESET), "UTF-8"); }

uint32_t terminal_width(void) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col) /* no terminal, or one that does not know */
        return 0;
    return size.ws_col < 100 ? size.ws_col : 100;
}

int terminal_can_move(void) {
    int error;
    if (setupterm(NULL, STDOUT_FILENO, &error) != OK)
        return 0;
    const char *move = tigetstr("cup");
    int can = move && move != (const char *)-1;
    del_curterm(cur_term);
    return can;
}

int terminal_has_color(void) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no && *no) && term && strcmp(term, "dumb");
}
