/* Buffers: payload memory of which every rank owns a copy. And channels: three pads that belong together. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objects.h"

static const xs_named_pad *find(const xs_world *world, const char *name) {
    const xs_named_pad *at = xs_objects_of(world)->pads;
    while (at && strcmp(at->name, name)) at = at->next;
    return at;
}

static int again(const xs_named_pad *old, uint64_t bytes, xs_buffer *buffer) {
    if (!old->buffer_bytes) return xs_fail(XS_E_NAME, "\"%s\" is a pad already", old->name);
    if (old->buffer_bytes != bytes) return xs_fail(XS_E_SHAPE, "buffer \"%s\" exists with another size", old->name);
    *buffer = (xs_buffer){.base = old->pad.base, .bytes = bytes};
    return 0;
}

static int make(xs_world *world, const char *name, uint64_t bytes, xs_buffer *buffer) {
    const xs_named_pad *old = find(world, name);
    if (old) return again(old, bytes, buffer);
    xs_named_pad *made = calloc(1, sizeof *made + world->config.ranks * sizeof(void *));
    if (!made) return XS_E_MEMORY;
    strcpy(made->name, name); /* length checked by xs_name_check */
    made->buffer_bytes = bytes;
    char key[XS_NAME_BYTES + 16];
    snprintf(key, sizeof key, "%s buffer", name);
    int rc = world->backend->shared_memory(world, key, bytes, made->base);
    if (!rc) rc = xs_bases_for_kernels(world, made->base, &made->pad.base);
    if (!rc) rc = xs_name_get(world, XS_NAME_BUFFER, name);
    if (rc < 0) {
        xs_bases_drop(world, made->base);
        free(made);
        return rc;
    }
    made->next = xs_objects_of(world)->pads;
    xs_objects_of(world)->pads = made;
    *buffer = (xs_buffer){.base = made->pad.base, .bytes = bytes};
    return 0;
}

int xs_buffer_create(xs_world *world, const char *name, uint64_t bytes, xs_buffer *buffer) {
    int rc = xs_world_check(world);
    if (!rc) rc = xs_name_check(name, XS_NAME_BYTES);
    if (rc) return rc;
    if (!buffer || !bytes || bytes > 1ull << 40)
        return xs_fail(XS_E_ARGUMENT, "buffer \"%s\": size out of range", name);
    pthread_mutex_lock(&world->lock);
    rc = make(world, name, bytes, buffer);
    pthread_mutex_unlock(&world->lock);
    return rc;
}

static int channel_check(const xs_world *world, const char *name, uint32_t producer, uint64_t *consumers,
                         uint32_t depth) {
    uint32_t ranks = world->config.ranks;
    if (!depth || producer >= ranks)
        return xs_fail(XS_E_ARGUMENT, "channel \"%s\": depth or producer out of range", name);
    if (ranks > 64) { /* a mask cannot name them: all but the producer */
        *consumers = UINT64_MAX;
        return 0;
    }
    uint64_t all = UINT64_MAX >> (64 - ranks);
    if (!*consumers || *consumers & ~all)
        return xs_fail(XS_E_ARGUMENT, "channel \"%s\": no consumer, or one out of range", name);
    return 0;
}

static int channel_pad(xs_world *world, const char *name, const char *part, uint32_t columns, uint32_t flags,
                       xs_pad *pad) {
    char whole[XS_NAME_BYTES + 1];
    if ((size_t)snprintf(whole, sizeof whole, "%s.%s", name, part) >= sizeof whole)
        return xs_fail(XS_E_NAME, "channel \"%.40s...\": name too long", name);
    return xs_pad_create(world, whole, 1, columns, flags, pad);
}

/* Who writes what follows from the shape of a channel; the analysis should not have to be told. */
static int channel_plan(xs_world *world, const xs_channel *channel) {
    xs_plan_entry entries[3];
    memset(entries, 0, sizeof entries);
    for (int i = 0; i < 3; i++) {
        entries[i].kind = XS_PLAN_WRITER;
        entries[i].owner = entries[i].row = entries[i].column = XS_PLAN_ANY;
        entries[i].epoch = UINT64_MAX;
        entries[i].pad_first = channel->sequence.first;
        entries[i].a = channel->producer;
    }
    entries[1].kind = XS_PLAN_DEPTH;
    entries[1].a = channel->depth;
    entries[2].pad_first = channel->credit.first;
    entries[2].a = XS_PLAN_COLUMN;
    return xs_plan_add(world, entries, 3);
}

int xs_channel_create(xs_world *world, const char *name, uint32_t producer, uint64_t consumers, uint32_t depth,
                      xs_channel *channel) {
    int rc = xs_world_check(world);
    if (!rc) rc = xs_name_check(name, XS_NAME_BYTES);
    if (!rc) rc = channel_check(world, name, producer, &consumers, depth);
    if (rc || !channel) return rc ? rc : xs_fail(XS_E_ARGUMENT, "channel \"%s\": no place for the channel", name);
    xs_channel made = {.producer = producer, .depth = depth, .consumers = consumers};
    rc = channel_pad(world, name, "sequence", depth, 0, &made.sequence);
    if (!rc) rc = channel_pad(world, name, "batch", depth, XS_PAD_NO_DATA, &made.batch);
    if (!rc) rc = channel_pad(world, name, "credit", world->config.ranks, 0, &made.credit);
    if (!rc) rc = channel_plan(world, &made);
    if (!rc) *channel = made;
    return rc;
}
