/* The table: a row a fault, totals, and which bars are missed. */
#include "matrix.h"

#include <stdarg.h>
#include <string.h>

static void __attribute__((format(printf, 2, 0))) say_to(FILE *to, const char *format, va_list list) {
    if (!to)
        return;
    vfprintf(to, format, list);
    fflush(to); /* whoever is killed has told what there was */
}

/* To the file, and to stdout unless --brief leaves it out there; or, if it does not, in fewer bytes where there are two forms. */
static void __attribute__((format(printf, 3, 5), format(printf, 4, 5))) say_forms(const matrix_options *o, bool matters, const char *full, const char *narrow, ...) {
    FILE *to[2] = {o->brief && !matters ? NULL : stdout, o->table};
    for (uint32_t i = 0; i < 2; i++) {
        va_list list;
        va_start(list, narrow);
        say_to(to[i], o->brief && to[i] == stdout ? narrow : full, list);
        va_end(list);
    }
}
#define say_if(o, matters, format, ...) say_forms(o, matters, format, format, ##__VA_ARGS__)
#define say(o, ...) say_if(o, true, __VA_ARGS__)

enum { CUT = 170, BRIEF = 3000 }; /* bytes: of a miss, of all of them */

static bool is_listed(const char *names, const char *name) {
    size_t length = strlen(name);
    for (const char *at = names; at; at = strchr(at, ','), at += at != NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == 0))
            return true;
    return false;
}

bool matrix_takes(const matrix_options *o, uint32_t index) {
    const fault *f = fault_table[index];
    if ((o->only && !is_listed(o->only, f->name)) || is_listed(o->but, f->name) || (o->timeless && !(f->judges & FAULT_THREADS)))
        return false;
    return (o->all || (f->judges & o->judge) != 0) && (o->parts == 0 || index % o->parts == o->part - 1);
}

#define LITTLE_NS 3300u /* clocks that are off by no more than what a GPU's answers hide leave all findings where they are */

/* 99 of 100 (on threads, where the operating system decides who runs, 19 of 20), or with records lost: 80 of 100 named over all faults
 * together. With a tenth of them or more: no false error is all that is asked. */
static bool fault_bar(const matrix_options *o, const fault *f, const matrix_row *r) {
    if (r->false_errors || r->moved)
        return false;
    if (!f->finding || r->runs == 0 || o->drop >= 0.1)
        return true;
    if (o->drop > 0)
        return f->kernel != NULL || r->named * 100ull >= r->runs * 80ull; /* the row of the total has no kernel */
    return o->shift_ns > LITTLE_NS ? true : r->right * 100ull >= r->runs * (o->judge == FAULT_THREADS ? 95ull : 99ull);
}
static bool twin_bar(const matrix_options *o, const matrix_row *r) { return r->twin_errors == 0 && (o->drop > 0 || matrix_is_beyond(o) || r->twin_same == 0); }
static bool sound(const matrix_row *r) { return r->broken == 0 && r->leaked == 0; }
static const char *verdict_of(const matrix_options *o, const fault *f, const matrix_row *r) {
    if (!fault_bar(o, f, r) || !twin_bar(o, r) || !sound(r))
        return "MISSED";
    return r->short_runs ? "SHORT" : "ok";
}
static bool is_good(const matrix_options *o, const fault *f, const matrix_row *r) { return strcmp(verdict_of(o, f, r), "ok") == 0; }

static const char *finding_of(const matrix_options *o, const fault *f, const matrix_row *r) {
    if (r->impossible)
        return "(not possible here)";
    if (o->judge == FAULT_CUDA && f->cuda.refused)
        return "(refused)";
    return f->finding ? f->finding : "(clean)";
}

void matrix_print_head(const matrix_options *o) {
    if (*o->setting)
        say(o, "\n%s\n\n", o->setting);
    say(o,
        "| fault               | to be found first     |  runs | first |  slot | culprit | %s | false | moved | twins | errors | same |    s |    |\n"
        "|---------------------|-----------------------|------:|------:|------:|--------:|------:|------:|------:|------:|-------:|-----:|-----:|----|\n",
        o->drop > 0 ? "named" : "right");
}

uint32_t matrix_print_row(const matrix_options *o, const fault *f, const matrix_row *r) {
    bool total = !f->kernel;
    say_forms(o, total || !is_good(o, f, r), "| %-19s | %-21s | %5u | %5u | %5u | %7u | %5u | %5u | %5u | %5u | %6u | %4u | %4.0f | %s |\n",
              "|%s|%s|%u|%u|%u|%u|%u|%u|%u|%u|%u|%u|%.0f|%s|\n", f->name, finding_of(o, f, r), r->runs, r->first, r->slot, r->culprit, o->drop > 0 ? r->named : r->right, r->false_errors, r->moved, r->twins,
           r->twin_errors, r->twin_same, r->seconds, verdict_of(o, f, r));
    return !is_good(o, f, r);
}

