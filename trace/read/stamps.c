/* What a device's own records say of its clock, before the pass: how far they reach, and how fine its steps are. */
#include "internal.h"

#define STAMPS 16384u /* looked at for the step */
#define STAMPS_A_RING 1024u
#define STAMPS_TO_TELL 16u
#define MOST_STEP 1000000

static uint32_t code_of(const xs_record *r) { return r->code_object >> 24; }
static bool is_head(const xs_record *r) { return code_of(r) != XS_CODE_MORE && code_of(r) != XS_CODE_EMPTY; }
static const xs_record *records_of(const rd_span *s) {
    return (const xs_record *)(const void *)(s->payload + sizeof(xs_frame_records));
}

/* Neighbours in a ring: never far apart, and a clock may step back by a tick. */
static int64_t apart(uint32_t from, uint32_t to) { return (int32_t)(to - from); }

static bool in_full(const rd_span *s, uint64_t i, int64_t *time) {
    const xs_record *r = records_of(s);
    if (i + 1 >= s->count || code_of(&r[i]) != XS_CODE_FULL || code_of(&r[i + 1]) != XS_CODE_MORE)
        return false;
    *time = (int64_t)((uint64_t)r[i + 1].time << 32 | r[i].time);
    return *time > 0 && *time < RD_TIME_MAX;
}

/* Time of the span's first record, from the first that is known in full. */
bool rd_span_first(const rd_span *s, int64_t *time) {
    const xs_record *r = records_of(s);
    for (uint64_t i = 0; i < s->count; i++) {
        if (!in_full(s, i, time))
            continue;
        uint32_t later = r[i].time;
        for (uint64_t k = i; k-- > 0;) {
            if (!is_head(&r[k]))
                continue;
            *time -= apart(r[k].time, later);
            later = r[k].time;
        }
        return true;
    }
    return false;
}

/* Time of the span's last event, from the last that is known in full. */
bool rd_span_last(const rd_span *s, int64_t *time) {
    const xs_record *r = records_of(s);
    for (uint64_t i = s->count; i-- > 0;) {
        if (!in_full(s, i, time))
            continue;
        uint32_t earlier = r[i].time;
        for (uint64_t k = i + 1; k < s->count; k++) {
            if (!is_head(&r[k]))
                continue;
            *time += apart(earlier, r[k].time);
            earlier = r[k].time;
        }
        return true;
    }
    return false;
}

static bool frames_writer(const xs_record *more) {
    uint32_t kind = XS_DETAIL_KIND(more->code_object);
    return kind == XS_EV_WRITER_BEGIN || kind == XS_EV_WRITER_END;
}

int rd_writer_stamps(const xsr_reader *reader, const rd_device *d, int64_t **times, uint32_t *count) {
    uint32_t room = 0;
    *times = NULL;
    *count = 0;
    for (uint32_t k = d->ring_begin; k < d->ring_end; k++) {
        const rd_ring *ring = &reader->rings[reader->device_rings[k]];
        for (uint32_t s = ring->span_begin; s < ring->span_end; s++) {
            const rd_span *span = &reader->spans[s];
            int64_t time;
            for (uint64_t i = 0; i < span->count; i++) {
                if (!in_full(span, i, &time) || !frames_writer(&records_of(span)[i + 1]))
                    continue;
                if (RD_ROOM(*times, room, *count + 1) < 0)
                    return XS_E_MEMORY;
                (*times)[(*count)++] = time;
            }
        }
    }
    return 0;
}

static int64_t divisor(int64_t a, int64_t b) {
    for (int64_t rest; b; b = rest) {
        rest = a % b;
        a = b;
    }
    return a;
}

typedef struct stamps { uint32_t times[STAMPS], count; int64_t common; } stamps;

static void add_ring(const xsr_reader *reader, const rd_ring *ring, stamps *all) {
    const xs_record *before = NULL;
    if (ring->span_begin == ring->span_end)
        return;
    const rd_span *s = &reader->spans[ring->span_begin];
    for (uint64_t i = 0; i < s->count && i < STAMPS_A_RING && all->count < STAMPS; i++) {
        const xs_record *r = &records_of(s)[i];
        if (!is_head(r))
            continue;
        int64_t step = before ? apart(before->time, r->time) : 0;
        all->common = divisor(step < 0 ? -step : step, all->common);
        all->times[all->count++] = r->time;
        before = r;
    }
}

static int by_value(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static int64_t smallest(stamps *all) {
    uint32_t least = UINT32_MAX;
    qsort(all->times, all->count, sizeof *all->times, by_value);
    for (uint32_t i = 1; i < all->count; i++) {
        uint32_t step = all->times[i] - all->times[i - 1];
        least = step && step < least ? step : least;
    }
    return least == UINT32_MAX ? 1 : least;
}

/* The step of a device's stamps: what divides all differences; where nothing does, the smallest of them. Of a few
 * stamps, the power of two that divides their differences. Returns 0: no memory. */
int64_t rd_step_of(const xsr_reader *reader, const rd_device *device) {
    stamps *all = calloc(1, sizeof *all);
    if (!all)
        return 0;
    for (uint32_t i = 1; i < device->sample_count; i++)
        all->common = divisor(device->samples[i].device - device->samples[i - 1].device, all->common);
    for (uint32_t i = device->ring_begin; i < device->ring_end && all->count < STAMPS; i++)
        add_ring(reader, &reader->rings[reader->device_rings[i]], all);
    int64_t step = all->common > 1 ? all->common : smallest(all);
    if (all->count < STAMPS_TO_TELL && all->common)
        step = (all->common & -all->common) < 1024 ? all->common & -all->common : 1024;
    free(all);
    return step < MOST_STEP ? step : MOST_STEP;
}
