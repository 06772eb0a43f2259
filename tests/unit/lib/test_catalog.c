/* Catalog frames and journal entries read back as another process would read them: from the region alone. */
#include <pthread.h>
#include <sys/stat.h>
#include <xs/frame.h>

#include "lib_test.h"
#include "world.h"

typedef struct frames {
    const xs_frame *at[64];
    uint32_t count;
} frames;

/* Walks the catalog; every frame must be whole. */
static frames read_catalog(const xs_world *world) {
    const xs_region_header *h = xs_region(world);
    uint64_t used = __atomic_load_n(&h->catalog_used, __ATOMIC_ACQUIRE), at = 0;
    frames f = {.count = 0};
    while (at < used) {
        const xs_frame *frame = (const xs_frame *)(world->region + h->catalog_offset + at);
        assert_int_equal(at % 16, 0);
        assert_int_equal(frame->magic, XS_FRAME_MAGIC);
        assert_int_equal(frame->header_bytes, 80);
        assert_int_equal(frame->number, f.count);
        assert_true(frame->host == h->host && frame->process == h->process);
        assert_int_equal(frame->rank, -1);
        uint64_t checksum = xs_frame_checksum(frame, frame + 1);
        assert_true(frame->checksum == checksum);
        at += sizeof *frame + xs_frame_padded(frame->payload_bytes);
        if (f.count < 64) f.at[f.count] = frame;
        f.count++;
    }
    assert_int_equal(at, used);
    return f;
}

static const xs_frame *last_of(const frames *f, uint16_t type) {
    for (uint32_t i = f->count; i-- > 0;)
        if (f->at[i]->type == type) return f->at[i];
    fail_msg("no frame of type %u", type);
    return NULL;
}

static void a_new_world_describes_itself(void **state) {
    (void)state;
    xs_world *world = test_world(2);
    frames f = read_catalog(world);
    const xs_frame *process = last_of(&f, XS_FRAME_PROCESS);
    assert_ptr_equal(process, f.at[0]);
    const xs_frame_process *p = (const void *)(process + 1);
    assert_int_equal(p->region.pid, getpid());
    assert_int_equal(process->payload_bytes, sizeof *p + p->strings_bytes);
    const char *host = (const char *)(p + 1), *command = host + strlen(host) + 1,
               *program = command + strlen(command) + 1;
    char name[256];
    gethostname(name, sizeof name);
    assert_string_equal(host, name);
    assert_non_null(strstr(command, "test_lib_catalog"));
    assert_int_equal(program[0], '/');
    assert_int_equal(program + strlen(program) + 1 - host, p->strings_bytes);
    const xs_frame_pad *pad = (const void *)(last_of(&f, XS_FRAME_PAD) + 1);
    assert_string_equal((const char *)(pad + 1), "heartbeat");
    assert_int_equal(pad->rows, 1);
    assert_int_equal(pad->columns, 2);
    assert_int_equal(pad->owners, 2);
    assert_int_equal(pad->first, 1);
    xs_world_destroy(world);
}

static void pads_and_labels(void **state) {
    (void)state;
    xs_world *world = test_world(3);
    xs_pad pad;
    assert_int_equal(xs_pad_create(world, "done", 2, 5, XS_PAD_WIDE, &pad), 0);
    assert_int_equal(xs_pad_labels(world, &pad, "src", "chunk"), 0);
    frames f = read_catalog(world);
    const xs_frame_pad *read = (const void *)(last_of(&f, XS_FRAME_PAD) + 1);
    assert_int_equal(read->first, pad.first);
    assert_int_equal(read->rows, 2);
    assert_int_equal(read->columns, 5);
    assert_int_equal(read->flags, XS_PAD_WIDE);
    const char *text = (const char *)(read + 1);
    assert_memory_equal(text, "done\0src\0chunk", 15);
    xs_world_destroy(world);
}

