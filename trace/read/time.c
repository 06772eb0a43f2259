/* 64-bit times of one-record events, which carry the low 32 bits of nanoseconds.
 *
 * What bounds a record: the time of the ring's previous event (below); the time at which it was taken and the next
 * time that is known in full (above); the collector's looks: what was not there yet at one look is younger than it,
 * what was there at another is older. Writers may be preempted between reading the clock and storing, and a look
 * takes a while: the slacks allow for both. All of this happens on the clock that the records were stamped with: the
 * times of frames and looks, which are the host's, are moved there first. Where the bounds are 4.29 s apart or more,
 * the time is known only modulo 4.29 s. */
#include "internal.h"

#define PREEMPTED (1 * SECOND)
#define TAKING (SECOND / 4)
#define WRAP (1ll << 32)

static int64_t at_least(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }
/* Times of a capture below 2^62 ns (146 years); anything else is nonsense and bounds nothing. */
static int64_t sane(uint64_t time, int64_t otherwise) { return time && time < 1ull << 62 ? (int64_t)time : otherwise; }

/* The same on the clock of the ring. */
static int64_t own(const rd_ring *r, uint64_t time, int64_t otherwise) {
    int64_t host = sane(time, NO_TIME);
    return host == NO_TIME ? otherwise : rd_own_time(r, host);
}

static uint32_t code_of(const xs_record *record) { return record->code_object >> 24; }

/* Time of the next record of this span that a detail record gives in full. */
static int64_t next_exact(rd_ring *r) {
    if (r->exact_sequence >= r->sequence)
        return r->exact_time;
    r->exact_time = INT64_MAX;
    r->exact_sequence = r->sequence + (r->left ? r->left - 1 : 0);
    for (uint64_t i = 0; i + 1 < r->left; i++) {
        if (code_of(&r->at[i]) != XS_CODE_FULL || code_of(&r->at[i + 1]) != XS_CODE_MORE)
            continue;
        r->exact_sequence = r->sequence + i;
        r->exact_time = sane((uint64_t)r->at[i + 1].time << 32 | r->at[i].time, INT64_MAX);
        break;
    }
    return r->exact_time;
}

static void look_bounds(const xsr_reader *reader, rd_ring *r, uint64_t sequence, int64_t *low, int64_t *high) {
    while (r->look < r->look_end && reader->looks[r->look].newest < sequence)
        r->look++;
    if (r->look > r->look_begin)
        *low = at_least(*low, own(r, reader->looks[r->look - 1].time, 0) - PREEMPTED);
    if (r->look < r->look_end)
        *high = at_most(*high, own(r, reader->looks[r->look].time, INT64_MAX - TAKING) + TAKING);
}

static int64_t newest_up_to(int64_t high, uint32_t low_word) { return high - (uint32_t)((uint32_t)high - low_word); }
static int64_t first_from(int64_t low, uint32_t low_word) { return low + (uint32_t)(low_word - (uint32_t)low); }

void rd_time_ring(const xsr_reader *reader, rd_ring *r) {
    uint32_t process = reader->model.rings[r - reader->rings].process;
    r->born = own(r, reader->processes[process].region.start_time, 0);
}

void rd_time_span(rd_ring *r, const rd_span *span) {
    r->taken = own(r, rd_span_head(span)->time, INT64_MAX - TAKING);
    r->looked = own(r, rd_span_head(span)->looked_before, 0);
}

int64_t rd_time(const xsr_reader *reader, uint32_t ring, uint64_t sequence, uint32_t low_word, bool *modulo) {
    rd_ring *r = &reader->rings[ring];
    bool followed = r->last_time != NO_TIME;
    int64_t low = followed ? r->last_time : at_least(0, r->born - TAKING);
    int64_t high = r->taken + TAKING;
    low = at_least(low, r->looked - PREEMPTED);
    if (high - low >= WRAP)
        look_bounds(reader, r, sequence, &low, &high);
    if (high - low >= WRAP)
        high = at_most(high, next_exact(r));
    *modulo = false;
    int64_t first = first_from(low, low_word);
    if (first > high && first - low > WRAP / 2 && first >= WRAP)
        return first - WRAP; /* a little before its neighbour: clocks may step back by a tick */
    if (first > high || first <= high - WRAP)
        *modulo = true;
    if (!*modulo || followed || high >= INT64_MAX - TAKING || high < WRAP)
        return first;
    return newest_up_to(high, low_word);
}
