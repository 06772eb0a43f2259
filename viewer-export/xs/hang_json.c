#include "hang.h"

#include <database.h>
#include <inttypes.h>
#include <stdlib.h>

/* What a hang_say_... function says, as a JSON string. */
typedef struct words {
    FILE *f;
    char *text;
    size_t size;
} words;

static FILE *begin_words(words *w) {
    *w = (words){NULL, NULL, 0};
    return w->f = open_memstream(&w->text, &w->size);
}

static void end_words(words *w, FILE *out) {
    if (w->f)
        fclose(w->f);
    xsv_json_string(w->text ? w->text : "", out);
    free(w->text);
}

static void put_text(FILE *out, const char *key, const char *text) {
    fprintf(out, "\"%s\": ", key);
    xsv_json_string(text, out);
}

static void put_verdict(FILE *out, const hang_world *world) {
    words w;
    if (begin_words(&w))
        hang_say_verdict(w.f, world);
    fputs("\"verdict\": ", out);
    end_words(&w, out);
}

static void put_place(FILE *out, const xs_catalog_place *p) {
    words w;
    if (begin_words(&w))
        hang_say_place(w.f, p);
    fputs("\"slot\": ", out);
    end_words(&w, out);
    fprintf(out, ", \"owner\": %u, \"row\": %u, \"column\": %u", p->owner, p->row, p->column);
}

static void put_wait(FILE *out, const hang_world *world, uint32_t index) {
    static const char *const how[] = {"unknown", "plan", "host", "seen"};
    static const char *const states[] = {
        [HANG_STUCK] = "hung so far", [HANG_MOVING] = "moving", [HANG_YOUNG] = "too young to tell"};
    const hang_wait *w = &world->waits[index];
    const hang_writer *writer = &world->writers[w->writer];
    fprintf(out, "    {\"rank\": %u, \"block\": %u, \"warp\": %u, \"sm\": %u, ", w->rank, writer->block, writer->warp,
            writer->sm);
    put_text(out, "role", hang_role(world, writer->region, writer->role));
    fputs(", ", out);
    put_text(out, "kernel", hang_kernel(world, &world->ranks[w->rank]));
    const char *file = hang_source_file(world, w);
    fputs(", ", out);
    if (file)
        put_text(out, "file", file);
    else
        fputs("\"file\": null", out);
    fprintf(out, ", \"line\": %u, \"epoch\": %" PRIu64 ", \"word\": %u, ", w->line, w->epoch, w->user);
    if (w->is_slot)
        put_place(out, &w->slot);
    else
        fputs("\"slot\": null", out);
    fprintf(out, ", \"has\": %" PRIu64 ", \"needs\": %" PRIu64 ", \"compare\": \"%s\"", w->observed, w->need,
            hang_cmp(w->cmp));
    fprintf(out, ", \"since_ns\": %" PRIu64 ", \"polls\": %" PRIu64 ", \"polls_move\": %s, \"state\": \"%s\"", w->age,
            w->polls, world->source->looks == 1 ? "null" : w->polling ? "true" : "false", states[w->state]);
    fprintf(out, ", \"answered\": %s", w->answered ? "true" : "false");
    if (w->how)
        fprintf(out, ", \"supplier\": %u", w->supplier);
    else
        fputs(", \"supplier\": null", out);
    fprintf(out, ", \"supplier_from\": \"%s\", ", how[w->how]);
    put_text(out, "supplier_role", hang_role(world, writer->region, w->supplier_role));
    fputc('}', out);
}

static void put_rank(FILE *out, const hang_world *world, uint32_t rank) {
    const hang_rank *r = &world->ranks[rank];
    words w;
    fprintf(out, "    {\"rank\": %u, \"pid\": %d, \"state\": \"%s\", ", rank, (int)r->pid,
            hang_rank_state_name(r->state));
    put_text(out, "kernel", r->region == HANG_NONE ? "" : hang_kernel(world, r));
    fprintf(out,
            ", \"launch\": %u, \"writers\": %u, \"open_waits\": %u, \"epoch\": %" PRIu64
            ", \"records_moved\": %u, \"text\": ",
            r->launch ? r->launch->id : 0, r->writers, r->waits, r->epoch, r->moved);
    if (begin_words(&w))
        hang_say_rank(w.f, world, rank, 0, 0);
    end_words(&w, out);
    fputc('}', out);
}

static void put_signal(FILE *out, const hang_world *world, const hang_writer *writer) {
    fprintf(out, "    {\"rank\": %u, \"block\": %u, \"warp\": %u, ", writer->rank, writer->block, writer->warp);
    put_text(out, "role", hang_role(world, writer->region, writer->role));
    fputs(", ", out);
    put_place(out, &writer->signal);
    if (writer->has_value)
        fprintf(out, ", \"value\": %" PRIu64 "}", writer->signal_value);
    else
        fputs(", \"value\": null}", out);
}

static void put_root(FILE *out, const hang_world *world) {
    const hang_chain *c = &world->chain;
    words w;
    if (c->end != HANG_END_ROOT && c->end != HANG_END_SELF && c->end != HANG_END_HOST && c->end != HANG_END_LEFT_OUT) {
        fputs("   \"root\": null,\n", out);
        return;
    }
    fprintf(out, "   \"root\": {\"rank\": %u, \"state\": \"%s\", \"why\": ", c->root,
            c->end == HANG_END_HOST ? "host" : hang_rank_state_name(world->ranks[c->root].state));
    if (begin_words(&w)) {
        if (c->end == HANG_END_LEFT_OUT)
            hang_say_left_out(w.f);
        else
            hang_say_rank(w.f, world, c->root, c->root_role, 1);
    }
    end_words(&w, out);
    fputs("},\n", out);
}

