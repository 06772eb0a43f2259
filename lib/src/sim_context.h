/* Stacks, and switching between them. One OS thread at a time; a context may be made in one thread and run in
 * another. x86-64 and aarch64 save the callee-saved registers by hand; elsewhere, or with XS_SIM_UCONTEXT,
 * swapcontext does it. The floating-point control words and the signal mask are the OS thread's and are not
 * switched. Address and thread sanitizer are told. */
#ifndef XS_SIM_CONTEXT_H
#define XS_SIM_CONTEXT_H

#include "sim_stacks.h"

#include <stddef.h>

#if !defined(XS_SIM_UCONTEXT)
#if defined(__x86_64__) || defined(__aarch64__)
#define XS_SIM_UCONTEXT 0
#else
#define XS_SIM_UCONTEXT 1
#endif
#endif

#if XS_SIM_UCONTEXT
#include <ucontext.h>
#endif

typedef struct xs_sim_context {
#if XS_SIM_UCONTEXT
    ucontext_t u;
#else
    void *sp; /* where the registers lie while it does not run */
#endif
    xs_sim_stack *stack; /* NULL: a thread's own */
    const void *bottom; /* lowest usable byte */
    size_t bytes;
    void *fake; /* address sanitizer's fake stack */
    void *tsan; /* thread sanitizer's fibre */
    struct xs_sim_context *from; /* who switched to it last */
    void (*entry)(void *);
    void *argument;
} xs_sim_context;

/* The calling thread's own stack, so that others can switch back to it. */
void xs_sim_context_adopt(xs_sim_context *context);
/* A stack of its own out of `stacks`, on which entry(argument) starts at the first switch; entry must not return. 0
 * or XS_E_MEMORY. */
int xs_sim_context_make(xs_sim_context *context, xs_sim_stacks *stacks, void (*entry)(void *), void *argument);
/* Gives the stack back, wherever its code stands; NULL: it goes with all others, in xs_sim_stacks_free. Not the
 * running one. */
void xs_sim_context_free(xs_sim_context *context, xs_sim_stacks *stacks);
/* Traps if `from` has overflowed its stack. */
void xs_sim_context_switch(xs_sim_context *from, xs_sim_context *to);

#endif
