/* Names of source files: known from load on, in the catalog from the next launch on, by the number that records hold. */
#include "lib_test.h"

#include <xs/capture.h>
#include <xs/file_id.h>
#include <xs/host_thread.h>

#include "objects.h"

static uint32_t id_of(const char *name) { return xs_file_id(name, (uint32_t)strlen(name)); }

/* The latest text of the number in the world's catalog, and how often it is there; NULL. */
static const char *text_of(xs_world *world, uint32_t id, int *times) {
    const xs_region_header *h = xs_region(world);
    const char *text = NULL, *at = (const char *)h + h->catalog_offset, *end = at + h->catalog_used;
    for (*times = 0; at < end;) {
        const xs_frame *frame = (const void *)at;
        const xs_frame_name *name = (const void *)(frame + 1);
        if (frame->type == XS_FRAME_NAME && name->kind == XS_NAME_FILE && name->id == id)
            text = (const char *)(name + 1), ++*times;
        at += sizeof *frame + ((frame->payload_bytes + 15) & ~15ull);
    }
    return text;
}

static void launch(xs_world *world) {
    xs_handle handle;
    assert_true(xs_handle_begin(world, "own", 0, 1, 32, &handle) > 0);
    assert_int_equal(xs_handle_end(world, &handle), 0);
}

static void a_name_is_told_once(void **state) {
    (void)state;
    static const char names[] = "/some/where/one.kernel.h\0\0\0two.h\0/else/where/one.kernel.h";
    int times;
    xs_files_known(names, names + sizeof names);
    xs_files_known(names, names + sizeof names);
    xs_world *world = test_world(1);
    launch(world);
    launch(world);
    assert_string_equal(text_of(world, id_of("one.kernel.h"), &times), "one.kernel.h");
    assert_int_equal(times, 1);
    assert_string_equal(text_of(world, id_of("/any/two.h"), &times), "two.h");
    static const char later[] = "three.h"; /* of a library that was loaded since */
    xs_files_known(later, later + sizeof later);
    assert_null(text_of(world, id_of("three.h"), &times));
    launch(world);
    assert_string_equal(text_of(world, id_of("three.h"), &times), "three.h");
    xs_world_destroy(world);
}

/* Nothing but names with their zero inside the range. */
static void a_name_that_is_cut_off_is_none(void **state) {
    (void)state;
    static const char names[] = "cut.h";
    int times;
    xs_files_known(names, names + sizeof names - 1);
    xs_files_known(NULL, NULL);
    xs_world *world = test_world(1);
    launch(world);
    assert_null(text_of(world, id_of("cut.h"), &times));
    xs_world_destroy(world);
}

static int by_id(const void *a, const void *b) { return memcmp(a, b, sizeof(uint32_t)); }

/* Two names of one number: records cannot tell them apart, so neither does anybody else. */
static void files_of_one_number_are_both_named(void **state) {
    (void)state;
    enum { NAMES = 40000 };
    static uint32_t ids[NAMES][2];
    static char names[2][32];
    char text[80];
    int times, found = 0;
    for (uint32_t i = 0; i < NAMES; i++) {
        snprintf(text, sizeof text, "file%u.h", i);
        ids[i][0] = id_of(text), ids[i][1] = i;
    }
    qsort(ids, NAMES, sizeof *ids, by_id);
    for (uint32_t i = 0; i + 1 < NAMES && !found; i++)
        if (ids[i][0] == ids[i + 1][0]) {
            for (uint32_t k = 0; k < 2; k++)
                snprintf(names[k], sizeof names[k], "file%u.h", ids[i + k][1]);
            found = 1;
        }
    assert_true(found);
    for (uint32_t k = 0; k < 2; k++)
        xs_files_known(names[k], names[k] + sizeof names[k]);
    xs_world *world = test_world(1);
    launch(world);
    snprintf(text, sizeof text, "%s or %s", names[0], names[1]);
    assert_string_equal(text_of(world, id_of(names[0]), &times), text);
    xs_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_name_is_told_once), cmocka_unit_test(a_name_that_is_cut_off_is_none),
                                       cmocka_unit_test(files_of_one_number_are_both_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
