/* The table: a row a fault, totals, and which bars are missed. */
#include "matrix.h"

#include <stdio.h>
#include <string.h>

bool matrix_judges(const matrix_options *o, const fault *f) {
    if (o->only && strcmp(o->only, f->name) != 0)
        return false;
    return o->all || (f->judges & o->judge) != 0;
}

/* 99 of 100 (on threads, where the operating system decides who runs, 19 of 20), or with records lost: 80 of 100 named over all faults
 * together. With a tenth of them or more: no false error is all that is asked. */
static bool fault_bar(const matrix_options *o, const fault *f, const matrix_row *r) {
    if (r->false_errors || r->moved)
        return false;
    if (!f->finding || r->runs == 0 || o->drop >= 0.1)
        return true;
    if (o->drop > 0)
        return f->kernel != NULL || r->named * 100ull >= r->runs * 80ull; /* the row of the total has no kernel */
    return o->shift_ns ? true : r->right * 100ull >= r->runs * (o->judge == FAULT_THREADS ? 95ull : 99ull);
}
static bool twin_bar(const matrix_options *o, const matrix_row *r) { return r->twin_errors == 0 && (o->drop > 0 || r->twin_same == 0); }

static uint32_t print_row(const matrix_options *o, const fault *f, const matrix_row *r) {
    bool good = fault_bar(o, f, r) && twin_bar(o, r) && r->broken == 0;
    printf("| %-19s | %-21s | %5u | %5u | %5u | %7u | %5u | %5u | %5u | %5u | %6u | %4u | %s |\n", f->name,
           f->finding ? f->finding : "(clean)", r->runs, r->first, r->slot, r->culprit, o->drop > 0 ? r->named : r->right, r->false_errors,
           r->moved, r->twins, r->twin_errors, r->twin_same, good ? "ok" : "MISSED");
    return !good;
}

static void print_misses(const fault *f, const matrix_row *r) {
    if (r->missed)
        printf("  %s, seed %llu: %s\n", f->name, (unsigned long long)r->miss_seed, r->miss);
    if (r->twin_missed)
        printf("  %s (twin), seed %llu: %s\n", f->name, (unsigned long long)r->twin_seed, r->twin_miss);
    if (r->broken)
        printf("  %s: %u runs without a verdict\n", f->name, r->broken);
}

static void add(matrix_row *sum, const matrix_row *r) {
    sum->runs += r->runs, sum->first += r->first, sum->slot += r->slot, sum->culprit += r->culprit, sum->right += r->right;
    sum->named += r->named, sum->false_errors += r->false_errors, sum->moved += r->moved, sum->twins += r->twins;
    sum->unknown += r->unknown, sum->twin_unknown += r->twin_unknown;
    sum->twin_errors += r->twin_errors, sum->twin_same += r->twin_same, sum->broken += r->broken;
}

uint32_t matrix_print(const matrix_options *o, const matrix_row *rows) {
    static const fault total = {.name = "total", .finding = "all"};
    matrix_row sum = {0}, clean = {0};
    uint32_t missed = 0, faults = 0;
    printf("| fault               | to be found first     |  runs | first |  slot | culprit | %s | false | moved | twins | errors | same |    |\n"
           "|---------------------|-----------------------|------:|------:|------:|--------:|------:|------:|------:|------:|-------:|-----:|----|\n",
           o->drop > 0 ? "named" : "right");
    for (uint32_t i = 0; i < fault_count; i++)
        if (rows[i].runs + rows[i].twins + rows[i].broken) {
            missed += print_row(o, fault_table[i], &rows[i]);
            add(fault_table[i]->finding ? &sum : &clean, &rows[i]);
            faults++;
        }
    uint32_t all = print_row(o, &total, &sum);
    missed += missed == 0 ? all : 0;
    printf("\n%u faults, %u runs of faults and %u of twins and clean kernels; recall %.2f %%, false errors of twins and clean kernels %u; "
           "runs with a verdict unknown: faults %u, twins %u\n",
           faults, sum.runs, sum.twins + clean.runs + clean.twins,
           sum.runs ? 100.0 * (o->drop > 0 ? sum.named : sum.right) / sum.runs : 100.0,
           sum.twin_errors + clean.false_errors + clean.twin_errors, sum.unknown, sum.twin_unknown);
    for (uint32_t i = 0; i < fault_count; i++)
        print_misses(fault_table[i], &rows[i]);
    printf("%s: %u bars missed\n", missed ? "FAIL" : "PASS", missed);
    return missed;
}
