/* Where in the source: findings about signals, which are records without a place. */
#include "judge.h"

enum { FILE_ID = 77, LINE = 34, FENCE_LINE = 55 };

/* Rank 0 signals 1, 2 and then 1 again to rank 1, which waits for it at a place, or passes; rank 0 has fenced at one, or not. */
static judged falls_back(bool waits, bool named, bool fences) {
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 1, 0, 0);
    cb_name(c, XS_NAME_FILE, FILE_ID, "push.kernel.h");
    if (fences)
        cb_fence(c, RING(0, 0), 1500, FENCE_LINE);
    for (uint32_t i = 1; i <= 3; i++) {
        uint64_t t = 1000 + 1000 * i;
        if (waits)
            cb_full_event(c, RING(1, 0), t - 100, &(cb_full){.kind = XS_EV_WAIT_START, .object = slot, .value = i - 1, .order = XS_ACQUIRE, .scope = XS_SCOPE_SYS,
                                                             .detail = i < 3 ? i : 1, .further = 1, .a = {named ? FILE_ID : 0}});
        cb_signal(c, RING(0, 0), t, slot, i < 3 ? i : 1);
        if (waits)
            cb_wait_end_at(c, RING(1, 0), t + 100, slot, i < 3 ? i : 2, XS_RESULT_OK, 3, 0, 1, LINE, 0);
    }
    case_end_writers(c, 2, 1, 9000);
    return judge(c);
}

static void expect_place(judged j, const char *file, uint32_t line, const char *words) {
    const xsa_finding *f = finding_of(&j, XSA_REGRESSION);
    assert_non_null(f);
    assert_int_equal(f->line, line);
    if (file)
        assert_string_equal(f->file, file);
    else
        assert_null(f->file);
    if (!*words)
        assert_null(strchr(f->text, ';'));
    else if (!strstr(f->text, words))
        fail_msg("%s", f->text);
    judged_free(&j);
}

static void test_a_signal_is_where_its_slot_is_waited_for(void **state) {
    (void)state;
    expect_place(falls_back(true, true, true), "push.kernel.h", LINE, "; full is waited for at push.kernel.h:34");
    expect_place(falls_back(true, false, true), NULL, LINE, "; full is waited for at line 34");
}

static void test_else_where_the_culprit_was_last(void **state) {
    (void)state;
    expect_place(falls_back(false, false, true), NULL, FENCE_LINE, "; the last fence of rank 0 work block 0 that has a place is at line 55");
}

/* What a block saw falls: the place is that of its wait. */
static void test_a_place_is_in_the_sentence_too(void **state) {
    (void)state;
    cb *c = case_begin(2, 1, 1);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 1, 0, 0);
    cb_signal(c, RING(0, 0), 1500, slot, 5);
    cb_wait_start(c, RING(1, 0), 1600, slot, 1, 0);
    cb_wait_end_at(c, RING(1, 0), 1700, slot, 5, XS_RESULT_OK, 3, 0, 1, LINE, 0);
    cb_wait_start(c, RING(1, 0), 1800, slot, 1, 0);
    cb_wait_end_at(c, RING(1, 0), 1900, slot, 3, XS_RESULT_OK, 3, 0, 1, LINE + 1, 0);
    case_end_writers(c, 2, 1, 9000);
    expect_place(judge(c), NULL, LINE + 1, ", line 35");
}

static void test_no_place_is_made_up(void **state) {
    (void)state;
    expect_place(falls_back(false, false, false), NULL, 0, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_signal_is_where_its_slot_is_waited_for), cmocka_unit_test(test_else_where_the_culprit_was_last),
                                       cmocka_unit_test(test_a_place_is_in_the_sentence_too),
                                       cmocka_unit_test(test_no_place_is_made_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
