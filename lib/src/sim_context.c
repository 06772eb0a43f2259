/* See sim_context.h. */
#include "sim_context.h"

#include <stdint.h>
#include <string.h>
#include <xs/errors.h>

#if defined(__has_feature)
#define FEATURE(x) __has_feature(x)
#else
#define FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || FEATURE(address_sanitizer)
#define ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define ASAN 0
#endif
#if defined(__SANITIZE_THREAD__) || FEATURE(thread_sanitizer)
#define TSAN 1
#include <sanitizer/tsan_interface.h>
#else
#define TSAN 0
#endif

/* Sanitizers put red zones into frames and call deeper. */
#define STACK_BYTES (ASAN || TSAN ? 256u * 1024u : 64u * 1024u)

#if !XS_SIM_UCONTEXT
void xs_sim_switch(void **save, void *load) __attribute__((visibility("hidden")));
void xs_sim_start(void) __attribute__((visibility("hidden")));
#endif

#if !XS_SIM_UCONTEXT && defined(__x86_64__)
/* Frame, from sp up: r15 r14 r13 r12 rbx rbp, return address. A new stack returns into xs_sim_start. */
__asm__(".text\n"
        ".globl xs_sim_switch\n.hidden xs_sim_switch\n.type xs_sim_switch,@function\n"
        "xs_sim_switch:\n"
        ".cfi_startproc\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n"
        "  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
        "  ret\n"
        ".cfi_endproc\n.size xs_sim_switch,.-xs_sim_switch\n"
        ".globl xs_sim_start\n.hidden xs_sim_start\n.type xs_sim_start,@function\n"
        "xs_sim_start:\n"
        ".cfi_startproc\n.cfi_undefined rip\n"
        "  movq %r13, %rdi\n"
        "  call *%r12\n"
        "  ud2\n"
        ".cfi_endproc\n.size xs_sim_start,.-xs_sim_start\n");

/* FRAME_WORDS below the top: the start must see sp at a multiple of 16 once all is popped. */
enum { FRAME_WORDS = 15, FRAME_ENTRY = 3, FRAME_ARGUMENT = 2, FRAME_RETURN = 6 };
#elif !XS_SIM_UCONTEXT
/* Frame, from sp up: x19 .. x28, x29, x30, d8 .. d15. A new stack returns into xs_sim_start. */
__asm__(".text\n"
        ".globl xs_sim_switch\n.hidden xs_sim_switch\n.type xs_sim_switch,%function\n"
        "xs_sim_switch:\n"
        ".cfi_startproc\n"
        "  hint #34\n" /* bti c */
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n  stp x25, x26, [sp, #48]\n"
        "  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x2, sp\n"
        "  str x2, [x0]\n"
        "  mov sp, x1\n"
        "  ldp x19, x20, [sp]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n"
        "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n"
        "  ret\n"
        ".cfi_endproc\n.size xs_sim_switch,.-xs_sim_switch\n"
        ".globl xs_sim_start\n.hidden xs_sim_start\n.type xs_sim_start,%function\n"
        "xs_sim_start:\n"
        ".cfi_startproc\n.cfi_undefined x30\n"
        "  mov x0, x20\n"
        "  blr x19\n"
        "  brk #1\n"
        ".cfi_endproc\n.size xs_sim_start,.-xs_sim_start\n");

enum { FRAME_WORDS = 40, FRAME_ENTRY = 0, FRAME_ARGUMENT = 1, FRAME_RETURN = 11 };
#endif

/* The second half of every switch, on the new stack. */
static void arrived(xs_sim_context *self) {
#if ASAN
    const void *bottom;
    size_t bytes;
    __sanitizer_finish_switch_fiber(self->fake, &bottom, &bytes);
    self->from->bottom = bottom; /* how the thread's own stack is learned */
    self->from->bytes = bytes;
#else
    (void)self;
#endif
}

static void enter(void *argument) {
    xs_sim_context *self = argument;
    arrived(self);
    self->entry(self->argument);
    __builtin_trap(); /* entry must not return: there is nothing below it */
}

#if XS_SIM_UCONTEXT
static void enter_halves(unsigned high, unsigned low) {
    enter((void *)(((uintptr_t)high << 16 << 16) | (uintptr_t)low));
}

static void prepare(xs_sim_context *c) {
    uintptr_t self = (uintptr_t)c;
    getcontext(&c->u);
    c->u.uc_stack.ss_sp = c->stack->at;
    c->u.uc_stack.ss_size = c->bytes;
    c->u.uc_link = NULL;
    makecontext(&c->u, (void (*)(void))enter_halves, 2, (unsigned)(self >> 16 >> 16), (unsigned)self);
}
#else
static void prepare(xs_sim_context *c) {
    uintptr_t *frame = (uintptr_t *)(void *)(c->stack->at + c->stack->bytes) - FRAME_WORDS;
    frame[FRAME_ENTRY] = (uintptr_t)enter;
    frame[FRAME_ARGUMENT] = (uintptr_t)c;
    frame[FRAME_RETURN] = (uintptr_t)xs_sim_start;
    c->sp = frame; /* zeroed: all other registers are 0, which ends a walk along frame pointers */
}
#endif

void xs_sim_context_adopt(xs_sim_context *c) {
    memset(c, 0, sizeof *c);
#if TSAN
    c->tsan = __tsan_get_current_fiber();
#endif
}

int xs_sim_context_make(xs_sim_context *c, xs_sim_stacks *stacks, void (*entry)(void *), void *argument) {
    memset(c, 0, sizeof *c);
    c->stack = xs_sim_stack_get(stacks, STACK_BYTES);
    if (!c->stack)
        return XS_E_MEMORY;
    c->bottom = c->stack->at;
    c->bytes = STACK_BYTES;
    c->entry = entry;
    c->argument = argument;
    prepare(c);
#if TSAN
    c->tsan = __tsan_create_fiber(0);
#endif
    return 0;
}

void xs_sim_context_free(xs_sim_context *c, xs_sim_stacks *stacks) {
    if (!c->stack)
        return;
#if ASAN
    __asan_unpoison_memory_region(c->stack->at, c->stack->bytes);
#endif
#if TSAN
    __tsan_destroy_fiber(c->tsan);
#endif
    if (stacks)
        xs_sim_stack_put(stacks, c->stack);
    c->stack = NULL;
}

void xs_sim_context_switch(xs_sim_context *from, xs_sim_context *to) {
    if (from->stack && !sim_stack_whole(from->stack))
        __builtin_trap(); /* it has overflowed: its neighbour's stack must not be run on */
    to->from = from;
#if ASAN
    __sanitizer_start_switch_fiber(&from->fake, to->bottom, to->bytes);
#endif
#if TSAN
    __tsan_switch_to_fiber(to->tsan, 0);
#endif
#if XS_SIM_UCONTEXT
    swapcontext(&from->u, &to->u);
#else
    xs_sim_switch(&from->sp, to->sp);
#endif
    arrived(from);
}
