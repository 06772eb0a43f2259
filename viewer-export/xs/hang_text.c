/* xs hang as text: one section a function, in the order in which they are read. */
#include "hang.h"

#include <inttypes.h>
#include <report.h>
#include <stdlib.h>

static char *text_of_slot(const hang_wait *wait) {
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    hang_say_slot(f, wait);
    fclose(f);
    return text;
}

static void print_owes(FILE *out, const hang_world *world, const hang_wait *wait) {
    static const char *const how[] = {"unknown", "", "the host of ", " (seen)"};
    if (!wait->how) {
        fputs(how[0], out);
        return;
    }
    fprintf(out, "%srank %u", wait->how == HANG_SUPPLIER_HOST ? how[2] : "", wait->supplier);
    const char *role = hang_role(world, world->writers[wait->writer].region, wait->supplier_role);
    fprintf(out, "%s%s%s", *role ? " " : "", role, wait->how == HANG_SUPPLIER_SEEN ? how[3] : "");
}

static void print_wait(FILE *out, const hang_world *world, const hang_wait *wait) {
    char *slot = text_of_slot(wait);
    const char *kernel = hang_kernel(world, &world->ranks[wait->rank]);
    fprintf(out, "  %-9s ", xsv_time((int64_t)wait->age).text);
    hang_say_waiter(out, world, wait);
    fprintf(out, "\n            on %s: has %" PRIu64 ", needs %s %" PRIu64 "; owes: ", slot ? slot : "?",
            wait->observed, hang_cmp(wait->cmp), wait->need);
    print_owes(out, world, wait);
    fprintf(out, "\n            %s%s", kernel, *kernel ? " " : "");
    hang_say_source(out, world, wait);
    fprintf(out, ", epoch %" PRIu64, wait->epoch);
    if (wait->user) /* xs_writer_word */
        fprintf(out, ", word %u", wait->user);
    fprintf(out, ", %s poll%s, %s\n", xsv_count((int64_t)wait->polls).text, wait->polls == 1 ? "" : "s",
            wait->state == HANG_MOVING        ? "moves"
            : wait->state == HANG_YOUNG       ? "began only just"
            : world->source->looks == 1       ? "no change seen"
            : wait->polling                   ? "polls and sees no change"
                                              : "its polls do not move");
    if (wait->answered)
        fputs("            what it needs was signalled, and it has not seen that\n", out);
    free(slot);
}

static void print_waits(FILE *out, const hang_world *world, uint32_t rows) {
    if (!world->wait_count)
        return;
    fputs("\nOpen waits, oldest first\n", out);
    for (uint32_t i = 0; i < world->wait_count && i < rows; i++)
        print_wait(out, world, &world->waits[i]);
    if (world->wait_count > rows)
        fprintf(out, "  and %u more (--rows %u shows them)\n", world->wait_count - rows, world->wait_count);
}

static void print_chain(FILE *out, const hang_world *world) {
    const hang_chain *c = &world->chain;
    if (!world->wait_count)
        return;
    fputs("\nWho waits for whom\n", out);
    for (uint32_t i = 0; i < c->count; i++) {
        const hang_wait *wait = &world->waits[c->waits[i]];
        fprintf(out, "  rank %u waits for ", wait->rank);
        print_owes(out, world, wait);
        fputs(" on ", out);
        hang_say_slot(out, wait);
        fprintf(out, " since %s\n", xsv_time((int64_t)wait->age).text);
    }
    if (c->end == HANG_END_ROOT || c->end == HANG_END_SELF || c->end == HANG_END_MOVING) {
        if (world->waits[c->waits[c->count - 1]].state != HANG_STUCK)
            return;
        fprintf(out, "  rank %u %s: ", c->root, c->end == HANG_END_MOVING ? "goes on" : "owes and does not wait");
        hang_say_rank(out, world, c->root, c->root_role, 1);
        fputc('\n', out);
    } else if (c->end == HANG_END_CYCLE) {
        fprintf(out, "  back to rank %u: a circle, or one of them has left a signal out\n",
                world->waits[c->waits[c->cycle]].rank);
    } else if (c->end == HANG_END_LEFT_OUT) {
        fprintf(out, "  rank %u has left it out: ", c->root);
        hang_say_left_out(out);
        fputc('\n', out);
    }
}

/* Of a file: what its host program did last, and how it ended. */
static void print_host(FILE *out, const hang_world *world, const hang_rank *r) {
    const hang_region *region = r->region == HANG_NONE ? NULL : &world->regions[r->region];
    if (!region || world->source->looks == 2)
        return;
    if (region->call) {
        fprintf(out, "           last host call: %s", region->call);
        if (region->now > region->call_begin)
            fprintf(out, ", begun %s%s", xsv_time((int64_t)(region->now - region->call_begin)).text,
                    world->source->ago);
        fputc('\n', out);
    }
    if (region->ended && region->over && region->state == HANG_PROCESS_RUNS) {
        fputs("           at the end: ", out);
        hang_say_end(out, region);
        fputc('\n', out);
    }
}

