/* What a plan may say and what is refused; a refused call adds nothing. */
#include "lib_test.h"
#include "objects.h"

typedef struct fixture {
    xs_world *world;
    xs_pad pad, shared;
} fixture;

static int set_up(void **state) {
    static fixture f;
    f.world = test_world(4);
    assert_int_equal(xs_pad_create(f.world, "p", 4, 3, 0, &f.pad), 0);
    assert_int_equal(xs_pad_create(f.world, "counter", 4, 3, XS_PAD_SHARED, &f.shared), 0);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    return xs_world_destroy(f->world);
}

static xs_plan_entry entry(const xs_pad *pad, uint32_t kind, uint32_t owner, uint32_t row, uint32_t column,
                           uint64_t a) {
    return (xs_plan_entry){.kind = kind,
                           .pad_first = pad->first,
                           .owner = owner,
                           .row = row,
                           .column = column,
                           .epoch = UINT64_MAX,
                           .a = a};
}

static int add(fixture *f, xs_plan_entry e) { return xs_plan_add(f->world, &e, 1); }

#define ANY XS_PLAN_ANY

static void places_are_checked(void **state) {
    fixture *f = *state;
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_SIGNALS, 3, 3, 2, 1)), 0);
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_SIGNALS, 4, 3, 2, 1)), XS_E_PLAN);
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_SIGNALS, 3, 4, 2, 1)), XS_E_PLAN);
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_SIGNALS, 3, 3, 3, 1)), XS_E_PLAN);
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_SIGNALS, ANY, ANY, ANY, 1)), 0);
    xs_pad strange = {.first = f->pad.first + 1};
    assert_int_equal(add(f, entry(&strange, XS_PLAN_SIGNALS, 0, 0, 0, 1)), XS_E_PLAN);
    assert_int_equal(add(f, entry(&f->pad, 0, 0, 0, 0, 1)), XS_E_PLAN);
    assert_int_equal(add(f, entry(&f->pad, 99, 0, 0, 0, 1)), XS_E_PLAN);
    assert_int_equal(xs_plan_add(f->world, NULL, 1), XS_E_ARGUMENT);
}

static void values_are_checked(void **state) {
    fixture *f = *state;
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_WRITER, 0, 0, 0, 4)), XS_E_PLAN);
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_DEPTH, ANY, ANY, ANY, 0)), XS_E_PLAN);
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_PARTICIPANTS, ANY, ANY, ANY, 5)), XS_E_PLAN);
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_PARTICIPANTS, ANY, ANY, ANY, 0)), XS_E_PLAN);
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_PARTICIPANTS, ANY, ANY, ANY, 4)), 0);
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_NO_ARRIVALS, 0, 0, 0, 4)), XS_E_PLAN);
    xs_plan_entry role = entry(&f->pad, XS_PLAN_ROLE_BLOCKS, ANY, ANY, ANY, 1);
    role.pad_first = UINT32_MAX;
    role.b = 2ull << 32;
    assert_int_equal(add(f, role), XS_E_PLAN); /* no such role yet */
    assert_int_equal(xs_role(f->world, "producer"), 1);
    assert_int_equal(add(f, role), 0);
    xs_plan_entry writer = entry(&f->pad, XS_PLAN_WRITER, 0, 0, 0, 1);
    writer.b = 2;
    assert_int_equal(add(f, writer), XS_E_PLAN);
    writer.b = 1;
    assert_int_equal(add(f, writer), 0);
}

static void one_writer_a_slot(void **state) {
    fixture *f = *state;
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_WRITER, 0, ANY, ANY, XS_PLAN_ROW)), 0);
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_WRITER, 0, 2, 1, 2)), 0);           /* says the same */
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_WRITER, 0, 2, 1, 1)), XS_E_PLAN);   /* another rank */
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_WRITER, 0, ANY, 1, 1)), XS_E_PLAN); /* in some rows */
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_WRITER, ANY, 1, 0, 3)), XS_E_PLAN);
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_WRITER, 0, 1, 1, XS_PLAN_COLUMN)), 0); /* row 1 = column 1 */
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_WRITER, 0, 1, 2, XS_PLAN_COLUMN)), XS_E_PLAN);
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_WRITER, 1, 1, 0, 3)), 0); /* another owner */
    xs_plan_entry e = entry(&f->pad, XS_PLAN_WRITER, 2, 0, 0, 1), other = e;
    e.epoch = 4;
    other.epoch = 5;
    other.a = 2;
    assert_int_equal(add(f, e), 0);
    assert_int_equal(add(f, other), 0); /* another epoch */
    other.epoch = 4;
    assert_int_equal(add(f, other), XS_E_PLAN);
    xs_plan_entry both[2] = {entry(&f->pad, XS_PLAN_WRITER, 3, 3, 0, 1), entry(&f->pad, XS_PLAN_WRITER, 3, 3, 0, 2)};
    assert_int_equal(xs_plan_add(f->world, both, 2), XS_E_PLAN); /* in the same call */
    assert_int_equal(add(f, both[1]), 0);                        /* nothing of it was kept */
}

