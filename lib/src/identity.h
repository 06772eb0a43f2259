/* Inside libxs: identities of this machine and of processes. */
#ifndef XS_IDENTITY_H
#define XS_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

uint64_t xs_identity_host(void);         /* hash of the boot id */
uint64_t xs_identity_process(void);      /* hash of boot id, pid and start time */
uint64_t xs_identity_start(int32_t pid); /* start time of a process in clock ticks since boot; 0: no such process */
int xs_identity_alive(int32_t pid, uint64_t start); /* 1: that very process still runs */
uint64_t xs_clock_boot(void);                       /* CLOCK_BOOTTIME, ns */
int64_t xs_clock_real(void);                        /* CLOCK_REALTIME, ns */
/* Reads a small file into text, zero-terminated; the number of bytes, 0 where it cannot be read. */
size_t xs_identity_file(const char *path, char *text, size_t size);

#endif
