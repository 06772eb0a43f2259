/* The region: offsets are pinned, since other processes and other versions read them; contents; memory; handles;
 * reclaim. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <xs/ring_access.h>

#include "../../../trace/collect/region_view.h"
#include "lib_test.h"
#include "world.h"

/* Whoever changes one counts up XS_REGION_VERSION where captures have it, and XS_FORM: kernels of before are refused then. */
#define PIN(type, member, offset) assert_int_equal(offsetof(type, member), offset)

static void fields_are_pinned(void **state) {
    (void)state;
    PIN(xs_region_header, magic, 0);
    PIN(xs_region_header, version, 8);
    PIN(xs_region_header, header_bytes, 12);
    PIN(xs_region_header, total_bytes, 16);
    PIN(xs_region_header, events_hash, 24);
    PIN(xs_region_header, state, 40);
    PIN(xs_region_header, host, 48);
    PIN(xs_region_header, pid, 80);
    PIN(xs_region_header, rings_per_rank, 100);
    PIN(xs_region_header, control_offset, 120);
    PIN(xs_region_header, records_offset, 168);
    PIN(xs_region_header, catalog_used, 200);
    PIN(xs_region_header, journal_entries, 216);
    PIN(xs_region_header, activity_entries, 232);
    assert_int_equal(sizeof(xs_region_header), 240);
    PIN(xs_activity_head, health, 8);
    PIN(xs_activity_head, consumed, 256);
    PIN(xs_activity_entry, device, 32);
    PIN(xs_activity_entry, bytes, 88);
    PIN(xs_ring_header, next, 64);
    PIN(xs_ring_header, owners, 72);
    PIN(xs_ring_header, mode, 76);
    PIN(xs_ring_header, busy, 78);
    PIN(xs_ring_header, consumed, 128);
    PIN(xs_ring_header, owner, 256);
    PIN(xs_control, started, 0);
    PIN(xs_control, epoch_first, 24);
    PIN(xs_control, no_ring, 64);
    PIN(xs_journal_entry, b, 16);
}

static xs_region_header layout(uint32_t ranks, uint32_t rings, uint32_t records, uint32_t lines) {
    xs_region_header h;
    memset(&h, 0, sizeof h);
    h.ranks = ranks;
    h.rings_per_rank = rings;
    h.ring_records = records;
    h.lines_per_ring = lines;
    uint64_t total = xs_region_layout(&h);
    assert_int_equal(total, h.total_bytes);
    return h;
}

static void layout_is_pinned(void **state) {
    (void)state;
    xs_region_header h = layout(2, 64, 16, 4);
    assert_int_equal(h.control_offset, 256);
    assert_int_equal(h.groups_offset, 512);
    assert_int_equal(h.ring_headers_offset, 1024);
    assert_int_equal(h.status_offset, 1024 + 128 * 512);
    assert_int_equal(h.records_offset, 131072 + 4096);
    assert_int_equal(h.records_stride, 16 * 16);
    assert_int_equal(h.catalog_offset, 135168 + 32768);
    assert_int_equal(h.journal_offset, 167936 + (2 << 20));
    assert_int_equal(h.total_bytes, 167936 + (2 << 20) + 16384 * 64);
    assert_int_equal(h.groups_per_rank, 1);
}

/* What CUPTI tells comes last, and takes no room where it is not asked for. */
static void activity_comes_last(void **state) {
    (void)state;
    xs_region_header without = layout(2, 64, 16, 4), h = {.ranks = 2, .rings_per_rank = 64, .ring_records = 16, .lines_per_ring = 4, .activity_entries = 64};
    assert_int_equal(without.activity_offset, 0);
    xs_region_layout(&h);
    assert_int_equal(h.activity_offset, without.total_bytes);
    assert_true(h.total_bytes >= h.activity_offset + sizeof(xs_activity_head) + 64 * sizeof(xs_activity_entry));
}

