/* Experts: in each round every block sends some tokens to some experts of all ranks, as routing has it, none to others, and adds them to a count there;
 * who serves an expert waits for as many as routing sends it. One block is gone in the middle. That others had come in each round so far, and have
 * nothing for that expert in this one, is routing. */
#include "fault.h"

#define ROUTED_RANKS 4u
#define EXPERTS 3u
#define SENDERS 2u

XS_INLINE uint32_t routed(const struct fault_args *a, uint32_t sender, uint32_t expert, uint64_t round) {
    uint64_t x = (a->seed + 7) * 0x9e3779b97f4a7c15ull ^ (round << 16 | sender << 8 | expert) * 0xbf58476d1ce4e5b9ull;
    x ^= x >> 29;
    x *= 0x94d049bb133111ebull;
    return (uint32_t)(x >> 33) % 4;
}
XS_INLINE uint32_t routed_to(const struct fault_args *a, uint32_t expert, uint64_t round) {
    uint32_t tokens = 0;
    for (uint32_t sender = 0; sender < ROUTED_RANKS * SENDERS; sender++)
        tokens += routed(a, sender, expert, round);
    return tokens;
}
XS_INLINE uint32_t routed_place(uint32_t sender, uint32_t expert, uint64_t round) {
    return ((uint32_t)round % 2 * EXPERTS + expert % EXPERTS) * ROUTED_RANKS * SENDERS + sender;
}
XS_FN void routed_send(xs_writer *w, const struct fault_args *a, uint32_t sender, uint64_t round) {
    for (uint32_t i = 0; i < ROUTED_RANKS * EXPERTS; i++) {
        uint32_t expert = (sender / SENDERS * EXPERTS + i) % (ROUTED_RANKS * EXPERTS), dst = expert / EXPERTS, tokens = routed(a, sender, expert, round);
        if (tokens == 0)
            continue;
        xs_work_ns(fault_work_ns(a, sender, round) / 32);
        fault_put(w, a, dst, routed_place(sender, expert, round), round);
        xs_core_gate(w, xs_slot_at(&a->count, dst, expert % EXPERTS, 0), tokens, XS_RELEASE, XS_SCOPE_SYS);
    }
}
XS_FN int routed_serve(xs_writer *w, const struct fault_args *a, uint32_t expert, uint64_t *total, uint64_t round) {
    uint32_t tokens = routed_to(a, expert, round);
    int result = XS_RESULT_OK;
    *total += tokens;
    if (tokens != 0)
        result = xs_wait_slot_bounded(w, &a->count, expert % EXPERTS, 0, *total, fault_bound(a));
    for (uint32_t sender = 0; sender < ROUTED_RANKS * SENDERS && result == XS_RESULT_OK; sender++)
        if (routed(a, sender, expert, round))
            fault_take(w, a, sender / SENDERS, routed_place(sender, expert, round), round);
    return result;
}
/* All have served: until then nobody writes over what they read. */
XS_FN int routed_meet(xs_writer *w, const struct fault_args *a, uint32_t rank, uint32_t block, uint64_t round) {
    int result = XS_RESULT_OK;
    for (uint32_t dst = 0; dst < ROUTED_RANKS; dst++)
        xs_signal_slot(w, &a->ready, dst, rank, block, round);
    for (uint32_t i = 0; i < ROUTED_RANKS * SENDERS && result == XS_RESULT_OK; i++)
        result = xs_wait_slot_bounded(w, &a->ready, i / SENDERS, i % SENDERS, round, fault_bound(a));
    return result;
}

XS_KERNEL(routed_gone, struct fault_args) {
    FAULT_ONE_LANE();
    uint32_t rank = xs_rank(xs), block = xs_block(xs);
    uint64_t total[EXPERTS] = {0};
    xs_writer w = xs_writer_begin(&xs, args.role_produce);
    int result = XS_RESULT_OK;
    fault_meet(&w, &args);
    for (uint64_t round = 1; round <= args.rounds && result == XS_RESULT_OK; round++) {
        xs_writer_epoch(&w, round);
        if (args.fault && rank == 3 && block == 1 && round == args.rounds / 2)
            return;
        routed_send(&w, &args, rank * SENDERS + block, round);
        for (uint32_t expert = block; expert < EXPERTS && result == XS_RESULT_OK; expert += SENDERS)
            result = routed_serve(&w, &args, rank * EXPERTS + expert, &total[expert], round);
        if (result == XS_RESULT_OK)
            result = routed_meet(&w, &args, rank, block, round);
    }
    xs_writer_end(&w);
}

#if FAULT_HOST
static void setup(fault_run *run) {
    fault_pad(run, &run->args.count, "arrived", EXPERTS, 1, XS_PAD_SHARED);
    fault_pad(run, &run->args.ready, "served", ROUTED_RANKS, SENDERS, 0);
    fault_buffers(run, 2 * EXPERTS * ROUTED_RANKS * SENDERS);
}
FAULT(routed_gone, .story = "of those who send to experts as routing has it, one block is gone", .finding = "lost-supplier", FAULT_SLOT(NULL, 0, 0, 0),
      FAULT_CULPRIT(3, 1), .judges = FAULT_SIM, .ranks = ROUTED_RANKS, .grid = SENDERS, .words = 8, .setup = setup);
#endif
