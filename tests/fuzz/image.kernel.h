/* Something of everything that stands in a region: full rings, owners, names, waits that are over, given up and open. */
#include <xs/kernel.h>

#define IMAGE_LAST 4242u /* word of the wait that nobody ends */

struct image_args {
    xs_pad done, counter;
    uint32_t role, mark, rounds, reserved0;
};

XS_KERNEL(image, struct image_args) {
    xs_writer w = xs_writer_begin(&xs, args.role);
    uint32_t me = xs_rank(xs), other = 1 - me, block = xs_block(xs);
    for (uint64_t seq = 1; seq <= args.rounds; seq++) {
        xs_writer_epoch(&w, seq);
        xs_mark(&w, args.mark, (uint32_t)seq);
        xs_gate_arrive(&w, &args.counter, 0, 0, 1);
        xs_signal_slot(&w, &args.done, other, block, me, seq);
        (void)xs_wait_slot(&w, &args.done, block, other, seq);
    }
    (void)xs_wait_slot_bounded(&w, &args.done, block, other, args.rounds + 1, xs_bound_ns(1000000));
    xs_writer_word(&w, IMAGE_LAST);
    (void)xs_wait_slot(&w, &args.done, block, other, args.rounds + 1 + block);
    xs_writer_end(&w);
}
