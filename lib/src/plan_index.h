/* Inside libxs: entries of a plan that may speak of the same slot as a given one, without a look at all of them. Plans
 * of kernels with many chunks have hundreds of thousands of entries.
 *
 * An entry names owner, row, column and epoch, each of them or all (ANY): its pattern says which are ANY. Two
 * entries can only speak of the same slot and epoch if they agree on what both name. So entries of one pattern are
 * found by what they have in common with those of another: a view is (kind, pattern, what is left out), a table of
 * the entries of that pattern by what is not left out. Views are made when they are first needed, and grow from then
 * on. */
#ifndef XS_PLAN_INDEX_H
#define XS_PLAN_INDEX_H

#include <xs/xs.h>

/* Bits of a pattern. */
enum {
    XS_PLAN_ALL_OWNERS = 1,
    XS_PLAN_ALL_ROWS = 2,
    XS_PLAN_ALL_COLUMNS = 4,
    XS_PLAN_ALL_EPOCHS = 8,
    XS_PLAN_PATTERNS = 16
};
/* What entries are looked for as. */
enum { XS_PLAN_AS_WRITER, XS_PLAN_AS_ADDER, XS_PLAN_AS_SUPPLIER, XS_PLAN_AS = 3 };
#define XS_PLAN_NO_NODE UINT32_MAX

/* next: an older one of the same key */
typedef struct xs_plan_node { uint64_t key; uint32_t entry, next; } xs_plan_node;
typedef struct xs_plan_head { uint64_t key; uint32_t node; } xs_plan_head;      /* key 0: free */
typedef struct xs_plan_number { uint32_t entry, as; } xs_plan_number;

typedef struct xs_plan_index {
    xs_plan_head *heads; /* open addressing */
    xs_plan_node *nodes;
    xs_plan_number *entries; /* all that were added */
    uint64_t head_room;
    uint32_t head_count, node_count, node_room, entry_count, entry_room;
    uint16_t patterns[XS_PLAN_AS];                       /* 1 << pattern: there are entries of it */
    uint16_t views[XS_PLAN_AS][XS_PLAN_PATTERNS];        /* of a pattern: 1 << what is left out */
} xs_plan_index;

uint32_t xs_plan_pattern(const xs_plan_entry *entry);
/* What two patterns leave out together. Adders meet in whatever epoch. */
static inline uint32_t xs_plan_left_out(uint32_t as, uint32_t a, uint32_t b) {
    return a | b | (as == XS_PLAN_AS_ADDER ? XS_PLAN_ALL_EPOCHS : 0u);
}
/* From here on, entries of `pattern` are found by what is not in `left_out`, which holds the pattern. plan: what
 * numbers stand for. */
int xs_plan_index_view(xs_plan_index *index, const xs_plan_entry *plan, uint32_t as, uint32_t pattern,
                       uint32_t left_out);
/* Makes plan[entry] known. */
int xs_plan_index_add(xs_plan_index *index, const xs_plan_entry *plan, uint32_t as, uint32_t entry);
/* The newest entry of `pattern` that agrees with `like` on what is not left out, then older ones (`next`);
 * XS_PLAN_NO_NODE: none. */
uint32_t xs_plan_index_find(const xs_plan_index *index, uint32_t as, uint32_t pattern, uint32_t left_out,
                            const xs_plan_entry *like);
/* Takes back the entries from `first` on: those that were added last. Views stay. */
void xs_plan_index_rewind(xs_plan_index *index, uint32_t first);
void xs_plan_index_free(xs_plan_index *index);

#endif
