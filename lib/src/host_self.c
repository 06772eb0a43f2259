/* Who runs here, and which scheduler answers for it: the calls that kernel code compiled for the host makes. */
#include <sched.h>
#include <string.h>
#include <time.h>
#include <xs/host_thread.h>

#include "objects.h"

static _Thread_local xs_host_thread *self;
static _Thread_local const xs_scheduler *scheduler; /* NULL: a thread that xs did not start */

void xs_host_set_self(xs_host_thread *thread, const xs_scheduler *of) {
    self = thread;
    scheduler = thread ? of : NULL;
}

xs_host_thread *xs_host_self(void) { return self; }

void xs_host_enter(xs_host_thread *thread) { xs_host_set_self(thread, NULL); }

uint64_t xs_host_now(void) { return scheduler ? scheduler->now(self) : xs_worlds_now(); }

void xs_host_step(void) {
    if (scheduler) scheduler->step(self);
}

static void sleep_ns(uint64_t ns) {
    struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u), .tv_nsec = (long)(ns % 1000000000u)};
    nanosleep(&t, NULL);
}

void xs_host_poll_failed(const void *address, uint32_t ns, int bounded) {
    if (scheduler) scheduler->poll_failed(self, address, ns, bounded);
    else if (ns < 50000) sched_yield();
    else sleep_ns(ns);
}

void xs_host_work(uint64_t ns) {
    if (scheduler) scheduler->work(self, ns);
    else sleep_ns(ns);
}

int xs_host_block_barrier(uint32_t id, uint32_t count) {
    return scheduler ? scheduler->block_barrier(self, id, count) : 0;
}

void *xs_host_shared(const void *key, size_t bytes) { return scheduler ? scheduler->shared(self, key, bytes) : NULL; }

void *xs_host_shared_dynamic(void) { return scheduler ? scheduler->shared_dynamic(self) : NULL; }

void xs_host_store(void *to, const void *from, size_t bytes) {
    if (scheduler) scheduler->store(self, to, from, bytes);
    else memcpy(to, from, bytes);
}

void xs_host_load(void *to, const void *from, size_t bytes) {
    if (scheduler) scheduler->load(self, to, from, bytes);
    else memcpy(to, from, bytes);
}

void xs_host_release(uint32_t scope) {
    if (scheduler) scheduler->release(self, scope);
}

void xs_host_acquire(uint32_t scope) {
    if (scheduler) scheduler->acquire(self, scope);
}
