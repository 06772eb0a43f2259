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
        TEST(slots_in_buffers_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
