/* Rings of one region into RECORDS and LOSS frames. */
#include <string.h>
#include <xs/errors.h>
#include <xs/frame.h>

#include "collector_internal.h"

/* Records of a CUDA writer may become visible after the bit that frees its ring. */
#define UNORDERED_QUIET_NS 100000000u
/* A region of another process may be written by anybody: a pass ends in any case. */
#define MOST_STEPS 256u
#define MOST_STEPS_LAST (1u << 20)
#define LOOK_AT_ALL_NS 10000000u
#define RINGS_AT_ONCE 4u
#define WORTH_SHARING 4096u /* records of a pass */

/* Nothing of [first, last] is in the capture, since there was no space. */
static void add_unsaved(ring_state *s, uint64_t first, uint64_t last) {
    if (!s->unsaved_first)
        s->unsaved_first = first;
    s->unsaved_last = last;
}

/* One thread's share of a region's rings. */
typedef struct ring_share {
    xs_collector *c;
    xs_collected *r;
    uint32_t lane;
} ring_share;

static xs_capture_lane *lane_of(const ring_share *share) { return xs_capture_lane_of(share->c->capture, share->lane); }

static int put_loss(const ring_share *share, uint32_t ring, const xs_ring_gap *gap) {
    xs_frame_loss loss = {
        .ring = ring, .cause = gap->cause, .first = gap->first, .last = gap->last, .at_least = gap->at_least};
    xs_frame frame;
    xs_collect_fill(share->c, share->r, &frame, XS_FRAME_LOSS, ring);
    return xs_lane_put(lane_of(share), &frame, &loss, sizeof loss);
}

/* 1: what was left out before is told, so that records may follow. While there is no space, only once, at the end
 * (`last`): a frame for each would eat up the reserve. */
static int told_unsaved(const ring_share *share, uint32_t ring, int last) {
    ring_state *s = &share->r->rings[ring];
    if (!s->unsaved_first)
        return 1;
    if (!last && !xs_capture_has_space(share->c->capture))
        return 0;
    xs_ring_gap gap = {.first = s->unsaved_first, .last = s->unsaved_last, .cause = XS_LOSS_NO_SPACE};
    if (put_loss(share, ring, &gap))
        return 0;
    s->unsaved_first = 0;
    return 1;
}

void xs_collect_unsaved(xs_collector *c, xs_collected *r, int last) {
    const ring_share share = {c, r, 0};
    for (uint32_t ring = 0; ring < r->view.rings; ring++)
        if (!told_unsaved(&share, ring, last))
            return;
}

static void save_gap(const ring_share *share, uint32_t ring, const xs_ring_gap *gap) {
    if (!told_unsaved(share, ring, 0) || put_loss(share, ring, gap))
        add_unsaved(&share->r->rings[ring], gap->first, gap->last);
}

typedef struct drain_job {
    const ring_share *share;
    uint32_t ring;
    enum drain_how how;
    xs_ring_quiet quiet;
    uint64_t looked_before;
} drain_job;

/* Has all that the ring held when it was free with this `next` been copied? Mapped rings are no copy. */
static int image_is_final(const ring_state *s, uint64_t next) {
    const xs_ring_header *header = s->reader.header;
    return !header->placement || (next && __atomic_load_n(&header->image_next, __ATOMIC_ACQUIRE) == next);
}

static void commit_records(const drain_job *job, xs_frame_records *head, uint64_t first, uint32_t taken) {
    xs_collector *c = job->share->c;
    const xs_collected *r = job->share->r;
    *head = (xs_frame_records){.first = first, .count = taken};
    if (!r->foreign_time) {
        head->looked_before = job->looked_before;
        head->time = c->now;
    }
    xs_frame frame;
    xs_collect_fill(c, r, &frame, XS_FRAME_RECORDS, job->ring);
    if (r->view.head.device >= 0) /* ranks of further GPUs, and of CPU threads beside them */
        frame.device = r->rings[job->ring].reader.header->device;
    xs_lane_commit(lane_of(job->share), &frame, sizeof *head + (uint64_t)taken * sizeof(xs_record));
    __atomic_fetch_add(&c->records, taken, __ATOMIC_RELAXED);
}

