#include "ring_reader.h"

#include "ring_bulk.h"

#define DROPPED_TRIES 8 /* at the overflow slot, which a writer that finds no room writes all the time */

/* tests/model steps through these accesses one by one. */
#ifndef XS_READER_LOAD
static int load_dropped(const xs_ring_reader *r, xs_record *dropped) {
    for (int i = 0; i < DROPPED_TRIES; i++)
        if (xs_overflow_load(r->words, &r->header->overflow, dropped))
            return 1;
    return 0;
}
#define XS_READER_LOAD(r, from, near, to) xs_slot_load((r)->words, from, (r)->shift, near, to)
#define XS_READER_DROPPED(r, to) load_dropped(r, to)
#define XS_READER_BULK(r, from, out, count, sequence) xs_ring_bulk((r)->words, from, out, count, sequence, (r)->shift)
#define XS_READER_GIVE(header, sequence) __atomic_store_n(&(header)->consumed, (sequence), __ATOMIC_RELEASE)
#endif
#ifndef XS_READER_BULK
#define XS_READER_BULK(r, from, out, count, sequence) ((void)(out), (void)(count), 0u)
#endif
/* Planted faults, by which the model shows that it would see them. */
#ifndef XS_READER_VALID
#define XS_READER_VALID(condition) (condition)
#endif

/* A writer needs longer than this for one record on every machine measured. */
#define RECORD_NS 2u
#define GRACE_NS 100000000u
/* Stores of a GPU were seen within 50 us; a writer of a full ring has no room until its drops are settled. */
#define DROP_GRACE_NS 2000000u
#define ABSENT INT32_MIN
#define TORN (INT32_MIN + 1) /* half of it: it is just being written */

/* Distance of a sequence from the low bits of a 64-bit sequence: 0 equal, negative older, positive newer. */
static int32_t distance(uint32_t stamp, uint64_t sequence) {
    const unsigned unused_bits = 32 - XS_SEQUENCE_BITS;
    return (int32_t)((stamp - (uint32_t)sequence) << unused_bits) >> unused_bits;
}

static uint64_t half_known(const xs_ring_reader *r) { return ((uint64_t)r->known + 1) / 2; }

static const xs_record *slot_of(const xs_ring_reader *r, uint64_t sequence) {
    return &r->records[sequence & (r->capacity - 1)];
}

/* The slot of `sequence`. */
static int load(const xs_ring_reader *r, uint64_t sequence, xs_record *record) {
    return XS_READER_LOAD(r, slot_of(r, sequence), (uint32_t)sequence, record);
}

static uint32_t mode_of(const xs_ring_reader *r) { return __atomic_load_n(&r->header->mode, __ATOMIC_RELAXED); }

/* In discard mode nobody writes farther ahead than what was given back and a ring. Two stamped words tell so few
 * laps that a run of drops of some milliseconds makes what stands there since before it look newer. */
static int cannot_be(const xs_ring_reader *r, uint64_t sequence) {
    uint64_t given = r->next - 1 > r->given ? r->next - 1 : r->given;
    return r->words == 2 && mode_of(r) == XS_DISCARD && sequence > given + r->capacity;
}

/* Distance of what stands in the slot of `sequence`; ABSENT where it is empty, TORN where it is just being written.
 * In discard mode a run of drops leaves old records standing, so that only a quarter of the range counts as newer. */
static int32_t peek(const xs_ring_reader *r, uint64_t sequence) {
    xs_record record;
    if (!load(r, sequence, &record))
        return TORN;
    if (!record.code_object)
        return ABSENT;
    int32_t ahead = distance(record.sequence, sequence);
    if (mode_of(r) == XS_DISCARD && ahead >= (int32_t)((r->known >> 2) + 1))
        return ABSENT;
    return ahead > 0 && cannot_be(r, sequence + (uint32_t)ahead) ? ABSENT : ahead;
}

static int same(const xs_record *a, const xs_record *b) {
    return a->sequence == b->sequence && a->code_object == b->code_object && a->value == b->value && a->time == b->time;
}

/* Distance of the overflow slot, the newest record that a writer in discard mode had to drop, if it is new and not
 * older than `next`. What was told is remembered: its stamp would look new again after half of the range. */
static int32_t peek_dropped(xs_ring_reader *r) {
    xs_record dropped;
    if (!XS_READER_DROPPED(r, &dropped))
        return TORN;
    if (!dropped.code_object || same(&dropped, &r->overflow))
        return ABSENT;
    int32_t ahead = distance(dropped.sequence, r->next);
    if (ahead < 0)
        r->overflow = dropped;
    return ahead;
}

