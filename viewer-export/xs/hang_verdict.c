/* xs hang in words: the verdict, in one sentence. */
#include "hang.h"

#include <inttypes.h>
#include <report.h>

static void say_wait(FILE *out, const hang_world *world, const hang_wait *wait) {
    fprintf(out, "rank %u %s waited %s", wait->rank, world->source->looks == 2 ? "has" : "had",
            xsv_time((int64_t)wait->age).text);
    if (wait->how && wait->supplier < world->rank_count)
        fprintf(out, " for %s%u", wait->how == HANG_SUPPLIER_HOST ? "the host of rank " : "rank ", wait->supplier);
    fputs(" on ", out);
    hang_say_slot(out, wait);
    fprintf(out, " (has %" PRIu64 ", needs %s%" PRIu64 ")", wait->observed,
            wait->cmp == XS_CMP_GE ? "" : hang_cmp(wait->cmp), wait->need);
}

static int cycle_in_one_rank(const hang_world *world) {
    const hang_chain *c = &world->chain;
    for (uint32_t i = c->cycle; i < c->count; i++)
        if (world->waits[c->waits[i]].rank != world->waits[c->waits[c->cycle]].rank)
            return 0;
    return 1;
}

/* Of those that wait in a circle one may not wait at all: its process stands, whatever it would do next. */
static void say_stopped(FILE *out, const hang_world *world) {
    const hang_chain *c = &world->chain;
    for (uint32_t i = c->cycle; i < c->count; i++) {
        const hang_rank *r = &world->ranks[world->waits[c->waits[i]].rank];
        if (r->state != HANG_RANK_STOPPED)
            continue;
        fprintf(out, "process %d of rank %u is stopped (SIGSTOP, or a debugger); if it is not that, ", (int)r->pid,
                world->waits[c->waits[i]].rank);
        return;
    }
}

static void say_cycle(FILE *out, const hang_world *world) {
    const hang_chain *c = &world->chain;
    int one = cycle_in_one_rank(world); /* of several of its writers */
    fputs(one ? "writers of one rank wait for each other: " : "the ranks wait for each other: ", out);
    for (uint32_t i = c->cycle; i < c->count; i++) {
        const hang_wait *wait = &world->waits[c->waits[i]];
        fputs(i == c->cycle ? "" : ", ", out);
        if (one)
            hang_say_waiter(out, world, wait);
        else
            fprintf(out, "rank %u for rank %u", wait->rank, wait->supplier);
        fputs(" on ", out);
        hang_say_slot(out, wait);
    }
    fprintf(out, ", since %s: ", xsv_time((int64_t)world->waits[c->waits[c->cycle]].age).text);
    say_stopped(out, world);
    fputs("a circle, or one of them has left a signal out and gone on", out);
}

void hang_say_left_out(FILE *out) {
    fputs("since its last signal there it has passed more waits than ever between two, and now waits itself", out);
}

/* Nobody was seen to signal it, and somebody is not there yet. */
static void say_who_never_came(FILE *out, const hang_world *world) {
    uint32_t n = 0, last = 0;
    for (uint32_t r = 0; r < world->rank_count; r++)
        if (world->ranks[r].state == HANG_RANK_NEVER) {
            n++;
            last = r;
        }
    if (n == 1)
        fprintf(out, "; no process has come for rank %u", last);
    else if (n)
        fprintf(out, "; no process has come for %u of the ranks", n);
    if (n)
        fprintf(out, ": start %s with the same XS_WORLD", n == 1 ? "it" : "them");
}

static void say_end(FILE *out, const hang_world *world) {
    const hang_chain *c = &world->chain;
    const hang_wait *last = &world->waits[c->waits[c->count - 1]];
    if (c->end == HANG_END_HOST) {
        fprintf(out, "; the host program of rank %u owes it", last->supplier);
    } else if (c->end == HANG_END_UNKNOWN) {
        fprintf(out, "; who owes %s", c->count > 1 ? "rank " : "it");
        if (c->count > 1) {
            fprintf(out, "%u its ", last->rank);
            hang_say_slot(out, last);
        }
        fputs(" is not known: no plan names its writer, and none was seen", out);
        say_who_never_came(out, world);
    } else if (c->end == HANG_END_LEFT_OUT) {
        fprintf(out, "; %srank %u has left it out", c->count > 1 ? "in the end " : "", c->root);
        fputs(": ", out);
        hang_say_left_out(out);
    } else {
        fprintf(out, "; %srank %u owes", c->count > 1 ? "in the end " : "", c->root);
        if (c->count > 1) {
            fprintf(out, " rank %u ", last->rank);
            hang_say_slot(out, last);
        }
        fputs(c->end == HANG_END_SELF ? " to itself and does not wait for another: " : " and does not wait: ", out);
        hang_say_rank(out, world, c->root, c->root_role, 1);
    }
}

static void say_two_looks(FILE *out, const hang_world *world) {
    const hang_chain *c = &world->chain;
    uint32_t moving = 0;
    for (uint32_t i = 0; i < world->wait_count; i++)
        moving += world->waits[i].state == HANG_MOVING;
    fprintf(out, ", but within %u ms %u wait%s ended and %u of the %u open ones moved or began",
            HANG_SAMPLE_NS / 1000000, world->ended, world->ended == 1 ? "" : "s", moving, world->wait_count);
    if (c->end == HANG_END_MOVING && world->waits[c->waits[c->count - 1]].state == HANG_STUCK)
        fprintf(out, ", and rank %u goes on", c->root);
}

/* Why one look does not show a hang. */
static void say_one_look(FILE *out, const hang_world *world) {
    const hang_chain *c = &world->chain;
    const hang_wait *last = &world->waits[c->waits[c->count - 1]];
    if (last->state == HANG_YOUNG && c->count == 1) {
        fputs(", too short a time to tell", out);
    } else if (last->state == HANG_YOUNG) {
        fprintf(out, ", but rank %u began to wait only %s%s", last->rank, xsv_time((int64_t)last->age).text,
                world->source->ago);
    } else if (last->state == HANG_MOVING) {
        fputs(", but ", out);
        hang_say_slot(out, last);
        fprintf(out, " was signalled in the last %u ms", HANG_SAMPLE_NS / 1000000);
    } else {
        fprintf(out, ", but rank %u still recorded events in the last %u ms", c->root, HANG_SAMPLE_NS / 1000000);
    }
}

static void say_slow(FILE *out, const hang_world *world) {
    int two = world->source->looks == 2;
    fputs(two ? "Slow, moving: " : "Waiting, not shown to hang: ", out);
    say_wait(out, world, &world->waits[world->chain.waits[0]]);
    if (two)
        say_two_looks(out, world);
    else
        say_one_look(out, world);
}

void hang_say_verdict(FILE *out, const hang_world *world) {
    if (world->verdict == HANG_NOTHING_WAITS) {
        fprintf(out, "Nothing waits%s: %u rank%s, %u writer%s record%s.",
                world->source->looks == 2 ? "" : " at the end", world->rank_count, world->rank_count == 1 ? "" : "s",
                world->writer_count, world->writer_count == 1 ? "" : "s", world->writer_count == 1 ? "s" : "");
        return;
    }
    if (world->verdict == HANG_SLOW) {
        say_slow(out, world);
    } else {
        fputs(world->source->hung, out);
        if (world->chain.end == HANG_END_CYCLE) {
            say_cycle(out, world);
        } else {
            say_wait(out, world, &world->waits[world->chain.waits[0]]);
            say_end(out, world);
        }
    }
    fputc('.', out);
}
