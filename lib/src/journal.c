/* The journal: a ring of stamped entries. Any thread, no lock: a sequence is claimed, the entry made void, filled, and
 * stamped last. A reader takes an entry only if the stamp is the same before and after. */
#include "identity.h"
#include "world.h"

static void put(uint64_t *at, uint64_t value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }

void xs_journal(xs_world *world, uint32_t kind, uint32_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                uint64_t f, uint64_t g) {
    const xs_region_header *h = xs_region(world);
    uint64_t sequence = __atomic_add_fetch(&world->journal_next, 1, __ATOMIC_RELAXED);
    xs_journal_entry *entry =
        (xs_journal_entry *)(world->region + h->journal_offset) + ((sequence - 1) & (h->journal_entries - 1));
    /* An exchange, since what follows must not be seen before the void stamp, and sanitizers do not model fences. */
    __atomic_exchange_n(&entry->sequence, 0, __ATOMIC_ACQ_REL);
    __atomic_store_n(&entry->kind, kind, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->a, a, __ATOMIC_RELAXED);
    put(&entry->b, b);
    put(&entry->c, c);
    put(&entry->d, d);
    put(&entry->e, e);
    put(&entry->f, f);
    put(&entry->g, g);
    __atomic_store_n(&entry->sequence, sequence, __ATOMIC_RELEASE);
}

/* The narrowest of three brackets. */
void xs_journal_clock(xs_world *world, uint64_t gap) {
    uint64_t last = __atomic_load_n(&world->clock_time, __ATOMIC_RELAXED), now = xs_clock_boot();
    if (xs_region(world)->virtual_time || (gap && now - last < gap)) return;
    if (!__atomic_compare_exchange_n(&world->clock_time, &last, now, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return; /* another does */
    uint64_t best = 0, real = 0, bracket = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        uint64_t before = xs_clock_boot(), wall = (uint64_t)xs_clock_real(), after = xs_clock_boot();
        if (after - before >= bracket) continue;
        bracket = after - before;
        best = before + bracket / 2;
        real = wall;
    }
    xs_journal(world, XS_JOURNAL_CLOCK, 0, 0, best, real, bracket, 0, 0);
}