static void shared_pads_have_many(void **state) {
    fixture *f = *state;
    assert_int_equal(add(f, entry(&f->shared, XS_PLAN_WRITER, 0, 0, 0, 1)), 0);
    assert_int_equal(add(f, entry(&f->shared, XS_PLAN_WRITER, 0, 0, 0, 2)), 0);
}

/* MoE: a rank to which nothing is routed. */
static void nobody_arrives(void **state) {
    fixture *f = *state;
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_ARRIVALS, 1, 2, 0, 0)), XS_E_PLAN);
    assert_non_null(strstr(xs_error_detail(), "XS_PLAN_NO_ARRIVALS"));
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_ARRIVALS, 1, 2, 0, 64)), 0);
    xs_plan_entry both[2] = {entry(&f->pad, XS_PLAN_ARRIVALS, 1, 2, 1, 0),
                             entry(&f->pad, XS_PLAN_NO_ARRIVALS, 1, 2, ANY, 2)};
    assert_int_equal(xs_plan_add(f->world, both, 2), 0);
    assert_int_equal(add(f, both[0]), 0);                                                /* named before */
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_ARRIVALS, 2, 2, 1, 0)), XS_E_PLAN);   /* of another owner */
    assert_int_equal(add(f, entry(&f->pad, XS_PLAN_ARRIVALS, 1, ANY, 1, 0)), XS_E_PLAN); /* covers one row only */
    xs_plan_entry skipped[2] = {entry(&f->pad, XS_PLAN_ARRIVALS, 3, 0, 0, 0),
                                entry(&f->pad, XS_PLAN_SIGNALS, 3, 0, 0, 0)};
    assert_int_equal(xs_plan_add(f->world, skipped, 2), 0); /* nobody signals: the wait is skipped */
}

static void a_refused_call_adds_nothing(void **state) {
    fixture *f = *state;
    uint32_t count = xs_objects_of(f->world)->plan_count;
    uint64_t used = xs_region(f->world)->catalog_used;
    xs_plan_entry two[2] = {entry(&f->pad, XS_PLAN_SIGNALS, 0, 0, 0, 1), entry(&f->pad, XS_PLAN_SIGNALS, 9, 0, 0, 1)};
    assert_int_equal(xs_plan_add(f->world, two, 2), XS_E_PLAN);
    assert_int_equal(xs_objects_of(f->world)->plan_count, count);
    assert_int_equal(xs_region(f->world)->catalog_used, used);
}

/* ---- against a plain loop over all pairs ---- */

static unsigned seed;
static uint32_t any_of(uint32_t n) { return (uint32_t)rand_r(&seed) / 7 % n; }
static uint32_t place(uint32_t n) { return any_of(3) ? any_of(n) : ANY; }

static xs_plan_entry some_entry(const xs_pad *pad) {
    static const uint32_t kinds[] = {XS_PLAN_WRITER, XS_PLAN_WRITER, XS_PLAN_WRITER, XS_PLAN_WRITER, XS_PLAN_WRITER, XS_PLAN_ARRIVALS, XS_PLAN_NO_ARRIVALS,
                                     XS_PLAN_HOST_SUPPLIER, XS_PLAN_SIGNALS};
    static const uint64_t varying[] = {XS_PLAN_ROW, XS_PLAN_COLUMN, XS_PLAN_OWNER};
    xs_plan_entry e = entry(pad, kinds[any_of(9)], place(4), place(pad->rows), place(pad->columns), any_of(2));
    if (e.kind == XS_PLAN_WRITER && !any_of(2)) e.a = varying[any_of(3)];
    if (!any_of(3)) e.epoch = any_of(3);
    return e;
}

static int plain_meet(const xs_plan_entry *a, const xs_plan_entry *b) { return a->epoch == b->epoch || a->epoch == UINT64_MAX || b->epoch == UINT64_MAX; }

static int plain_covers(uint32_t wide, uint32_t narrow) { return wide == ANY || wide == narrow; }

