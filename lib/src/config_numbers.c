/* Numbers, ranges and lists of them, as the environment and the caller write them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

int xs_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *value) {
    if (*text < '0' || *text > '9') return XS_E_ARGUMENT; /* strtoull would take signs and spaces */
    char *end;
    errno = 0;
    unsigned long long v = strtoull(text, &end, 0);
    if (errno) return XS_E_ARGUMENT;
    uint32_t shift = 0;
    if (*end == 'K' || *end == 'k') shift = 10;
    if (*end == 'M' || *end == 'm') shift = 20;
    if (*end == 'G' || *end == 'g') shift = 30;
    if (shift) end++;
    if (*end || (v << shift) >> shift != v) return XS_E_ARGUMENT;
    v <<= shift;
    if (v < low || v > high) return XS_E_ARGUMENT;
    *value = v;
    return 0;
}

int xs_parse_range(const char *text, uint64_t high, uint64_t *first, uint64_t *last) {
    char left[32];
    const char *dash = strchr(text, '-');
    size_t length = dash ? (size_t)(dash - text) : strlen(text);
    if (length >= sizeof left) return XS_E_ARGUMENT;
    memcpy(left, text, length);
    left[length] = 0;
    if (xs_parse_number(left, 0, high, first)) return XS_E_ARGUMENT;
    if (xs_parse_number(dash ? dash + 1 : left, 0, high, last)) return XS_E_ARGUMENT;
    return *first <= *last ? 0 : XS_E_ARGUMENT;
}

int xs_parse_list(const char *text, uint64_t high, int (*take)(void *user, uint64_t number), void *user) {
    while (*text) {
        char part[64];
        size_t length = strcspn(text, ",");
        uint64_t first, last;
        if (length >= sizeof part || (text[length] && !text[length + 1])) return XS_E_ARGUMENT;
        memcpy(part, text, length);
        part[length] = 0;
        if (xs_parse_range(part, high, &first, &last)) return XS_E_ARGUMENT;
        for (uint64_t number = first; number <= last; number++) {
            int rc = take(user, number);
            if (rc) return rc;
        }
        text += length + (text[length] == ',');
    }
    return 0;
}

int xs_env_number(const char *variable, uint64_t low, uint64_t high, uint64_t *value) {
    const char *text = getenv(variable);
    if (!text || !*text) return 0;
    if (!xs_parse_number(text, low, high, value)) return 1;
    return xs_fail(XS_E_ARGUMENT, "%s=%s: expected a number from %llu to %llu", variable, text, (unsigned long long)low,
                   (unsigned long long)high);
}
