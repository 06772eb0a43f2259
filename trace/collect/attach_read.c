#include "attach_read.h"

#include <stdlib.h>
#include <string.h>
#include <xs/errors.h>
#include <xs/ring_access.h>

static int copy_entry(const xs_region_view *view, uint64_t index, xs_journal_entry *copy) {
    const xs_journal_entry *entry = xs_view_journal(view, index + 1);
    const uint64_t *words = (const uint64_t *)(const void *)entry;
    uint64_t out[sizeof *copy / 8], stamp = __atomic_load_n(&entry->sequence, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < sizeof *copy / 8; i++)
        out[i] = __atomic_load_n(&words[i], __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    memcpy(copy, out, sizeof *copy);
    copy->sequence = stamp;
    return stamp && __atomic_load_n(&entry->sequence, __ATOMIC_RELAXED) == stamp;
}

static int by_sequence(const void *a, const void *b) {
    uint64_t x = ((const xs_journal_entry *)a)->sequence, y = ((const xs_journal_entry *)b)->sequence;
    return x < y ? -1 : x > y;
}

int xs_attach_journal(const xs_region_view *view, xs_journal_entry **entries, uint32_t *count) {
    uint64_t n = view->head.journal_entries;
    xs_journal_entry *out = malloc(n * sizeof *out);
    *entries = out;
    *count = 0;
    if (!out)
        return XS_E_MEMORY;
    for (uint64_t i = 0; i < n; i++)
        *count += (uint32_t)copy_entry(view, i, &out[*count]);
    qsort(out, *count, sizeof *out, by_sequence);
    return 0;
}

/* The slot of `sequence`, whose higher bits do not matter. */
static int load(const xs_region_view *view, uint32_t ring, uint32_t sequence, xs_record *record) {
    const xs_record *at = &xs_view_records(view, ring)[XS_RECORD_SLOT(sequence, view->head.ring_records - 1)];
    return xs_slot_load(view->head.record_words, at, xs_view_shift(view), sequence, record) && record->code_object;
}

static uint32_t sequence_at(const xs_region_view *view, uint32_t ring, uint32_t slot) {
    xs_record record;
    return load(view, ring, slot, &record) ? record.sequence & xs_view_known(view) : 0;
}

static uint32_t newest_dropped(const xs_region_view *view, uint32_t ring) {
    const xs_ring_header *h = xs_view_ring(view, ring);
    xs_record record;
    return __atomic_load_n(&h->mode, __ATOMIC_RELAXED) == XS_DISCARD &&
                   xs_overflow_load(view->head.record_words, &h->overflow, &record) && record.code_object
               ? record.sequence & xs_view_known(view)
               : 0;
}

/* Slots hold the newest lap up to the newest record, behind it the lap before: the border is found by halving. A record
 * under way there makes the answer a little old, no more. */
uint32_t xs_attach_newest(const xs_region_view *view, uint32_t ring) {
    uint32_t size = view->head.ring_records, known = xs_view_known(view), low = 0, high = size;
    uint32_t lap = sequence_at(view, ring, 0) & ~(size - 1);
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2, s = sequence_at(view, ring, mid);
        if (s && ((s - lap) & known) < size)
            low = mid;
        else
            high = mid;
    }
    uint32_t newest = sequence_at(view, ring, low), dropped = newest_dropped(view, ring);
    return dropped && ((dropped - newest) & known) <= known / 2 ? dropped : newest;
}

int xs_attach_owner(const xs_region_view *view, uint32_t ring, xs_ring_owner *owner) {
    const xs_ring_header *h = xs_view_ring(view, ring);
    uint32_t owners = __atomic_load_n(&h->owners, __ATOMIC_ACQUIRE);
    return owners && xs_ring_owner_load(view->head.record_words, h, owners - 1, owner);
}

int xs_attach_had_owner(const xs_region_view *view, uint32_t ring, uint32_t launch) {
    const xs_ring_header *h = xs_view_ring(view, ring);
    uint32_t owners = __atomic_load_n(&h->owners, __ATOMIC_ACQUIRE);
    xs_ring_owner owner;
    for (uint32_t i = 0; i < owners && i < XS_RING_OWNERS; i++)
        if (xs_ring_owner_load(view->head.record_words, h, owners - 1 - i, &owner) && owner.launch == launch)
            return 1;
    return 0;
}

