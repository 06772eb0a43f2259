#include "vector.h"

#include <stdlib.h>
#include <string.h>
#include <xs/errors.h>

#include "../read/search.h"

an_vector *an_vector_hold(an_vector *v) {
    if (v)
        v->refs++;
    return v;
}

void an_vector_drop(an_vector *v) {
    if (v && --v->refs == 0)
        free(v);
}

static uint32_t place(const an_vector *v, uint32_t agent) {
    uint32_t at;
    RD_SEARCH(at, 0, v->count, v->at[at].agent < agent);
    return at;
}

uint32_t an_vector_epoch(const an_vector *v, uint32_t agent) {
    if (!v)
        return 0;
    uint32_t at = place(v, agent);
    return at < v->count && v->at[at].agent == agent ? v->at[at].epoch : 0;
}

static an_vector *make(uint32_t room) {
    an_vector *v = malloc(sizeof *v + room * sizeof v->at[0]);
    if (v)
        *v = (an_vector){.refs = 1, .room = room};
    return v;
}

/* Raises what is there already; true if all of `other` was. */
static bool raise_in_place(an_vector *v, const an_vector *other) {
    uint32_t i = 0, k = 0;
    for (; k < other->count; k++) {
        while (i < v->count && v->at[i].agent < other->at[k].agent)
            i++;
        if (i == v->count || v->at[i].agent != other->at[k].agent)
            return false;
        if (v->at[i].epoch < other->at[k].epoch)
            v->at[i].epoch = other->at[k].epoch;
    }
    return true;
}

static bool knows_all(const an_vector *v, const an_vector *other) {
    uint32_t i = 0;
    for (uint32_t k = 0; k < other->count; k++) {
        while (i < v->count && v->at[i].agent < other->at[k].agent)
            i++;
        if (i == v->count || v->at[i].agent != other->at[k].agent || v->at[i].epoch < other->at[k].epoch)
            return false;
    }
    return true;
}

static an_vector *merged(const an_vector *x, const an_vector *y) {
    uint32_t n = x->count + y->count, i = 0, k = 0;
    an_vector *v = make(n + 4);
    while (v && (i < x->count || k < y->count)) {
        if (k == y->count || (i < x->count && x->at[i].agent < y->at[k].agent)) {
            v->at[v->count++] = x->at[i++];
        } else if (i == x->count || y->at[k].agent < x->at[i].agent) {
            v->at[v->count++] = y->at[k++];
        } else {
            v->at[v->count++] = x->at[i].epoch > y->at[k].epoch ? x->at[i] : y->at[k];
            i++, k++;
        }
    }
    return v;
}

static int join_list(an_vector **v, const an_vector *other) {
    if (!other || other->count == 0 || *v == other)
        return 0;
    if (!*v) {
        *v = make(other->count + 4);
        if (!*v)
            return XS_E_MEMORY;
        memcpy((*v)->at, other->at, other->count * sizeof other->at[0]);
        (*v)->count = other->count;
        return 0;
    }
    if ((*v)->refs == 1 ? raise_in_place(*v, other) : knows_all(*v, other))
        return 0;
    an_vector *bigger = merged(*v, other);
    if (!bigger)
        return XS_E_MEMORY;
    an_vector_drop(*v);
    *v = bigger;
    return 0;
}

/* Room of its own for one more. */
static int own(an_vector **v) {
    const an_vector *old = *v;
    uint32_t count = old ? old->count : 0;
    if (old && old->refs == 1 && old->room > count)
        return 0;
    an_vector *fresh = make(count + count / 4 + 4);
    if (!fresh)
        return XS_E_MEMORY;
    if (old)
        memcpy(fresh->at, old->at, count * sizeof old->at[0]);
    fresh->count = count;
    an_vector_drop(*v);
    *v = fresh;
    return 0;
}

static int join_one(an_vector **v, an_stamp more) {
    if (an_vector_epoch(*v, more.agent) >= more.epoch)
        return 0;
    int rc = own(v);
    if (rc)
        return rc;
    uint32_t at = place(*v, more.agent);
    if (at == (*v)->count || (*v)->at[at].agent != more.agent) {
        memmove(&(*v)->at[at + 1], &(*v)->at[at], ((*v)->count - at) * sizeof more);
        (*v)->count++;
    }
    (*v)->at[at] = more;
    return 0;
}

int an_vector_join(an_vector **v, const an_vector *other, an_stamp more) {
    int rc = join_list(v, other);
    return rc || more.epoch == 0 ? rc : join_one(v, more);
}
