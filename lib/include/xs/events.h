/* The event table: every event is defined here, once. Enum, encoder, decoder, SQL schema, Perfetto names and
 * docs/events.md are made from these lists. Ids are never reused (tests/golden/event_ids.txt pins them). */
#ifndef XS_EVENTS_H
#define XS_EVENTS_H

#include <xs/target.h>

/* What the 24-bit object word of the head record names. */
#define XS_OBJECTS(X)                                                                            \
    X(NONE, "nothing")                                                                           \
    X(SLOT, "a slot: pad.first + (owner * rows + row) * cols + column")                          \
    X(ROLE, "a role's id")                                                                       \
    X(MARK, "a mark's, scope's or payload's name id")                                            \
    X(BARRIER, "a named barrier's id inside the block")

/* Event kinds: shape of the event in time. */
#define XS_SHAPES(X) X(INSTANT) X(BEGIN) X(END)

/* X(id, NAME, shape, object, "value word", "detail word (second record)", "further words", "meaning")
 * Words are named `name:unit`; "-" is unused. The further records are listed in record.h, XS_WORDS_*. */
#define XS_EVENTS(X)                                                                                                   \
    X(1, SIGNAL, INSTANT, SLOT, "value:sequence", "-", "value_hi", "a slot was stored: the signal")                    \
    X(2, WAIT_START, BEGIN, SLOT, "need:sequence", "observed:sequence", "need_hi, observed_hi",                        \
      "the first poll of a wait failed")                                                                               \
    X(3, WAIT_END, END, SLOT, "observed:sequence", "polls:count", "line, stage, slept:ns, last_fail:ns before the end", \
      "a wait that had to wait is over; result says how")                                                              \
    X(4, PASS, INSTANT, SLOT, "observed:sequence", "need:sequence", "observed_hi, need_hi",                            \
      "a wait was satisfied at its first poll")                                                                        \
    X(5, ARRIVE, INSTANT, SLOT, "old:arrivals, weight, expected", "expected:arrivals", "weight, old_hi, target_hi",    \
      "arrival at an election; elected where old + weight = expected")                                                 \
    X(6, WATERMARK, INSTANT, SLOT, "value:sequence", "rows:rows", "value_hi",                                          \
      "a chunk is finished: a signal on a watermark slot")                                                             \
    X(7, GATE_ARRIVE, INSTANT, SLOT, "old:arrivals", "add:arrivals", "old_hi", "arrival at a local gate")              \
    X(8, BARRIER_ENTER, BEGIN, SLOT, "generation:sequence", "participants:ranks", "-", "a block enters barrier_all")   \
    X(9, BARRIER_LEAVE, END, SLOT, "generation:sequence", "participants:ranks", "-", "a block leaves barrier_all")     \
    X(10, BLOCK_ENTER, BEGIN, BARRIER, "count:threads", "-", "-", "a named barrier of the block is entered")           \
    X(11, BLOCK_LEAVE, END, BARRIER, "count:threads", "-", "-", "a named barrier of the block is left")                \
    X(12, PUBLISH, INSTANT, SLOT, "sequence:sequence", "batch:rows", "depth, sequence_hi", "a batch is published")     \
    X(13, CONSUME, INSTANT, SLOT, "sequence:sequence", "batch:rows", "depth, sequence_hi",                             \
      "a batch is consumed and its credit given back")                                                                 \
    X(14, FENCE, INSTANT, NONE, "line:line", "-", "-", "a memory fence")                                               \
    X(15, BUS_FLUSH, INSTANT, SLOT, "read back:sequence", "-", "-", "a read-back that drains the bus")                 \
    X(16, RESET, INSTANT, SLOT, "value:sequence", "slots:count", "value_hi", "slots were set, not advanced")           \
    X(17, HEARTBEAT, INSTANT, SLOT, "beat:sequence", "-", "-", "a rank says that it lives")                            \
    X(18, ABORT, INSTANT, NONE, "reason:error", "line:line", "-", "a kernel aborts the world, or sees it aborted")     \
    X(19, WRITER_BEGIN, BEGIN, ROLE, "block:index", "launch:id", "rank, warp and SM, epoch", "a writer takes a ring")  \
    X(20, WRITER_END, END, ROLE, "next:sequence", "next_hi:sequence", "-", "a writer gives its ring back")             \
    X(21, ROLE, INSTANT, ROLE, "-", "-", "-", "the writer plays another role from here on")                            \
    X(22, READ_BEGIN, BEGIN, MARK, "index:index", "generation:sequence", "peer, rows, bytes", "payload is read")       \
    X(23, WRITE_BEGIN, BEGIN, MARK, "index:index", "generation:sequence", "peer, rows, bytes", "payload is written")   \
    X(24, PAYLOAD_END, END, MARK, "index:index", "-", "-", "the read, write or work that began last is over")          \
    X(25, WORK_BEGIN, BEGIN, MARK, "index:index", "generation:sequence", "peer, rows, bytes", "work on a tile begins") \
    X(26, MARK, INSTANT, MARK, "word:user", "-", "-", "the user's mark")                                               \
    X(27, SCOPE_BEGIN, BEGIN, MARK, "word:user", "-", "-", "the user's scope begins")                                  \
    X(28, SCOPE_END, END, MARK, "word:user", "-", "-", "the user's scope ends")                                        \
    X(29, EPOCH, INSTANT, NONE, "epoch:epoch", "epoch_hi:epoch", "-", "the writer enters an epoch")                    \
    X(30, SKIP, INSTANT, SLOT, "need:sequence", "-", "-", "a wait is left out, since nobody owes the signal")          \
    X(31, EXPECT, INSTANT, SLOT, "expected:arrivals", "epoch:epoch", "-", "the plan as the kernel computed it")        \
    X(32, DROP, INSTANT, NONE, "-", "-", "-", "discard mode only: the newest record that found its ring full")

