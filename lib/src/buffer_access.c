/* The host's own access to buffers, wherever they live. */
#include "objects.h"

static int buffer_address(const xs_world *world, const xs_buffer *buffer, uint32_t rank, uint64_t offset,
                          uint64_t bytes, char **address) {
    int rc = xs_world_check(world);
    if (rc) return rc;
    if (!buffer || !buffer->base) return xs_fail(XS_E_ARGUMENT, "no buffer given");
    if (rank < world->config.first_rank || rank - world->config.first_rank >= world->config.local_ranks)
        return xs_fail(XS_E_ARGUMENT, "rank %u does not live in this process", rank);
    if (offset > buffer->bytes || bytes > buffer->bytes - offset)
        return xs_fail(XS_E_ARGUMENT, "%llu bytes from %llu are outside the buffer of %llu", (unsigned long long)bytes,
                       (unsigned long long)offset, (unsigned long long)buffer->bytes);
    void *const *base = xs_bases_for_host(world, buffer->base);
    if (!base) return xs_fail(XS_E_ARGUMENT, "the buffer is not one of this world");
    *address = (char *)base[rank] + offset;
    return 0;
}

int xs_buffer_write(xs_world *world, const xs_buffer *buffer, uint32_t rank, uint64_t offset, const void *from,
                    uint64_t bytes) {
    char *address = NULL;
    int rc = buffer_address(world, buffer, rank, offset, bytes, &address);
    return rc ? rc : world->backend->copy(world, address, from, bytes);
}

int xs_buffer_read(xs_world *world, const xs_buffer *buffer, uint32_t rank, uint64_t offset, void *to, uint64_t bytes) {
    char *address = NULL;
    int rc = buffer_address(world, buffer, rank, offset, bytes, &address);
    return rc ? rc : world->backend->copy(world, to, address, bytes);
}
