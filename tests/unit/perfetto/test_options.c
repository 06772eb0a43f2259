/* What is drawn on request: states of slots, roles on shared rows, kernels as GPU events; and what the capture itself decides. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <fnmatch.h>
#include <stdio.h>

#include "export_help.h"

static const run_shape shape = {.ranks = 4, .epochs = 5, .chunks = 4, .slow = 2, .epoch_gap = 1000};
static const run_shape hang = {.ranks = 4, .epochs = 5, .chunks = 4, .slow = 2, .epoch_gap = 1000, .lost_arrival = 1};

static bool is(const char *a, const char *b) { return a && strcmp(a, b) == 0; }

static void check_sound(const td *t) {
    assert_non_null(t);
    assert_int_equal(t->unknown_iid + t->flow_end_without_start + t->flow_duplicate + t->unmatched_end + t->missing_track, 0);
    assert_int_equal(t->bad_sequence + t->bad_clock, 0);
    assert_true(t->complete);
}

static uint32_t state_tracks(const td *t) {
    uint32_t n = 0;
    for (int i = 0; i < t->track_count; i++)
        n += t->tracks[i].states;
    return n;
}

/* Each of the chosen slots is signalled once an epoch, and seen; what was waited for before is said too. */
static void test_slots(void **state) {
    (void)state;
    exported e;
    xsv_perfetto_options o = {.size = sizeof o, .slots = "rank 0 done[src=2*"};
    assert_int_equal(export_run(&e, &shape, &o), 0);
    check_sound(e.trace);
    assert_int_equal(state_tracks(e.trace), shape.chunks);
    assert_int_equal(e.summary.slots_drawn, shape.chunks);
    assert_int_equal(e.summary.slots_left_out, 0);
    uint32_t signalled = 0, seen = 0, waited = 0;
    for (int i = 0; i < e.trace->slice_count; i++) {
        const td_slice *s = &e.trace->slices[i];
        if (!s->state)
            continue;
        const char *path = td_path(e.trace, td_track_of(e.trace, s->track));
        assert_int_equal(fnmatch("rank 0 · CPU > slots done > done\\[src=2,chunk=?\\]", path, 0), 0);
        signalled += is(s->name, "signalled, not seen");
        seen += is(s->name, "seen");
        if (is(s->name, "waited for")) {
            waited++;
            assert_int_equal(td_number(e.trace, s, "need"), td_number(e.trace, s, "epoch"));
        }
    }
    assert_int_equal(signalled, shape.chunks * shape.epochs);
    assert_int_equal(seen, shape.chunks * shape.epochs);
    assert_true(waited > 0 && waited <= seen);
    export_free(&e);
}

static void test_slots_of_counters(void **state) {
    (void)state;
    exported e;
    xsv_perfetto_options o = {.size = sizeof o, .slots = "cnt[dst=0,chunk=?]"};
    assert_int_equal(export_run(&e, &hang, &o), 0);
    check_sound(e.trace);
    assert_int_equal(state_tracks(e.trace), (shape.ranks - 1) * shape.chunks); /* nobody pushes to itself */
    const td_track *owner = td_track_named(e.trace, "rank 1 · CPU", NULL);
    const td_track *group = td_track_named(e.trace, "slots cnt", owner), *row = td_track_named(e.trace, "cnt[dst=0,chunk=3]", group);
    assert_non_null(row);
    const td_slice *last = NULL;
    for (int i = 0; i < e.trace->slice_count; i++)
        if (e.trace->slices[i].track == row->uuid)
            last = &e.trace->slices[i];
    assert_non_null(last);
    assert_string_equal(last->name, "filling"); /* its last arrival is missing: it never gets full */
    export_free(&e);
}