static void names_have_ids(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    assert_int_equal(xs_role(world, "producer"), 1);
    assert_int_equal(xs_role(world, "consumer"), 2);
    assert_int_equal(xs_mark_name(world, "push chunk"), 1); /* marks are counted by themselves */
    uint32_t count = read_catalog(world).count;
    assert_int_equal(xs_role(world, "producer"), 1);
    assert_int_equal(read_catalog(world).count, count); /* the same name is not written twice */
    frames f = read_catalog(world);
    const xs_frame_name *name = (const void *)(last_of(&f, XS_FRAME_NAME) + 1);
    assert_int_equal(name->kind, XS_NAME_MARK);
    assert_int_equal(name->id, 1);
    assert_string_equal((const char *)(name + 1), "push chunk");
    assert_int_equal(xs_role(world, ""), XS_E_NAME);
    assert_int_equal(xs_role(world, NULL), XS_E_NAME);
    char longest[97];
    memset(longest, 'n', 96);
    longest[96] = 0;
    assert_int_equal(xs_role(world, longest), XS_E_NAME);
    longest[95] = 0;
    assert_int_equal(xs_role(world, longest), 3);
    xs_world_destroy(world);
}

static void plan_entries(void **state) {
    (void)state;
    xs_world *world = test_world(2);
    xs_pad pad;
    assert_int_equal(xs_pad_create(world, "p", 1, 2, 0, &pad), 0);
    xs_plan_entry entries[2] = {
        {.kind = XS_PLAN_SIGNALS, .pad_first = pad.first, .owner = 1, .column = 1, .epoch = UINT64_MAX, .a = 3},
        {.kind = XS_PLAN_WRITER, .pad_first = pad.first, .owner = XS_PLAN_ANY, .epoch = 4, .a = 1}};
    assert_int_equal(xs_plan_add(world, entries, 2), 0);
    frames f = read_catalog(world);
    const xs_frame *frame = last_of(&f, XS_FRAME_PLAN);
    assert_int_equal(frame->payload_bytes, sizeof entries);
    assert_memory_equal(frame + 1, entries, sizeof entries);
    xs_world_destroy(world);
}

/* Full: an error, and what is there stays whole. */
static void catalog_runs_full(void **state) {
    (void)state;
    xs_config config = test_config(1);
    config.catalog_bytes = 1 << 20;
    xs_world *world = NULL;
    assert_int_equal(xs_world_create(&config, &world), 0);
    char name[96];
    int id = 0;
    for (int i = 0; i < 40000 && id >= 0; i++) {
        snprintf(name, sizeof name,
                 "a name that takes some room in the catalog, so that this does not take long, number %d", i);
        id = xs_mark_name(world, name);
    }
    assert_int_equal(id, XS_E_TOO_MANY);
    assert_non_null(strstr(xs_error_detail(), "XS_CATALOG_BYTES (1048576)"));
    for (int i = 0; i < 1000 && xs_mark_name(world, (snprintf(name, sizeof name, "%d", i), name)) >= 0; i++) {
    } /* what is too long for the rest may be followed by something short */
    assert_true(read_catalog(world).count > 2500);
    assert_true(xs_region(world)->catalog_used <= xs_region(world)->catalog_bytes);
    xs_pad pad;
    assert_int_equal(xs_pad_create(world, "late", 1, 1, 0, &pad), XS_E_TOO_MANY);
    assert_int_equal(xs_world_destroy(world), 0);
}