/* Parts follow one another, aligned, without overlap, for any shape. */
static void parts_do_not_overlap(void **state) {
    (void)state;
    static const uint32_t shapes[][4] = {{1, 64, 4, 4}, {3, 128, 4096, 7}, {8, 64, 65536, 8}, {1, 64, 8, 1}};
    for (int i = 0; i < 4; i++) {
        xs_region_header h = layout(shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3]);
        uint64_t rings = (uint64_t)h.ranks * h.rings_per_rank;
        assert_true(h.control_offset >= sizeof h);
        assert_true(h.groups_offset >= h.control_offset + h.ranks * sizeof(xs_control));
        assert_true(h.ring_headers_offset >= h.groups_offset + 8ull * h.ranks * h.groups_per_rank);
        assert_true(h.status_offset >= h.ring_headers_offset + rings * 512);
        assert_true(h.records_offset >= h.status_offset + rings * h.lines_per_ring * 128);
        assert_true(h.catalog_offset >= h.records_offset + rings * h.records_stride);
        assert_true(h.journal_offset >= h.catalog_offset + h.catalog_bytes);
        assert_true(h.total_bytes >= h.journal_offset + 64 * h.journal_entries);
        assert_int_equal(h.ring_headers_offset % 512, 0);
        assert_int_equal(h.records_offset % 4096, 0);
        assert_int_equal(h.status_offset % 128, 0);
    }
}

static void first_contents(void **state) {
    (void)state;
    xs_world *world = test_world(2);
    const xs_region_header *h = xs_region(world);
    assert_true(h->magic == XS_REGION_MAGIC);
    assert_int_equal(h->version, XS_REGION_VERSION);
    assert_int_equal(h->events_hash, xs_events_hash());
    assert_int_not_equal(h->events_hash, 0);
    assert_int_equal(h->state, XS_REGION_LIVE);
    assert_int_equal(h->pid, getpid());
    assert_int_equal(h->device, -1);
    assert_int_not_equal(h->host, 0);
    assert_int_not_equal(h->process, h->host);
    assert_true(h->start_time && h->start_realtime);
    assert_int_equal(h->world_ranks, 2);
    const xs_control *control = xs_region_control(h);
    assert_int_equal(control->started, XS_STARTED | XS_STARTED_PAYLOAD);
    assert_int_equal(control->rank_last, UINT32_MAX);
    assert_true(control->epoch_last == UINT64_MAX);
    for (uint32_t i = 0; i < 128; i++) {
        const xs_ring_header *ring = (const xs_ring_header *)(world->region + h->ring_headers_offset + i * 512);
        assert_int_equal(ring->magic, XS_RING_MAGIC);
        assert_int_equal(ring->index, i);
        assert_int_equal(ring->rank, i / 64);
        assert_int_equal(ring->next, 1);
        assert_int_equal(ring->capacity, world->config.ring_records);
    }
    assert_int_equal(xs_world_destroy(world), 0);
}

static void memory_cannot_shrink(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    struct stat st;
    assert_int_equal(fstat(world->region_fd, &st), 0);
    assert_int_equal(st.st_size, world->region_total);
    const xs_region_header *h = xs_region(world);
    assert_int_equal(world->region_bytes, h->catalog_offset);
    assert_true(h->catalog_bytes == 256 << 20 && h->catalog_used <= world->catalog_ready);
    assert_true((uint64_t)st.st_blocks * 512 >= world->region_total - h->catalog_bytes + world->catalog_ready); /* every page that is used exists */
    assert_true((uint64_t)st.st_blocks * 512 < world->region_total - h->catalog_bytes + (2 << 20));
    assert_true(fcntl(world->region_fd, F_GET_SEALS) & F_SEAL_SHRINK);
    assert_int_equal(ftruncate(world->region_fd, 4096), -1);
    char *again = mmap(NULL, world->region_total, PROT_READ, MAP_SHARED, world->region_fd, 0);
    assert_true(again != MAP_FAILED);
    assert_int_equal(((xs_region_header *)again)->pid, getpid());
    munmap(again, world->region_total);
    assert_int_equal(xs_world_destroy(world), 0);
}

