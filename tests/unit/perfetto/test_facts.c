/* What must hold in every trace (the layout's facts), judged by the test's own decoder against counts of the run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>

#include "export_help.h"

static const run_shape clean = {.ranks = 4, .epochs = 5, .chunks = 4, .slow = 2, .epoch_gap = 1000, .scopes = 1};
static const run_shape hang = {.ranks = 4, .epochs = 5, .chunks = 4, .slow = 2, .epoch_gap = 1000, .lost_arrival = 1};
static const run_shape away = {.ranks = 4, .epochs = 3, .chunks = 4, .slow = 9, .epoch_gap = 1000, .away = 2};
static const run_shape skewed = {.ranks = 3, .epochs = 4, .chunks = 4, .slow = 1, .epoch_gap = 1000, .skew = 400};
static const run_shape lossy = {.ranks = 4, .epochs = 4, .chunks = 4, .slow = 2, .epoch_gap = 1000, .lose_records = 9};
static const run_shape many = {.ranks = 12, .epochs = 2, .chunks = 3, .slow = 2, .epoch_gap = 1000};

static bool is(const char *a, const char *b) { return a && strcmp(a, b) == 0; }
static bool in(const td_slice *s, const char *category) { return is(s->category, category); }

/* ---- facts of any trace ---- */

static void check_encoding(const td *t) {
    assert_int_equal(t->unknown_iid, 0);
    assert_int_equal(t->flow_end_without_start, 0);
    assert_int_equal(t->flow_duplicate, 0);
    assert_int_equal(t->unmatched_end, 0);
    assert_int_equal(t->missing_track, 0);
    assert_int_equal(t->bad_sequence, 0);
    assert_int_equal(t->bad_clock, 0);
    assert_true(t->complete);
}

static void check_tracks(const td *t) {
    for (int i = 0; i < t->track_count; i++) {
        const td_track *k = &t->tracks[i];
        if (k->uuid == 0)
            continue;
        assert_non_null(k->name);
        assert_int_equal(k->merge, strcmp(k->name, "findings") ? 2 : 1); /* equal names are merged there alone */
        assert_true(!k->parent || td_track_of(t, k->parent));
        if (!k->parent || k->ordering)
            assert_non_null(k->description);
        bool child = false;
        for (int c = 0; c < t->track_count; c++)
            child |= t->tracks[c].parent == k->uuid && (t->tracks[c].has_slices || t->tracks[c].has_counters);
        assert_true(k->has_slices || k->has_counters || child); /* nothing empty is declared */
        if (!k->parent && !k->pid) { /* root rows have events and a child with events, or the viewer puts them away */
            assert_true(k->has_slices);
            assert_true(child);
        }
        if (k->pid)
            assert_true(k->pid >= 5000000);
        if (fnmatch("role *", k->name, 0) == 0)
            assert_false(k->has_slices); /* so that a closed group shows its writers */
    }
}

static void check_flat(const td *t) {
    for (int i = 0; i < t->slice_count; i++) {
        const td_slice *s = &t->slices[i];
        assert_non_null(s->name);
        assert_non_null(s->category);
        if (in(s, "wait"))
            assert_int_equal(s->depth, 0);
        if (s->parent >= 0)
            assert_false(in(&t->slices[s->parent], "wait"));
        if (s->dur == 0 && !is(td_track_of(t, s->track)->name, "arrive, pass"))
            assert_true(in(s, "signal") || in(s, "mark"));
    }
}

static void check_colour(const td *t) {
    for (int i = 0; i < t->slice_count; i++) {
        const td_slice *s = &t->slices[i];
        if (in(s, "wait") || in(s, "pass") || in(s, "signal") || in(s, "blame")) {
            assert_non_null(s->correlation);
            assert_int_equal(fnmatch("rank=[0-9]* (writer)", s->correlation, 0), 0);
        }
    }
}