/* Plans of kernels with very many chunks found the catalog full after 2 MiB: some 10 000 calls. */
static void a_plan_of_200000_entries(void **state) {
    (void)state;
    enum { CALLS = 100000, AT_ONCE = 100000 };
    xs_world *world = test_world(2);
    xs_pad pad;
    assert_int_equal(xs_pad_create(world, "done", 2, AT_ONCE, 0, &pad), 0);
    xs_plan_entry *many = calloc(AT_ONCE, sizeof *many);
    assert_non_null(many);
    for (uint32_t i = 0; i < AT_ONCE; i++)
        many[i] = (xs_plan_entry){.kind = XS_PLAN_WRITER, .pad_first = pad.first, .owner = i % 2, .row = 1, .column = i, .epoch = UINT64_MAX, .a = i % 2};
    assert_int_equal(xs_plan_add(world, many, AT_ONCE), 0);
    for (uint32_t i = 0; i < CALLS; i++) {
        many[i].owner = 1 - many[i].owner;
        assert_int_equal(xs_plan_add(world, &many[i], 1), 0);
    }
    many[7].a = 1 - many[7].a; /* all of them are known */
    assert_int_equal(xs_plan_add(world, &many[7], 1), XS_E_PLAN);
    free(many);
    frames f = read_catalog(world);
    assert_true(f.count > CALLS + 5); /* the large call is of several frames, since a collector takes each of them whole */
    const xs_region_header *h = xs_region(world);
    assert_true(h->catalog_used > CALLS * (80 + 48) + AT_ONCE * 48);
    struct stat st; /* memory comes as it is needed */
    assert_int_equal(fstat(world->region_fd, &st), 0);
    assert_true((uint64_t)st.st_blocks * 512 < h->total_bytes - h->catalog_bytes + h->catalog_used + (2 << 20));
    assert_int_equal(xs_world_destroy(world), 0);
}

static const xs_journal_entry *journal(const xs_world *world, uint64_t sequence) {
    const xs_region_header *h = xs_region(world);
    return (const xs_journal_entry *)(world->region + h->journal_offset) + ((sequence - 1) & (h->journal_entries - 1));
}

static void journal_entries(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    assert_int_equal(world->journal_next, 2); /* creation switched tracing, and read both clocks */
    assert_int_equal(journal(world, 1)->kind, XS_JOURNAL_TRACE_STATE);
    assert_int_equal(journal(world, 1)->a, XS_STARTED | XS_STARTED_PAYLOAD);
    const xs_journal_entry *clock = journal(world, 2);
    const xs_region_header *h = xs_region(world);
    assert_int_equal(clock->kind, XS_JOURNAL_CLOCK);
    assert_int_equal(clock->a, 0); /* the host */
    assert_true(clock->c >= h->start_time && clock->e < 100000000);
    int64_t offset = (int64_t)clock->d - (int64_t)clock->c, first = h->start_realtime - (int64_t)h->start_time;
    assert_true(llabs(offset - first) < 10000000);
    xs_journal_clock(world, 1000000000); /* too early for another */
    assert_int_equal(world->journal_next, 2);
    xs_journal(world, XS_JOURNAL_CLOCK, 1, 2, 3, 4, 5, 6, 7);
    const xs_journal_entry *e = journal(world, 3);
    assert_int_equal(e->sequence, 3);
    assert_int_equal(e->kind, XS_JOURNAL_CLOCK);
    assert_true(e->a == 1 && e->b == 2 && e->c == 3 && e->d == 4 && e->e == 5 && e->f == 6 && e->g == 7);
    xs_world_destroy(world);
}

static void *write_entries(void *world) {
    for (uint64_t i = 0; i < 20000; i++) xs_journal(world, XS_JOURNAL_HOST_CALL, (uint32_t)i, i, 2 * i, 3 * i, 0, 0, 0);
    return NULL;
}

/* Several writers, more than a lap: every place ends up with one whole entry, each sequence once. */
static void journal_from_several_threads(void **state) {
    (void)state;
    xs_world *world = test_world(1);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, write_entries, world), 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    assert_int_equal(world->journal_next, 80002);
    uint64_t whole = 0;
    for (uint64_t s = 80002 - 16384 + 1; s <= 80002; s++) {
        const xs_journal_entry *e = journal(world, s);
        if (e->sequence != s) continue; /* a writer that was lapped while it wrote: void or older, and seen to be so */
        assert_true(e->c == 2 * e->b && e->d == 3 * e->b && e->a == (uint32_t)e->b);
        whole++;
    }
    assert_true(whole > 16000);
    xs_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_world_describes_itself),
        cmocka_unit_test(pads_and_labels),
        cmocka_unit_test(names_have_ids),
        cmocka_unit_test(plan_entries),
        cmocka_unit_test(catalog_runs_full),
        cmocka_unit_test(a_plan_of_200000_entries),
        cmocka_unit_test(journal_entries),
        cmocka_unit_test(journal_from_several_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
