/* For a program, including this once, whose forked children call exit() while it has threads. gcc's AddressSanitizer before 14 has
 * no fork handlers: when such a child looks for leaks, it waits for ever for an allocator lock that a thread of its parent held at
 * the fork. So only the parent looks for them. */
#ifndef XS_TESTS_FORKED_CHILD_H
#define XS_TESTS_FORKED_CHILD_H

#include <sys/types.h>
#include <unistd.h>

static pid_t parent_pid;
__attribute__((constructor)) static void remember_parent(void) { parent_pid = getpid(); }

int __lsan_is_turned_off(void);
__attribute__((visibility("default"))) int __lsan_is_turned_off(void) { return getpid() != parent_pid; }

#endif