/* At most 64 rows, and the rest is counted; a pattern that fits nothing draws nothing. */
static void test_slots_many(void **state) {
    (void)state;
    exported e;
    xsv_perfetto_options all = {.size = sizeof all, .slots = "*"}, none = {.size = sizeof none, .slots = "nothing*"};
    assert_int_equal(export_run(&e, &shape, &all), 0);
    check_sound(e.trace);
    assert_int_equal(state_tracks(e.trace), XSV_PERFETTO_SLOTS_MAX);
    assert_int_equal(e.summary.slots_drawn, XSV_PERFETTO_SLOTS_MAX);
    assert_true(e.summary.slots_left_out > 0);
    bool said = false;
    for (int i = 0; i < e.trace->slice_count; i++)
        said |= td_number(e.trace, &e.trace->slices[i], "slots_left_out") == e.summary.slots_left_out;
    assert_true(said);
    export_free(&e);
    assert_int_equal(export_run(&e, &shape, &none), 0);
    assert_int_equal(state_tracks(e.trace) + e.summary.slots_drawn + e.summary.slots_left_out, 0);
    export_free(&e);
}

/* A state goes on in the next window. */
static void test_slots_in_windows(void **state) {
    (void)state;
    exported e;
    char path[256];
    xsv_perfetto_options o = {.size = sizeof o, .slots = "rank 0 done[src=2,chunk=0]", .split_limit = 1, .window_events = 500};
    assert_int_equal(export_run(&e, &shape, &o), 0);
    assert_true(e.summary.files > 2);
    for (uint32_t i = 1; i < e.summary.files; i++) {
        snprintf(path, sizeof path, "%s/run.%04u.perfetto", e.folder, i);
        td *t = td_read(path);
        check_sound(t);
        const char *first = NULL;
        for (int s = 0; s < t->slice_count && !first; s++)
            if (t->slices[s].state)
                first = t->slices[s].name;
        assert_non_null(first);
        assert_true(i == 1 || is(first, "seen")); /* what it was when the epoch ended */
        td_free(t);
    }
    export_free(&e);
}

/* The rows of a role are one; every event that lost its row's name says who wrote it. */
static void test_merge_roles(void **state) {
    (void)state;
    exported e, apart;
    xsv_perfetto_options o = {.size = sizeof o, .merge_roles = 1};
    assert_int_equal(export_run(&apart, &hang, NULL), 0);
    xsv_perfetto_summary usual = apart.summary;
    export_free(&apart);
    assert_int_equal(export_run(&e, &hang, &o), 0);
    check_sound(e.trace);
    assert_int_equal(e.summary.waits, usual.waits);
    assert_int_equal(e.summary.signals, usual.signals);
    assert_int_equal(e.summary.open_waits, usual.open_waits);
    uint32_t events = 0, rows = 0;
    for (int i = 0; i < e.trace->track_count; i++) {
        const td_track *k = &e.trace->tracks[i];
        if (!is(k->name, "all writers"))
            continue;
        rows++;
        assert_int_equal(k->merge, 3);
        assert_string_equal(k->merge_key, "all writers");
        assert_int_equal(fnmatch("rank ? · CPU > role *", td_path(e.trace, td_track_of(e.trace, k->parent)), 0), 0);
    }
    for (int i = 0; i < e.trace->slice_count; i++) {
        const td_slice *s = &e.trace->slices[i];
        if (!is(td_track_of(e.trace, s->track)->name, "all writers"))
            continue;
        events++;
        assert_int_equal(fnmatch("* block *", td_text(e.trace, s, "writer"), 0), 0);
    }
    assert_true(rows > 12 && events > usual.waits); /* 4 ranks of 3 roles, 2 blocks each */
    export_free(&e);
}