/* Adds from two GPUs to one word of host memory lose counts: each rank's launches have a block of their own. */
static void each_rank_counts_for_itself(void **state) {
    (void)state;
    xs_world *world = test_world(3);
    xs_region_view view;
    xs_filter filter = {sizeof filter, 0, 1, 2, 3, 4, 5};
    assert_int_equal(xs_trace_stop(world), 0);
    assert_int_equal(xs_trace_filter(world, &filter), 0);
    for (uint32_t r = 0; r < 3; r++) {
        xs_handle xs;
        xs_region_handle(world, r, 1, 1, &xs);
        assert_int_equal(xs.control->started, XS_STARTED_FILTERED);
        assert_int_equal(xs.control->block_last, 3);
        xs.control->no_ring += 1 + r;
        xs.control->foreign += 10;
        xs.control->no_line += 100 * r;
        assert_int_equal(xs_handle_end(world, &xs), 0);
    }
    assert_int_equal(xs_region_view_open(&view, world->region, world->region_total), 0);
    xs_view_counts counts = xs_view_counters(&view);
    assert_int_equal(counts.no_ring, 6);
    assert_int_equal(counts.foreign, 30);
    assert_int_equal(counts.no_line, 300);
    assert_int_equal(xs_world_destroy(world), 0);
}

static void handles_begin_at_their_rank(void **state) {
    (void)state;
    xs_world *world = test_world(3);
    const xs_region_header *h = xs_region(world);
    xs_handle xs;
    xs_region_handle(world, 2, 5, 9, &xs);
    assert_ptr_equal(xs.control, xs_region_control(h) + 2);
    assert_ptr_equal(xs.groups, world->region + h->groups_offset + 2 * 8);
    assert_int_equal(xs.rings->index, 128);
    assert_int_equal(xs.rings->rank, 2);
    assert_ptr_equal(xs.status, world->region + h->status_offset + 128 * 4 * 128);
    assert_ptr_equal(xs.records, world->region + h->records_offset + 128 * h->records_stride);
    assert_ptr_equal(xs.abort, world->abort_word);
    assert_int_equal(xs.ring_mask, h->ring_records - 1);
    assert_int_equal(xs.rank, 2);
    assert_int_equal(xs.ranks, 3);
    assert_int_equal(xs.blocks, 5);
    assert_int_equal(xs.blocks_inverse, xs_blocks_inverse(5));
    assert_int_equal(xs.launch, 9);
    assert_int_equal(xs_world_destroy(world), 0);
}

/* Traced kernels find their rank in the grid by a product: where it is off by one, a block waits on another rank's slots. */
static void assert_quotient(uint32_t block, uint32_t blocks) {
    assert_int_equal(xs_blocks_quotient(block, blocks, xs_blocks_inverse(blocks)), block / blocks);
}
static void quotients_are_exact(void **state) {
    (void)state;
    for (uint32_t blocks = 1; blocks <= 300; blocks++)
        for (uint32_t block = 0; block <= 3000; block++) assert_quotient(block, blocks);
    uint64_t seed = 1;
    for (uint32_t i = 0; i < 200000; i++) { /* numbers of every length, and both sides of each multiple */
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        uint32_t blocks = (uint32_t)(seed >> 32) >> i % 32 | 1, top = UINT32_MAX / blocks, times = (uint32_t)(seed >> 7) % top + 1;
        assert_quotient(blocks * times, blocks);
        assert_quotient(blocks * times - 1, blocks);
        assert_quotient(blocks * top, blocks);
        assert_quotient(UINT32_MAX, blocks);
        assert_quotient((uint32_t)seed, blocks + (blocks < UINT32_MAX));
    }
}

typedef struct reclaim_case {
    uint64_t first, written; /* of the owner */
    uint64_t consumed;
    uint32_t capacity, mode, overflow; /* overflow: a drop after `written` was stored */
    uint64_t next;                     /* expected */
} reclaim_case;