/* After `next` was moved: what stands before it, and the drops that are behind it. */
static void remember(xs_ring_reader *r) {
    if (!load(r, r->next - 1, &r->last))
        r->last.code_object = 0;
    peek_dropped(r);
}

void xs_ring_reader_init(xs_ring_reader *r, const xs_record *records, xs_ring_header *header, uint32_t capacity,
                         uint32_t words, int ordered) {
    xs_ring_reader fresh = {
        .records = records, .header = header, .capacity = capacity, .words = words, .ordered = ordered, .next = 1};
    fresh.given = __atomic_load_n(&header->consumed, __ATOMIC_RELAXED); /* to whoever read it before */
    *r = fresh;
    r->grace_ns = GRACE_NS;
    r->drop_grace_ns = DROP_GRACE_NS;
    r->shift = (uint32_t)__builtin_ctz(capacity);
    r->known = xs_sequence_known(words, r->shift);
    r->stall_ns = half_known(r) * RECORD_NS;
}

/* As many as follow each other in memory, four at a time. */
static uint32_t take_bulk(const xs_ring_reader *r, xs_record *out, uint32_t capacity, uint64_t next) {
    uint32_t left = r->capacity - (uint32_t)(next & (r->capacity - 1));
    return XS_READER_BULK(r, slot_of(r, next), out, left < capacity ? left : capacity, next);
}

/* Copies records in order; returns how many. *stop: distance of the record that did not fit, 0 if out was filled. */
static uint32_t take(xs_ring_reader *r, xs_record *out, uint32_t capacity, int32_t *stop) {
    uint64_t next = r->next;
    uint32_t taken = 0;
    *stop = 0;
    while (taken < capacity) {
        uint32_t bulk = take_bulk(r, out + taken, capacity - taken, next);
        next += bulk;
        taken += bulk;
        if (taken == capacity)
            break;
        xs_record *to = &out[taken];
        if (!load(r, next, to)) {
            *stop = TORN;
            break;
        }
        if (!to->code_object) {
            *stop = ABSENT;
            break;
        }
        if (XS_READER_VALID(to->sequence != ((uint32_t)next & XS_SEQUENCE_MASK))) {
            *stop = peek(r, next);
            break;
        }
        next++;
        taken++;
    }
    if (taken) {
        r->next = next;
        r->last = out[taken - 1];
        r->hole_since = 0;
        if (r->newest < next - 1)
            r->newest = next - 1;
    }
    return taken;
}

/* The newest record, given one that was written: bisection, since a ring holds rising sequences from its oldest slot
 * on. While writers run (or with holes) this is a lower bound. */
static uint64_t newest_from(const xs_ring_reader *r, uint64_t written) {
    uint64_t low = 0, high = r->capacity; /* written + low is there, written + high may not be */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (peek(r, written + middle) >= 0)
            low = middle;
        else
            high = middle;
    }
    return written + low;
}

static int close_gap(xs_ring_reader *r, xs_ring_gap *gap, uint64_t next, uint32_t cause, uint32_t at_least) {
    *gap = (xs_ring_gap){.first = r->next, .last = next - 1, .cause = cause, .at_least = at_least};
    r->next = next;
    r->hole_since = 0;
    r->unsure = 0;
    if (r->newest < next - 1)
        r->newest = next - 1;
    remember(r);
    return XS_DRAIN_GAP;
}

/* `written` stands where an older record was expected. */
static int lapped(xs_ring_reader *r, xs_ring_gap *gap, uint64_t written, uint32_t at_least) {
    uint64_t newest = newest_from(r, written);
    uint64_t next = r->next + 1, margin = r->bold ? 0 : r->capacity / 4;
    r->bold = 0;
    if (newest >= r->capacity && newest - r->capacity + 1 + margin > next)
        next = newest - r->capacity + 1 + margin;
    if (newest > r->newest)
        r->newest = newest;
    return close_gap(r, gap, next, XS_LOSS_OVERWRITTEN, at_least || r->unsure);
}

/* Does what was last seen before `next` still stand there? If not, the ring went round since. */
static int last_is_there(const xs_ring_reader *r, xs_record *now) {
    if (load(r, r->next - 1, now))
        return same(now, &r->last);
    *now = (xs_record){.sequence = 1}; /* half of it */
    return 0;
}

