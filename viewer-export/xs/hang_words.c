/* xs hang in words: places, writers, ranks and how processes ended. */
#include "hang.h"

#include <inttypes.h>
#include <report.h>
#include <string.h>

const char *hang_cmp(uint32_t cmp) {
    static const char *const words[] = {
        [XS_CMP_GE] = ">=", [XS_CMP_EQ] = "==", [XS_CMP_NE] = "!=", [XS_CMP_LT] = "<", [XS_CMP_GT] = ">"};
    return cmp < sizeof words / sizeof *words ? words[cmp] : "?";
}

const char *hang_role(const hang_world *world, uint32_t region, uint32_t role) {
    const char *name = role ? xs_catalog_view_name(&world->regions[region].catalog, XS_NAME_ROLE, role) : NULL;
    return name ? name : "";
}

const char *hang_source_file(const hang_world *world, const hang_wait *wait) {
    uint32_t region = world->writers[wait->writer].region;
    return wait->file ? xs_catalog_view_name(&world->regions[region].catalog, XS_NAME_FILE, wait->file) : NULL;
}

const char *hang_kernel(const hang_world *world, const hang_rank *rank) {
    const char *name =
        rank->launch ? xs_catalog_view_name(&world->regions[rank->region].catalog, XS_NAME_KERNEL, rank->launch->kernel)
                     : NULL;
    return name ? name : "";
}

void hang_say_source(FILE *out, const hang_world *world, const hang_wait *wait) {
    const char *file = hang_source_file(world, wait);
    fprintf(out, file ? "%s:%u" : "%sline %u", file ? file : "", wait->line);
}

static void say_index(FILE *out, const char *label, const char *otherwise, uint32_t index) {
    fprintf(out, "%s=%u", *label ? label : otherwise, index);
}

void hang_say_place(FILE *out, const xs_catalog_place *p) {
    uint32_t rows = p->pad->shape.rows, columns = p->pad->shape.columns;
    fputs(p->pad->name, out);
    if (rows > 1 || columns > 1)
        fputc('[', out);
    if (rows > 1)
        say_index(out, p->pad->row_label, "row", p->row);
    if (rows > 1 && columns > 1)
        fputc(',', out);
    if (columns > 1)
        say_index(out, p->pad->column_label, "col", p->column);
    if (rows > 1 || columns > 1)
        fputc(']', out);
}

void hang_say_slot(FILE *out, const hang_wait *wait) {
    if (wait->is_slot)
        hang_say_place(out, &wait->slot);
    else
        fprintf(out, "object %u", wait->object);
}

void hang_say_waiter(FILE *out, const hang_world *world, const hang_wait *wait) {
    const hang_writer *w = &world->writers[wait->writer];
    const char *role = hang_role(world, w->region, w->role);
    fprintf(out, "rank %u %s%sblock %u warp %u", wait->rank, role, *role ? " " : "", w->block, w->warp);
}

static const char *kernel_or(const hang_world *world, const hang_rank *r) {
    const char *name = hang_kernel(world, r);
    return *name ? name : "(without a name)";
}

static void say_since(FILE *out, const hang_world *world, const hang_rank *r, uint64_t then, const char *before,
                      const char *behind) {
    const hang_region *region = &world->regions[r->region];
    if (!region->no_now && region->now > then)
        fprintf(out, "%s%s%s", before, xsv_time((int64_t)(region->now - then)).text, behind);
}

static uint32_t writers_of(const hang_world *world, uint32_t rank, uint32_t role) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < world->writer_count; i++)
        n += world->writers[i].rank == rank && world->writers[i].role == role;
    return n;
}

