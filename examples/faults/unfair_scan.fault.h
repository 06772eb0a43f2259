/* Unfair scan (article 001, section 4.2): the server looks for requests from client 1 on, each time, so that near clients are served
 * again and again and the last one starves. Twin: it goes on behind the client that it served last. */
#include "fault.h"

enum { SERVED = 60, THINK_NS = 500, SERVE_NS = 2000 };
#define LAST (1ull << 20) /* a reply that ends its client */

/* The next client with a request, from `from` on; 0: none. */
XS_FN uint32_t scan(xs_writer *w, const struct fault_args *a, uint32_t ranks, uint32_t from, const uint64_t *served) {
    for (uint32_t i = 0; i < ranks - 1; i++) {
        uint32_t client = 1 + (from - 1 + i) % (ranks - 1);
        xs_slot slot = xs_slot_at(&a->ready, 0, 0, client);
        uint64_t seen = xs_ordered_load(slot.at, XS_ACQUIRE, XS_SCOPE_SYS, 64);
        if (seen > served[client]) {
            xs_note_pass(w, slot, seen, served[client] + 1, XS_ACQUIRE, XS_SCOPE_SYS);
            return client;
        }
    }
    return 0;
}
XS_FN void serve(xs_writer *w, const struct fault_args *a, uint32_t ranks) {
    uint64_t served[8] = {0}, start = xs_now();
    for (uint32_t n = 0, from = 1; n < SERVED && xs_now() - start < a->bound_ns;) {
        uint32_t client = scan(w, a, ranks, a->fault ? 1 : from, served);
        xs_work_ns(client ? SERVE_NS : 100);
        if (client == 0)
            continue;
        n++;
        from = client % (ranks - 1) + 1;
        xs_signal_slot(w, &a->ack, client, 0, 0, ++served[client]);
    }
    for (uint32_t client = 1; client < ranks; client++)
        xs_signal_slot(w, &a->ack, client, 0, 0, LAST);
}
XS_FN void ask(xs_writer *w, const struct fault_args *a, uint32_t rank) {
    for (uint64_t n = 1; n <= SERVED; n++) {
        xs_work_ns(THINK_NS);
        xs_signal_slot(w, &a->ready, 0, 0, rank, n);
        if (xs_wait_slot_bounded(w, &a->ack, 0, 0, n, fault_bound(a)) != XS_RESULT_OK ||
            xs_ordered_load(xs_slot_at(&a->ack, rank, 0, 0).at, XS_RELAXED, XS_SCOPE_SYS, 64) == LAST)
            return;
    }
}

XS_KERNEL(unfair_scan, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs);
    xs_writer w = xs_writer_begin(&xs, rank == 0 ? args.role_produce : args.role_consume);
    xs_writer_epoch(&w, 1);
    if (rank == 0)
        serve(&w, &args, xs.ranks);
    else
        ask(&w, &args, rank);
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.ready, "request", 1, run->fault->ranks, 0);
    fault_pad(run, &run->args.ack, "reply", 1, 1, 0);
    fault_writer(run, &run->args.ready, 0, 0, XS_PLAN_ANY, XS_PLAN_COLUMN, run->args.role_consume);
    fault_writer(run, &run->args.ack, XS_PLAN_ANY, 0, 0, 0, run->args.role_produce);
}
FAULT(unfair_scan, .story = "the server always begins its scan at the first client", .finding = "unfairness",
      FAULT_CULPRIT(0, 0), .judges = FAULT_TIMED, .ranks = 5, .setup = setup);
#endif
