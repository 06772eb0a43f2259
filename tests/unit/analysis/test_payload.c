/* Payload that is read and written without order. */
#include "judge.h"

enum { WRITE = XS_EV_WRITE_BEGIN, READ = XS_EV_READ_BEGIN };

typedef struct pair {
    cb *c;
    uint32_t slot, room, write, read;
} pair;

static pair begin(uint32_t flags) {
    pair p = {.c = case_begin(2, 2, 2)};
    uint32_t pad = cb_pad(p.c, "full", "", "", 1, 1, flags), ack = cb_pad(p.c, "room", "", "", 1, 1, 0);
    p.slot = cb_slot(p.c, pad, 1, 0, 0);
    p.room = cb_slot(p.c, ack, 0, 0, 0);
    p.write = cb_mark_name(p.c, "write");
    p.read = cb_mark_name(p.c, "read");
    return p;
}
static void put(const pair *p, uint32_t ring, uint64_t at, uint32_t index, uint32_t generation) {
    cb_payload(p->c, ring, at, WRITE, p->write, index, generation, 1, 1, 64);
    cb_payload_end(p->c, ring, at + 50, p->write, index);
}
static void take(const pair *p, uint32_t ring, uint64_t at, uint32_t index, uint32_t generation) {
    cb_payload(p->c, ring, at, READ, p->read, index, generation, 0, 1, 64);
    cb_payload_end(p->c, ring, at + 50, p->read, index);
}
static judged finish(const pair *p) {
    case_end_writers(p->c, 2, 2, 9000);
    return judge(p->c);
}

static void test_handed_over_in_order(void **state) {
    (void)state;
    pair p = begin(0);
    for (uint32_t g = 1; g <= 4; g++) {
        uint64_t at = 1000 + 1000 * g;
        if (g > 1)
            cb_pass(p.c, RING(0, 0), at, p.room, g - 1, g - 1);
        put(&p, RING(0, 0), at + 100, 0, g);
        cb_signal(p.c, RING(0, 0), at + 200, p.slot, g);
        cb_pass(p.c, RING(1, 0), at + 300, p.slot, g, g);
        take(&p, RING(1, 0), at + 400, 0, g);
        cb_signal(p.c, RING(1, 0), at + 500, p.room, g);
    }
    judged j = finish(&p);
    expect_clean(&j);
    assert_int_equal(j.result->finding_count, 0);
    judged_free(&j);
}

/* Of more than eight buffers, each by its name, the others' reads were of no buffer, or of one of the first eight. missing: in the last round the reader
 * does not wait. */
static judged buffers_by_name(uint32_t buffers, bool missing) {
    pair p = begin(0);
    uint32_t names[32], rounds = 3;
    for (uint32_t b = 0; b < buffers; b++) {
        char name[16];
        snprintf(name, sizeof name, "buffer %u", b);
        names[b] = cb_mark_name(p.c, name);
    }
    for (uint32_t b = 0, turn = 1; turn <= rounds * buffers; turn++, b = (b + 1) % buffers) { /* one after the other, its index 0, the generation counts on */
        uint64_t at = 1000 + 1000 * turn;
        if (turn > 1)
            cb_pass(p.c, RING(0, 0), at, p.room, turn - 1, turn - 1);
        p.write = p.read = names[b];
        put(&p, RING(0, 0), at + 100, 0, turn);
        cb_signal(p.c, RING(0, 0), at + 200, p.slot, turn);
        if (!missing || turn < rounds * buffers)
            cb_pass(p.c, RING(1, 0), at + 300, p.slot, turn, turn);
        take(&p, RING(1, 0), at + 400, 0, turn);
        cb_signal(p.c, RING(1, 0), at + 500, p.room, turn);
    }
    case_end_writers(p.c, 2, 2, 1000000);
    return judge(p.c);
}

static void test_buffers_are_told_apart_by_name_however_many(void **state) {
    (void)state;
    for (uint32_t buffers = 7; buffers <= 24; buffers += 17) {
        judged j = buffers_by_name(buffers, false);
        expect_clean(&j);
        assert_int_equal(j.result->finding_count, 0);
        judged_free(&j);
        j = buffers_by_name(buffers, true);
        expect_first(&j, XSA_PAYLOAD_RACE, XSA_ERROR, "", 1, 0);
        judged_free(&j);
    }
}

