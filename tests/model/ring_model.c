/* Exhaustive interleavings of the ring: the real reader (trace/collect/ring_reader.c, compiled into this file with its
 * shared-memory accesses redirected), and two writers that hand one ring over.
 *
 * The writers are the atomic steps of kernels/include/xs/emit.h (xs_emit, xs_emit_slot) and writer.h (xs_ring_claim,
 * xs_writer_take, xs_writer_end), see writer_step: claim the bit; read next, owners and consumed; store next, owners and busy = 1 as
 * one; each record one 16-byte store; then, when the records are there, next, owners and busy = 0 as one, and the bit cleared with
 * release. Built with WORDS=2 (record.h) each record is two 8-byte stores, of which the second writer makes the second word's first, the
 * reader loads them one after the other and may stop between them, and `next` is there before the end is signed. Stores wait in a buffer per writer and reach memory later, in order (x86) or, between different places, in any order (a
 * GPU); the release waits for all of them. Of a GPU's writers the reader sees no bit, only busy; of a CPU's both.
 *
 * The reader runs the way the collector drains (collect_rings.c, quiet_now and drain_ring) and may stop before every
 * access, for as long as it likes. One step executes one access: the drain is run again from its start with the values
 * that it has read so far, reads one more, and is left by longjmp at the next.
 *
 * Invariants: nothing is taken twice or out of order; taken + lost = position; positions are the truth, unless more than half
 * of the sequence range went by unseen, and then the reader says "at least" or it happened within one drain; what is
 * called discarded was dropped, what was dropped is never taken; nothing is called lost for ever that arrives; and when all is
 * over, taken + lost = written.
 *
 * Built with PLANT=1..6 a fault is planted (6: with two words), and the program must find a violation. */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xs/record_access.h>
#include <xs/region.h>

#ifndef PLANT
#define PLANT 0
#endif

#ifndef WORDS
#define WORDS 1
#endif

static int model_load(uint32_t slot, uint32_t near, xs_record *to);
static int model_load_dropped(xs_record *to);
static void model_give(uint64_t sequence);
#define XS_READER_LOAD(r, from, near, to) model_load((uint32_t)((from) - (r)->records), near, to)
#define XS_READER_DROPPED(r, to) ((void)(r), model_load_dropped(to))
#define XS_READER_GIVE(header, sequence) ((void)(header), model_give(sequence))
#define XS_READER_VALID(condition) (PLANT != 1 && (condition)) /* 1: takes whatever stands there */
#include "ring_reader.c"

#ifndef SLOTS
#define SLOTS 4u
#endif
#define SHIFT ((uint32_t)__builtin_ctz(SLOTS))
#ifndef BUFFER
#define BUFFER 2u /* stores */
#endif
#ifndef TABLE
#define TABLE (1u << 24) /* states, and a third more */
#endif
#define MOST_LOG (96u * WORDS)
#define GRACE 1000u
#define STALL 100000u
/* What may go by unseen while positions stay exact: half of the range, less a ring that was not yet taken at the last look,
 * less what is under way. Half of that between two looks takes long enough to count as a stall: the real bound (ring_reader.c,
 * RECORD_NS) is several times shorter than what half of the range takes. With 3 bits nothing may: only order and sums are
 * checked there; 5 bits check everything. */
#define HALF (1 << (XS_SEQUENCE_BITS - 1))
#define UNSEEN (HALF > (int)(BUFFER / WORDS + SLOTS) ? HALF - (int)(BUFFER / WORDS + SLOTS) : 0)

/* A ring of half of the range: an older and a newer record look alike in it. Only records that become visible in order, in
 * overwrite mode, are then never mistaken; no real build has such rings. */
#define TELLS_APART ((int)SLOTS < HALF)

/* Sequences start short of the wrap, as if earlier owners had written START - 1 records. */
#ifndef START
#define START ((1 << XS_SEQUENCE_BITS) - 4)
#endif

#ifndef RECORDS_A
#define RECORDS_A 4
#define RECORDS_B 3
#endif