/* After a stall: the ring may have gone round, who knows how often, and look as if nothing had happened. -1: it is
 * just being written where that would be seen. */
static int lapped_unseen(xs_ring_reader *r, xs_ring_gap *gap) {
    xs_record now;
    if (mode_of(r) == XS_DISCARD || last_is_there(r, &now))
        return 0;
    if (!now.code_object)
        return now.sequence ? -1 : 0;
    uint64_t ahead = (now.sequence - (uint32_t)(r->next - 1)) & r->known;
    if (!ahead && (!r->last.code_object || now.sequence != r->last.sequence)) {
        /* it was under way when it was looked at */
        r->last = now;
        return 0;
    }
    if (!ahead)
        ahead = (uint64_t)r->known + 1;
    lapped(r, gap, r->next - 1 + ahead, 1);
    return 1;
}

/* A newer record somewhere behind the empty place? Near first, then ever farther. */
static int newer_behind(const xs_ring_reader *r) {
    for (uint64_t step = 1; step < r->capacity; step += step < 4 ? 1 : step)
        if (peek(r, r->next + step) >= 0)
            return 1;
    return 0;
}

/* First sequence behind `next` whose record is in the ring, up to `end`. */
static uint64_t first_present(const xs_ring_reader *r, uint64_t end) {
    uint64_t first = end;
    for (uint64_t i = 1; i <= r->capacity; i++) { /* a slot may hold a record of a later lap */
        int32_t ahead = peek(r, r->next + i);
        if (ahead >= 0 && r->next + i + (uint64_t)ahead < first)
            first = r->next + i + (uint64_t)ahead;
    }
    return first;
}

/* The gap from `next` on, of which nothing will come any more; the next record is `present`. */
static int hole(xs_ring_reader *r, xs_ring_gap *gap, uint64_t present, int32_t dropped) {
    if (dropped < 0)
        return close_gap(r, gap, present, XS_LOSS_NEVER_ARRIVED, 0);
    uint64_t behind_drops = r->next + (uint64_t)dropped + 1;
    return close_gap(r, gap, behind_drops < present ? behind_drops : present, XS_LOSS_DISCARDED, 0);
}

/* Nothing at `next`, in a ring that is being written. */
static int not_here(xs_ring_reader *r, xs_ring_gap *gap, uint64_t now) {
    int32_t dropped = peek_dropped(r); /* before the slot: a record stored before the drop is seen below */
    if (dropped == TORN)
        return XS_DRAIN_PENDING;
    if (dropped < 0 && !newer_behind(r)) {
        r->hole_since = 0;
        return XS_DRAIN_EMPTY;
    }
    if (!r->hole_since) {
        r->hole_since = now ? now : 1;
        r->hole_to = dropped >= 0 ? r->next + (uint64_t)dropped + 1 : first_present(r, UINT64_MAX);
    }
    uint64_t grace = dropped < 0 ? r->grace_ns : r->ordered ? 0 : r->drop_grace_ns;
    if (now - r->hole_since < grace)
        return XS_DRAIN_PENDING;
    /* What was recorded after the hole was first seen may still be under way: it gets a grace time of its own. */
    uint64_t present = first_present(r, r->hole_to);
    int32_t here = peek(r, r->next);
    if (here >= 0)
        return XS_DRAIN_FULL; /* it came meanwhile */
    if (here == TORN)
        return XS_DRAIN_PENDING;
    return hole(r, gap, present, dropped);
}

/* One behind the newest record that a ring holds or dropped, when its writer died. */
static uint64_t end_of_dead(xs_ring_reader *r) {
    uint64_t end = r->newest + 1;
    for (uint64_t i = 0; i < r->capacity; i++) {
        int32_t ahead = peek(r, r->next + i);
        if (ahead >= 0 && r->next + i + (uint64_t)ahead >= end)
            end = r->next + i + (uint64_t)ahead + 1;
    }
    int32_t dropped = peek_dropped(r);
    if (dropped >= 0 && r->next + (uint64_t)dropped >= end)
        end = r->next + (uint64_t)dropped + 1;
    return end;
}

/* The end is so far away that stamps cannot tell laps apart: after a stall, or where a gap of "at least" left the
 * position whole ranges behind. What the ring holds is now known by the 64-bit end. */
static int far_end(xs_ring_reader *r, xs_ring_gap *gap, uint64_t end) {
    xs_record now;
    uint64_t range = (uint64_t)r->known + 1;
    if (end - r->next >= range && last_is_there(r, &now)) /* less than a range holds no whole one */
        return close_gap(r, gap, end - (end - r->next) % range, XS_LOSS_OVERWRITTEN, 0);
    return close_gap(r, gap, end - r->capacity, XS_LOSS_OVERWRITTEN, 0);
}

