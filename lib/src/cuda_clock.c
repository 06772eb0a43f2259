/* The device's clock against the host's: a small kernel answers requests in mapped memory with %globaltimer, each
 * answer bracketed by two readings of CLOCK_BOOTTIME. The narrowest of a burst goes into the journal: c = middle of
 * the bracket, d = device time, e = width of the bracket, f = the step that the clock was seen to make. An answer is
 * one word, its time: a second one that says "answered" would need a fence before it, and the bracket would hold its
 * round trip too. The kernel is PTX text, so that libxs needs no CUDA compiler. */
#include <stdlib.h>

#include "cuda_state.h"
#include "identity.h"

#define ROUNDS 64u
#define READS 4096u         /* of the clock, one after the other, for its smallest step */
#define PATIENCE 100000000u /* polls of the kernel before it gives up on a host that does not ask */

static const char clock_ptx[] =
    ".version 6.4\n.target sm_70\n.address_size 64\n"
    ".visible .entry xs_clock(.param .u64 mailbox, .param .u32 rounds, .param .u32 patience, .param .u32 reads)\n{\n"
    " .reg .u64 %box, %time, %last, %gone;\n .reg .u32 %rounds, %round, %asked, %polls, %patience, %reads, %least, "
    "%step;\n .reg .pred %p;\n"
    " ld.param.u64 %box, [mailbox];\n ld.param.u32 %rounds, [rounds];\n ld.param.u32 %patience, [patience];\n"
    " ld.param.u32 %reads, [reads];\n mov.u32 %least, 0x7fffffff;\n mov.u64 %last, %globaltimer;\n"
    "read:\n setp.eq.u32 %p, %reads, 0;\n @%p bra told;\n sub.u32 %reads, %reads, 1;\n mov.u64 %time, %globaltimer;\n"
    " sub.u64 %gone, %time, %last;\n mov.u64 %last, %time;\n cvt.u32.u64 %step, %gone;\n setp.eq.u32 %p, %step, 0;\n "
    "@%p bra read;\n"
    " min.u32 %least, %least, %step;\n bra read;\n"
    "told:\n st.relaxed.sys.global.u32 [%box+140], %least;\n mov.u32 %round, 1;\n"
    "next:\n mov.u32 %polls, 0;\n"
    "poll:\n add.u32 %polls, %polls, 1;\n setp.gt.u32 %p, %polls, %patience;\n @%p bra done;\n"
    " ld.relaxed.sys.global.u32 %asked, [%box];\n setp.lt.u32 %p, %asked, %round;\n @%p bra poll;\n"
    " mov.u64 %time, %globaltimer;\n"
    " st.relaxed.sys.global.u64 [%box+128], %time;\n"
    " add.u32 %round, %round, 1;\n setp.le.u32 %p, %round, %rounds;\n @%p bra next;\n"
    "done:\n mov.u32 %round, 1;\n st.release.sys.global.u32 [%box+136], %round;\n ret;\n}\n";

int xs_cuda_clock_open(xs_world *world, xs_cuda_device *device) {
    xs_cuda_state *state = world->backend_state;
    int rc = xs_cuda_check(state, state->cuda->module_load(&device->clock_module, clock_ptx), "the clock kernel");
    return rc ? rc
              : xs_cuda_check(state,
                              state->cuda->module_function(&device->clock_function, device->clock_module, "xs_clock"),
                              "the clock kernel");
}

static uint64_t divisor(uint64_t a, uint64_t b) {
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The answer, 0: none. */
static uint64_t wait_for_answer(xs_cuda_mailbox *mailbox, uint64_t until) {
    for (;;) {
        /* before the answer, which may be the last one */
        int over = __atomic_load_n(&mailbox->over, __ATOMIC_ACQUIRE) != 0;
        uint64_t time = __atomic_load_n(&mailbox->time, __ATOMIC_ACQUIRE);
        if (time || over || xs_clock_boot() > until)
            return time;
    }
}

/* One question; 0: no answer in time. */
static int ask(xs_cuda_mailbox *mailbox, uint32_t round, uint64_t patience_ns, xs_cuda_burst *b) {
    __atomic_store_n(&mailbox->time, 0, __ATOMIC_RELAXED);
    uint64_t before = xs_clock_boot();
    __atomic_store_n(&mailbox->request, round, __ATOMIC_RELEASE);
    uint64_t time = wait_for_answer(mailbox, before + patience_ns), after = xs_clock_boot();
    if (!time)
        return 0;
    if (b->last)
        b->step = divisor(time - b->last, b->step);
    b->last = time;
    b->answers++;
    if (after - before >= b->bracket)
        return 1;
    b->host = before + (after - before) / 2;
    b->device = time;
    b->bracket = after - before;
    return 1;
}

int xs_cuda_clock_burst(xs_cuda_state *state, const xs_cuda_device *device, const xs_cuda_asking *how,
                        xs_cuda_burst *b) {
    uint64_t at = (uintptr_t)how->mailbox;
    uint32_t rounds = how->rounds, patience = PATIENCE, reads = how->reads;
    void *arguments[] = {&at, &rounds, &patience, &reads};
    *b = (xs_cuda_burst){.bracket = UINT64_MAX};
    how->mailbox->request = 0;
    how->mailbox->over = 0;
    how->mailbox->step = 0;
    CUresult result = state->cuda->context_set(device->context);
    if (!result)
        result = state->cuda->launch(device->clock_function, 1, 1, 1, 1, 1, 1, 0, how->stream, arguments, NULL);
    if (result)
        return result;
    for (uint32_t round = 1; round <= rounds && ask(how->mailbox, round, how->patience_ns, b); round++) {
    }
    __atomic_store_n(&how->mailbox->request, rounds, __ATOMIC_RELEASE); /* whenever it starts, it ends at once */
    return CUDA_SUCCESS;
}

/* A test plants an error here, which the reader must find. */
static uint64_t planted(void) {
    const char *text = getenv("XS_TEST_CLOCK_OFFSET_NS");
    return text ? (uint64_t)strtoll(text, NULL, 10) : 0;
}

void xs_cuda_clock_tell(xs_world *world, xs_cuda_device *device, const xs_cuda_burst *b) {
    if (!b->answers)
        return;
    __atomic_store_n(&device->sampled, xs_clock_boot(), __ATOMIC_RELAXED);
    xs_journal(world, XS_JOURNAL_CLOCK, (uint32_t)device->ordinal + 1, 0, b->host + planted(), b->device, b->bracket,
               b->step, 0);
}

int xs_cuda_clock_sample(xs_world *world, xs_cuda_device *device) {
    xs_cuda_state *state = world->backend_state;
    xs_cuda_asking how = {.mailbox = state->mailbox,
                          .stream = device->copies,
                          .rounds = ROUNDS,
                          .reads = READS,
                          .patience_ns = 10000000000u}; /* a GPU or a machine may be busy */
    xs_cuda_burst b;
    int rc = xs_cuda_check(state, xs_cuda_clock_burst(state, device, &how, &b), "the clock kernel");
    if (!rc)
        rc = xs_cuda_check(state, state->cuda->stream_sync(device->copies), "the clock kernel");
    b.step = divisor(b.step, state->mailbox->step);
    if (!rc)
        xs_cuda_clock_tell(world, device, &b);
    return rc;
}