/* What a wait is coloured by is the rank in its `supplier`. */
static void check_supplier_colour(const td *t) {
    for (int i = 0; i < t->slice_count; i++) {
        const td_slice *s = &t->slices[i];
        unsigned colour, supplier;
        if (!in(s, "wait"))
            continue;
        assert_int_equal(sscanf(s->correlation, "rank=%u", &colour), 1);
        assert_int_equal(sscanf(td_text(t, s, "supplier"), "rank %u", &supplier), 1);
        assert_int_equal(colour, supplier);
    }
}

static bool local(const td *t, const td_slice *s) { return fnmatch("* gemm", td_text(t, s, "supplier"), 0) == 0; }

/* Ended remote waits have one edge, to a signal of the same slot that carries enough; the wait is where it points from. */
static void check_flows(const td *t, uint64_t expected) {
    uint64_t edges = 0;
    for (int i = 0; i < t->flow_count; i++) {
        const td_slice *a = &t->slices[t->flows[i].from], *b = &t->slices[t->flows[i].to];
        const td_slice *wait = in(a, "signal") ? b : a, *signal = wait == a ? b : a;
        if (!in(signal, "signal"))
            continue; /* an edge between open waits */
        assert_true(in(wait, "wait") || in(wait, "pass"));
        assert_string_equal(td_text(t, wait, "slot"), td_text(t, signal, "slot"));
        assert_true(td_number(t, signal, "value") >= td_number(t, wait, "need"));
        assert_true(signal->ts <= wait->ts + wait->dur);
        edges += in(wait, "wait");
    }
    assert_int_equal(edges, expected);
    for (int i = 0; i < t->slice_count; i++) {
        const td_slice *s = &t->slices[i];
        if (in(s, "wait") && s->dur >= 0 && !local(t, s))
            assert_int_equal(s->edges, 1);
        if (in(s, "wait") && s->dur >= 0 && is(td_text(t, s, "result"), "OK"))
            assert_true(td_number(t, s, "observed") >= td_number(t, s, "need"));
    }
}

static uint64_t count(const td *t, const char *category) {
    uint64_t n = 0;
    for (int i = 0; i < t->slice_count; i++)
        n += in(&t->slices[i], category);
    return n;
}

static void check_open(const td *t, const run_counts *c, uint32_t ranks) {
    for (uint32_t r = 0; r < ranks; r++) {
        char name[64];
        uint64_t open = 0;
        int64_t last = -1;
        snprintf(name, sizeof name, ranks > 9 ? "rank %02u waits for" : "rank %u waits for", r);
        const td_track *row = td_track_named(t, name, NULL);
        assert_non_null(row);
        const td_track *counter = td_track_named(t, "open waits", row);
        assert_non_null(counter);
        for (int i = 0; i < t->counter_count; i++)
            if (t->counters[i].track == counter->uuid)
                last = t->counters[i].value;
        snprintf(name, sizeof name, "rank %u · *", r);
        for (int i = 0; i < t->slice_count; i++)
            if (in(&t->slices[i], "wait") && t->slices[i].dur == -1)
                open += fnmatch(name, td_path(t, td_track_of(t, t->slices[i].track)), 0) == 0;
        assert_int_equal(open, c->open[r]);
        assert_int_equal(last, c->open[r]);
    }
}

static void check_names(const td *t, uint64_t most) {
    uint64_t distinct = 0;
    for (int i = 0; i < t->slice_count; i++) {
        bool first = in(&t->slices[i], "wait") && t->slices[i].dur >= 0;
        for (int k = 0; first && k < i; k++)
            first = !(in(&t->slices[k], "wait") && is(t->slices[k].name, t->slices[i].name));
        distinct += first;
    }
    assert_true(distinct > 0 && distinct <= most);
}