/* The gap from `next` on in a ring that nobody writes. died: its writer did, perhaps in the middle of a record; else
 * half a one is that of somebody who has taken the ring since. */
static int quiet_gap(xs_ring_reader *r, xs_ring_gap *gap, int32_t ahead, uint64_t end, int died) {
    uint64_t present = first_present(r, end);
    if (ahead > 0 && r->next + (uint64_t)ahead < present)
        present = r->next + (uint64_t)ahead;
    if (ahead > 0 || (ahead == TORN && !died))
        return close_gap(r, gap, present, XS_LOSS_OVERWRITTEN, 0);
    int32_t dropped = peek_dropped(r);
    return hole(r, gap, present, dropped);
}

/* Nobody writes: what is not here is lost. */
static int drain_quiet(xs_ring_reader *r, xs_record *out, uint32_t capacity, uint32_t *taken, xs_ring_gap *gap,
                       uint64_t end) {
    int died = !end;
    if (died) /* once: sequences that are none follow each other round and round */
        end = r->dead_end = r->dead_end ? r->dead_end : end_of_dead(r);
    if (r->next >= end) {
        r->dead_end = 0;
        return XS_DRAIN_EMPTY;
    }
    int far = end - r->next >= half_known(r);
    if (far && mode_of(r) != XS_DISCARD)
        return far_end(r, gap, end);
    int32_t stop;
    uint64_t left = end - r->next;
    *taken = take(r, out, left < capacity ? (uint32_t)left : capacity, &stop);
    if (r->next >= end) {
        r->dead_end = 0;
        return XS_DRAIN_EMPTY;
    }
    if (stop == 0)
        return XS_DRAIN_FULL;
    if (far) /* a discarding writer never stored more than a ring ahead, so the rest was dropped */
        return close_gap(r, gap, first_present(r, end), XS_LOSS_DISCARDED, 0);
    return quiet_gap(r, gap, stop, end, died);
}

int xs_ring_drain(xs_ring_reader *r, xs_record *out, uint32_t capacity, uint32_t *taken, xs_ring_gap *gap,
                  xs_ring_quiet quiet, uint64_t now) {
    uint64_t looked = r->looked;
    uint32_t stalled = looked && now - looked > r->stall_ns;
    r->looked = now;
    *taken = 0;
    if (!quiet.quiet || quiet.end)
        r->dead_end = 0;
    if (quiet.quiet)
        return drain_quiet(r, out, capacity, taken, gap, quiet.end);
    int unseen = stalled ? lapped_unseen(r, gap) : 0;
    if (unseen < 0)
        r->looked = looked;
    if (unseen)
        return unseen < 0 ? XS_DRAIN_PENDING : XS_DRAIN_GAP;
    if (r->newest >= r->next + r->capacity)
        return lapped(r, gap, r->newest, 0);
    int32_t stop;
    *taken = take(r, out, capacity, &stop);
    if (stop == 0)
        return XS_DRAIN_FULL;
    if (stop > 0)
        return lapped(r, gap, r->next + (uint64_t)stop, 0);
    /* A hole waits until it is the first that is found: looking for one costs more than many records. */
    if (*taken && mode_of(r) != XS_DISCARD)
        return XS_DRAIN_EMPTY;
    return stop == TORN ? XS_DRAIN_PENDING : not_here(r, gap, now);
}

void xs_ring_give_space(xs_ring_reader *r) {
    r->given = r->next - 1;
    XS_READER_GIVE(r->header, r->given);
}

int xs_ring_look(xs_ring_reader *r, xs_record *record, uint64_t now) {
    uint64_t looked = r->looked, from = r->newest ? r->newest : 1;
    uint32_t stalled = looked && now - looked > r->stall_ns;
    int32_t ahead = peek(r, from);
    if (ahead != TORN) /* else it is looked at next time as if this one had not been */
        r->looked = now;
    if (ahead == ABSENT || ahead == TORN)
        return 0;
    uint64_t forward = (uint32_t)ahead & r->known;
    if (stalled && forward)
        r->unsure = 1;
    if (ahead >= 0 || stalled)
        r->newest = newest_from(r, from + forward);
    return load(r, r->newest, record) && distance(record->sequence, r->newest) >= 0;
}