#define XS_EVENT_ENUM(id, name, shape, object, value, detail, further, text) XS_EV_##name = id,
enum xs_event_kind { XS_EV_NONE = 0, XS_EVENTS(XS_EVENT_ENUM) XS_EV_COUNT = 33 };
#undef XS_EVENT_ENUM

#define XS_OBJECT_ENUM(name, text) XS_OBJECT_##name,
enum xs_object_kind { XS_OBJECTS(XS_OBJECT_ENUM) XS_OBJECT_COUNT };
#undef XS_OBJECT_ENUM

#define XS_SHAPE_ENUM(name) XS_SHAPE_##name,
enum xs_shape { XS_SHAPES(XS_SHAPE_ENUM) XS_SHAPE_COUNT };
#undef XS_SHAPE_ENUM

/* Order, scope, comparison and result, in PTX's words. Fence: what stood before a signal, or after a wait. */
enum xs_order { XS_ORDER_NONE, XS_RELAXED, XS_ACQUIRE, XS_RELEASE, XS_ACQ_REL, XS_SEQ_CST, XS_VOLATILE, XS_WEAK };
enum xs_scope { XS_SCOPE_NONE, XS_SCOPE_CTA, XS_SCOPE_GPU, XS_SCOPE_SYS };
enum xs_fence_flag { XS_FENCE_NONE, XS_FENCE_CTA, XS_FENCE_GPU, XS_FENCE_SYS, XS_FENCE_UNKNOWN };
enum xs_cmp { XS_CMP_GE, XS_CMP_EQ, XS_CMP_NE, XS_CMP_LT, XS_CMP_GT };
enum xs_result { XS_RESULT_OK, XS_RESULT_TIMEOUT, XS_RESULT_PEER_DEAD, XS_RESULT_ABORTED };