/* Writes a ring's stream as a writer would, from one record on, and leaves it. */
static void reclaim_one(const reclaim_case *c, uint32_t words) {
    xs_region_header h = layout(1, 64, c->capacity, 4);
    h.record_words = (uint16_t)words;
    char *region = calloc(1, h.total_bytes);
    assert_non_null(region);
    xs_region_init(region, &h);
    xs_ring_header *ring = (xs_ring_header *)(region + h.ring_headers_offset + 5 * 512);
    xs_record *records = (xs_record *)(region + h.records_offset + 5 * h.records_stride);
    uint64_t from = c->first > c->capacity ? c->first - c->capacity : 1, last = c->first + c->written - 1;
    for (uint64_t s = from; s <= last; s++)
        xs_slot_put(words, &records[s % c->capacity], (uint32_t)__builtin_ctz(c->capacity), (uint32_t)s, XS_HEAD(XS_CODE_MARK, 1), 0, 0);
    if (c->overflow) xs_overflow_put(words, &ring->overflow, (uint32_t)(last + c->overflow), 0);
    ring->next = c->first;
    ring->owners = 1;
    ring->mode = c->mode;
    ring->consumed = c->consumed;
    ring->busy = 1;
    xs_ring_owner_store(h.record_words, ring, 0, &(xs_ring_owner){.first = c->first, .launch = 7});
    uint64_t *groups = (uint64_t *)(region + h.groups_offset);
    groups[0] = 1ull << 5;
    assert_int_equal(xs_region_reclaim(region, 6, NULL), 0); /* another launch's */
    assert_int_equal(groups[0], 1ull << 5);
    assert_int_equal(xs_region_reclaim(region, 7, NULL), 1);
    assert_int_equal(groups[0], 0);
    assert_int_equal(ring->busy, 0);
    assert_true(ring->next == c->next);
    free(region);
}