static void check_watermarks(const td *t, uint32_t chunks) {
    for (int i = 0; i < t->track_count; i++) {
        const td_track *parent = &t->tracks[i];
        if (!is(parent->name, "watermarks (slowest source)"))
            continue;
        int64_t value[64];
        int64_t least = -1;
        for (int k = 0; k < 64; k++)
            value[k] = -1;
        for (int c = 0; c < t->counter_count; c++) {
            const td_counter *at = &t->counters[c];
            const td_track *track = td_track_of(t, at->track);
            if (track == parent)
                least = at->value;
            if (track->parent == parent->uuid) {
                assert_in_range(at->value, 0, chunks);
                assert_true(at->value == value[track->order] + 1 || value[track->order] < 0 || at->value <= 1); /* falls at an epoch */
                value[track->order] = at->value;
            }
            bool settled = c + 1 == t->counter_count || t->counters[c + 1].ts != at->ts;
            int64_t min = INT64_MAX;
            for (int k = 0; k < 64; k++)
                min = value[k] >= 0 && value[k] < min ? value[k] : min;
            if (settled && least >= 0)
                assert_int_equal(least, min);
        }
        assert_true(least >= 0);
    }
}

static void check_all(const exported *e, const run_shape *shape) {
    const td *t = e->trace;
    assert_non_null(t);
    check_encoding(t);
    check_tracks(t);
    check_flat(t);
    check_colour(t);
    check_supplier_colour(t);
    check_open(t, &e->counts, shape->ranks);
    check_names(t, e->counts.slots_waited_for);
    check_watermarks(t, shape->chunks);
}

/* ---- runs ---- */

static void test_clean(void **state) {
    (void)state;
    exported e;
    assert_int_equal(export_run(&e, &clean, NULL), 0);
    check_all(&e, &clean);
    check_flows(e.trace, e.counts.waits - e.counts.gate_waits);
    assert_int_equal(count(e.trace, "wait"), e.counts.waits);
    assert_int_equal(count(e.trace, "pass"), e.counts.passes);
    assert_int_equal(count(e.trace, "signal"), e.counts.signals);
    assert_int_equal(count(e.trace, "elect") + count(e.trace, "gate") + e.counts.elected, e.counts.arrivals);
    assert_int_equal(count(e.trace, "epoch"), clean.epochs);
    assert_int_equal(count(e.trace, "kernel"), clean.ranks);
    assert_int_equal(count(e.trace, "mark"), clean.ranks * clean.epochs);
    assert_int_equal(count(e.trace, "gemm") + count(e.trace, "push") + count(e.trace, "consume"), e.counts.work);
    assert_int_equal(e.summary.waits, e.counts.waits);
    assert_int_equal(e.trace->stats_lost + e.trace->dropped_marks, 0);
    for (int i = 0; i < e.trace->slice_count; i++)
        assert_true(e.trace->slices[i].dur >= 0); /* nothing is open */
    export_free(&e);
}

static void test_elected(void **state) {
    (void)state;
    exported e;
    uint64_t elected = 0;
    assert_int_equal(export_run(&e, &clean, NULL), 0);
    for (int i = 0; i < e.trace->slice_count; i++) {
        const td_slice *s = &e.trace->slices[i];
        if (!in(s, "signal") || strncmp(s->name, "elect, signal done[", 19) != 0)
            continue;
        elected++;
        assert_int_equal(s->dur, 40); /* elect stamp to signal stamp */
        assert_int_equal(td_number(e.trace, s, "old") + 1, td_number(e.trace, s, "expected"));
        assert_non_null(strstr(td_text(e.trace, s, "counter"), "cnt[dst="));
    }
    assert_int_equal(elected, e.counts.elected);
    export_free(&e);
}

static int64_t blamed(const td *t, const char *name) {
    int64_t sum = 0;
    for (int i = 0; i < t->slice_count; i++)
        if (in(&t->slices[i], "blame") && is(t->slices[i].name, name))
            sum += t->slices[i].dur;
    return sum;
}