/* Order is kept for the newest signals of a slot: a wait that read an older one has all of the slot behind it, and that is said. */
static void test_wait_that_read_an_older_signal_than_order_is_kept_for(void **state) {
    (void)state;
    for (uint32_t newer = 15; newer <= 16; newer++) {
        pair p = begin(0);
        put(&p, RING(0, 0), 2000, 0, 1);
        for (uint32_t i = 0; i <= newer; i++)
            cb_signal(p.c, RING(0, 0), 2100 + 10 * i, p.slot, 1 + i);
        cb_pass(p.c, RING(1, 0), 4000, p.slot, 1, 1);
        take(&p, RING(1, 0), 4100, 0, 1);
        judged j = finish(&p);
        expect_errors(&j, 0);
        assert_int_equal(strstr(verdict_of(&j, XSA_PAYLOAD_RACE)->why, "older than the newest 16") != NULL, newer > 15);
        judged_free(&j);
    }
}

/* It was right this time: the reader came long after the writer. But nothing orders the two. */
static void test_read_without_a_wait(void **state) {
    (void)state;
    pair p = begin(0);
    put(&p, RING(0, 0), 2000, 0, 1);
    cb_signal(p.c, RING(0, 0), 2100, p.slot, 1);
    take(&p, RING(1, 0), 5000, 0, 1);
    judged j = finish(&p);
    expect_first(&j, XSA_PAYLOAD_RACE, XSA_ERROR, "", 1, 0);
    judged_free(&j);
}

static void test_read_before_it_is_written(void **state) {
    (void)state;
    pair p = begin(0);
    take(&p, RING(1, 0), 2000, 0, 1);
    put(&p, RING(0, 0), 3000, 0, 1);
    cb_signal(p.c, RING(0, 0), 3100, p.slot, 1);
    judged j = finish(&p);
    expect_first(&j, XSA_PAYLOAD_RACE, XSA_ERROR, "", 1, 0);
    judged_free(&j);
}

static void test_signal_before_the_data(void **state) {
    (void)state;
    pair p = begin(0);
    cb_signal(p.c, RING(0, 0), 2000, p.slot, 1);
    put(&p, RING(0, 0), 2100, 0, 1);
    cb_pass(p.c, RING(1, 0), 2200, p.slot, 1, 1);
    take(&p, RING(1, 0), 2300, 0, 1);
    judged j = finish(&p);
    expect_first(&j, XSA_PARTIAL_PUBLISH, XSA_ERROR, "rank 1 full", 0, 0);
    judged_free(&j);
}

static void test_weak_signal_names_the_signal(void **state) {
    (void)state;
    pair p = begin(0);
    put(&p, RING(0, 0), 2000, 0, 1);
    cb_one(p.c, RING(0, 0), 2100, XS_CODE_SIGNAL_RLX_SYS, p.slot, 1);
    cb_pass(p.c, RING(1, 0), 2200, p.slot, 1, 1);
    take(&p, RING(1, 0), 2300, 0, 1);
    judged j = finish(&p);
    expect_first(&j, XSA_ORDER_SCOPE, XSA_ERROR, "rank 1 full", 0, 0);
    expect_errors(&j, 1); /* the race is evidence */
    assert_non_null(strstr(j.result->findings[0].explains, "payload-race"));
    judged_free(&j);
}

/* The fence of a round stands before the store of the next one, and that store is the one that is read: a release by
 * its looks, but of nothing that was written since. */
static void test_fence_behind_the_store_read_late(void **state) {
    (void)state;
    pair p = begin(0);
    for (uint32_t g = 1; g <= 2; g++) {
        uint64_t at = 1000 + 1000 * g;
        put(&p, RING(0, 0), at, g, g);
        cb_one(p.c, RING(0, 0), at + 100, XS_CODE_SIGNAL_RLX_SYS, p.slot, g);
        cb_one(p.c, RING(0, 0), at + 110, XS_CODE_FENCE_ACQREL_SYS, 0, 7);
    }
    cb_pass(p.c, RING(1, 0), 4000, p.slot, 2, 2);
    take(&p, RING(1, 0), 4100, 2, 2);
    judged j = finish(&p);
    expect_first(&j, XSA_ORDER_SCOPE, XSA_ERROR, "rank 1 full", 0, 0);
    expect_errors(&j, 1);
    judged_free(&j);
}