static void drained_gap(const drain_job *job, xs_ring_gap *gap) {
    const ring_state *s = &job->share->r->rings[job->ring];
    if (job->how == DRAIN_LAST && gap->cause == XS_LOSS_NEVER_ARRIVED && !image_is_final(s, job->quiet.end))
        gap->cause = XS_LOSS_DEVICE;
    save_gap(job->share, job->ring, gap);
}

/* One step: a frame full of records, or a gap. Returns xs_drain_result. */
static int drain_step(const drain_job *job, uint32_t *taken) {
    xs_collector *c = job->share->c;
    ring_state *s = &job->share->r->rings[job->ring];
    uint64_t most = xs_capture_frame_most(c->capture), first = s->reader.next;
    uint32_t capacity = (uint32_t)((most - sizeof(xs_frame_records)) / sizeof(xs_record));
    xs_record *scratch = c->scratch[job->share->lane].records;
    xs_frame_records *head = NULL;
    if (told_unsaved(job->share, job->ring, 0))
        head = xs_lane_reserve(lane_of(job->share), XS_FRAME_RECORDS, most);
    xs_record *out = head ? (xs_record *)(void *)(head + 1) : scratch;
    if (!head)
        capacity = sizeof c->scratch[0].records / sizeof(xs_record);
    xs_ring_gap gap;
    int result = xs_ring_drain(&s->reader, out, capacity, taken, &gap, job->quiet, xs_ring_time(c, s));
    if (*taken && head)
        commit_records(job, head, first, *taken);
    else if (*taken)
        add_unsaved(s, first, first + *taken - 1);
    if (head && !*taken)
        xs_lane_cancel(lane_of(job->share));
    if (result == XS_DRAIN_GAP)
        drained_gap(job, &gap);
    return result;
}

/* Is the ring given back, with a count that is exact? */
static xs_ring_quiet quiet_now(xs_collector *c, xs_collected *r, uint32_t ring, enum drain_how how) {
    ring_state *s = &r->rings[ring];
    xs_ring_header *header = s->reader.header;
    xs_ring_quiet live = {0, 0}, quiet = {1, 0};
    if (xs_view_taken(&r->view, ring)) {
        s->free_since = 0;
        return how == DRAIN_LAST ? quiet : live;
    }
    uint32_t owners = __atomic_load_n(&header->owners, __ATOMIC_ACQUIRE);
    quiet.end = __atomic_load_n(&header->next, __ATOMIC_ACQUIRE);
    if (xs_view_taken(&r->view, ring) || __atomic_load_n(&header->owners, __ATOMIC_ACQUIRE) != owners)
        return live;
    if (!s->free_since || s->free_next != quiet.end) {
        s->free_since = c->now ? c->now : 1;
        s->free_next = quiet.end;
    }
    int visible = s->reader.ordered || c->now - s->free_since >= UNORDERED_QUIET_NS;
    if (header
            ->placement) /* whoever copies them waits for no later ones: the bit is behind all records of its device */
        visible = image_is_final(s, quiet.end);
    return visible || how == DRAIN_LAST ? quiet : live;
}

static uint64_t drain_ring(const ring_share *share, uint32_t ring, enum drain_how how) {
    xs_collector *c = share->c;
    ring_state *s = &share->r->rings[ring];
    if (s->reader.header->placement) {
        if (!xs_ring_time(c, s) && how != DRAIN_LAST) /* nothing was copied yet */
            return 0;
        s->reader.bold = 1; /* nobody writes into an image faster than it is read */
    }
    drain_job job = {share, ring, how, quiet_now(c, share->r, ring, how), s->reader.looked};
    uint64_t before = s->reader.next, sum = 0;
    /* A ring is gone through at most a few times a pass, so that a fast writer does not keep others waiting: at the
     * end, too, where the ring is still taken and its writer may be alive (the process calls exit(), its kernels go
     * on). */
    int to_the_end = how == DRAIN_LAST && !xs_view_taken(&share->r->view, ring);
    uint64_t most = 2 * (uint64_t)s->reader.capacity;
    uint32_t steps = how == DRAIN_LAST ? MOST_STEPS_LAST : MOST_STEPS;
    int result;
    do {
        uint32_t taken;
        result = drain_step(&job, &taken);
        sum += taken;
    } while ((result == XS_DRAIN_FULL || result == XS_DRAIN_GAP) && --steps && (sum < most || to_the_end));
    if (s->reader.next != before)
        xs_ring_give_space(&s->reader);
    return sum;
}

