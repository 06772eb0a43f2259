/* A CUPTI for tests: scripted records instead of a GPU's. Load it with dlopen, give its path in XS_CUPTI_LIBRARY. */
#ifndef FAKE_CUPTI_H
#define FAKE_CUPTI_H

#include <cupti.h>

typedef struct fake_cupti {
    uint32_t version;       /* that it says it is */
    const char *held_by;    /* another subscriber's name; NULL: none */
    int refuse_enable;      /* cuptiActivityEnable fails */
    size_t dropped;         /* told once */
    int blocked;            /* a flush does not return while this is set */
    int taken_over;         /* another tool has registered callbacks: what is flushed goes to it */
    int single_calls;       /* single calls can be enabled */
    /* what was done */
    int flushes, forced, kinds_enabled, calls_enabled, subscribers;
    int held_up; /* flushes that met `blocked` */
} fake_cupti;

/* Symbols: fake_cupti_state() and this. The record is delivered with the next flush. */
typedef fake_cupti *fake_cupti_state_call(void);
typedef void fake_cupti_push_call(const void *record, size_t bytes);

#endif