int xs_attach_record(const xs_region_view *view, uint32_t ring, uint32_t sequence, xs_record *record) {
    uint32_t known = xs_view_known(view);
    return load(view, ring, sequence, record) && (record->sequence & known) == (sequence & known);
}

uint32_t xs_attach_code(const xs_region_view *view, uint32_t ring, uint32_t sequence) {
    xs_record record;
    return xs_attach_record(view, ring, sequence, &record) ? record.code_object >> 24 : 0;
}

#define KIND_OF(code, name, event, order, scope, fence) [code] = XS_EV_##event,
static const uint8_t kinds[256] = {XS_CODES(KIND_OF)};
#undef KIND_OF

/* A head of several records says its kind, and its result, in the next one. */
static uint32_t kind_and_result(const xs_region_view *view, uint32_t ring, const xs_record *head, uint32_t *result) {
    uint32_t code = head->code_object >> 24;
    xs_record more;
    *result = XS_RESULT_OK;
    if (code != XS_CODE_FULL)
        return kinds[code];
    if (!load(view, ring, head->sequence + 1, &more) || more.code_object >> 24 != XS_CODE_MORE)
        return XS_EV_NONE;
    *result = XS_DETAIL_RESULT(more.code_object);
    return XS_DETAIL_KIND(more.code_object);
}

static uint32_t kind_at(const xs_region_view *view, uint32_t ring, const xs_record *head) {
    uint32_t result;
    return kind_and_result(view, ring, head, &result);
}

int xs_attach_signalled(const xs_region_view *view, uint32_t ring, uint32_t object, uint32_t *value) {
    xs_record record;
    uint32_t newest = 0, known = xs_view_known(view);
    int found = 0;
    for (uint32_t i = 0; i < view->head.ring_records; i++) {
        if (!load(view, ring, i, &record))
            continue;
        if ((record.code_object & XS_OBJECT_MASK) != object || record.code_object >> 24 == XS_CODE_MORE)
            continue;
        uint32_t kind = kind_at(view, ring, &record);
        if (kind != XS_EV_SIGNAL && kind != XS_EV_WATERMARK && kind != XS_EV_ARRIVE && kind != XS_EV_GATE_ARRIVE)
            continue;
        if (!found || ((record.sequence - newest) & known) <= known / 2) {
            newest = record.sequence;
            *value = record.value;
        }
        found = 1;
    }
    return found;
}

static void note_habit(xs_attach_habit *h, uint32_t kind, uint32_t result, uint32_t at, uint32_t object,
                       uint32_t other) {
    if (kind == XS_EV_WRITER_BEGIN)
        *h = (xs_attach_habit){0};
    if ((kind == XS_EV_PASS || kind == XS_EV_WAIT_END) && result == XS_RESULT_OK) {
        h->since++;
        h->passed |= at == other;
    }
    if ((kind != XS_EV_SIGNAL && kind != XS_EV_WATERMARK) || at != object)
        return;
    /* the oldest it may have more waits before than the ring holds */
    h->most = h->signals && h->since > h->most ? h->since : h->most;
    h->since = 0;
    h->signals++;
}

int xs_attach_habit_of(const xs_region_view *view, uint32_t ring, uint32_t object, uint32_t other,
                       xs_attach_habit *habit) {
    uint32_t newest = xs_attach_newest(view, ring), size = view->head.ring_records, result;
    xs_record record;
    int begun = 0;
    *habit = (xs_attach_habit){0};
    for (uint32_t back = size; back-- > 0;) {
        if (!xs_attach_record(view, ring, newest - back, &record)) {
            if (begun)
                return 0;
            continue;
        }
        begun = 1;
        if (record.code_object >> 24 == XS_CODE_MORE)
            continue;
        uint32_t kind = kind_and_result(view, ring, &record, &result);
        note_habit(habit, kind, result, record.code_object & XS_OBJECT_MASK, object, other);
    }
    return begun;
}
