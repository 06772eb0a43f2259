/* Names of parts, and why a piece is unknown. */
#include "blame.h"

const char *xsa_part_name(uint32_t part) {
    static const char *const names[] = {
#define NAME(name, shown, text) shown,
        XSA_PARTS(NAME)
#undef NAME
    };
    return part < XSA_PART_COUNT ? names[part] : "unknown";
}

const char *xsa_part_text(uint32_t part) {
    static const char *const texts[] = {
#define TEXT(name, shown, text) text,
        XSA_PARTS(TEXT)
#undef TEXT
    };
    return part < XSA_PART_COUNT ? texts[part] : "";
}

const char *xsa_blame_why_text(uint32_t why) {
    static const char *const texts[] = {
#define TEXT(name, text) text,
        XSA_BLAME_WHYS(TEXT)
#undef TEXT
    };
    return why < XSA_BLAME_WHY_COUNT ? texts[why] : "";
}
