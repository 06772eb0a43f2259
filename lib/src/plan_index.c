/* Chains of one key run from the newest entry to the oldest, so that what was added last can be taken off. */
#include "plan_index.h"

#include <stdlib.h>
#include <string.h>

#include "mixed.h"

uint32_t xs_plan_pattern(const xs_plan_entry *e) {
    return (e->owner == XS_PLAN_ANY ? XS_PLAN_ALL_OWNERS : 0u) | (e->row == XS_PLAN_ANY ? XS_PLAN_ALL_ROWS : 0u) |
           (e->column == XS_PLAN_ANY ? XS_PLAN_ALL_COLUMNS : 0u) | (e->epoch == UINT64_MAX ? XS_PLAN_ALL_EPOCHS : 0u);
}

static uint64_t key_of(uint32_t as, uint32_t pattern, uint32_t left_out, const xs_plan_entry *e) {
    uint64_t h = xs_mixed(1, (as << 8 | pattern << 4 | left_out) + ((uint64_t)e->pad_first << 32));
    h = xs_mixed_place(h, left_out & XS_PLAN_ALL_OWNERS ? XS_PLAN_ANY : e->owner,
                       left_out & XS_PLAN_ALL_ROWS ? XS_PLAN_ANY : e->row,
                       left_out & XS_PLAN_ALL_COLUMNS ? XS_PLAN_ANY : e->column,
                       left_out & XS_PLAN_ALL_EPOCHS ? UINT64_MAX : e->epoch);
    return h ? h : 1;
}

/* Where the key stands, or would. */
static xs_plan_head *head_of(const xs_plan_index *x, uint64_t key) {
    uint64_t at = key & (x->head_room - 1);
    while (x->heads[at].key && x->heads[at].key != key) at = (at + 1) & (x->head_room - 1);
    return &x->heads[at];
}

static int grow_heads(xs_plan_index *x) {
    xs_plan_index larger = *x;
    larger.head_room = x->head_room ? x->head_room * 2 : 64;
    larger.heads = calloc(larger.head_room, sizeof *larger.heads);
    if (!larger.heads) return XS_E_MEMORY;
    for (uint64_t i = 0; i < x->head_room; i++)
        if (x->heads[i].key) *head_of(&larger, x->heads[i].key) = x->heads[i];
    free(x->heads);
    *x = larger;
    return 0;
}

/* Room for one more; count is below 2^31 as long as a plan is (plan.c). */
static int room(void **array, uint32_t *have, uint32_t count, size_t width) {
    if (count < *have) return 0;
    uint32_t more = *have ? *have * 2 : 64;
    void *larger = realloc(*array, more * width);
    if (!larger) return XS_E_MEMORY;
    *array = larger;
    *have = more;
    return 0;
}

static int add_to_view(xs_plan_index *x, const xs_plan_entry *plan, xs_plan_number what, uint32_t pattern,
                       uint32_t left_out) {
    if ((uint64_t)x->head_count * 2 >= x->head_room && grow_heads(x)) return XS_E_MEMORY;
    if (x->node_count == UINT32_MAX / 2 || room((void **)&x->nodes, &x->node_room, x->node_count, sizeof *x->nodes))
        return XS_E_MEMORY;
    uint64_t key = key_of(what.as, pattern, left_out, &plan[what.entry]);
    xs_plan_head *head = head_of(x, key);
    if (!head->key) {
        *head = (xs_plan_head){key, XS_PLAN_NO_NODE};
        x->head_count++;
    }
    x->nodes[x->node_count] = (xs_plan_node){key, what.entry, head->node};
    head->node = x->node_count++;
    return 0;
}

/* Only while nothing is added that may be taken off again: nodes of a view stand in the order of entries. */
int xs_plan_index_view(xs_plan_index *x, const xs_plan_entry *plan, uint32_t as, uint32_t pattern, uint32_t left_out) {
    if (x->views[as][pattern] >> left_out & 1) return 0;
    int rc = 0;
    for (uint32_t i = 0; i < x->entry_count && !rc; i++)
        if (x->entries[i].as == as && xs_plan_pattern(&plan[x->entries[i].entry]) == pattern)
            rc = add_to_view(x, plan, x->entries[i], pattern, left_out);
    if (!rc) x->views[as][pattern] |= (uint16_t)(1u << left_out);
    return rc;
}

int xs_plan_index_add(xs_plan_index *x, const xs_plan_entry *plan, uint32_t as, uint32_t entry) {
    uint32_t pattern = xs_plan_pattern(&plan[entry]);
    int rc = xs_plan_index_view(x, plan, as, pattern, pattern);
    if (rc || (rc = room((void **)&x->entries, &x->entry_room, x->entry_count, sizeof *x->entries))) return rc;
    x->entries[x->entry_count++] = (xs_plan_number){entry, as};
    x->patterns[as] |= (uint16_t)(1u << pattern);
    for (uint32_t views = x->views[as][pattern]; views && !rc; views &= views - 1)
        rc = add_to_view(x, plan, (xs_plan_number){entry, as}, pattern, (uint32_t)__builtin_ctz(views));
    return rc;
}

uint32_t xs_plan_index_find(const xs_plan_index *x, uint32_t as, uint32_t pattern, uint32_t left_out,
                            const xs_plan_entry *like) {
    if (!x->heads || !(x->patterns[as] >> pattern & 1)) return XS_PLAN_NO_NODE;
    const xs_plan_head *head = head_of(x, key_of(as, pattern, left_out, like));
    return head->key ? head->node : XS_PLAN_NO_NODE;
}

void xs_plan_index_rewind(xs_plan_index *x, uint32_t first) {
    while (x->node_count && x->nodes[x->node_count - 1].entry >= first) {
        const xs_plan_node *last = &x->nodes[--x->node_count];
        head_of(x, last->key)->node = last->next;
    }
    while (x->entry_count && x->entries[x->entry_count - 1].entry >= first) x->entry_count--;
}

void xs_plan_index_free(xs_plan_index *x) {
    free(x->heads);
    free(x->nodes);
    free(x->entries);
    memset(x, 0, sizeof *x);
}