/* A slot's second word is PLACES behind its first; of the header, which is AT_HEAD and one word in all else, `next` is. */
enum place { AT_OVERFLOW = SLOTS, AT_HEAD, PLACES };
enum writer_pc { CLAIM, READ_HEAD, READ_CONSUMED, SIGN_BEGIN, EMIT, ASK_CONSUMED, STORE_NEXT, SIGN_END, RELEASE, DONE };

/* Next, owners and busy of a ring header: 16 bytes there, or two words. */
#define HEAD(next, owners, busy) ((uint16_t)((next) | (owners) << 8 | (busy) << 12))
#define HEAD_NEXT(head) ((uint8_t)(head))
#define HEAD_OWNERS(head) ((uint8_t)((head) >> 8 & 15))
#define HEAD_BUSY(head) ((head) >> 12)

typedef struct writer {
    uint8_t pc, cursor, consumed, left, buffered, owners;
    uint8_t at[BUFFER];
    uint16_t value[BUFFER];
} writer;

typedef struct state {
    uint16_t memory[PLACES * WORDS]; /* slots hold the true sequence of their record, 0: empty */
    uint8_t taken, consumed, written, reserved0;
    writer writers[2];
    uint64_t dropped; /* bit s: record s was dropped */
    /* reader, at the begin of its present drain */
    uint8_t next, newest, hole, hole_to, unsure, last, overflow;
    uint8_t kept, lost, last_truth, at_least, blurred; /* blurred: too much went by unseen, within one drain */
    uint8_t written_at_look, written_at_begin, arrived, stall;
    uint8_t log_used;
    uint16_t log[MOST_LOG];
} state;

static int mode, in_order; /* in order: a CPU's */
static uint64_t states;
static const char *violation;

/* The drain that is being run. */
static state *now;
static uint8_t at_access;
static jmp_buf out_of_drain;
static xs_record slots[SLOTS]; /* addresses only */
static xs_ring_header ring_header;

static void fail(const char *what) {
    if (!violation)
        violation = what;
}

/* The value of the access at hand: from the log, or (the first beyond it) from memory. */
static uint16_t access_value(uint16_t live) {
    if (at_access < now->log_used)
        return now->log[at_access++];
    if (at_access > now->log_used || at_access >= MOST_LOG)
        longjmp(out_of_drain, 1);
    now->log[at_access] = live;
    return now->log[at_access++];
}

/* As its reader gives it out. Its time is the truth in both halves of it, which are of different words. */
static void truth_record(uint8_t truth, int is_drop, xs_record *to) {
    memset(to, 0, sizeof *to);
    if (!truth)
        return;
    to->sequence = truth & XS_SEQUENCE_MASK;
    to->code_object = is_drop ? XS_HEAD(XS_CODE_DROP, 0) : XS_HEAD(XS_CODE_MARK, 1);
    to->value = is_drop && WORDS == 2 ? 0 : truth;
    to->time = truth | (uint32_t)truth << 16;
}

#if WORDS == 2
/* What a writer stored there: the first word of one record, the second of another. */
static int load_words(uint32_t place, uint32_t near, xs_record *to) {
    xs_record first = {0}, second = {0}, raw, dropped;
    for (int half = 0; half < 2; half++) {
        xs_record *word = half ? &second : &first;
        uint8_t truth = (uint8_t)access_value(now->memory[place + (uint32_t)half * PLACES]);
        truth_record(truth, place == AT_OVERFLOW, &dropped);
        if (truth && place == AT_OVERFLOW)
            xs_overflow_put(2, word, truth, dropped.time);
        else if (truth)
            xs_slot_put(2, word, SHIFT, truth, XS_HEAD(XS_CODE_MARK, 1), truth, dropped.time);
    }
    raw = (xs_record){first.sequence, first.code_object, second.value, second.time};
    if (PLANT == 6 && raw.sequence) /* looks at one stamp alone */
        raw.time = (raw.time & 0xffff) | (raw.code_object & 0xffff0000u);
    return place == AT_OVERFLOW ? xs_overflow_load(2, &raw, to) : xs_slot_load(2, &raw, SHIFT, near, to);
}
static int model_load(uint32_t slot, uint32_t near, xs_record *to) { return load_words(slot, near, to); }
static int model_load_dropped(xs_record *to) { return load_words(AT_OVERFLOW, 0, to); }
#else
static int model_load(uint32_t slot, uint32_t near, xs_record *to) {
    (void)near;
    truth_record((uint8_t)access_value(now->memory[slot]), slot == AT_OVERFLOW, to);
    return 1;
}
static int model_load_dropped(xs_record *to) { return model_load(AT_OVERFLOW, 0, to); }
#endif