/* Codes: what one record says without a second one. X(code, NAME, event, order, scope, fence) */
#define XS_CODES(X)                                              \
    X(1, SIGNAL_RLX_CTA, SIGNAL, XS_RELAXED, CTA, NONE)          \
    X(2, SIGNAL_RLX_GPU, SIGNAL, XS_RELAXED, GPU, NONE)          \
    X(3, SIGNAL_RLX_SYS, SIGNAL, XS_RELAXED, SYS, NONE)          \
    X(4, SIGNAL_RLX_GPU_FGPU, SIGNAL, XS_RELAXED, GPU, GPU)      \
    X(5, SIGNAL_RLX_GPU_FSYS, SIGNAL, XS_RELAXED, GPU, SYS)      \
    X(6, SIGNAL_RLX_SYS_FGPU, SIGNAL, XS_RELAXED, SYS, GPU)      \
    X(7, SIGNAL_RLX_SYS_FSYS, SIGNAL, XS_RELAXED, SYS, SYS)      \
    X(8, SIGNAL_REL_CTA, SIGNAL, XS_RELEASE, CTA, NONE)          \
    X(9, SIGNAL_REL_GPU, SIGNAL, XS_RELEASE, GPU, NONE)          \
    X(10, SIGNAL_REL_SYS, SIGNAL, XS_RELEASE, SYS, NONE)         \
    X(11, SIGNAL_UNKNOWN, SIGNAL, XS_ORDER_NONE, NONE, UNKNOWN)  \
    X(16, PASS_RLX_CTA, PASS, XS_RELAXED, CTA, NONE)             \
    X(17, PASS_RLX_GPU, PASS, XS_RELAXED, GPU, NONE)             \
    X(18, PASS_RLX_SYS, PASS, XS_RELAXED, SYS, NONE)             \
    X(19, PASS_ACQ_CTA, PASS, XS_ACQUIRE, CTA, NONE)             \
    X(20, PASS_ACQ_GPU, PASS, XS_ACQUIRE, GPU, NONE)             \
    X(21, PASS_ACQ_SYS, PASS, XS_ACQUIRE, SYS, NONE)             \
    X(22, PASS_UNKNOWN, PASS, XS_ORDER_NONE, NONE, UNKNOWN)      \
    X(32, ARRIVE_RLX_GPU, ARRIVE, XS_RELAXED, GPU, NONE)         \
    X(33, ARRIVE_REL_GPU, ARRIVE, XS_RELEASE, GPU, NONE)         \
    X(34, ARRIVE_ACQREL_CTA, ARRIVE, XS_ACQ_REL, CTA, NONE)      \
    X(35, ARRIVE_ACQREL_GPU, ARRIVE, XS_ACQ_REL, GPU, NONE)      \
    X(36, ARRIVE_ACQREL_SYS, ARRIVE, XS_ACQ_REL, SYS, NONE)      \
    X(48, WATERMARK_REL_GPU, WATERMARK, XS_RELEASE, GPU, NONE)   \
    X(49, WATERMARK_REL_SYS, WATERMARK, XS_RELEASE, SYS, NONE)   \
    X(64, GATE_RLX_GPU, GATE_ARRIVE, XS_RELAXED, GPU, NONE)      \
    X(65, GATE_REL_GPU, GATE_ARRIVE, XS_RELEASE, GPU, NONE)      \
    X(80, FENCE_ACQ_CTA, FENCE, XS_ACQUIRE, CTA, NONE)           \
    X(81, FENCE_ACQ_GPU, FENCE, XS_ACQUIRE, GPU, NONE)           \
    X(82, FENCE_ACQ_SYS, FENCE, XS_ACQUIRE, SYS, NONE)           \
    X(83, FENCE_ACQREL_CTA, FENCE, XS_ACQ_REL, CTA, NONE)        \
    X(84, FENCE_ACQREL_GPU, FENCE, XS_ACQ_REL, GPU, NONE)        \
    X(85, FENCE_ACQREL_SYS, FENCE, XS_ACQ_REL, SYS, NONE)        \
    X(86, FENCE_SC_GPU, FENCE, XS_SEQ_CST, GPU, NONE)            \
    X(87, FENCE_SC_SYS, FENCE, XS_SEQ_CST, SYS, NONE)            \
    X(96, BLOCK_ENTER, BLOCK_ENTER, XS_ACQ_REL, CTA, NONE)       \
    X(97, BLOCK_LEAVE, BLOCK_LEAVE, XS_ACQ_REL, CTA, NONE)       \
    X(98, BUS_FLUSH, BUS_FLUSH, XS_VOLATILE, SYS, NONE)          \
    X(99, HEARTBEAT, HEARTBEAT, XS_RELAXED, SYS, NONE)           \
    X(100, ROLE, ROLE, XS_ORDER_NONE, NONE, NONE)                \
    X(101, PAYLOAD_END, PAYLOAD_END, XS_ORDER_NONE, NONE, NONE)  \
    X(102, MARK, MARK, XS_ORDER_NONE, NONE, NONE)                \
    X(103, SCOPE_BEGIN, SCOPE_BEGIN, XS_ORDER_NONE, NONE, NONE)  \
    X(104, SCOPE_END, SCOPE_END, XS_ORDER_NONE, NONE, NONE)      \
    X(105, SKIP, SKIP, XS_ORDER_NONE, NONE, NONE)                \
    X(106, DROP, DROP, XS_ORDER_NONE, NONE, NONE)

#define XS_CODE_ENUM(code, name, event, order, scope, fence) XS_CODE_##name = code,
enum xs_code {
    XS_CODE_EMPTY = 0, /* a slot never written */
    XS_CODES(XS_CODE_ENUM)
    XS_CODE_MORE = 254, /* second, third or fourth record of an event */
    XS_CODE_FULL = 255  /* first record; the second one holds kind, order, scope, fence, comparison and result */
};
#undef XS_CODE_ENUM

#endif
