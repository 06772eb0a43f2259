/* Names of C++ kernels as people write them. */
#ifndef XS_CUPTI_NAME_H
#define XS_CUPTI_NAME_H

#include <stddef.h>

/* A symbol without mangling, return type and arguments: `ns::push<2>`. Where the process has no C++ library loaded, or
 * the symbol is not mangled, it stays as it is. Returns symbol or buffer. Demangling is done here and not by the
 * reader: a capture may be hostile, and there are names that grow without end. */
const char *xs_cupti_plain_name(const char *symbol, char *buffer, size_t bytes);
/* The same of a demangled text, in place. */
void xs_cupti_strip_signature(char *text);

#endif