static void test_blame(void **state) {
    (void)state;
    exported e;
    assert_int_equal(export_run(&e, &clean, NULL), 0);
    int64_t slow = blamed(e.trace, "rank 2");
    assert_true(slow > blamed(e.trace, "rank 0") && slow > blamed(e.trace, "rank 1") && slow > blamed(e.trace, "rank 3"));
    for (int i = 0; i < e.trace->slice_count; i++) {
        const td_slice *s = &e.trace->slices[i];
        if (!in(s, "blame"))
            continue;
        assert_true(s->dur >= 1200);
        char own[32];
        snprintf(own, sizeof own, "rank %c waits for", s->name[5]);
        assert_string_not_equal(td_track_of(e.trace, s->track)->name, own); /* nobody waits for itself */
        assert_int_equal(s->correlation[5], s->name[5]);
    }
    export_free(&e);
}

static const td_slice *open_wait(const td *t, const char *process, int skip) {
    for (int i = 0; i < t->slice_count; i++)
        if (in(&t->slices[i], "wait") && t->slices[i].dur == -1 &&
            fnmatch(process, td_path(t, td_track_of(t, t->slices[i].track)), 0) == 0 && skip-- == 0)
            return &t->slices[i];
    return NULL;
}

/* The chain can be clicked through: a wait at the barrier, rank 0's wait, the last arrival of the counter. */
static void test_hang(void **state) {
    (void)state;
    exported e;
    assert_int_equal(export_run(&e, &hang, NULL), 0);
    check_all(&e, &hang);
    check_flows(e.trace, e.counts.waits - e.counts.gate_waits);
    const td_slice *root = open_wait(e.trace, "rank 0 · CPU*", 0);
    assert_non_null(root);
    assert_string_equal(root->name, "done[src=1,chunk=3] never released: has 4, needs 5");
    assert_string_equal(td_text(e.trace, root, "result"), "OPEN");
    assert_string_equal(root->correlation, "rank=1 (writer)");
    for (int r = 1; r < 4; r++) {
        char process[32];
        snprintf(process, sizeof process, "rank %d · CPU*", r);
        const td_slice *bar = open_wait(e.trace, process, 0);
        assert_non_null(bar);
        assert_string_equal(bar->name, "bar[from=0] never released: has 4, needs 5");
        bool joined = false;
        for (int i = 0; i < e.trace->flow_count; i++)
            joined |= (&e.trace->slices[e.trace->flows[i].from] == root && &e.trace->slices[e.trace->flows[i].to] == bar);
        assert_true(joined);
        assert_true(r == 1 || blamed(e.trace, "rank 0 - forever") < 0);
    }
    bool arrival = false;
    for (int i = 0; i < e.trace->flow_count; i++) {
        const td_slice *from = &e.trace->slices[e.trace->flows[i].from];
        if (&e.trace->slices[e.trace->flows[i].to] == root && in(from, "elect")) {
            arrival = true;
            assert_string_equal(from->name, "arrive cnt[dst=0,chunk=3]");
            assert_int_equal(from->edges, 1);
        }
    }
    assert_true(arrival);
    const td_track *findings = td_track_named(e.trace, "findings", NULL); /* whoever judged it: the run must not look well */
    bool said = false;
    for (int i = 0; i < e.trace->slice_count; i++)
        if (e.trace->slices[i].track == findings->uuid && e.trace->slices[i].dur == -1)
            said = is(e.trace->slices[i].name, "4 waits open at the end: rank 0 waits for done[src=1,chunk=3] (has 4, needs 5), rank 1 owes it");
    assert_true(said);
    assert_true(blamed(e.trace, "rank 1 - forever") == -1);
    export_free(&e);
}

