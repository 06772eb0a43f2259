/* The host's own access to slots, heartbeats, and the end of a world. */
#include <unistd.h>

#include "objects.h"

static int slot_address(xs_world *world, const xs_pad *pad, uint32_t owner, uint32_t row, uint32_t column,
                        char **address) {
    int rc = xs_world_check(world);
    if (rc) return rc;
    if (!pad || !pad->base) return xs_fail(XS_E_ARGUMENT, "no pad given");
    if (owner >= world->config.ranks || row >= pad->rows || column >= pad->columns)
        return xs_fail(XS_E_ARGUMENT, "slot [%u][%u][%u] is outside its pad of %u x %u", owner, row, column, pad->rows,
                       pad->columns);
    if (world->backend->ready && owner - world->config.first_rank >= world->config.local_ranks) {
        pthread_mutex_lock(&world->lock);
        rc = world->backend->ready(world);
        pthread_mutex_unlock(&world->lock);
        if (rc) return rc;
    }
    void *const *base = xs_bases_for_host(world, pad->base);
    if (!base) return xs_fail(XS_E_ARGUMENT, "the pad is not one of this world");
    *address = (char *)base[owner] + (uint64_t)row * pad->row_stride + (uint64_t)column * pad->column_stride;
    return 0;
}

static uint32_t width(const xs_pad *pad) { return pad->flags & XS_PAD_32 ? 32 : 64; }

int xs_slot_read(xs_world *world, const xs_pad *pad, uint32_t owner, uint32_t row, uint32_t column, uint64_t *value) {
    char *address = NULL;
    int rc = slot_address(world, pad, owner, row, column, &address);
    if (rc || !value) return rc ? rc : xs_fail(XS_E_ARGUMENT, "no place for the value");
    return world->backend->slot_read(world, address, width(pad), value);
}

int xs_slot_write(xs_world *world, const xs_pad *pad, uint32_t owner, uint32_t row, uint32_t column, uint64_t value) {
    char *address = NULL;
    int rc = slot_address(world, pad, owner, row, column, &address);
    if (rc) return rc;
    if (width(pad) == 32 && value > UINT32_MAX) return xs_fail(XS_E_ARGUMENT, "the slot has 32 bits");
    return world->backend->slot_write(world, address, width(pad), value);
}

int xs_heartbeat_read(xs_world *world, uint32_t rank, uint64_t *beat) {
    int rc = xs_world_check(world);
    return rc ? rc : xs_slot_read(world, &world->heartbeat, world->config.first_rank, 0, rank, beat);
}

/* A compare-and-swap and a store, nothing else: it runs in signal handlers. The first reason stays. */
int xs_abort(xs_world *world, int reason) {
    if (!world) return XS_E_ARGUMENT;
    if (world->owner_pid != (int32_t)getpid()) return XS_E_FORKED;
    uint32_t word = (uint32_t)(reason < 0 ? -reason : reason);
    xs_world_set_abort(world, word ? word : (uint32_t)-XS_E_ABORTED);
    return 0;
}

int xs_world_abort_error(const xs_world *world) { return -(int)__atomic_load_n(world->abort_word, __ATOMIC_RELAXED); }

int xs_aborted_reason(const xs_world *world) { return world ? xs_world_abort_error(world) : XS_E_ARGUMENT; }