/* Of the header. */
static uint16_t load_next(void) { return HEAD_NEXT(access_value(now->memory[AT_HEAD + PLACES * (WORDS - 1)])); }

static void model_give(uint64_t sequence) {
    int first = at_access == now->log_used;
    access_value(0);
    if (first)
        now->consumed = (uint8_t)(PLANT == 2 ? sequence + 1 : sequence); /* 2: gives one record too many */
}

/* ring_access.h, xs_ring_taken. */
static int is_taken(void) {
    if (in_order && access_value(now->taken))
        return 1;
    return HEAD_BUSY(access_value(now->memory[AT_HEAD]));
}

/* collect_rings.c, quiet_now: for rings whose records are visible when the bit is free. */
static xs_ring_quiet quiet_now(void) {
    xs_ring_quiet live = {0, 0}, quiet = {1, 0};
    if (is_taken())
        return live;
    uint8_t owners = HEAD_OWNERS(access_value(now->memory[AT_HEAD]));
    quiet.end = load_next();
    if (is_taken() || HEAD_OWNERS(access_value(now->memory[AT_HEAD])) != owners)
        return live;
    return quiet;
}

static int all_delivered(const state *s) { return !s->writers[0].buffered && !s->writers[1].buffered; }

static void load_reader(const state *s, xs_ring_reader *r) {
    xs_ring_reader_init(r, slots, &ring_header, SLOTS, WORDS, in_order);
    r->next = s->next;
    r->newest = s->newest;
    r->unsure = s->unsure;
    r->hole_since = s->hole;
    r->hole_to = s->hole_to;
    r->looked = 1;
    r->grace_ns = r->drop_grace_ns = GRACE;
    r->stall_ns = STALL;
    truth_record(s->last, s->last && (s->dropped >> s->last & 1), &r->last);
    truth_record(s->overflow, 1, &r->overflow);
}

static void save_reader(state *s, const xs_ring_reader *r) {
    s->next = (uint8_t)r->next;
    s->newest = (uint8_t)r->newest;
    s->unsure = (uint8_t)r->unsure;
    s->hole = r->hole_since != 0;
    s->hole_to = s->hole ? (uint8_t)r->hole_to : 0;
    s->last = r->last.code_object ? (uint8_t)r->last.time : 0;
    s->overflow = (uint8_t)r->overflow.time;
}

static void check_taken(state *s, const xs_record *out, uint32_t count, uint8_t first) {
    for (uint32_t i = 0; i < count; i++) {
        uint8_t truth = (uint8_t)out[i].value, position = (uint8_t)(first + i);
        if (out[i].time != (truth | (uint32_t)truth << 16))
            fail("halves of two records were taken for one");
        if (truth <= s->last_truth)
            fail("a record was taken twice or out of order");
        if (s->dropped >> truth & 1)
            fail("a dropped record was taken");
        if (truth != position && !s->at_least && !s->blurred)
            fail("a record was taken for another one");
        if (((truth - position) & XS_SEQUENCE_MASK) != 0)
            fail("a record was taken under a number that its stamp excludes");
        s->last_truth = truth;
        s->kept++;
    }
}