static void put_chain(FILE *out, const hang_world *world) {
    static const char *const ends[] = {"unknown", "root", "self", "host", "cycle", "moving", "left_out"};
    const hang_chain *c = &world->chain;
    fprintf(out, "   \"chain_ends_in\": \"%s\",\n   \"chain\": [", world->wait_count ? ends[c->end] : "none");
    for (uint32_t i = 0; world->wait_count && i < c->count; i++)
        fprintf(out, "%s%u", i ? ", " : "", world->waits[c->waits[i]].rank);
    fputs("],\n   \"cycle\": [", out);
    for (uint32_t i = c->cycle; world->wait_count && c->end == HANG_END_CYCLE && i < c->count; i++)
        fprintf(out, "%s%u", i > c->cycle ? ", " : "", world->waits[c->waits[i]].rank);
    fputs("],\n", out);
}

static void put_lists(FILE *out, const hang_world *world) {
    uint32_t shown = 0;
    fputs("   \"waits\": [\n", out);
    for (uint32_t i = 0; i < world->wait_count; i++) {
        put_wait(out, world, i);
        fputs(i + 1 < world->wait_count ? ",\n" : "\n", out);
    }
    fputs("   ],\n   \"ranks\": [\n", out);
    for (uint32_t i = 0; i < world->rank_count; i++) {
        put_rank(out, world, i);
        fputs(i + 1 < world->rank_count ? ",\n" : "\n", out);
    }
    fputs("   ],\n   \"last_signals\": [", out);
    for (uint32_t i = 0; i < world->writer_count; i++)
        if (world->writers[i].has_signalled) {
            fputs(shown++ ? ",\n" : "\n", out);
            put_signal(out, world, &world->writers[i]);
        }
    fputs("]\n", out);
}

/* Of a capture: the process's end, and what its host program did last. */
static void put_end(FILE *out, const hang_world *world, const hang_region *r) {
    if (world->source != &hang_capture)
        return;
    fprintf(out, ", \"ended\": %s, \"exit_status\": ", r->ended ? "true" : "false");
    if (r->status >= 0)
        fprintf(out, "%d", (int)r->status);
    else
        fputs("null", out);
    fputs(", \"last_call\": ", out);
    if (!r->call) {
        fputs("null", out);
        return;
    }
    fputc('{', out);
    put_text(out, "name", r->call);
    fprintf(out, ", \"since_ns\": %" PRIu64 "}", r->now > r->call_begin ? r->now - r->call_begin : 0);
}

static void put_source(FILE *out, const hang_world *world) {
    fprintf(out, "\"source\": \"%s\", \"quiet_ns\": ", world->source->name);
    if (world->source->looks == 1)
        fprintf(out, "%" PRIu64, world->quiet);
    else
        fputs("null", out);
}

static void put_world(FILE *out, const hang_world *world) {
    static const char *const states[] = {"nothing waits", "slow", "hung"};
    uint64_t no_ring = 0, no_line = 0;
    uint32_t torn = 0, unsure = 0;
    fputs("  {", out);
    put_verdict(out, world);
    fputs(",\n   ", out);
    put_source(out, world);
    fprintf(out, ",\n   \"state\": \"%s\", \"world_ranks\": %u, \"processes\": [", states[world->verdict],
            world->rank_count);
    for (uint32_t i = 0; i < world->region_count; i++) {
        const hang_region *r = &world->regions[i];
        no_ring += r->counts.no_ring;
        no_line += r->counts.no_line;
        unsure += r->unsure;
        torn += r->torn;
        fprintf(out, "%s{\"pid\": %d, ", i ? ", " : "", (int)r->holder);
        put_text(out, "command", r->catalog.command);
        fprintf(out, ", \"first_rank\": %u, \"ranks\": %u, \"state\": \"%s\"", r->first_rank, r->ranks,
                hang_process_state_name(r->state));
        put_end(out, world, r);
        fputc('}', out);
    }
    fprintf(out,
            "],\n   \"ended_between_samples\": %u, \"gave_up\": %u, \"no_ring\": %" PRIu64 ", \"no_line\": %" PRIu64
            ", \"torn_lines\": %u, \"may_be_over\": %u,\n",
            world->ended, world->given_up, no_ring, no_line, torn, unsure);
    put_chain(out, world);
    if (world->wait_count)
        put_root(out, world);
    else
        fputs("   \"root\": null,\n", out);
    put_lists(out, world);
    fputs("  }", out);
}

void hang_print_json(const hang_report *report, FILE *out) {
    fputs("{\"worlds\": [\n", out);
    for (uint32_t i = 0; i < report->world_count; i++) {
        put_world(out, &report->worlds[i]);
        fputs(i + 1 < report->world_count ? ",\n" : "\n", out);
    }
    fputs("], \"notes\": [", out);
    for (uint32_t i = 0; i < report->note_count; i++) {
        fputs(i ? ", " : "", out);
        xsv_json_string(report->notes[i], out);
    }
    fputs("]}\n", out);
}
