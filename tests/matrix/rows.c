/* Runs are counted in rows, by several processes at once. */
#include "matrix.h"

#define COUNT(field, by) __atomic_fetch_add(&(field), (uint32_t)(by), __ATOMIC_RELAXED)

/* The first few are told. */
static void keep(uint32_t *count, matrix_miss *misses, uint64_t seed, const char *got) {
    uint32_t at = COUNT(*count, 1);
    if (at >= MATRIX_MISSES)
        return;
    misses[at].seed = seed;
    snprintf(misses[at].got, sizeof misses[at].got, "%s", got);
}

static void tell(const matrix_options *o, const fault *f, uint64_t seed, bool twin, const matrix_verdict *v) {
    if (o->misses)
        fprintf(stderr, "%s%s%s%s%s, seed %llu: %s\n", o->setting, *o->setting ? ": " : "", v->errors ? "false error: " : "", f->name, twin ? " (twin)" : "", (unsigned long long)seed, v->got);
}

void matrix_enter_broken(matrix_row *r, uint64_t seed, const char *why) {
    COUNT(r->broken, 1);
    keep(&r->missed, r->misses, seed, why);
}

void matrix_enter(matrix_row *r, const matrix_options *o, const fault *f, uint64_t seed, bool twin, const matrix_verdict *v) {
    if (v->impossible) {
        COUNT(r->impossible, 1);
        keep(&r->missed, r->misses, seed, v->got);
    } else if (!v->ran) {
        matrix_enter_broken(r, seed, v->got);
    } else if (twin) {
        COUNT(r->twins, 1), COUNT(r->twin_errors, v->errors != 0), COUNT(r->twin_same, v->listed), COUNT(r->twin_unknown, v->unknown != 0);
        COUNT(r->moved, v->moved);
        if (v->errors || (v->listed && o->drop <= 0)) {
            tell(o, f, seed, twin, v);
            keep(&r->twin_missed, r->twin_misses, seed, v->got);
        }
    } else {
        bool right = v->first && v->slot && v->culprit;
        COUNT(r->runs, 1), COUNT(r->first, v->first), COUNT(r->slot, v->first && v->slot), COUNT(r->culprit, v->first && v->culprit);
        COUNT(r->right, right), COUNT(r->named, v->named), COUNT(r->false_errors, v->errors != 0);
        COUNT(r->unknown, v->unknown != 0), COUNT(r->moved, v->moved);
        if (v->errors || v->moved || (f->finding && !(o->drop > 0 ? v->named : right))) {
            tell(o, f, seed, twin, v);
            keep(&r->missed, r->misses, seed, v->got);
        }
    }
}