static void check_gap(state *s, const xs_ring_gap *gap) {
    if (gap->cause == XS_LOSS_NEVER_ARRIVED && !s->blurred)
        fail("a record that arrives was given up");
    for (uint64_t i = gap->first; i <= gap->last; i++)
        if (gap->cause == XS_LOSS_DISCARDED && !(s->dropped >> i & 1) && !s->blurred)
            fail("a record that was stored was called discarded");
    if (mode == XS_DISCARD && gap->cause == XS_LOSS_OVERWRITTEN)
        fail("a record was overwritten in discard mode");
    if (mode == XS_OVERWRITE && s->written < START + SLOTS && !gap->at_least && !s->blurred)
        fail("a record was lost though the ring never wrapped");
    s->at_least |= (uint8_t)gap->at_least;
    s->lost = (uint8_t)(s->lost + gap->last - gap->first + 1);
}

/* One drain as far as its accesses go; commits it when it is complete. */
static void reader_step(state *s, int stall) {
    static xs_record out[2];
    static xs_ring_reader r;
    static xs_ring_gap gap;
    static uint32_t taken;
    now = s;
    at_access = 0;
    if (!s->log_used) {
        s->written_at_begin = s->written;
        s->stall = (uint8_t)stall;
    }
    if (setjmp(out_of_drain)) {
        s->log_used++;
        return;
    }
    load_reader(s, &r);
    /* Long enough for half of the range is a stall; nothing is given up while a store is under way. */
    uint64_t time = 1;
    if (s->stall)
        time += STALL + 1;
    else if (s->hole && s->arrived)
        time += GRACE + 1;
    xs_ring_quiet quiet = quiet_now();
    int result = xs_ring_drain(&r, out, 2, &taken, &gap, quiet, time);
    uint8_t first = s->next;
    if (r.next != first)
        xs_ring_give_space(&r);
    if (s->written - (s->stall ? s->written_at_begin : s->written_at_look) >= UNSEEN)
        s->blurred = 1;
    check_taken(s, out, taken, first);
    if (result == XS_DRAIN_GAP)
        check_gap(s, &gap);
    save_reader(s, &r);
    if ((uint8_t)(s->kept + s->lost + 1) != s->next)
        fail("taken + lost is not the position");
    if (s->next - 1 > s->written && !s->blurred)
        fail("more was taken and lost than was written");
    if (quiet.quiet && result == XS_DRAIN_EMPTY && quiet.end == s->written + 1u && s->kept + s->lost != s->written)
        fail("all is over, but taken + lost is not written");
    s->written_at_look = s->written_at_begin;
    s->written_at_begin = s->stall = 0;
    s->arrived = (uint8_t)all_delivered(s);
    s->log_used = 0;
    memset(s->log, 0, sizeof s->log);
}

/* Writers. */

static void buffer_store(writer *w, uint8_t at, uint16_t value) {
    w->at[w->buffered] = at;
    w->value[w->buffered++] = value;
}

/* Discard mode, and the ring looks full: emit.h asks once more. */
static int looks_full(const writer *w) { return mode == XS_DISCARD && (uint8_t)(w->cursor - w->consumed) > SLOTS; }

static void emit_record(state *s, writer *w) {
    int drop = looks_full(w);
    uint8_t at = drop ? AT_OVERFLOW : w->cursor & (SLOTS - 1), later = w == &s->writers[1] ? 0 : PLACES;
    if (drop)
        s->dropped |= 1ull << w->cursor;
    buffer_store(w, WORDS == 2 ? at + PLACES - later : at, w->cursor);
    if (WORDS == 2)
        buffer_store(w, at + later, w->cursor);
    s->written = w->cursor;
    w->cursor++;
    w->left--;
    w->pc = w->left ? EMIT : WORDS == 2 ? STORE_NEXT : SIGN_END;
}

/* Is there room for a record? */
static int has_room(const writer *w) { return w->buffered + WORDS + 0u <= BUFFER; }

/* What no stamp can tell apart: a run of drops as long as the whole range, a store that takes longer than a lap. */
static int beyond_any_stamp(const state *s, const writer *w) {
    uint8_t next = w->cursor + 1;
    if (looks_full(w) && next - s->memory[next & (SLOTS - 1)] >= 2 * HALF) /* nothing is under way to a slot that stays as it is */
        return 1;
    for (uint32_t i = 0; i < w->buffered; i++)
        if (w->at[i] % PLACES != AT_HEAD)
            return w->cursor - w->value[i] >= (int)SLOTS; /* the oldest */
    return 0;
}