/* Rank 1 waits for ranks 0, 2 and 3 and then reads what rank 0 wrote, in each round from a place of its own, or from the same one, which it gives back.
 * In round 4 rank 0 signals before it writes. lost: rank 3's signals of the rounds before, so that nothing taught which slot tells of rank 0's part. */
static judged gathered(bool one_place, bool lost) {
    pair p = {.c = case_begin(4, 1, 1)};
    uint32_t pad = cb_pad(p.c, "here", "", "", 1, 4, 0), room = cb_slot(p.c, cb_pad(p.c, "room", "", "", 1, 1, 0), 0, 0, 0);
    p.write = p.read = cb_mark_name(p.c, "part");
    for (uint32_t g = 1; g <= 4; g++) {
        uint64_t at = 1000 + 1000 * g;
        cb_pass(p.c, RING(0, 0), at, room, g - 1, g - 1);
        if (g == 4)
            cb_signal(p.c, RING(0, 0), at + 10, cb_slot(p.c, pad, 1, 0, 0), g);
        put(&p, RING(0, 0), at + 20, one_place ? 0 : g, g);
        if (g < 4)
            cb_signal(p.c, RING(0, 0), at + 100, cb_slot(p.c, pad, 1, 0, 0), g);
        if (lost && g < 4)
            cb_skip_records(p.c, RING(3, 0), 1, XS_LOSS_OVERWRITTEN);
        else
            cb_signal(p.c, RING(3, 0), at + 110, cb_slot(p.c, pad, 1, 0, 3), g);
        cb_signal(p.c, RING(2, 0), at + 110, cb_slot(p.c, pad, 1, 0, 2), g);
        cb_heartbeat(p.c, RING(3, 0), at + 120, 0, g); /* what is lost lies before it */
        for (uint32_t rank = 0; rank < 4; rank++)
            if (rank != 1)
                cb_pass(p.c, RING(1, 0), at + 200 + rank, cb_slot(p.c, pad, 1, 0, rank), g, g);
        take(&p, RING(1, 0), at + 300, one_place ? 0 : g, g);
        cb_signal(p.c, RING(1, 0), at + 400, room, g);
    }
    case_end_writers(p.c, 4, 1, 9000);
    return judge(p.c);
}
static void test_reader_is_not_accused_where_what_tells_of_a_place_is_lost(void **state) {
    (void)state;
    for (uint32_t one_place = 0; one_place < 2; one_place++) {
        judged j = gathered(one_place, true);
        expect_errors(&j, 0);
        assert_int_equal(verdict_of(&j, XSA_PAYLOAD_RACE)->status, XSA_UNKNOWN);
        judged_free(&j);
    }
}
/* The reader was: nobody had read from that place before. */
static void test_place_that_is_new_is_told_of_as_those_before(void **state) {
    (void)state;
    for (uint32_t one_place = 0; one_place < 2; one_place++) {
        judged j = gathered(one_place, false);
        expect_first(&j, XSA_PARTIAL_PUBLISH, XSA_ERROR, "rank 1 here[col=0]", 0, 0);
        expect_errors(&j, 1);
        judged_free(&j);
    }
}

/* Rank 0 writes into its own memory, and names that; ranks 1 and 2 fetch it from there, and name who wrote it. Nothing was compared. In round 4 rank 2
 * gives the place back before it has read it, or is told before it is written, or does not wait. */
