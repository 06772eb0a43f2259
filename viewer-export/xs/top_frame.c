/* What is seen, as lines: per world its verdict, and a row a rank with its oldest wait. */
#include "top.h"

#include <inttypes.h>
#include <report.h>
#include <stdlib.h>
#include <xs/xs.h>

/* Ends the line that was written to `text`. */
static int add_line(top_frame *frame, enum top_color color, char *text) {
    int rc =
        text ? RD_ROOM(frame->lines, frame->room, frame->count + 1) : XS_E_MEMORY;
    if (rc)
        free(text);
    else
        frame->lines[frame->count++] = (top_line){text, color, 0};
    return rc;
}

typedef void write_line(FILE *out, const hang_world *world, uint32_t rank);

static int write_to(top_frame *frame, enum top_color color, write_line *write, const hang_world *world, uint32_t rank) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return XS_E_MEMORY;
    write(out, world, rank);
    return fclose(out) ? (free(text), XS_E_MEMORY) : add_line(frame, color, text);
}

static int say(top_frame *frame, enum top_color color, const char *words) {
    char *text = NULL;
    return asprintf(&text, "%s", words) < 0 ? XS_E_MEMORY : add_line(frame, color, text);
}

static void write_verdict(FILE *out, const hang_world *world, uint32_t unused) {
    (void)unused;
    hang_say_verdict(out, world);
}

static void write_sum(FILE *out, const hang_world *world, uint32_t unused) {
    (void)unused;
    uint64_t moved = 0;
    for (uint32_t i = 0; i < world->rank_count; i++)
        moved += world->ranks[i].moved;
    fprintf(out, "%u rank%s in %u process%s, %u writer%s, %u open wait%s, %s records/s: %s", world->rank_count,
            world->rank_count == 1 ? "" : "s", world->region_count, world->region_count == 1 ? "" : "es",
            world->writer_count, world->writer_count == 1 ? "" : "s", world->wait_count,
            world->wait_count == 1 ? "" : "s", xsv_count((int64_t)(moved * 1000000000u / HANG_SAMPLE_NS)).text,
            world->regions[0].catalog.command);
}

static void write_head(FILE *out, const hang_world *world, uint32_t unused) {
    (void)world, (void)unused;
    fputs(" rank      pid  state            kernel            epoch  writers  records/s  waits     oldest  for         "
          " on",
          out);
}

static const hang_wait *oldest_of(const hang_world *world, uint32_t rank) {
    for (uint32_t i = 0; i < world->wait_count; i++)
        if (world->waits[i].rank == rank)
            return &world->waits[i];
    return NULL;
}

static void write_wait(FILE *out, const hang_wait *wait) {
    char owes[32] = "unknown";
    if (wait->how)
        snprintf(owes, sizeof owes, "%srank %u", wait->how == HANG_SUPPLIER_HOST ? "host of " : "", wait->supplier);
    fprintf(out, " %10s  %-11s  ", xsv_time((int64_t)wait->age).text, owes);
    hang_say_slot(out, wait);
    fprintf(out, " has %" PRIu64 " needs %s %" PRIu64, wait->observed, hang_cmp(wait->cmp), wait->need);
}

static void write_rank(FILE *out, const hang_world *world, uint32_t rank) {
    const hang_rank *r = &world->ranks[rank];
    const hang_wait *wait = oldest_of(world, rank);
    char pid[16] = "-";
    if (r->pid)
        snprintf(pid, sizeof pid, "%d", (int)r->pid);
    fprintf(out, "%5u %8s  %-15s  ", rank, pid, hang_rank_state_words(r->state));
    xsv_cell(out, hang_kernel(world, r), 14);
    fprintf(out, " %8" PRIu64 " %8u %10s %6u", r->epoch, r->writers,
            xsv_count((int64_t)(r->moved * (1000000000ull / HANG_SAMPLE_NS))).text, r->waits);
    if (wait)
        write_wait(out, wait);
}

/* Red: the verdict's chain goes through it; yellow: it waits for long without having moved. */
static enum top_color color_of(const hang_world *world, uint32_t rank) {
    const hang_wait *wait = oldest_of(world, rank);
    if (world->ranks[rank].state < HANG_RANK_NOT_LAUNCHED)
        return TOP_BAD;
    if (!wait || wait->state != HANG_STUCK)
        return TOP_PLAIN;
    return world->verdict == HANG_HUNG ? TOP_BAD : TOP_SLOW;
}

static int add_world(top_frame *frame, const hang_world *world) {
    static const enum top_color colors[] = {TOP_WELL, TOP_SLOW, TOP_BAD};
    int rc = write_to(frame, colors[world->verdict], write_verdict, world, 0);
    if (!rc)
        frame->lines[frame->count - 1].sentence = 1;
    if (!rc)
        rc = write_to(frame, TOP_DIM, write_sum, world, 0);
    if (!rc)
        rc = write_to(frame, TOP_HEAD, write_head, world, 0);
    for (uint32_t i = 0; i < world->rank_count && !rc; i++)
        rc = write_to(frame, color_of(world, i), write_rank, world, i);
    return rc;
}

int top_frame_make(const hang_report *report, top_frame *frame) {
    int rc = report->world_count ? 0 : say(frame, TOP_DIM, hang_nobody(report));
    for (uint32_t i = 0; i < report->world_count && !rc; i++) {
        rc = i ? say(frame, TOP_PLAIN, "") : 0;
        rc = rc ? rc : add_world(frame, &report->worlds[i]);
    }
    return rc;
}

void top_frame_free(top_frame *frame) {
    for (uint32_t i = 0; i < frame->count; i++)
        free(frame->lines[i].text);
    free(frame->lines);
    *frame = (top_frame){.lines = NULL};
}