/* Two ranks stay away: each of the others has two open waits of one writer, on rows of their own. */
static void test_rows_of_open_waits(void **state) {
    (void)state;
    exported e;
    assert_int_equal(export_run(&e, &away, NULL), 0);
    check_all(&e, &away);
    for (int r = 2; r < 4; r++) {
        char path[64];
        snprintf(path, sizeof path, "rank %d · CPU*", r);
        const td_slice *a = open_wait(e.trace, path, 0), *b = open_wait(e.trace, path, 1);
        assert_non_null(a);
        assert_non_null(b);
        assert_true(a->track != b->track);
        const char *first = td_track_of(e.trace, a->track)->name, *second = td_track_of(e.trace, b->track)->name;
        assert_true((strstr(first, "(2)") != NULL) != (strstr(second, "(2)") != NULL));
        assert_true(td_track_of(e.trace, a->track)->parent == td_track_of(e.trace, b->track)->parent);
    }
    export_free(&e);
}

/* Clocks that disagree: the end moves behind the signal, says so, and the edge stays. */
static void test_clamped(void **state) {
    (void)state;
    exported e;
    uint64_t clamped = 0;
    assert_int_equal(export_run(&e, &skewed, NULL), 0);
    check_all(&e, &skewed);
    check_flows(e.trace, e.counts.waits - e.counts.gate_waits);
    for (int i = 0; i < e.trace->slice_count; i++)
        clamped += td_number(e.trace, &e.trace->slices[i], "clamped_ns") != UINT64_MAX;
    assert_true(clamped > 0);
    assert_int_equal(clamped, e.summary.clamped);
    export_free(&e);
}

static void test_loss(void **state) {
    (void)state;
    exported e;
    uint64_t lost = 0, health = 0;
    assert_int_equal(export_run(&e, &lossy, NULL), 0);
    check_encoding(e.trace);
    check_tracks(e.trace);
    check_flat(e.trace);
    check_colour(e.trace);
    for (int i = 0; i < e.trace->slice_count; i++) {
        const td_slice *s = &e.trace->slices[i];
        if (in(s, "loss")) {
            assert_string_equal(td_track_of(e.trace, s->track)->name, "lost records");
            lost += td_number(e.trace, s, "lost");
        }
        if (in(s, "health") && s->parent >= 0)
            health += td_number(e.trace, s, "records");
    }
    assert_int_equal(lost, e.counts.lost);
    assert_int_equal(health, e.counts.lost);
    assert_int_equal(e.trace->stats_lost, e.counts.lost);
    assert_int_equal(e.trace->dropped_marks, 1);
    export_free(&e);
}

static void test_health(void **state) {
    (void)state;
    exported e;
    assert_int_equal(export_run(&e, &clean, NULL), 0);
    const td_track *findings = td_track_named(e.trace, "findings", NULL);
    const td_track *health = td_track_named(e.trace, "trace health", findings);
    assert_non_null(health);
    int seen = 0;
    for (int i = 0; i < e.trace->slice_count; i++) {
        const td_slice *s = &e.trace->slices[i];
        if (s->track == findings->uuid) {
            assert_string_equal(s->name, "no findings (1 detector ran)");
            seen++;
        }
        if (s->track == health->uuid) {
            assert_int_equal(fnmatch("* records, 0 lost, clock +-* ns, CUPTI no", s->name, 0), 0);
            assert_true(s->ts <= e.counts.begin + 1 && s->ts + s->dur >= e.counts.end);
            seen++;
        }
    }
    assert_int_equal(seen, 2);
    export_free(&e);
}

static void test_ten_ranks(void **state) {
    (void)state;
    exported e;
    assert_int_equal(export_run(&e, &many, NULL), 0);
    check_all(&e, &many);
    assert_non_null(td_track_named(e.trace, "rank 07 waits for", NULL));
    assert_non_null(td_track_named(e.trace, "rank 11 scopes", NULL));
    assert_non_null(td_track_named(e.trace, "rank 7 · CPU", NULL));
    export_free(&e);
}

/* ---- start-up commands ---- */

static const char *const allowed[] = {"PinTracksByRegex", "ExpandTracksByRegex", "CollapseTracksByRegex", "RunQuery",
    "RunQueryAndShowTab", "AddNoteAtTimestamp", "AddDebugSliceTrack", "AddDebugCounterTrack"};