static int plain_supplies(const xs_plan_entry *s, const xs_plan_entry *e) {
    int kind = s->kind == XS_PLAN_NO_ARRIVALS || s->kind == XS_PLAN_HOST_SUPPLIER || (s->kind == XS_PLAN_SIGNALS && !s->a);
    return kind && plain_covers(s->owner, e->owner) && plain_covers(s->row, e->row) && plain_covers(s->column, e->column) &&
           (s->epoch == UINT64_MAX || s->epoch == e->epoch);
}

/* Whether all[had .. had + count - 1] may follow what is before them. */
static int plain_check(const xs_pad *pad, const xs_plan_entry *all, uint32_t had, uint32_t count) {
    for (uint32_t i = had; i < had + count; i++) {
        int supplied = all[i].kind != XS_PLAN_ARRIVALS || all[i].a;
        for (uint32_t k = 0; k < had + count; k++) {
            uint64_t writer[2];
            supplied |= plain_supplies(&all[k], &all[i]);
            if (k < i && all[i].kind == XS_PLAN_WRITER && all[k].kind == XS_PLAN_WRITER && plain_meet(&all[i], &all[k]) &&
                xs_plan_writers(pad, 4, &all[i], &all[k], writer) && writer[0] != writer[1])
                return XS_E_PLAN;
        }
        if (!supplied) return XS_E_PLAN;
    }
    return 0;
}

static void checked_as_by_a_plain_loop(void **state) {
    fixture *f = *state;
    uint32_t taken = 0, refused = 0;
    for (seed = 1; seed <= 300; seed++) {
        char name[32];
        xs_pad pad;
        xs_plan_entry all[120];
        uint32_t had = 0;
        unsigned run = seed;
        snprintf(name, sizeof name, "pad %u", run);
        assert_int_equal(xs_pad_create(f->world, name, 1 + any_of(4), 1 + any_of(4), 0, &pad), 0);
        for (uint32_t i = 0; i < 40; i++) {
            uint32_t count = 1 + any_of(3);
            for (uint32_t k = 0; k < count; k++) all[had + k] = some_entry(&pad);
            for (uint32_t k = 0; k < count; k++) /* rows and columns of small pads may not be ranks: those are refused before */
                if (all[had + k].kind == XS_PLAN_NO_ARRIVALS) all[had + k].a = 0;
            int want = plain_check(&pad, all, had, count), got = xs_plan_add(f->world, &all[had], count);
            if (got != want) fail_msg("seed %u, call %u: %d where a plain loop says %d", run, i, got, want);
            had += want ? 0 : count;
            taken += !want;
            refused += want != 0;
        }
        seed = run;
    }
    assert_true(taken > 1000 && refused > 1000);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, set_up, tear_down)
/* Adopted pads in the memory of buffers: their slots are told with the buffer and the byte. */
static void slots_in_buffers_are_told(void **state) {
    fixture *f = *state;
    xs_buffer buffer;
    xs_pad pad, again;
    void *inside[4], *outside[4];
    static uint64_t own[4][4];
    assert_int_equal(xs_buffer_create(f->world, "batch", 1024, &buffer), 0);
    for (uint32_t r = 0; r < 4; r++) inside[r] = (char *)buffer.base[r] + 248, outside[r] = own[r];
    xs_adopt adopt = {.size = sizeof adopt, .rows = 1, .columns = 2, .width = 64, .column_stride = 8, .base = outside};
    const xs_objects *o = xs_objects_of(f->world);
    uint32_t had = o->plan_count;
    assert_int_equal(xs_pad_adopt(f->world, "elsewhere", &adopt, &pad), 0);
    assert_int_equal(o->plan_count, had);
    adopt.base = inside;
    assert_int_equal(xs_pad_adopt(f->world, "flags", &adopt, &pad), 0);
    assert_int_equal(o->plan_count, had + 8);
    const xs_plan_entry *e = &o->plan[had + 5];
    assert_int_equal(e->kind, XS_PLAN_INSIDE);
    assert_int_equal(e->origin, XS_PLAN_REPORTED);
    assert_int_equal(e->owner, 2);
    assert_int_equal(e->column, 1);
    assert_int_equal(e->a, o->names[XS_NAME_BUFFER].count);
    assert_int_equal(e->b, 256);
    assert_int_equal(xs_pad_adopt(f->world, "flags", &adopt, &again), 0);
    assert_int_equal(o->plan_count, had + 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(places_are_checked),    TEST(values_are_checked), TEST(one_writer_a_slot),
        TEST(shared_pads_have_many), TEST(nobody_arrives),     TEST(a_refused_call_adds_nothing),
        TEST(slots_in_buffers_are_told), TEST(checked_as_by_a_plain_loop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
