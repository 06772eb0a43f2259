#include "command.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

int complain(int exit_code, const char *format, ...) {
    va_list list;
    fputs("xs: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    return exit_code;
}

int finish_output(void) {
    if (fflush(stdout) || ferror(stdout))
        return complain(EX_IOERR, "standard output: %m");
    return EX_OK;
}

static void print_option(const struct poptOption *o, FILE *out) {
    char left[48], letter[8] = "    ";
    if (o->shortName)
        snprintf(letter, sizeof letter, "-%c, ", o->shortName);
    snprintf(left, sizeof left, "%s--%s%s%s", letter, o->longName, o->argDescrip ? "=" : "",
             o->argDescrip ? o->argDescrip : "");
    fprintf(out, "  %-28s %s\n", left, o->descrip);
}

static void print_help(const command *c, const struct poptOption *options, FILE *out) {
    fprintf(out, "usage: xs %s%s%s\n\n%s\nOptions:\n", c->name, *c->arguments ? " " : "", c->arguments, c->text);
    for (; options->longName; options++)
        print_option(options, out);
    fprintf(out, "\nMore: man xs-%s\n", c->name);
}

void command_print_list(FILE *out) {
    fputs("usage: xs COMMAND ...\n\nSee what cross-device synchronisation did: who waited for whom, how long, and who "
          "owed it.\n\n",
          out);
    for (const command *const *c = commands; *c; c++)
        fprintf(out, "  %-8s  %s\n", (*c)->name, (*c)->summary);
    fputs("\nBegin with:\n"
          "  xs record -- ./combine --ranks 4     run a program, leave run.xs, run.db and run.perfetto\n"
          "  xs report run                        read what happened\n"
          "  xs COMMAND --help                    options and examples of a command\n",
          out);
}

int options_parse(const command *self, const struct poptOption *options, int stop_at_argument, int argc,
                  const char **argv, poptContext *context) {
    *context = poptGetContext("xs", argc, argv, options, stop_at_argument ? POPT_CONTEXT_POSIXMEHARDER : 0);
    if (!*context)
        return complain(EX_SOFTWARE, "out of memory");
    int rc = poptGetNextOpt(*context), code = -1;
    if (rc == 'h') {
        print_help(self, options, stdout);
        code = finish_output();
    } else if (rc < -1) {
        code = complain(EX_USAGE, "%s: %s ('xs %s --help' lists the options)",
                        poptBadOption(*context, POPT_BADOPTION_NOALIAS), poptStrerror(rc), self->name);
    }
    if (code >= 0) {
        poptFreeContext(*context);
        *context = NULL;
    }
    return code;
}

int options_number(const char *option, const char *text, uint32_t low, uint32_t high, uint32_t *value) {
    if (!text)
        return EX_OK;
    size_t digits = strspn(text, "0123456789");
    unsigned long long n = digits && !text[digits] ? strtoull(text, NULL, 10) : 0;
    if (!digits || text[digits] || n < low || n > high)
        return complain(EX_USAGE, "%s=%s is not a number from %u to %u", option, text, low, high);
    *value = (uint32_t)n;
    return EX_OK;
}

const char **options_arguments(poptContext context, uint32_t *count) {
    const char **args = poptGetArgs(context);
    for (*count = 0; args && args[*count];)
        ++*count;
    return args;
}
