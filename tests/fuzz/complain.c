/* What the command says of input that it refuses is not printed here. */
#include "command.h"

int complain(int exit_code, const char *format, ...) {
    (void)format;
    return exit_code;
}

int exit_code_input(int error) {
    (void)error;
    return EX_NOINPUT;
}