static void rings_left_behind_are_freed(void **state) {
    (void)state;
    const uint64_t wrap = (1ull << XS_SEQUENCE_BITS);
    const reclaim_case cases[] = {
        {1, 0, 0, 16, XS_OVERWRITE, 0, 1},                         /* nothing written */
        {1, 5, 0, 16, XS_OVERWRITE, 0, 6},                         /* less than a lap */
        {1, 100, 0, 16, XS_OVERWRITE, 0, 101},                     /* laps */
        {50, 0, 49, 16, XS_OVERWRITE, 0, 50},                      /* only an earlier owner's records */
        {50, 3, 51, 16, XS_OVERWRITE, 0, 53},                      /* partly consumed */
        {wrap - 4, 10, 0, 16, XS_OVERWRITE, 0, wrap + 6},          /* over the wrap */
        {3 * wrap + 20, 7, 0, 16, XS_OVERWRITE, 0, 3 * wrap + 27}, /* beyond it */
        {wrap - 2, 2, 0, 16, XS_OVERWRITE, 0, wrap},               /* ends just before it */
        {wrap, 1, 0, 16, XS_OVERWRITE, 0, wrap + 1},               /* the one whose low bits are 0 */
        {1, 16, 0, 16, XS_DISCARD, 9, 26},                         /* full, then nine drops */
        {1, 16, 0, 16, XS_DISCARD, 0, 17},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (uint32_t words = XS_WHOLE_ACCESS ? 0 : 2; words <= 2; words += 2) reclaim_one(&cases[i], words);
}

/* A ring that was given back and taken anew, by a writer that has only not signed yet, even if its last owner wrote nothing. */
static void rings_given_back_are_left_alone(void **state) {
    (void)state;
    xs_region_header h = layout(1, 64, 16, 4);
    char *region = calloc(1, h.total_bytes);
    assert_non_null(region);
    xs_region_init(region, &h);
    xs_ring_header *ring = (xs_ring_header *)(region + h.ring_headers_offset);
    uint64_t *groups = (uint64_t *)(region + h.groups_offset);
    ring->owners = 1;
    xs_ring_owner_store(h.record_words, ring, 0, &(xs_ring_owner){.first = 1, .launch = 7});
    groups[0] = 1;
    assert_int_equal(xs_region_reclaim(region, 7, NULL), 0);
    assert_int_equal(groups[0], 1);
    assert_int_equal(ring->next, 1);
    free(region);
}

/* GPUs claim in memory of their own: what the host frees has to be told there. */
static void rings_of_gpus_are_freed_by_their_headers(void **state) {
    (void)state;
    xs_region_header h = layout(2, 64, 16, 4);
    h.device = 0;
    char *region = calloc(1, h.total_bytes);
    assert_non_null(region);
    xs_region_init(region, &h);
    uint64_t given_back[2] = {0, 0};
    for (uint32_t i = 60; i < 70; i++) {
        xs_ring_header *ring = (xs_ring_header *)(region + h.ring_headers_offset + i * 512);
        ring->owners = 1;
        ring->busy = i != 61 && i != 67;
        xs_ring_owner_store(h.record_words, ring, 0, &(xs_ring_owner){.first = 1, .launch = i == 68 ? 8 : 7});
    }
    assert_int_equal(xs_region_reclaim(region, 7, given_back), 7);
    assert_true(given_back[0] == 0xdull << 60);
    assert_true(given_back[1] == 0x27);
    assert_int_equal(xs_region_reclaim(region, 7, given_back), 0);
    free(region);
}

/* What the writer of a line does while a reader rests: half of it first, the rest when it was looked at three times. */
typedef struct slow_writer {
    xs_status_line *line;
    uint32_t seen, whole_at;
} slow_writer;

static void write_parts(xs_status_line *line, uint32_t first, uint32_t end, uint32_t generation) {
    for (uint32_t i = first; i < end; i++)
        ((xs_record *)(void *)line)[i].sequence = generation;
}
static void goes_on(void *user) {
    slow_writer *w = user;
    if (++w->seen == w->whole_at) write_parts(w->line, 4, 8, 8);
}

static void line_that_is_being_written_is_waited_for(void **state) {
    (void)state;
    static xs_status_line line __attribute__((aligned(128))), copy;
    xs_region_view view = {.base = (char *)&line, .head = {.lines_per_ring = 1, .status_stride = sizeof line}};
    slow_writer writer = {&line, 0, 3};
    xs_view_patience patience = {10, goes_on, &writer};
    write_parts(&line, 0, 8, 1);
    write_parts(&line, 0, 4, 8);
    assert_int_equal(xs_view_copy_line(&view, 0, 0, &copy), -1);
    assert_int_equal(xs_view_await_line(&view, 0, 0, &copy, &patience), 1);
    assert_int_equal(copy.p7.generation, 8);
    assert_int_equal(patience.rests, 7);
    writer.whole_at = 100; /* its writer was stopped in the middle */
    write_parts(&line, 0, 4, 16);
    assert_int_equal(xs_view_await_line(&view, 0, 0, &copy, &patience), -1);
    assert_int_equal(patience.rests, 0);
    assert_int_equal(xs_view_await_line(&view, 0, 0, &copy, &patience), -1);
    assert_int_equal(writer.seen, 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_pinned),           cmocka_unit_test(layout_is_pinned), cmocka_unit_test(activity_comes_last),
        cmocka_unit_test(parts_do_not_overlap),        cmocka_unit_test(first_contents),
        cmocka_unit_test(memory_cannot_shrink),        cmocka_unit_test(each_rank_counts_for_itself),
        cmocka_unit_test(line_that_is_being_written_is_waited_for), cmocka_unit_test(handles_begin_at_their_rank),
        cmocka_unit_test(quotients_are_exact),
        cmocka_unit_test(rings_left_behind_are_freed), cmocka_unit_test(rings_given_back_are_left_alone),
        cmocka_unit_test(rings_of_gpus_are_freed_by_their_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