enum { IN_ORDER, GIVES_EARLY, TOLD_EARLY, DOES_NOT_WAIT };
static judged fetched(int wrong) {
    pair p = {.c = case_begin(3, 1, 1)};
    uint32_t pad = cb_pad(p.c, "here", "", "", 1, 1, 0), done = cb_pad(p.c, "done", "", "", 1, 3, 0);
    p.write = p.read = cb_mark_name(p.c, "part");
    for (uint32_t g = 1; g <= 5; g++) {
        uint64_t at = 1000 + 1000 * g;
        int now = g == 4 ? wrong : IN_ORDER;
        for (uint32_t rank = 1; rank < 3 && g > 1; rank++)
            cb_pass(p.c, RING(0, 0), at + rank, cb_slot(p.c, done, 0, 0, rank), g - 1, g - 1);
        if (now == TOLD_EARLY)
            cb_signal(p.c, RING(0, 0), at + 10, cb_slot(p.c, pad, 2, 0, 0), g);
        cb_payload(p.c, RING(0, 0), at + 20, WRITE, p.write, 0, g, 0, 1, 64);
        cb_payload_end(p.c, RING(0, 0), at + 70, p.write, 0);
        for (uint32_t rank = 1; rank < 3; rank++)
            if (now != TOLD_EARLY || rank != 2)
                cb_signal(p.c, RING(0, 0), at + 100 + rank, cb_slot(p.c, pad, rank, 0, 0), g);
        for (uint32_t rank = 1; rank < 3; rank++) {
            if (now != DOES_NOT_WAIT || rank != 2)
                cb_pass(p.c, RING(rank, 0), at + 200 + rank, cb_slot(p.c, pad, rank, 0, 0), g, g);
            if (now == GIVES_EARLY && rank == 2)
                cb_signal(p.c, RING(rank, 0), at + 210, cb_slot(p.c, done, 0, 0, rank), g);
            take(&p, RING(rank, 0), at + 300, 0, g);
            if (now != GIVES_EARLY || rank != 2)
                cb_signal(p.c, RING(rank, 0), at + 400, cb_slot(p.c, done, 0, 0, rank), g);
        }
    }
    case_end_writers(p.c, 3, 1, 9000);
    return judge(p.c);
}
static void test_what_is_fetched_from_its_writers_memory_is_compared(void **state) {
    (void)state;
    judged j = fetched(IN_ORDER);
    expect_clean(&j);
    judged_free(&j);
    j = fetched(GIVES_EARLY);
    expect_first(&j, XSA_LAPPING, XSA_ERROR, "rank 0 done[col=2]", 2, 0);
    judged_free(&j);
    j = fetched(TOLD_EARLY);
    expect_first(&j, XSA_PARTIAL_PUBLISH, XSA_ERROR, "rank 2 here", 0, 0);
    judged_free(&j);
    j = fetched(DOES_NOT_WAIT);
    expect_first(&j, XSA_PAYLOAD_RACE, XSA_ERROR, "", 2, 0);
    judged_free(&j);
}

/* Rank 1 passes on to rank 2 what rank 0 wrote there. In round 5 it does not wait for it: rank 2 waited as ever, and nobody was named. */
static judged passed_on(bool wrong) {
    pair p = {.c = case_begin(3, 1, 1)};
    uint32_t here = cb_slot(p.c, cb_pad(p.c, "here", "", "", 1, 1, 0), 1, 0, 0), go = cb_slot(p.c, cb_pad(p.c, "go", "", "", 1, 1, 0), 2, 0, 0),
             room = cb_slot(p.c, cb_pad(p.c, "room", "", "", 1, 1, 0), 0, 0, 0);
    p.write = p.read = cb_mark_name(p.c, "part");
    for (uint32_t g = 1; g <= 6; g++) {
        uint64_t at = 1000 + 1000 * g;
        for (uint32_t rank = 0; rank < 3; rank++)
            cb_epoch(p.c, RING(rank, 0), at, g);
        if (g > 1)
            cb_pass(p.c, RING(0, 0), at + 10, room, g - 1, g - 1);
        cb_payload(p.c, RING(0, 0), at + 20, WRITE, p.write, 0, g, 2, 1, 64);
        cb_payload_end(p.c, RING(0, 0), at + 70, p.write, 0);
        cb_signal(p.c, RING(0, 0), at + 100, here, g);
        if (!wrong || g != 5)
            cb_pass(p.c, RING(1, 0), at + 150, here, g, g);
        cb_signal(p.c, RING(1, 0), at + 200, go, g);
        cb_pass(p.c, RING(2, 0), at + 250, go, g, g);
        take(&p, RING(2, 0), at + 300, 0, g);
        cb_signal(p.c, RING(2, 0), at + 400, room, g);
    }
    case_end_writers(p.c, 3, 1, 9000);
    return judge(p.c);
}
static void test_who_passes_on_what_it_has_not_waited_for_is_named(void **state) {
    (void)state;
    judged j = passed_on(true);
    expect_first(&j, XSA_PAYLOAD_RACE, XSA_ERROR, "rank 2 go", 1, 0);
    expect_errors(&j, 1);
    judged_free(&j);
    j = passed_on(false);
    expect_clean(&j);
    judged_free(&j);
}

