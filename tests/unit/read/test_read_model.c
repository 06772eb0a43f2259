/* The model's tables: writers, launches, names, plan, clocks, ranks; and the names of everything. */
#include "read_help.h"

#include <ctype.h>
#include <string.h>

static void names_of_all(void **state) {
    (void)state;
    assert_string_equal(xsr_event_name(XS_EV_WAIT_START), "wait_start");
    assert_string_equal(xsr_event_name(XS_EV_NONE), "none");
    assert_string_equal(xsr_event_name(9999), "unknown");
    assert_string_equal(xsr_reason_name(XSR_REASON_AMBIGUOUS), "ambiguous");
    assert_string_equal(xsr_result_name(XS_RESULT_PEER_DEAD), "PEER_DEAD");
    assert_string_equal(xsr_order_name(XS_ACQ_REL), "acq_rel");
    assert_string_equal(xsr_scope_name(XS_SCOPE_SYS), "sys");
    assert_string_equal(xsr_loss_name(XS_LOSS_NO_SPACE), "no_space");
    assert_string_equal(xsr_loss_name(0), "unknown");
    for (uint32_t i = 0; i < XS_EV_COUNT; i++)
        for (const char *at = xsr_event_name(i); *at; at++)
            assert_true(islower((unsigned char)*at) || *at == '_');
}

