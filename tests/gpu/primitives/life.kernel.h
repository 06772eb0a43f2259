/* Bounds: a peer that lives, one that does not, and what never comes. Rank 0 beats and signals once; the others wait. */
#include "prims.h"

enum { PRIM_BEATS = 40 };

XS_FN void prim_beat(xs_writer *w, const prim_self *s) {
    for (uint64_t beat = 1; beat <= PRIM_BEATS; beat++) {
        xs_heartbeat(w, &s->a->beat, beat);
        xs_work_ns(s->a->life_ns / 8);
    }
    for (uint32_t to = 1; to < s->xs->ranks; to++)
        xs_signal_slot(w, &s->a->data, to, 0, 0, 1);
    s->kept->signals += s->xs->ranks - 1;
}

XS_KERNEL(prim_life, struct prim_args) {
    xs_writer w = xs_writer_begin(&xs, args.role);
    prim_self s = prim_begin(&args, &xs);
    if (xs_thread() != 0) {
    } else if (s.rank == 0) {
        prim_beat(&w, &s);
    } else {
        /* Five times as long as the bound on silence: it must be the beats that keep the wait going. */
        xs_bound alive = xs_bound_heartbeat(&w, &args.beat, 0, args.life_ns), few = {100, 0, 0, NULL};
        *s.wrong += xs_wait_slot_bounded(&w, &args.data, 0, 0, 1, alive) != XS_RESULT_OK;
        *s.wrong += xs_wait_slot_bounded(&w, &args.data, 0, 0, 2, alive) != XS_RESULT_PEER_DEAD;
        uint64_t begin = xs_now();
        *s.wrong += xs_wait_slot_bounded(&w, &args.data, 0, 0, 2, xs_bound_ns(args.life_ns)) != XS_RESULT_TIMEOUT;
        *s.wrong += xs_now() - begin < args.life_ns;
        *s.wrong += xs_wait_slot_bounded(&w, &args.data, 0, 0, 2, few) != XS_RESULT_TIMEOUT;
        *s.wrong += xs_aborted(&w) != 0;
        s.kept->waits += 4;
    }
    xs_writer_end(&w);
}