/* Free, and everything up to its exact count is taken. */
static int done_with(const xs_collected *r, uint32_t ring) {
    const ring_state *s = &r->rings[ring];
    return s->free_since && s->free_next == s->reader.next;
}

/* A pass over the rings of a region, by one thread or several: each takes the next few rings that nobody has taken yet.
 */
typedef struct rings_pass {
    xs_collector *c;
    xs_collected *r;
    enum drain_how how;
    int all;
    uint32_t next;
    uint64_t sum;
} rings_pass;

static void drain_share(void *user, uint32_t lane) {
    rings_pass *pass = user;
    const ring_share share = {pass->c, pass->r, lane};
    uint32_t rings = pass->r->view.rings, from;
    uint64_t sum = 0;
    while ((from = __atomic_fetch_add(&pass->next, RINGS_AT_ONCE, __ATOMIC_RELAXED)) < rings)
        for (uint32_t ring = from; ring < rings && ring < from + RINGS_AT_ONCE; ring++)
            if (pass->all || xs_view_taken(&pass->r->view, ring) || !done_with(pass->r, ring))
                sum += drain_ring(&share, ring, pass->how);
    __atomic_fetch_add(&pass->sum, sum, __ATOMIC_RELAXED);
}

uint64_t xs_collect_rings(xs_collector *c, xs_collected *r, enum drain_how how) {
    int all = how == DRAIN_LAST || c->now - r->looked_all >= LOOK_AT_ALL_NS;
    rings_pass pass = {.c = c, .r = r, .how = how, .all = all};
    if (all)
        r->looked_all = c->now;
    if (c->workers && r->last_sum >= WORTH_SHARING) {
        xs_capture_flush(c->capture); /* what describes the records comes before them */
        ring_workers_run(c->workers, drain_share, &pass);
    } else {
        drain_share(&pass, 0);
    }
    r->last_sum = pass.sum;
    return pass.sum;
}

/* How far a writer had come when it last told of an open wait: one behind its newest record then; 0: not known. */
static uint64_t told_by_lines(const xs_collected *r, uint32_t ring, uint64_t from) {
    const xs_ring_header *header = xs_view_ring(&r->view, ring);
    uint32_t owners = __atomic_load_n(&header->owners, __ATOMIC_ACQUIRE);
    xs_ring_owner owner;
    uint64_t furthest = 0;
    xs_status_line line;
    if (!owners || !xs_ring_owner_load(r->view.head.record_words, header, owners - 1, &owner))
        return 0;
    for (uint32_t i = 0; i < r->view.head.lines_per_ring; i++) {
        if (xs_view_copy_line(&r->view, ring, i, &line) != 1 || line.p7.launch != owner.launch ||
            line.p6.block != owner.block)
            continue;
        uint32_t ahead = (line.p6.cursor - (uint32_t)from) & XS_SEQUENCE_MASK;
        if (ahead <= XS_SEQUENCE_MASK / 2 && from + ahead > furthest)
            furthest = from + ahead;
    }
    return furthest;
}

void xs_collect_device_tail(xs_collector *c, xs_collected *r) {
    for (uint32_t ring = 0; ring < r->view.rings; ring++) {
        xs_ring_reader *reader = &r->rings[ring].reader;
        if (!reader->header->placement || !xs_view_taken(&r->view, ring))
            continue;
        uint64_t end = told_by_lines(r, ring, reader->next);
        if (end <= reader->next)
            continue;
        xs_ring_gap gap = {.first = reader->next, .last = end - 1, .cause = XS_LOSS_DEVICE, .at_least = 1};
        const ring_share share = {c, r, 0};
        save_gap(&share, ring, &gap);
        reader->next = end;
    }
}