/* A warp is named only where the launch has several a block; a writer without a role is named by its block. */
static void writer_names(void **state) {
    (void)state;
    const char *path = help_path("names.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 2, 2);
    uint32_t push = cb_role(c, "push"), none = cb_role(c, ""), kernel = cb_kernel(c, "combine");
    cb_launch_begin(c, 1, kernel, 500, 4, 32, 0, 2);
    cb_launch_begin(c, 2, kernel, 600, 4, 256, 0, 2);
    cb_launch_end(c, 1, 700, 0);
    cb_launch_end(c, 2, 800, (uint64_t)(int64_t)XS_E_ABORTED);
    cb_writer_begin_at(c, 0, 1000, push, 2, 1, 0, 0, 5, 0);
    cb_writer_begin_at(c, 1, 1001, push, 2, 2, 0, 0, 5, 0);
    cb_writer_begin_at(c, 64, 1002, none, 3, 2, 1, 7, 5, 0);
    cb_writer_begin_at(c, 65, 1003, 0, 4, 1, 1, 0, 5, 0);
    cb_writer_begin_at(c, 66, 1004, push, 4, 99, 1, 3, 5, 0);
    assert_int_equal(cb_end(c), 0);
    xsr_reader *reader = help_open(path);
    told t;
    assert_int_equal(help_run(reader, &t), 0);
    const xsr_model *m = xsr_model_of(reader);
    static const char *const want[] = {"push block 2", "push block 2 warp 0", "block 3 warp 7", "block 4", "push block 4 warp 3"};
    assert_int_equal(m->writer_count, 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_string_equal(m->writers[i].name, want[i]);
    assert_int_equal(m->writers[0].sm, 5);
    assert_int_equal(m->writers[4].launch, XSR_NONE);
    assert_int_equal(m->launch_count, 2);
    assert_string_equal(m->names[m->launches[1].kernel].text, "combine");
    assert_int_equal(m->launches[1].result, XS_E_ABORTED);
    assert_int_equal(m->launches[0].end, 700);
    assert_int_equal(m->launches[1].ranks, 2);
    help_free(&t);
    xsr_close(reader);
}

static void plans(void **state) {
    (void)state;
    const char *path = help_path("plan.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 4, 4);
    uint32_t push = cb_role(c, "push"), done = cb_pad(c, "done", "src", "chunk", 4, 2, 0), free_pad = cb_pad(c, "free", "", "x", 1, 3, 0);
    cb_plan_writer(c, done, XS_PLAN_ROW);
    xs_plan_entry one = {.kind = XS_PLAN_WRITER, .pad_first = cb_pad_first(c, done), .owner = 0, .row = 1, .column = 1, .epoch = UINT64_MAX,
                         .a = 3, .b = push};
    cb_plan(c, &one, 1);
    cb_plan(c, &one, 1); /* said twice, kept once */
    cb_signal(c, 0, 1000, cb_slot(c, done, 0, 2, 0), 1);
    cb_signal(c, 0, 1001, cb_slot(c, done, 0, 1, 1), 1);
    cb_signal(c, 64, 1002, cb_slot(c, free_pad, 0, 0, 0), 1);
    cb_signal(c, 64, 1003, cb_slot(c, free_pad, 0, 0, 1), 1);
    cb_signal(c, 128, 1004, cb_slot(c, free_pad, 0, 0, 1), 2);
    cb_wait_start(c, 0, 1005, cb_slot(c, free_pad, 0, 0, 0), 2, 1);
    assert_int_equal(cb_end(c), 0);
    xsr_reader *reader = help_open(path);
    told t;
    for (int pass = 0; pass < 2; pass++) { /* the second pass starts from the same tables */
        assert_int_equal(help_run(reader, &t), 0);
        const xsr_model *m = xsr_model_of(reader);
        assert_int_equal(m->slot_count, 4);
        assert_int_equal(m->slots[0].supplier_rank, 2);
        assert_int_equal(m->slots[0].supplier_origin, XS_PLAN_DECLARED);
        assert_int_equal(m->slots[1].supplier_rank, 3);
        assert_string_equal(m->names[m->slots[1].supplier_role].text, "push");
        assert_int_equal(m->slots[2].supplier_rank, 1);
        assert_int_equal(m->slots[2].supplier_origin, XS_PLAN_INFERRED);
        assert_int_equal(m->slots[3].supplier_rank, XSR_NONE); /* two ranks wrote it */
        assert_int_equal(m->plan_count, 3);
        assert_int_equal(m->plan[2].entry.origin, XS_PLAN_INFERRED);
        assert_int_equal(m->plan[2].entry.a, 1);
        assert_int_equal(t.waits[0].supplier_rank, 1);
        assert_string_equal(m->slots[0].name, "done[src=2,chunk=0]");
        assert_string_equal(m->slots[2].label, "rank 0 free[x=0]");
        help_free(&t);
    }
    xsr_close(reader);
}

/* What kernels report of the plan: each promise once, between what was declared and what is inferred. */
static void reported_plans(void **state) {
    (void)state;
    const char *path = help_path("reported.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 2, 2);
    uint32_t gate = cb_pad(c, "gate", "", "expert", 1, 4, 0);
    cb_plan_writer(c, gate, 1);
    cb_epoch(c, 0, 900, 0x100000002);
    for (uint32_t writer = 0; writer < 2; writer++) /* two writers say the same */
        for (uint32_t epoch = 1; epoch <= 3; epoch++)
            cb_expect(c, 64 * writer, 1000 + epoch, cb_slot(c, gate, writer / 2, 0, 2), epoch == 3 ? 0 : 5, epoch);
    assert_int_equal(cb_end(c), 0);
    xsr_reader *reader = help_open(path);
    told t;
    for (int pass = 0; pass < 2; pass++) {
        assert_int_equal(help_run(reader, &t), 0);
        const xsr_model *m = xsr_model_of(reader);
        assert_int_equal(m->plan_count, 5); /* epoch 2 of rank 0 is the one of 33 bits that it is in */
        static const uint64_t epochs[] = {1, 0x100000002, 2, 3}, expected[] = {5, 5, 5, 0};
        for (uint32_t i = 0; i < 4; i++) {
            const xs_plan_entry *e = &m->plan[i + 1].entry;
            assert_int_equal(e->kind, XS_PLAN_ARRIVALS);
            assert_int_equal(e->origin, XS_PLAN_REPORTED);
            assert_string_equal(m->pads[m->plan[i + 1].pad].name, "gate");
            assert_int_equal(e->column, 2);
            assert_int_equal(e->epoch, epochs[i]);
            assert_int_equal(e->a, expected[i]);
        }
        help_free(&t);
    }
    xsr_close(reader);
}

static void clocks(void **state) {
    (void)state;
    const char *path = help_path("clock.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 2, 4);
    cb_clock(c, 1000, 5000, 60);
    cb_clock(c, 2000, 6000, 40);
    cb_process(c, 2, 2, 4);
    cb_clock(c, 1000, 5000, 90);
    assert_int_equal(cb_end(c), 0);
    xsr_reader *reader = help_open(path);
    const xsr_model *m = xsr_model_of(reader);
    assert_int_equal(m->clock_count, 1); /* one host */
    assert_int_equal(m->clocks[0].step_ns, 40);
    assert_int_equal(m->clocks[0].bound_ns, 40);
    assert_int_equal(m->clocks[0].residual_ns, 0);
    assert_int_equal(m->rank_count, 4);
    xsr_close(reader);
}

static void processes(void **state) {
    (void)state;
    const char *path = help_path("process.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 1, 1);
    cb_counters(c, 1, 2, 3, 4);
    cb_counters(c, 5, 2, 3, 4);
    cb_note(c, "a word");
    cb_process_end(c, 0, 137, 6, 1);
    assert_int_equal(cb_end(c), 0);
    xsr_reader *reader = help_open(path);
    const xsr_process *p = &xsr_model_of(reader)->processes[0];
    assert_string_equal(p->host_name, "testhost");
    assert_string_equal(p->command, "./test --ranks 2");
    assert_string_equal(p->executable, "/usr/bin/test");
    assert_true(p->ended && !p->clean && p->tail_unknown);
    assert_int_equal(p->exit_status, 137);
    assert_int_equal(p->abort_reason, 6);
    assert_int_equal(p->no_ring, 5);
    assert_int_equal(p->journal_lost, 4);
    assert_int_equal(p->start_realtime, 1);
    assert_string_equal(xsr_model_of(reader)->notes[0], "a word");
    xsr_close(reader);
}

static void epochs_of_ranks(void **state) {
    (void)state;
    const char *path = help_path("epochs.xs");
    cb *c = cb_begin(path);
    cb_process(c, 0, 2, 2);
    for (uint64_t e = 3; e < 9; e++)
        cb_epoch(c, 0, 1000 * e, e);
    assert_int_equal(cb_end(c), 0);
    xsr_reader *reader = help_open(path);
    told t;
    assert_int_equal(help_run(reader, &t), 0);
    const xsr_model *m = xsr_model_of(reader);
    assert_int_equal(m->ranks[0].first_epoch, 3);
    assert_int_equal(m->ranks[0].last_epoch, 8);
    assert_int_equal(m->ranks[1].last_epoch, 0);
    assert_int_equal(m->begin, 3000);
    assert_int_equal(m->end, 8000);
    help_free(&t);
    xsr_close(reader);
}

/* Of entries that leave something open the first one counts, whatever it leaves open; behind it the one that names the slot. */
static void the_first_open_entry_counts(void **state) {
    (void)state;
    enum { A = XS_PLAN_ANY };
    static const uint32_t open[][3] = {{A, A, A}, {A, A, 1}, {A, 2, A}, {0, A, A}, {A, 2, 1}, {0, A, 1}, {0, 2, A}};
    for (uint32_t shift = 0; shift < 7; shift++) {
        const char *path = help_path("open.xs");
        cb *c = cb_begin(path);
        cb_process(c, 0, 9, 9);
        uint32_t pad = cb_pad(c, "done", "", "", 4, 4, 0), other = cb_pad(c, "other", "", "", 4, 4, 0);
        for (uint32_t i = 0; i < 7; i++) {
            const uint32_t *o = open[(i + shift) % 7];
            xs_plan_entry e = {.kind = XS_PLAN_WRITER, .pad_first = cb_pad_first(c, pad), .owner = o[0], .row = o[1], .column = o[2], .epoch = UINT64_MAX, .a = (i + shift) % 7};
            cb_plan(c, &e, 1);
        }
        xs_plan_entry exact = {.kind = XS_PLAN_WRITER, .pad_first = cb_pad_first(c, pad), .owner = 0, .row = 2, .column = 2, .epoch = UINT64_MAX, .a = 8};
        cb_plan(c, &exact, 1);
        cb_writer_begin(c, 0, 500, 0, 0, 0);
        cb_signal(c, 0, 1000, cb_slot(c, pad, 0, 2, 1), 1);
        cb_signal(c, 0, 1001, cb_slot(c, pad, 0, 2, 2), 1);
        cb_signal(c, 0, 1002, cb_slot(c, pad, 1, 3, 3), 1);
        cb_signal(c, 0, 1003, cb_slot(c, other, 0, 2, 1), 1);
        assert_int_equal(cb_end(c), 0);
        xsr_reader *reader = help_open(path);
        told t;
        assert_int_equal(help_run(reader, &t), 0);
        const xsr_model *m = xsr_model_of(reader);
        assert_int_equal(m->slots[0].supplier_rank, shift);
        assert_int_equal(m->slots[1].supplier_rank, 8);
        assert_int_equal(m->slots[2].supplier_rank, 0); /* the one for all */
        assert_int_equal(m->slots[3].supplier_origin, XS_PLAN_INFERRED);
        help_free(&t);
        xsr_close(reader);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_all), cmocka_unit_test(writer_names), cmocka_unit_test(plans), cmocka_unit_test(reported_plans),
        cmocka_unit_test(clocks), cmocka_unit_test(the_first_open_entry_counts),
        cmocka_unit_test(processes), cmocka_unit_test(epochs_of_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
