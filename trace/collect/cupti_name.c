#include "cupti_name.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangle_call(const char *mangled, char *buffer, size_t *bytes, int *status);

/* The ( of the last pair, if the text ends in ); else the end. */
static char *arguments_of(char *text) {
    size_t length = strlen(text), depth = 0;
    if (!length || text[length - 1] != ')')
        return text + length;
    for (size_t i = length; i-- > 0;) {
        depth += text[i] == ')';
        if (text[i] == '(' && --depth == 0)
            return text + i;
    }
    return text + length;
}

static size_t opens(char c) { return c == '<' || c == '(' || c == '{' || c == '['; }
static size_t closes(char c) { return c == '>' || c == ')' || c == '}' || c == ']'; }

/* Behind the return type: the last space that lies in no bracket. operator<, operator() and the like have brackets of
 * their own. */
static char *name_of(char *text) {
    size_t depth = 0;
    char *name = text;
    for (char *at = text; *at; at++) {
        if (strncmp(at, "operator", 8) == 0)
            break;
        if (closes(*at) && depth)
            depth--;
        depth += opens(*at);
        if (*at == ' ' && !depth)
            name = at + 1;
    }
    return name;
}

void xs_cupti_strip_signature(char *text) {
    char *end = arguments_of(text);
    if (end > text)
        *end = 0;
    char *name = name_of(text);
    memmove(text, name, strlen(name) + 1);
}

const char *xs_cupti_plain_name(const char *symbol, char *buffer, size_t bytes) {
    static demangle_call *demangle;
    int status = -1;
    if (!symbol || strncmp(symbol, "_Z", 2) != 0)
        return symbol;
    if (!demangle)
        *(void **)(void *)&demangle = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    char *made = demangle ? demangle(symbol, NULL, NULL, &status) : NULL;
    if (!made || status != 0) {
        free(made);
        return symbol;
    }
    xs_cupti_strip_signature(made);
    snprintf(buffer, bytes, "%s", made);
    free(made);
    return buffer;
}
