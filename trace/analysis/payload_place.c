/* The chunks that payload is written to, and which of them a write or a read is of. A chunk is (who writes, whose
 * memory, index, name of the write); readers name the writer as their peer. Where a reader names no peer and others
 * have written to it, the place is one for all who write there: a queue of several producers. */
#include "payload_race.h"
#include "class.h"

uint64_t payload_key(uint32_t src, uint32_t dst, uint64_t index, uint32_t name) {
    return an_key(XSA_PAYLOAD_RACE, (uint64_t)src << 32 | dst, index, name);
}

int payload_know_name(races *r, uint32_t name) {
    for (uint32_t i = 0; i < r->name_count; i++)
        if (r->names[i].name == name)
            return 0;
    if (RD_ROOM(r->names, r->name_room, r->name_count + 1) < 0)
        return XS_E_MEMORY;
    r->names[r->name_count++] = (named){name, false};
    return 0;
}

bool payload_is_shared(const races *r, uint32_t name) {
    for (uint32_t i = 0; i < r->name_count; i++)
        if (r->names[i].name == name)
            return r->names[i].shared;
    return false;
}

static uint32_t chunk_at(races *r, uint64_t key, uint32_t name) {
    uint32_t at = rd_map_get(&r->of, key);
    if (at != XSR_NONE)
        return at;
    at = r->count;
    if (RD_ROOM(r->chunks, r->room, at + 1) < 0 || rd_map_put(&r->of, key, at) < 0)
        return XSR_NONE;
    r->chunks[at] = (chunk){.name = name};
    r->count++;
    return at;
}

uint32_t payload_peer(const xsr_event *e) {
    return e->further[0] == XS_NO_PEER ? PAYLOAD_ANY : (uint32_t)e->further[0];
}

/* Who reads may call it otherwise than who writes, but not by the name of another buffer. */
bool payload_other_name(const races *r, uint32_t read, uint32_t written) {
    for (uint32_t i = 0; i < r->name_count; i++)
        if (r->names[i].name == read)
            return read != written;
    return false;
}

/* Of a read that names no peer: what others have written to that place, in the reader's memory (of: its number) or
 * wherever all of them have it (PAYLOAD_ANY). From then on that place is one for all of them. */
static uint32_t shared_chunk(races *r, const xsr_event *e, uint32_t of, uint64_t generation) {
    for (uint32_t i = 0; i < r->name_count; i++) {
        uint32_t at = payload_other_name(r, e->object, r->names[i].name)
                          ? XSR_NONE
                          : rd_map_get(&r->of, payload_key(PAYLOAD_ALL, of, e->value, r->names[i].name));
        if (at == XSR_NONE || (of == PAYLOAD_ANY && !r->names[i].shared && r->chunks[at].generation != generation))
            continue;
        r->names[i].shared = true;
        return at;
    }
    return XSR_NONE;
}

/* The chunk that a read is of: among those that its peer (or, without one, its own rank) wrote for it, for all, or into
 * its own memory, from where others fetch it; the one of its generation. */
static uint32_t read_chunk(const an *a, const races *r, const xsr_event *e) {
    uint32_t self = an_number(a, e->rank), from = payload_peer(e) == PAYLOAD_ANY ? self : payload_peer(e),
             only = XSR_NONE, found = 0;
    const uint32_t in[] = {self, PAYLOAD_ANY, from};
    for (uint32_t i = 0; i < (from == self ? 2u : 3u) * r->name_count; i++) {
        uint32_t name = r->names[i % r->name_count].name,
                 at = rd_map_get(&r->of, payload_key(from, in[i / r->name_count], e->value, name));
        if (at == XSR_NONE || payload_other_name(r, e->object, name))
            continue;
        if (r->chunks[at].generation == e->detail)
            return at;
        only = at;
        found++;
    }
    return found == 1 ? only : XSR_NONE;
}

/* Also told by its place alone, for readers that name no peer. */
uint32_t payload_written(const an *a, races *r, const xsr_event *e) {
    uint32_t self = an_number(a, e->rank), dst = payload_peer(e);
    uint64_t place = payload_key(PAYLOAD_ALL, dst, e->value, e->object);
    if (dst == self)
        return chunk_at(r, payload_key(self, dst, e->value, e->object), e->object);
    uint32_t at = payload_is_shared(r, e->object) ? rd_map_get(&r->of, place) : XSR_NONE;
    if (at == XSR_NONE)
        at = chunk_at(r, payload_key(self, dst, e->value, e->object), e->object);
    return at == XSR_NONE || rd_map_put(&r->of, place, at) < 0 ? XSR_NONE : at;
}

/* Of a read that names no peer: its own of that generation, then the place that all write to, then any of its own,
 * then what others wrote into its memory. */
uint32_t payload_to_read(const an *a, races *r, const xsr_event *e) {
    uint32_t own = read_chunk(a, r, e), at;
    if (payload_peer(e) != PAYLOAD_ANY ||
        (own != XSR_NONE && r->chunks[own].generation == e->detail && !payload_is_shared(r, e->object)))
        return own;
    at = shared_chunk(r, e, PAYLOAD_ANY, e->detail);
    if (at != XSR_NONE || own != XSR_NONE)
        return at != XSR_NONE ? at : own;
    return shared_chunk(r, e, an_number(a, e->rank), e->detail);
}