static bool is_used(const matrix_row *r) { return r->runs + r->twins + r->broken + r->impossible + r->short_runs > 0; }

static void print_miss(const matrix_options *o, const fault *f, bool twin, const matrix_miss *m) {
    say_if(o, false, "  %s%s, seed %llu: %s\n", f->name, twin ? " (twin)" : "", (unsigned long long)m->seed, m->got);
}

/* All that was kept, fault by fault. */
static void print_misses(const matrix_options *o, const fault *f, const matrix_row *r) {
    for (uint32_t i = 0; i < MATRIX_MISSES && i < r->missed; i++)
        print_miss(o, f, false, &r->misses[i]);
    for (uint32_t i = 0; i < MATRIX_MISSES && i < r->twin_missed; i++)
        print_miss(o, f, true, &r->twin_misses[i]);
}

/* The first miss of every fault, then the second of every fault: as many as there is room for, each cut off. */
static void print_brief_misses(const matrix_row *rows) {
    int room = BRIEF, left = 0;
    for (uint32_t k = 0; k < 2 * MATRIX_MISSES; k++)
        for (uint32_t i = 0; i < fault_count; i++) {
            bool twin = k & 1;
            if (k / 2 >= (twin ? rows[i].twin_missed : rows[i].missed) || !is_used(&rows[i]))
                continue;
            const matrix_miss *m = twin ? &rows[i].twin_misses[k / 2] : &rows[i].misses[k / 2];
            if (room < CUT + 64)
                left++;
            else
                room -= printf("  %s%s, seed %llu: %.*s\n", fault_table[i]->name, twin ? " (twin)" : "", (unsigned long long)m->seed, CUT, m->got);
        }
    if (left)
        printf("  and %d more in the file\n", left);
}

static void print_unsound(const matrix_options *o, const fault *f, const matrix_row *r) {
    if (r->broken)
        say(o, "  %s: %u runs without a verdict\n", f->name, r->broken);
    if (r->impossible)
        say(o, "  %s: %u runs that this machine cannot make\n", f->name, r->impossible);
    if (r->leaked)
        say(o, "  %s: its process ended with %u more open files than it had after its first run\n", f->name, r->leaked);
}

static void add(matrix_row *sum, const matrix_row *r) {
    sum->runs += r->runs, sum->first += r->first, sum->slot += r->slot, sum->culprit += r->culprit, sum->right += r->right;
    sum->named += r->named, sum->false_errors += r->false_errors, sum->moved += r->moved, sum->twins += r->twins;
    sum->unknown += r->unknown, sum->twin_unknown += r->twin_unknown;
    sum->twin_errors += r->twin_errors, sum->twin_same += r->twin_same, sum->broken += r->broken;
    sum->seconds += r->seconds, sum->short_runs |= r->short_runs, sum->leaked += r->leaked;
}

/* The rows themselves, unless they were told as they came. */
static uint32_t print_rows(const matrix_options *o, const matrix_row *rows, matrix_row *sum, matrix_row *clean, uint32_t *faults) {
    uint32_t missed = 0;
    for (uint32_t i = 0; i < fault_count; i++) {
        const fault *f = fault_table[i];
        if (!is_used(&rows[i]))
            continue;
        missed += o->each ? !is_good(o, f, &rows[i]) : matrix_print_row(o, f, &rows[i]);
        add(f->finding ? sum : clean, &rows[i]);
        ++*faults;
    }
    return missed;
}

uint32_t matrix_print_end(const matrix_options *o, const matrix_row *rows, uint32_t died) {
    static const fault total = {.name = "total", .finding = "all"};
    matrix_row sum = {0}, clean = {0};
    uint32_t faults = 0, missed = print_rows(o, rows, &sum, &clean, &faults), all = matrix_print_row(o, &total, &sum);
    missed += missed == 0 ? all : 0;
    say(o,
        "\n%u faults, %u runs of faults and %u of twins and clean kernels; recall %.2f %%, false errors of twins and clean kernels %u; "
        "runs with a verdict unknown: faults %u, twins %u\n",
        faults, sum.runs, sum.twins + clean.runs + clean.twins, sum.runs ? 100.0 * (o->drop > 0 ? sum.named : sum.right) / sum.runs : 100.0,
        sum.twin_errors + clean.false_errors + clean.twin_errors, sum.unknown, sum.twin_unknown);
    for (uint32_t i = 0; i < fault_count; i++) {
        print_misses(o, fault_table[i], &rows[i]);
        print_unsound(o, fault_table[i], &rows[i]);
    }
    if (o->brief)
        print_brief_misses(rows);
    if (sum.short_runs + clean.short_runs)
        say(o, "SHORT: not all runs were made in the time given\n");
    if (died)
        say(o, "%u processes died\n", died);
    say(o, "%s: %u bars missed\n", missed || died ? "FAIL" : "PASS", missed);
    return missed + died;
}