static void print_ranks(FILE *out, const hang_world *world) {
    fputs("\nRanks\n", out);
    for (uint32_t i = 0; i < world->rank_count; i++) {
        const hang_rank *r = &world->ranks[i];
        fprintf(out, "  rank %-3u ", i);
        if (r->pid && r->state > HANG_RANK_STOPPED)
            fprintf(out, "process %d, ", (int)r->pid);
        hang_say_rank(out, world, i, 0, 0);
        if (r->epoch)
            fprintf(out, ", epoch %" PRIu64, r->epoch);
        fputc('\n', out);
        print_host(out, world, r);
    }
}

static void print_signals(FILE *out, const hang_world *world, uint32_t rows) {
    uint32_t shown = 0, more = 0;
    for (uint32_t i = 0; i < world->writer_count; i++) {
        const hang_writer *w = &world->writers[i];
        if (!w->has_signalled)
            continue;
        if (shown == rows) {
            more++;
            continue;
        }
        if (!shown++)
            fputs("\nLast signals, as of each writer's last wait\n", out);
        const char *role = hang_role(world, w->region, w->role);
        fprintf(out, "  rank %u %s%sblock %u warp %u signalled rank %u ", w->rank, role, *role ? " " : "", w->block,
                w->warp, w->signal.owner);
        hang_say_place(out, &w->signal);
        if (w->has_value)
            fprintf(out, " = %" PRIu64, w->signal_value);
        fputc('\n', out);
    }
    if (more)
        fprintf(out, "  and %u more\n", more);
}

/* ---- what keeps the picture from being whole ---- */

static void print_notes(FILE *out, const hang_world *world) {
    for (uint32_t i = 0; i < world->region_count; i++) {
        const hang_region *r = &world->regions[i];
        int pid = (int)r->holder;
        if (r->counts.no_ring)
            fprintf(out,
                    "\nnote: %" PRIu64
                    " writers of process %d found no free ring: their waits are not seen (XS_RINGS)\n",
                    r->counts.no_ring, pid);
        if (r->counts.no_line)
            fprintf(out, "\nnote: %" PRIu64 " waits of process %d found no status line%s\n", r->counts.no_line, pid,
                    world->source->looks == 2 ? ": they are not seen" : "");
        if (r->torn)
            fprintf(out, "\nnote: %u status lines of process %d were half written and do not count\n", r->torn, pid);
        if (r->unsure)
            fprintf(out, "\nnote: %u waits of process %d may be over, for records are lost: they do not count\n",
                    r->unsure, pid);
        if (r->catalog.damaged)
            fprintf(out, "\nnote: the catalog of process %d is damaged: names may be missing\n", pid);
    }
    if (world->given_up)
        fprintf(out, "\nnote: %u wait%s gave up before: xs check NAME says which, and who owed %s\n", world->given_up,
                world->given_up == 1 ? "" : "s", world->given_up == 1 ? "it" : "them");
}

/* What "hung" or "slow" rests on. */
static void print_basis(FILE *out, const hang_report *report, const hang_world *world) {
    if (world->source->looks == 2)
        return;
    for (uint32_t i = 0; i < report->path_count; i++)
        fprintf(out, "%s%s", i ? ", " : "From ", report->paths[i]);
    fprintf(out, "%s: ", world->source == &hang_image ? ", one look at its rings" : "");
    if (world->quiet && world->wait_count)
        fprintf(out, "nobody recorded anything in the last %s (heartbeats aside)\n",
                xsv_time((int64_t)world->quiet).text);
    else
        fputs("somebody recorded events up to the end\n", out);
}

static void print_world(FILE *out, const hang_world *world, uint32_t rows) {
    print_chain(out, world);
    print_waits(out, world, rows);
    hang_print_pads(out, world, rows);
    print_ranks(out, world);
    print_signals(out, world, rows);
    print_notes(out, world);
}

void hang_print_text(const hang_report *report, uint32_t rows, FILE *out) {
    for (uint32_t i = 0; i < report->world_count; i++) {
        const hang_world *world = &report->worlds[i];
        if (i)
            fputc('\n', out);
        hang_say_verdict(out, world);
        fputc('\n', out);
        if (report->world_count > 1)
            fprintf(out, "World %u of %u: %u rank%s, %s, process %d%s\n", i + 1, report->world_count, world->rank_count,
                    world->rank_count == 1 ? "" : "s", world->regions[0].catalog.command, (int)world->regions[0].holder,
                    world->region_count > 1 ? " and others" : "");
        print_basis(out, report, world);
        print_world(out, world, rows);
    }
    for (uint32_t i = 0; i < report->note_count; i++)
        fprintf(out, "\nnote: %s\n", report->notes[i]);
}