static void double_buffer(bool credit, bool fault) {
    pair p = begin(0);
    for (uint32_t g = 1; g <= 3; g++) {
        uint64_t at = 1000 + 1000 * g;
        if (credit && g > 2)
            cb_pass(p.c, RING(0, 0), at, p.room, g - 2, g - 2);
        put(&p, RING(0, 0), at + 100, g & 1, g);
        cb_signal(p.c, RING(0, 0), at + 200, p.slot, g);
        cb_pass(p.c, RING(1, 0), at + 300, p.slot, g, g);
        take(&p, RING(1, 0), at + 400, g & 1, g);
        cb_signal(p.c, RING(1, 0), at + 500, p.room, g);
    }
    judged j = finish(&p);
    if (fault)
        expect_first(&j, XSA_LAPPING, XSA_ERROR, "", 0, 0);
    else
        expect_clean(&j);
    judged_free(&j);
}

static void test_double_buffer_without_credit(void **state) {
    (void)state;
    double_buffer(false, true);
    double_buffer(true, false);
}

static void test_channel_that_laps(void **state) {
    (void)state;
    for (int fault = 0; fault < 2; fault++) {
        pair p = begin(0);
        for (uint32_t g = 1; g <= 3; g++) {
            uint64_t at = 1000 + 1000 * g;
            if (!fault && g > 1)
                cb_pass(p.c, RING(0, 0), at, p.room, g - 1, g - 1);
            cb_signal(p.c, RING(0, 0), at + 200, p.slot, g);
            cb_publish(p.c, RING(0, 0), at + 210, p.slot, g, 10, 1);
            cb_pass(p.c, RING(1, 0), at + 300, p.slot, g, g);
            cb_consume(p.c, RING(1, 0), at + 400, p.slot, g, 10, 1);
            cb_signal(p.c, RING(1, 0), at + 410, p.room, g);
        }
        judged j = finish(&p);
        if (fault)
            expect_first(&j, XSA_LAPPING, XSA_ERROR, "rank 1 full", 0, 0);
        else
            expect_clean(&j);
        judged_free(&j);
    }
}

static void warp_begin(cb *c, uint32_t ring, uint32_t rank, uint32_t block, uint32_t warp) {
    cb_writer_begin_at(c, ring, 1000, 1, block, 1, rank, warp, 0, 0);
}

/* Two warps write parts of one packet; the first one signals. */
static void packet(uint64_t second_ends, bool fault) {
    cb *c = case_begin(2, 1, 0);
    uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), slot = cb_slot(c, pad, 1, 0, 0),
             write = cb_mark_name(c, "write");
    warp_begin(c, RING(0, 0), 0, 0, 0);
    warp_begin(c, RING(0, 1), 0, 0, 1);
    warp_begin(c, RING(1, 0), 1, 0, 0);
    cb_payload(c, RING(0, 0), 2000, WRITE, write, 3, 1, 1, 8, 512);
    cb_payload(c, RING(0, 1), 2010, WRITE, write, 3, 1, 1, 8, 512);
    cb_payload_end(c, RING(0, 0), 2100, write, 3);
    if (second_ends < 2200)
        cb_payload_end(c, RING(0, 1), second_ends, write, 3);
    cb_signal(c, RING(0, 0), 2200, slot, 1);
    if (second_ends >= 2200)
        cb_payload_end(c, RING(0, 1), second_ends, write, 3);
    cb_writer_end(c, RING(0, 0), 3000);
    cb_writer_end(c, RING(0, 1), 3000);
    cb_writer_end(c, RING(1, 0), 3000);
    judged j = judge(c);
    if (fault)
        expect_first(&j, XSA_PARTIAL_PUBLISH, XSA_ERROR, "rank 1 full", 0, 0);
    else
        expect_clean(&j);
    judged_free(&j);
}