/* A launch that is replayed lasts as long as the run; its kernels say what is short. */
static void test_waits_of_replayed_kernels_are_not_folded(void **state) {
    (void)state;
    static const char script[] = "process 0 2 2\n"
                                 "kernel pipe\n"
                                 "pad done src chunk 2 4 0\n"
                                 "ring_device 0 0\n"
                                 "device_clock 0 1s 1s 2us\n"
                                 "device_clock 0 3s 3s 2us\n"
                                 "tick 1s 1000000060 1s\n"
                                 "launch_begin 1 $pipe 1050ms 1 32 0 1\n"
                                 "gpu_kernel pipe 0 7 1100000000 1100200000 10 501 1 32\n"
                                 "gpu_kernel pipe 0 7 1900000000 1900200000 11 501 1 32\n"
                                 "writer_begin 0 1100000400 0 0 1\n"
                                 "wait_start 0 1100001000 done:0:1:0 1 0\n"
                                 "wait_end 0 1100101000 done:0:1:0 1 0 40\n"
                                 "writer_end 0 1100199600\n"
                                 "flush_at 2s\n"
                                 "launch_end 1 2s 0\n";
    exported e;
    xsv_perfetto_options o = {.size = sizeof o, .events = 10, .fold_limit = 1};
    assert_int_equal(export_script(&e, script, &o), 0);
    assert_int_equal(e.summary.waits_folded, 0);
    assert_int_equal(e.summary.waits, 1);
    export_free(&e);
}

static void test_gpu_events(void **state) {
    (void)state;
    exported e;
    xsv_perfetto_options o = {.size = sizeof o, .gpu_events = 1};
    assert_int_equal(export_run(&e, &shape, &o), 0);
    check_sound(e.trace);
    uint32_t kernels = 0, specifications = 0, gpus = 0, seen = 0;
    for (size_t i = 0; i < e.trace->trace->n_packet; i++) {
        const TracePacket *p = e.trace->trace->packet[i];
        if (p->trusted_packet_sequence_id == 2 && p->interned_data)
            specifications += p->interned_data->n_gpu_specifications;
        gpus += p->gpu_info ? p->gpu_info->n_gpus : 0;
        const GpuRenderStageEvent *k = p->gpu_render_stage_event;
        if (!k)
            continue;
        kernels++;
        assert_int_equal(p->timestamp, 1000000000);
        assert_int_equal(p->timestamp_clock_id, 6);
        assert_int_equal(k->duration, e.counts.end + 100 - e.counts.begin);
        assert_string_equal(k->name, "combine_kernel");
        assert_int_equal(k->launch->workgroup_size->x, 32);
        assert_int_equal(k->launch->grid_size->x, 6);
        assert_int_equal(k->context, k->gpu_id + 1);
        seen |= 1u << k->gpu_id;
    }
    assert_int_equal(kernels, shape.ranks);
    assert_int_equal(gpus, shape.ranks);
    assert_int_equal(specifications, 2);
    assert_int_equal(seen, 15);
    for (int i = 0; i < e.trace->slice_count; i++) /* the rows are there as before */
        kernels -= is(e.trace->slices[i].category, "kernel");
    assert_int_equal(kernels, 0);
    export_free(&e);
    assert_int_equal(export_run(&e, &hang, &o), 0);
    for (size_t i = 0; i < e.trace->trace->n_packet; i++) {
        const GpuRenderStageEvent *k = e.trace->trace->packet[i]->gpu_render_stage_event;
        assert_true(!k || (strcmp(k->launch->args[1]->name, "ended") == 0 && k->launch->args[1]->int_value == 0 && k->duration > 1));
    }
    export_free(&e);
}

/* Without a count, the records of the capture decide. */
static void test_records_decide(void **state) {
    (void)state;
    exported e;
    xsv_perfetto_options small = {.size = sizeof small, .split_limit = 1000, .window_events = 500};
    xsv_perfetto_options large = {.size = sizeof large, .split_limit = 1000000, .pass_limit = 1000};
    assert_int_equal(export_run(&e, &shape, &small), 0);
    assert_true(e.summary.files > 2);
    export_free(&e);
    assert_int_equal(export_run(&e, &shape, &large), 0);
    assert_int_equal(e.summary.files, 1);
    assert_true(e.summary.passes == 0 && e.summary.passes_left_out > 0);
    export_free(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slots), cmocka_unit_test(test_slots_of_counters), cmocka_unit_test(test_slots_many),
        cmocka_unit_test(test_slots_in_windows), cmocka_unit_test(test_merge_roles), cmocka_unit_test(test_waits_of_replayed_kernels_are_not_folded), cmocka_unit_test(test_gpu_events),
        cmocka_unit_test(test_records_decide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
