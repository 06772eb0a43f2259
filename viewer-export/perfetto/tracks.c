/* The tree of tracks. A descriptor goes into a file in front of the first event that needs it, its parents first: so a
 * row that would be empty is never declared. */
#include <stdio.h>
#include <stdlib.h>

#include "draw.h"

#define MERGE_BY_NAME 1u
#define MERGE_NONE 2u
#define MERGE_BY_KEY 3u
#define SYNTHETIC_PID 5000000 /* above the kernel's largest pid, and apart for every rank */

uint32_t track_add(drawing *d, const track_info *t) {
    if (d->texts.failed || xsv_room(&d->tracks, &d->track_room, d->track_count + 1, sizeof *d->tracks, 0)) {
        d->texts.failed = true;
        return 0;
    }
    d->tracks[++d->track_count] = *t;
    return d->track_count;
}

static const char *text_or_null(const drawing *d, uint32_t text) { return text ? d->texts.text[text] : NULL; }

static int write_descriptor(drawing *d, trace_file *file, uint32_t number) {
    const track_info *t = &d->tracks[number];
    TrackDescriptor descriptor = TRACK_DESCRIPTOR__INIT;
    ProcessDescriptor process = PROCESS_DESCRIPTOR__INIT;
    char *labels[2];
    CounterDescriptor counter = COUNTER_DESCRIPTOR__INIT;
    StateDescriptor states = STATE_DESCRIPTOR__INIT;
    descriptor.has_uuid = descriptor.has_sibling_merge_behavior = 1;
    descriptor.uuid = number;
    descriptor.sibling_merge_behavior = t->merge_key ? MERGE_BY_KEY : t->merged_by_name ? MERGE_BY_NAME : MERGE_NONE;
    descriptor.sibling_merge_key = (char *)text_or_null(d, t->merge_key);
    descriptor.name = t->pid ? NULL : (char *)text_or_null(d, t->name);
    descriptor.description = (char *)text_or_null(d, t->description);
    descriptor.has_parent_uuid = t->parent != 0;
    descriptor.parent_uuid = t->parent;
    descriptor.has_child_ordering = t->child_ordering != 0;
    descriptor.child_ordering = t->child_ordering;
    descriptor.has_sibling_order_rank = t->ordered;
    descriptor.sibling_order_rank = t->order;
    if (t->pid) {
        process.has_pid = 1;
        process.pid = t->pid;
        process.process_name = (char *)text_or_null(d, t->name);
        for (uint32_t i = 0; i < 2; i++)
            if (t->labels[i])
                labels[process.n_process_labels++] = (char *)d->texts.text[t->labels[i]];
        process.process_labels = labels;
        descriptor.process = &process;
    }
    if (t->states)
        descriptor.state = &states;
    if (t->unit) {
        counter.unit_name = (char *)text_or_null(d, t->unit);
        counter.y_axis_share_key = (char *)text_or_null(d, t->share);
        descriptor.counter = &counter;
    }
    TracePacket packet = TRACE_PACKET__INIT;
    packet.track_descriptor = &descriptor;
    return encoder_packet(&file->enc, &packet, 4 * STRINGS_TEXT_MAX);
}

int track_declare(drawing *d, trace_file *file, uint32_t number) {
    if (!number)
        return XS_E_MEMORY;
    TRY(xsv_room(&file->declared, &file->declared_room, number, 1, 0));
    if (file->declared[number])
        return XS_OK;
    if (d->tracks[number].parent)
        TRY(track_declare(d, file, d->tracks[number].parent));
    file->declared[number] = 1;
    return write_descriptor(d, file, number);
}

static int write_again(drawing *d, trace_file *file, uint32_t number) {
    bool there = file && number < file->declared_room && file->declared[number];
    return there ? write_descriptor(d, file, number) : XS_OK;
}

int tracks_again(drawing *d, uint32_t number) {
    for (uint32_t i = 0; i < d->window_count; i++)
        TRY(write_again(d, d->windows[i], number));
    return write_again(d, d->overview, number);
}

uint32_t track_root(drawing *d, const char *name, const char *description) {
    track_info t = {.name = strings_id(&d->texts, name),
               .description = strings_id(&d->texts, description),
               .child_ordering = ORDER_LEXICOGRAPHIC};
    return track_add(d, &t);
}

const char *role_name(const drawing *d, uint32_t role) {
    return role < d->model->name_count ? d->model->names[role].text : "unknown";
}

uint32_t rank_text(drawing *d, const char *format, uint32_t rank) {
    char number[16];
    int width = 1;
    for (uint32_t n = d->correlation_count ? d->correlation_count - 1 : 0; n >= 10; n /= 10)
        width++;
    snprintf(number, sizeof number, "%0*u", width, d->ranks[rank].number);
    char text[128];
    snprintf(text, sizeof text, format, number);
    return strings_id(&d->texts, text);
}

role_group *track_role(drawing *d, uint32_t rank, uint32_t role) {
    rank_state *r = &d->ranks[rank];
    for (uint32_t i = 0; i < r->role_count; i++)
        if (r->roles[i].role == role)
            return &r->roles[i];
    role_group *more = realloc(r->roles, (r->role_count + 1) * sizeof *more);
    if (!more) {
        d->texts.failed = true;
        return NULL;
    }
    r->roles = more;
    track_info t = {.parent = r->process, .child_ordering = ORDER_EXPLICIT};
    t.name = strings_format(&d->texts, "role %s", role_name(d, role));
    t.description = strings_format(&d->texts,
                                   "What each writer of the role %s did. Waits, passes and signals are coloured by the "
                                   "rank that owes or wrote the "
                                   "signal, work by its name. A row is one writer: a warp of a block.",
                                   role_name(d, role));
    more[r->role_count] = (role_group){.role = role, .group = track_add(d, &t)};
    return &more[r->role_count++];
}

uint32_t track_passes(drawing *d, role_group *group) {
    if (!group->passes) {
        track_info t = {.parent = group->group, .order = INT32_MAX, .ordered = true};
        t.name = strings_id(&d->texts, "arrive, pass");
        t.description = strings_id(&d->texts, "Waits that were satisfied at their first poll, arrivals at counters and "
                                              "gates, resets, aborts and changes of "
                                              "role, of all writers of the role.");
        group->passes = track_add(d, &t);
    }
    return group->passes;
}

static uint32_t device_text(drawing *d, int32_t device, uint32_t rank) {
    uint32_t number = d->ranks[rank].number, seen = 0;
    const char *model = "";
    if (device < 0)
        return strings_format(&d->texts, "rank %u · CPU", number);
    for (uint32_t i = 0; i < d->model->name_count; i++)
        if (d->model->names[i].kind == XS_NAME_DEVICE && (seen == 0 || seen <= (uint32_t)device)) {
            model = d->model->names[i].text; /* merged by text: one name stands for all equal devices */
            seen++;
        }
    return strings_format(&d->texts, "rank %u · GPU %d%s%s", number, device, *model ? " " : "", model);
}

int tracks_begin(drawing *d) {
    for (uint32_t i = 0; i < d->model->rank_count; i++) {
        track_info t = {
            .pid = SYNTHETIC_PID + (int32_t)d->ranks[i].number, .order = (int32_t)d->ranks[i].number, .ordered = true};
        t.name = device_text(d, d->model->ranks[i].device, i);
        t.description = strings_id(&d->texts, "One rank: its kernels, its writers by role, its watermarks.");
        d->ranks[i].process = track_add(d, &t);
    }
    return d->texts.failed ? XS_E_MEMORY : XS_OK;
}
