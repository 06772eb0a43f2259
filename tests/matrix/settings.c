/* Lists of what is lost and shifted, multiplied out. Shifts change last: what is judged with one is read once. */
#include "matrix.h"

#include <stdlib.h>
#include <string.h>

enum { LIST = 8 };
typedef struct list {
    uint32_t count;
    double of[LIST];
} list;

static bool read_list(list *to, const char *text, double otherwise, double least, double most) {
    if (!text)
        return to->of[to->count++] = otherwise, true;
    for (char *end; to->count < LIST; text = end + 1) {
        double value = strtod(text, &end);
        if (end == text || !(value >= least && value <= most))
            return false;
        to->of[to->count++] = value;
        if (*end != ',')
            return *end == 0;
    }
    return false;
}

static void name_setting(matrix_options *o) {
    int n = snprintf(o->setting, sizeof o->setting, "lost %g %%, in runs of up to %u", o->drop * 100, o->drop_run ? o->drop_run : 1);
    if (o->shift_ns)
        snprintf(o->setting + n, sizeof o->setting - (size_t)n, "; clocks off by up to %llu ns", (unsigned long long)o->shift_ns);
}

bool matrix_settings_make(matrix_settings *to, const matrix_options *from, const char *drops, const char *runs, const char *shifts) {
    list drop = {0}, run = {0}, shift = {0};
    if (!read_list(&drop, drops, 0, 0, 99) || !read_list(&run, runs, 0, 1, 4096) || !read_list(&shift, shifts, 0, 0, 1e9) ||
        drop.count * run.count * shift.count > MATRIX_SETTINGS)
        return false;
    to->count = drop.count * run.count * shift.count;
    for (uint32_t i = 0; i < to->count; i++) {
        matrix_options *o = &to->of[i];
        *o = *from;
        o->drop = drop.of[i / run.count % drop.count] / 100;
        o->drop_run = (uint32_t)run.of[i % run.count];
        o->shift_ns = (uint64_t)shift.of[i / run.count / drop.count];
        if (to->count > 1)
            name_setting(o);
    }
    return true;
}