/* One atomic step; 0: it has to wait. */
static int writer_step(state *s, uint32_t which) {
    writer *w = &s->writers[which];
    switch (w->pc) {
    case CLAIM: /* xs_ring_claim; with one ring a writer that finds it taken comes back later */
        if (s->taken)
            return 0;
        s->taken = 1;
        w->pc = READ_HEAD;
        return 1;
    case READ_HEAD: /* xs_writer_take */
        w->cursor = HEAD_NEXT(s->memory[AT_HEAD + PLACES * (WORDS - 1)]);
        w->owners = HEAD_OWNERS(s->memory[AT_HEAD]);
        w->pc = READ_CONSUMED;
        return 1;
    case READ_CONSUMED:
        w->consumed = s->consumed;
        w->pc = SIGN_BEGIN;
        return 1;
    case SIGN_BEGIN: /* xs_ring_enter_owner */
        w->owners++;
        buffer_store(w, AT_HEAD, HEAD(w->cursor, w->owners, 1));
        w->pc = EMIT;
        return 1;
    case EMIT: /* xs_emit */
        if (!has_room(w))
            return 0;
        if (beyond_any_stamp(s, w))
            return 0;
        if (looks_full(w))
            w->pc = ASK_CONSUMED;
        else
            emit_record(s, w);
        return 1;
    case ASK_CONSUMED: /* xs_emit_slot; the answer and the store are one step more of the same thread */
        if (!has_room(w))
            return 0;
        w->consumed = s->consumed;
        emit_record(s, w);
        return 1;
    case STORE_NEXT: /* xs_ring_sign, of two words */
        if (w->buffered)
            return 0;
        buffer_store(w, AT_HEAD + PLACES * (WORDS - 1), HEAD(w->cursor, 0, 0));
        w->pc = SIGN_END;
        return 1;
    case SIGN_END: /* xs_writer_end; a mapped record that comes after it all the same has the reader's grace time */
        if (w->buffered == BUFFER || (w->buffered && PLANT != 5)) /* 5: the end is signed ahead of the records */
            return 0;
        buffer_store(w, AT_HEAD, HEAD(w->cursor, w->owners, 0));
        w->pc = RELEASE;
        return 1;
    case RELEASE:
        if (w->buffered && PLANT != 3) /* 3: the bit is cleared without release */
            return 0;
        s->taken = 0;
        w->pc = DONE;
        return 1;
    default: return 0;
    }
}

/* Store number i of the buffer reaches memory; 0: an older one has to go first. */
static int deliver(state *s, uint32_t which, uint32_t i) {
    writer *w = &s->writers[which];
    if (i >= w->buffered || (in_order && i && PLANT != 4)) /* 4: order is promised to the reader, and not kept */
        return 0;
    for (uint32_t k = 0; k < i; k++)
        if (w->at[k] == w->at[i])
            return 0;
    s->memory[w->at[i]] = w->value[i];
    w->buffered--;
    for (uint32_t k = i; k < w->buffered; k++) {
        w->at[k] = w->at[k + 1];
        w->value[k] = w->value[k + 1];
    }
    w->at[w->buffered] = w->value[w->buffered] = 0;
    return 1;
}

/* The search. */

#define CHOICES (2 + 2 + 2 * BUFFER)

/* A drain begins after a stall: always when enough was written meanwhile, else when something was (the reader slept). */
static int may_stall(const state *s, int stall) {
    int unseen = s->written - s->written_at_look;
    if (s->log_used)
        return !stall;
    if (stall)
        return unseen > 0 && (!s->hole || s->arrived);
    return unseen < (UNSEEN + 1) / 2;
}