static void unescape(char *text) {
    char *to = text;
    for (char *c = text; *c; c++)
        *to++ = *c == '\\' && c[1] ? *++c : *c;
    *to = 0;
}

static void check_expression(const td *t, char *expression, bool path) {
    regex_t regex;
    bool matched = false;
    unescape(expression);
    for (char *d; (d = strstr(expression, "\\d")) != NULL;) /* POSIX has no \d */
        memcpy(d, "[0-9]", 0), memmove(d + 5, d + 2, strlen(d + 2) + 1), memcpy(d, "[0-9]", 5);
    assert_int_equal(regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB), 0);
    for (int i = 0; i < t->track_count; i++) {
        const char *text = path ? td_path(t, &t->tracks[i]) : t->tracks[i].name;
        matched |= text && regexec(&regex, text, 0, NULL, 0) == 0;
    }
    regfree(&regex);
    if (!matched)
        fail_msg("%s matches no track", expression);
}

static void check_commands(const exported *e, bool pins) {
    char path[160], text[8192], expression[1024], last[16];
    snprintf(path, sizeof path, "%s.startup.json", e->path);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    int commands = 0, expressions = 0;
    for (char *at = text; (at = strstr(at, "\"id\":\"dev.perfetto.")) != NULL; at += 19, commands++) {
        char id[64] = "";
        bool known = false;
        assert_int_equal(sscanf(at, "\"id\":\"dev.perfetto.%63[A-Za-z]", id), 1);
        for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
            known |= strcmp(id, allowed[i]) == 0;
        assert_true(known);
        if (strstr(id, "Regex")) {
            assert_int_equal(sscanf(strstr(at, "\"args\":[\""), "\"args\":[\"%1023[^\"]\",\"%15[a-z]\"", expression, last), 2);
            check_expression(e->trace, expression, strcmp(last, "path") == 0);
            expressions++;
        }
    }
    assert_int_equal(expressions, pins ? 3 : 2);
    assert_int_equal(commands, expressions + (strstr(text, "AddNote") ? 3 : 2));
}

static void test_startup(void **state) {
    (void)state;
    exported e;
    assert_int_equal(export_run(&e, &hang, NULL), 0);
    check_commands(&e, false);
    char *url = NULL;
    assert_int_equal(xsv_perfetto_url(e.path, "http://127.0.0.1:9001/run.perfetto", &url), 0);
    assert_int_equal(fnmatch("https://ui.perfetto.dev/#!/[?]url=http%3A%2F%2F127*&startupCommands=%5B%7B%22id%22*", url, 0), 0);
    assert_null(strpbrk(url, " \"\n{"));
    free(url);
    assert_int_equal(xsv_perfetto_url("/nowhere/at.all", NULL, &url), XS_E_SYSTEM);
    export_free(&e);
    assert_int_equal(export_run(&e, &many, NULL), 0);
    check_commands(&e, true);
    export_free(&e);
}

static void test_same_bytes(void **state) {
    (void)state;
    exported e;
    char path[160], command[512];
    assert_int_equal(export_run(&e, &hang, NULL), 0);
    snprintf(path, sizeof path, "%s/run2.perfetto", e.folder);
    xsv_perfetto_options o = {.size = sizeof o, .run = "run"};
    assert_int_equal(export_again(&e, path, &o, NULL), 0);
    snprintf(command, sizeof command, "cmp %s %s", e.path, path);
    assert_int_equal(system(command), 0);
    export_free(&e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean), cmocka_unit_test(test_elected), cmocka_unit_test(test_blame),
        cmocka_unit_test(test_hang), cmocka_unit_test(test_rows_of_open_waits), cmocka_unit_test(test_clamped),
        cmocka_unit_test(test_loss), cmocka_unit_test(test_health), cmocka_unit_test(test_ten_ranks),
        cmocka_unit_test(test_startup), cmocka_unit_test(test_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