static void say_running(FILE *out, const hang_world *world, const hang_rank *r, uint32_t rank, uint32_t role, int owes)
{
    uint32_t n = role ? writers_of(world, rank, role) : r->writers;
    const char *name = role ? hang_role(world, r->region, role) : "";
    fprintf(out, "kernel %s runs", kernel_or(world, r));
    if (r->launch)
        say_since(out, world, r, r->launch->begin, " since ", "");
    if (role && !n)
        fprintf(out, ", but no writer of role %s does", name);
    else if (owes && role)
        fprintf(out, ", %u writer%s of role %s, none of them waits: busy elsewhere", n, n == 1 ? "" : "s", name);
    else if (owes && !r->waits)
        fprintf(out, ", %u writer%s, none waits: busy elsewhere", n, n == 1 ? "" : "s");
    else
        fprintf(out, ", %u writer%s, %u wait%s open", r->writers, r->writers == 1 ? "" : "s", r->waits,
                r->waits == 1 ? "" : "s");
    if (r->moved && world->source->looks == 2)
        fprintf(out, " (%u records in %u ms)", r->moved, HANG_SAMPLE_NS / 1000000);
    else if (r->last)
        say_since(out, world, r, r->last, "; its last record came ", world->source->ago);
}

/* The end of a process that a capture tells of. */
void hang_say_end(FILE *out, const hang_region *region) {
    const char *name = region->status > 128 ? sigabbrev_np(region->status - 128) : NULL;
    if (region->state == HANG_PROCESS_LEFT)
        fputs("left in order", out);
    else if (region->status > 128)
        fprintf(out, "killed by signal %d%s%s%s", region->status - 128, name ? " (SIG" : "", name ? name : "",
                name ? ")" : "");
    else if (region->status >= 0)
        fprintf(out, "exited with status %d without destroying its world", region->status);
    else
        fputs("killed, or ended without destroying its world", out);
}

static void say_gone(FILE *out, const hang_world *world, const hang_rank *r) {
    fputs(" is gone: ", out);
    if (r->region == HANG_NONE || !world->regions[r->region].ended)
        fputs("killed, or ended without destroying its world", out);
    else
        hang_say_end(out, &world->regions[r->region]);
}

static void say_unseen(FILE *out, const hang_world *world) {
    fputs(world->source->looks == 2 ? " cannot be read here (another machine, user or container)"
                                    : " is not in what was read",
          out);
}

static void say_process(FILE *out, const hang_rank *r) {
    fputs("process", out);
    if (r->pid)
        fprintf(out, " %d", (int)r->pid);
}

void hang_say_rank(FILE *out, const hang_world *world, uint32_t rank, uint32_t role, int owes) {
    const hang_rank *r = &world->ranks[rank];
    const char *without = owes ? " without signalling" : "";
    if (r->state <= HANG_RANK_STOPPED && r->state != HANG_RANK_NEVER)
        say_process(out, r);
    switch (r->state) {
    case HANG_RANK_UNSEEN: say_unseen(out, world); break;
    case HANG_RANK_GONE: say_gone(out, world, r); break;
    case HANG_RANK_LEFT: fprintf(out, " destroyed its world and left%s", without); break;
    case HANG_RANK_NEVER:
        fputs("no process has joined the world for it yet: start one with the same XS_WORLD", out);
        break;
    case HANG_RANK_STOPPED: fputs(" is stopped (SIGSTOP, or a debugger)", out); break;
    case HANG_RANK_NOT_LAUNCHED: fputs("no kernel was launched on it", out); break;
    case HANG_RANK_NOT_BEGUN:
        fprintf(out, "kernel %s was launched", kernel_or(world, r));
        say_since(out, world, r, r->launch->begin, " ", world->source->ago);
        fputs(", but none of its writers has begun (not resident, or built without XS_TRACE=1)", out);
        break;
    case HANG_RANK_WRITERS_ENDED:
        fprintf(out, "all its writers in kernel %s have ended%s", kernel_or(world, r), without);
        break;
    case HANG_RANK_KERNEL_ENDED:
        fprintf(out, "kernel %s ended", kernel_or(world, r));
        say_since(out, world, r, r->launch->end, " ", world->source->ago);
        fputs(without, out);
        if (r->launch->result)
            fprintf(out, " (%s)", xs_errname(r->launch->result));
        break;
    default: say_running(out, world, r, rank, role, owes);
    }
}
