/* Texts of errors, and the words behind the last one. */
#include <stdarg.h>
#include <stdio.h>

#include "world.h"

static _Thread_local char detail[256];

const char *xs_strerror(int error) {
#define XS_ERROR_TEXT(number, name, text)                                                                              \
    case -(number): return text;
    switch (error) {
        XS_ERRORS(XS_ERROR_TEXT)
    case XS_OK: return "no error";
    default: return "unknown error";
    }
#undef XS_ERROR_TEXT
}

const char *xs_errname(int error) {
#define XS_ERROR_NAME(number, name, text)                                                                              \
    case -(number): return "XS_E_" #name;
    switch (error) {
        XS_ERRORS(XS_ERROR_NAME)
    case XS_OK: return "XS_OK";
    default: return "XS_E_UNKNOWN";
    }
#undef XS_ERROR_NAME
}

int xs_fail(int error, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    return error;
}

void xs_fail_clear(void) { detail[0] = 0; }

const char *xs_error_detail(void) { return detail; }

uint32_t xs_version(void) { return XS_VERSION_MAJOR << 16 | XS_VERSION_MINOR << 8 | XS_VERSION_PATCH; }