static void test_block_that_did_not_join(void **state) {
    (void)state;
    packet(2300, true);
    packet(2150, false);
}

static void test_without_payload_nothing_is_said(void **state) {
    (void)state;
    cb *c = case_begin(1, 1, 1);
    case_end_writers(c, 1, 1, 2000);
    judged j = judge(c);
    assert_int_equal(verdict_of(&j, XSA_PAYLOAD_RACE)->status, XSA_NOT_RUN);
    assert_int_equal(verdict_of(&j, XSA_PARTIAL_PUBLISH)->status, XSA_NOT_RUN);
    judged_free(&j);
}

/* The host wrote the slot, so no signal is known for that wait, and the reader looks for one for a millisecond. What its writer does
 * behind it is not missing meanwhile. Times of one clock, as on one GPU: stamps are not off by what a scheduler does. */
static void test_producer_that_waited_for_the_host(void **state) {
    (void)state;
    xs_region_header region = cb_region(0, 2, 2);
    region.virtual_time = 1;
    for (int waits_for_host = 0; waits_for_host < 2; waits_for_host++) {
        cb *c = case_begin_as(&region, 1, 1);
        pair p = {.c = c};
        uint32_t pad = cb_pad(c, "full", "", "", 1, 1, 0), host = cb_pad(c, "launched", "", "", 1, 1, 0), go = cb_slot(c, host, 0, 0, 0);
        xs_plan_entry plan = {XS_PLAN_HOST_SUPPLIER, XS_PLAN_DECLARED, go, 0, 0, 0, UINT64_MAX, 0, 0};
        cb_plan(c, &plan, 1);
        p.slot = cb_slot(c, pad, 1, 0, 0);
        p.write = cb_mark_name(c, "write");
        p.read = cb_mark_name(c, "read");
        if (waits_for_host)
            cb_wait_start(c, RING(0, 0), 1100, go, 1, 0), cb_wait_end(c, RING(0, 0), 1900, go, 1, XS_RESULT_OK, 20);
        for (uint32_t g = 1; g <= 40; g++) {
            uint64_t at = 2000 * g;
            put(&p, RING(0, 0), at + 100, g, g);
            cb_signal(c, RING(0, 0), at + 200, p.slot, g);
            cb_pass(c, RING(1, 0), at + 300, p.slot, g, g);
            take(&p, RING(1, 0), at + 400, g, g);
        }
        case_end_writers(c, 2, 1, 90000);
        judged j = judge(c);
        expect_clean(&j);
        expect_not(&j, XSA_PAYLOAD_RACE);
        judged_free(&j);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handed_over_in_order),
                                       cmocka_unit_test(test_buffers_are_told_apart_by_name_however_many),
                                       cmocka_unit_test(test_wait_that_read_an_older_signal_than_order_is_kept_for),         cmocka_unit_test(test_read_without_a_wait),
        cmocka_unit_test(test_read_before_it_is_written),    cmocka_unit_test(test_signal_before_the_data),
        cmocka_unit_test(test_weak_signal_names_the_signal), cmocka_unit_test(test_fence_behind_the_store_read_late),
        cmocka_unit_test(test_double_buffer_without_credit), cmocka_unit_test(test_reader_is_not_accused_where_what_tells_of_a_place_is_lost),
        cmocka_unit_test(test_place_that_is_new_is_told_of_as_those_before), cmocka_unit_test(test_what_is_fetched_from_its_writers_memory_is_compared),
        cmocka_unit_test(test_who_passes_on_what_it_has_not_waited_for_is_named), cmocka_unit_test(test_channel_that_laps),
        cmocka_unit_test(test_producer_that_waited_for_the_host), cmocka_unit_test(test_block_that_did_not_join),
            cmocka_unit_test(test_without_payload_nothing_is_said)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
