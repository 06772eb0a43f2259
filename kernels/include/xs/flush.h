/* bus_flush (article 004, section 6.3): some buses keep writes in flight behind a fence; reading one of them back
 * drains them. Needed on such buses only, and no substitute for a release. Caller: a thread. */
#ifndef XS_FLUSH_H
#define XS_FLUSH_H

#include <xs/core.h>

/* ld.volatile of the slot (usually one that was just signalled at the peer). Returns the value read. */
XS_FN uint64_t xs_bus_flush(xs_writer *w, xs_slot slot) {
    xs_step();
    uint64_t value = xs_load_volatile((const uint64_t *)slot.at);
    xs_note_bus_flush(w, slot, value);
    return value;
}
XS_FN uint32_t xs_bus_flush_u32(xs_writer *w, xs_slot slot) {
    xs_step();
    uint32_t value = xs_load_volatile_u32((const uint32_t *)slot.at);
    xs_note_bus_flush(w, slot, value);
    return value;
}

#endif
