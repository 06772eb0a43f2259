#include "tally.h"

#include <stdlib.h>

static uint32_t home(const xsv_tally *t, const xsv_tally_row *k) {
    uint64_t h = k->pad * 0x9e3779b97f4a7c15ull ^ k->rank * 0xc2b2ae3d27d4eb4full ^
                 k->supplier * 0x165667b19e3779f9ull ^ (uint32_t)k->bucket * 0x27d4eb2f165667c5ull;
    return (uint32_t)((h ^ h >> 29) * 0xbf58476d1ce4e5b9ull >> 32) & (t->size - 1);
}

static int same(const xsv_tally_row *a, const xsv_tally_row *b) {
    return a->pad == b->pad && a->rank == b->rank && a->supplier == b->supplier && a->bucket == b->bucket;
}

static xsv_tally_row *find(const xsv_tally *t, const xsv_tally_row *key) {
    uint32_t i = home(t, key);
    while (t->rows[i].waits && !same(&t->rows[i], key))
        i = (i + 1) & (t->size - 1);
    return &t->rows[i];
}

static int grow(xsv_tally *t) {
    xsv_tally bigger = *t;
    bigger.size = t->size ? t->size * 2 : 256;
    bigger.rows = calloc(bigger.size, sizeof *bigger.rows);
    if (!bigger.rows)
        return XS_E_MEMORY;
    for (uint32_t i = 0; i < t->size; i++)
        if (t->rows[i].waits)
            *find(&bigger, &t->rows[i]) = t->rows[i];
    free(t->rows);
    *t = bigger;
    return XS_OK;
}

int xsv_tally_add(xsv_tally *t, const xsv_tally_row *one) {
    if (t->used * 2 >= t->size && grow(t))
        return XS_E_MEMORY;
    xsv_tally_row *r = find(t, one);
    if (!r->waits) {
        *r = *one;
        t->used++;
        return XS_OK;
    }
    r->waits += one->waits;
    r->passed += one->passed;
    r->failed += one->failed;
    r->total_ns += one->total_ns;
    r->blocked_ns += one->blocked_ns;
    if (one->max_ns > r->max_ns)
        r->max_ns = one->max_ns;
    return XS_OK;
}

void xsv_tally_free(xsv_tally *t) {
    free(t->rows);
    t->rows = NULL;
    t->size = t->used = 0;
}