static int choose(state *s, uint32_t choice) {
    if (choice < 2) {
        if (!may_stall(s, (int)choice))
            return 0;
        reader_step(s, (int)choice);
        return 1;
    }
    if (choice < 4)
        return writer_step(s, choice - 2);
    int done = deliver(s, (choice - 4) / BUFFER, (choice - 4) % BUFFER);
    if (all_delivered(s) && !s->log_used) /* grace times and stalls are long: what was stored before the last look has arrived by then */
        s->arrived = 1;
    return done;
}

static uint64_t hash(const state *s) {
    const uint8_t *bytes = (const uint8_t *)s;
    uint64_t h = 0xcbf29ce484222325ull;
    uint64_t word;
    for (size_t i = 0; i + 8 <= sizeof *s; i += 8) {
        memcpy(&word, bytes + i, 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15ull;
        h ^= h >> 29;
    }
    return h ? h : 1;
}
_Static_assert(sizeof(state) % 8 == 0, "the hash goes over whole words");

static uint64_t *seen;
static uint64_t seen_size;

static int add(uint64_t key) {
    for (uint64_t i = key & (seen_size - 1);; i = (i + 1) & (seen_size - 1)) {
        if (seen[i] == key)
            return 0;
        if (!seen[i]) {
            seen[i] = key;
            return 1;
        }
    }
}

typedef struct stack {
    state *states;
    uint64_t used, size;
} stack;

static void push(stack *k, const state *s) {
    if (k->used == k->size) {
        k->size = k->size ? 2 * k->size : 1024;
        k->states = realloc(k->states, k->size * sizeof *s);
        if (!k->states)
            abort();
    }
    k->states[k->used++] = *s;
}

/* Explores everything; 0 if no invariant was violated. */
static int explore(int the_mode, int ordered) {
    stack k = {NULL, 0, 0};
    state s;
    mode = the_mode;
    in_order = ordered;
    ring_header.mode = (uint32_t)the_mode;
    violation = NULL;
    states = 0;
    memset(seen, 0, seen_size * sizeof *seen);
    memset(&s, 0, sizeof s);
    s.memory[AT_HEAD] = s.next = START;
    s.memory[AT_HEAD + PLACES * (WORDS - 1)] = START;
    s.written = s.newest = s.last = s.last_truth = s.consumed = START - 1;
    s.kept = s.written_at_look = START - 1;
    for (uint32_t i = START < SLOTS ? 1 : START - SLOTS; i < START; i++)
        for (uint32_t word = 0; word < WORDS; word++)
            s.memory[(i & (SLOTS - 1)) + PLACES * word] = (uint16_t)i;
    s.writers[0].left = RECORDS_A;
    s.writers[1].left = RECORDS_B;
    add(hash(&s));
    push(&k, &s);
    while (k.used && !violation) {
        state from = k.states[--k.used];
        states++;
        for (uint32_t choice = 0; choice < CHOICES && !violation; choice++) {
            s = from;
            if (choose(&s, choice) && add(hash(&s)))
                push(&k, &s);
        }
        if (states > seen_size / 4 * 3) {
            fprintf(stderr, "the table of states is too small\n");
            exit(2);
        }
    }
    free(k.states);
    printf("%-9s  stores %-8s  %2d-bit sequences  %u slots  %d word%s  %10llu states  %s\n",
           the_mode == XS_DISCARD ? "discard" : "overwrite", ordered ? "in order" : "free", XS_SEQUENCE_BITS, SLOTS, WORDS, WORDS == 2 ? "s" : "", (unsigned long long)states, violation ? violation : "ok");
    fflush(stdout);
    return violation != NULL;
}

int main(void) {
    seen_size = TABLE;
    seen = calloc(seen_size, sizeof *seen);
    if (!seen)
        return 2;
    int found = 0;
    for (int the_mode = XS_OVERWRITE; the_mode <= XS_DISCARD && !(PLANT && found); the_mode++)
        for (int ordered = 1; ordered >= 0 && !(PLANT && found); ordered--)
            if (TELLS_APART || (the_mode == XS_OVERWRITE && ordered))
                found |= explore(the_mode, ordered);
    if (PLANT)
        printf("planted fault %d: %s\n", PLANT, found ? "found" : "NOT FOUND");
    return PLANT ? !found : found;
}
